"""The forces of spatial tendons on bodies, for cfrc_ext: a tendon pulls at its sites and at the geoms that it wraps."""

import taichi as ti

from ..math import Motion, Vec3, func
from .equality import polynomial_slope, tendon_lengths


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
    """Set ten_force (N): springs, dampers, actuators, equalities, friction losses, limits, and the tendon's inertia."""
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
    # Equalities; k is then their number of blocks.
    k = 0
    if ti.static(model.has.equality):
        for e in range(model.neq):
            t1, t2 = model.eq_tendon1[e], model.eq_tendon2[e]
            if t1 >= 0 and model.eq_rows[e] > 0:
                force = work.block_force.at(k, 0)
                _error, x, _second = tendon_lengths(model, work, e)
                work.ten_force[t1] = work.ten_force[t1] + force
                if t2 >= 0:
                    work.ten_force[t2] = work.ten_force[t2] - polynomial_slope(model, work, e, x) * force
            k += model.eq_rows[e]
    # Friction losses.
    for row in range(model.nfriction):
        t = model.friction_tendon[row]
        if t >= 0:
            work.ten_force[t] = work.ten_force[t] + work.block_force.at(k + row, 0)
    # Limits.
    for row in range(model.nlimit):
        t = model.limit_tendon[row]
        if t >= 0:
            block = work.limit_block[row]
            if block >= 0:
                work.ten_force[t] = work.ten_force[t] - work.block_force.at(block, 0) * model.limit_side[row]


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
