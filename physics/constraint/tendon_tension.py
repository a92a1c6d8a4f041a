"""The forces of spatial tendons on bodies, for cfrc_ext: a tendon pulls at its sites and at the geoms that it wraps."""

import taichi as ti

from ..hooks import TENDON_FORCES
from ..math import Motion, Vec3, func


@func
def add_tensions(model, work):
    """Add the forces of spatial tendons on bodies to cfrc_ext."""
    _sum_forces(model, work)
    for t in range(model.ntendon):
        for link in range(model.tendon_linkadr[t], model.tendon_linkadr[t] + model.tendon_linknum[t]):
            force = work.ten_force[t] * model.link_share[link]
            out, back = work.link_out[link] * force, work.link_back[link] * force
            b1, b2 = model.link_body1[link], model.link_body2[link]
            _push(model, work, b1, _site(model, work, b1, model.link_pos1[link]), out * -1.0)
            _push(model, work, b2, _site(model, work, b2, model.link_pos2[link]), back)
            if ti.static(model.has.wrapping):
                if model.link_shape[link] > 0:
                    b = model.geom_bodyid[model.link_geom[link]]
                    _push(model, work, b, work.link_meets[link], out)
                    _push(model, work, b, work.link_leaves[link], back * -1.0)


@func
def _sum_forces(model, work):
    """Set ten_force (N): springs, dampers, actuators, the tendon's inertia, and constraints."""
    # Passive forces and the tendon's inertia.
    for t in range(model.ntendon):
        force = work.real(0.0) + work.ten_passive[t]
        if ti.static(model.has.tendon_armature):
            rate = work.real(0.0) + work.ten_bias[t]
            for at in range(model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]):
                rate += work.ten_J[at] * work.qacc[model.tendon_dof[at]]
            force -= rate * model.tendon_armature[t]
        work.ten_force[t] = force
    # Actuators.
    for u in range(model.nout):
        t = model.actuator_tendon[u]
        if t >= 0:
            work.ten_force[t] = work.ten_force[t] + work.actuator_force[u] * model.actuator_gear.at(u, 0)
    # Constraints.
    for add_to in ti.static(TENDON_FORCES.of(model.has)):
        add_to(model, work)


@func
def _site(model, work, b: ti.i32, pos):
    """Return a point of body b, given in its frame (m), relative to the root of its tree, in world axes."""
    zero = work.real(0.0)
    arm = work.xquat.rounded[b].rotate(Vec3(zero + pos.x, zero + pos.y, zero + pos.z))
    return work.lanes.cast(work.root_offset[b]) + arm


@func
def _push(model, work, b: ti.i32, point, force):
    """Add a force (N) at a point of body b, relative to the root of its tree, to cfrc_ext."""
    if b > 0:
        arm = point - work.com_offset[model.body_rootid[b]]
        work.cfrc_ext.put(b, work.cfrc_ext[b] + Motion(arm.cross(force), force))
