"""Quantities that a step does without: frames, accelerations of bodies, forces between them, momenta, limits in force.

Axes of bodies and frames of sites are what tasks read most. The others are MuJoCo's cacc, cfrc_ext and cfrc_int
(mj_rnePostConstraint), subtree_linvel and subtree_angmom (mj_subtreeVel), and readings of limit sensors.
"""

import taichi as ti

from ...base.hooks import CONTACT_PULL, EXTERNAL_FORCES, TENDON_FORCES
from ...base.joints import dof_groups
from ...base.math import SpatialMotion, Vec3, func
from ...base.stage import stage
from ..constraint.bodies import contact_frame, contact_wrench
from ..dynamics.body_forces import applied_to
from ..kinematics.center_of_mass import MASSLESS


@stage(reads="eval_qvel cdof cvel qacc", updates="cacc")
def body_accelerations(model, work):
    """Set cacc at the coordinates, velocities and accelerations of the last evaluation."""
    zero = work.real(0.0)
    gravity = model.gravity[0]  # the world rises against it
    upward = Vec3(zero - gravity.x, zero - gravity.y, zero - gravity.z)
    for b in range(model.nbody):
        acceleration = SpatialMotion(Vec3(zero, zero, zero), upward)
        velocity = SpatialMotion(Vec3(zero, zero, zero), Vec3(zero, zero, zero))
        if b > 0:
            parent = model.body_parentid[b]
            acceleration._assign(work.cacc[parent])
            velocity._assign(work.lanes.cast(work.cvel[parent]))
            first = model.body_jntadr[b]
            for j in range(first, first + model.body_jntnum[b]):
                parts, count = dof_groups(model.jnt_type[j])
                for part in range(parts):
                    carrier, dof = velocity.copy(), model.jnt_dofadr[j] + 3 * part
                    for k in range(dof, dof + count):
                        axis, speed = work.cdof[k], work.eval_qvel[k]
                        turned = carrier.rot.cross(axis.lin) + carrier.lin.cross(axis.rot)
                        change = SpatialMotion(carrier.rot.cross(axis.rot), turned)
                        acceleration = acceleration + (change * speed + axis * work.qacc[k])
                        velocity = velocity + axis * speed
        work.cacc.put(b, acceleration)


@stage(reads="cinert cvel cfrc_ext cacc", updates="cfrc_int")
def internal_forces(model, work):
    """Set cfrc_int, from cacc, cinert and cfrc_ext."""
    zero = work.real(0.0)
    work.cfrc_int.put(0, SpatialMotion(Vec3(zero, zero, zero), Vec3(zero, zero, zero)))
    for b in range(1, model.nbody):
        inertia, velocity = work.cinert[b], work.lanes.cast(work.cvel[b])
        momentum = inertia.times(velocity)
        twist = velocity.rot.cross(momentum.rot) + velocity.lin.cross(momentum.lin)
        own = inertia.times(work.cacc[b]) + SpatialMotion(twist, velocity.rot.cross(momentum.lin))
        work.cfrc_int.put(b, own - work.cfrc_ext[b])
    for i in range(1, model.nbody):
        b = model.nbody - i
        parent = model.body_parentid[b]
        work.cfrc_int.put(parent, work.cfrc_int[parent] + work.cfrc_int[b])


@stage(reads="xipos subtree_com own_inertia cvel", updates="subtree_linvel subtree_angmom")
def subtree_momenta(model, work):
    """Set subtree_linvel, and subtree_angmom about the centre of mass of each subtree.

    Angular momenta are summed from body to body, each about the nearest centre: far from the origin, and from each
    other, bodies would have large ones that cancel.
    """
    zero = work.real(0.0)
    for b in range(model.nbody):
        work.subtree_linvel.put(b, Vec3(zero, zero, zero))
        work.subtree_angmom.put(b, Vec3(zero, zero, zero))
    # Linear momentum, from the leaves to the world; then velocity.
    for i in range(model.nbody):
        b = model.nbody - 1 - i
        if b > 0:
            parent = model.body_parentid[b]
            momentum = work.subtree_linvel[b] + _center_velocity(model, work, b) * model.body_mass[b]
            work.subtree_linvel.put(b, momentum)
            work.subtree_linvel.put(parent, work.subtree_linvel[parent] + momentum)
        mass = work.real(0.0) + model.body_subtreemass[b]
        work.subtree_linvel.put(b, work.subtree_linvel[b] * (1.0 / ti.max(mass, MASSLESS)))
    # Angular momentum: the body's, and the subtree's share of the parent's.
    for i in range(1, model.nbody):
        b = model.nbody - i
        parent = model.body_parentid[b]
        speed = _center_velocity(model, work, b) - work.subtree_linvel[b]
        arm = work.xipos[b] - work.subtree_com[b]
        own = work.own_inertia.symmetric(b).times(work.lanes.cast(work.cvel[b]).rot)
        turning = work.subtree_angmom[b] + own + arm.cross(speed * model.body_mass[b])
        work.subtree_angmom.put(b, turning)
        speed = work.subtree_linvel[b] - work.subtree_linvel[parent]
        arm = work.subtree_com[b] - work.subtree_com[parent]
        beside = arm.cross(speed * model.body_subtreemass[b])
        work.subtree_angmom.put(parent, work.subtree_angmom[parent] + turning + beside)


