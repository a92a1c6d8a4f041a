"""Accelerations of bodies, the forces between them, and momenta of subtrees: what a step does without.

MuJoCo's cacc and cfrc_int (mj_rnePostConstraint), subtree_linvel and subtree_angmom (mj_subtreeVel).
"""

import taichi as ti

from ...base.joints import dof_groups
from ...base.math import SpatialMotion, Vec3, func
from ...base.stage import stage
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
    # Angular momentum: that of the body, and what its subtree adds to the parent's.
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