@func
def _center_velocity(model, work, b: ti.i32):
    """Return the velocity of the centre of mass of body b (m/s)."""
    motion = work.lanes.cast(work.cvel[b])
    return motion.lin + motion.rot.cross(work.xipos[b] - work.subtree_com[model.body_rootid[b]])


@stage(reads="xpos xquat", writes="xmat site_xpos site_xmat")
def body_and_site_frames(model, work):
    """Set xmat of all bodies, and site_xpos and site_xmat of all sites.

    A matrix is kept by its columns: the columns of the inverse rotation are the rows of these.
    """
    for b in range(model.nbody):
        work.xmat.put(b, work.lanes.cast(work.xquat[b].conjugate().matrix()))
    for s in range(model.nsite):
        body = model.site_bodyid[s]
        quat = work.xquat[body]
        work.site_xpos.put(s, work.lanes.cast(work.xpos[body] + quat.rotate(model.site_pos[s])))
        work.site_xmat.put(s, work.lanes.cast((quat * model.site_quat[s]).conjugate().matrix()))


@func
def forget_limit(model, work, row: ti.i32):
    """Set the readings of a limit as if it were out of reach in all lanes."""
    if row < model.nlimitsense:
        work.limit_seen.put(row, 0)
        work.limit_pos[row] = work.real(0.0)
        work.limit_vel[row] = work.real(0.0)


@func
def note_limit(model, work, row: ti.i32, k: ti.i32, depth, speed):
    """Keep the readings of a limit that is block k: `depth` (m or rad) from its margin, `speed` (m/s or rad/s)."""
    if row < model.nlimitsense:
        work.limit_seen.put(row, k + 1)
        work.limit_pos[row] = ti.select(depth < 0.0, depth, work.real(0.0))
        work.limit_vel[row] = ti.select(depth < 0.0, speed, work.real(0.0))


@stage(when=lambda has: has.sensors, reads="limit_pos block_force limit_seen", writes="limit_force")
def limit_forces(model, work):
    """Set limit_force from the solver's forces."""
    for row in range(model.nlimitsense):
        force = work.real(0.0)
        k = work.limit_seen[row]
        if k > 0:
            force = ti.select(work.limit_pos[row] < 0.0, work.block_force.at(k - 1, 0), force)
        work.limit_force[row] = force


@stage(
    reads=(
        "xfrc_applied inertial_offset com_offset subtree_com con_pos con_frame con_pull block_force con_geom1",
        "con_geom2 block_dim applied tile_ncon tile_conadr",
    ),
    updates="cfrc_ext",
    hooks=(EXTERNAL_FORCES, TENDON_FORCES),
)
def external_force(model, work):
    """Set cfrc_ext (nbody,): torque (N m) and force (N) of the user, contacts, and parts.

    They are about the centre of mass of the body's tree.
    """
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    for b in range(model.nbody):
        work.cfrc_ext.put(b, SpatialMotion(none, none))
    # Forces of the user at the centres of mass.
    if work.applied[0] == 1:
        for b in range(1, model.nbody):
            force, torque = applied_to(work, b)
            arm = work.inertial_offset[b] - work.com_offset[model.body_rootid[b]]
            work.cfrc_ext.put(b, SpatialMotion(torque + arm.cross(force), force))
    # Contact forces on both geoms, adhesive pull excluded.
    for k in range(work.tile_ncon[0]):
        block = work.tile_conadr[0] + k
        pull = work.real(0.0)
        if ti.static(not CONTACT_PULL.is_empty(model.has)):
            pull = work.con_pull[k]
        frame, dim = contact_frame(work.con_frame, k), work.block_dim[block]
        push = contact_wrench(work, frame, work.block_force, block, dim, pull)
        for side in range(2):
            b = model.geom_bodyid[work.con_geom1[k] if side == 0 else work.con_geom2[k]]
            if b > 0:
                arm = work.con_pos[k] - work.subtree_com[model.body_rootid[b]]
                wrench = SpatialMotion(push.rot + arm.cross(push.lin), push.lin) * (2.0 * side - 1.0)
                work.cfrc_ext.put(b, work.cfrc_ext[b] + wrench)
    for add_to in ti.static(EXTERNAL_FORCES.of(model.has)):
        add_to(model, work)
