"""Forces along tendons: of actuators, and of tendon armature."""

import taichi as ti

from ...base.joints import carried
from ...base.math import Vec3, func
from ...base.stage import piece, stage
from ..kinematics.tendons import SHORTEST, direction, link_end, offset_between
from .newton_euler import velocity_accelerations


@func
def pull(model, work, t: ti.i32, force, qfrc):
    """Add ten_J' * force of tendon t to the dofs' `qfrc`; `force` in N."""
    for at in range(model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]):
        i = model.tendon_dof[at]
        qfrc[i] = qfrc[i] + work.ten_J[at] * force


@func
def sum_actuators(model, work):
    """Set ten_actfrc of each tendon to the sum of actuator_force over its actuators."""
    for t in range(model.ntendon):
        work.ten_actfrc[t] = work.real(0.0)
    for u in range(model.nout):
        t = model.actuator_tendon[u]
        if t >= 0:
            work.ten_actfrc[t] = work.ten_actfrc[t] + work.actuator_force[u]


@func
def share_of_force(model, work, t: ti.i32):
    """Return the factor that brings ten_actfrc into its range; 1 if the total is 0."""
    total = work.ten_actfrc[t]
    low, high = model.tendon_actfrcrange.at(t, 0), model.tendon_actfrcrange.at(t, 1)
    inverse = 1.0 / ti.select(total == 0.0, work.real(1.0), total)
    share = ti.select(total > high, inverse * high, work.real(1.0))
    return ti.select((total < low) & (total != 0.0), inverse * low, ti.select(total == 0.0, work.real(1.0), share))


@func
def entry_of(work, i: ti.i32, j: ti.i32):
    """Return the address of the entry of dofs i >= j in a matrix stored like M; -1 if j is no ancestor of i."""
    entry, start, at = -1, work.M_pattern.start(i), work.M_pattern.count[i] - work.M_pattern.count[j]
    if at >= 0:
        if work.M_pattern.column(start, at) == j:
            entry = start + at
    return entry


@piece(reads="ten_J ten_bias")
def add_inertial_forces(model, work, qacc):
    """Add J' armature (J qacc + dJ/dt qvel) of tendons to qfrc_inverse, restricted to the entries of M."""
    for t in range(model.ntendon):
        if model.any_true(work.lanes, model.tendon_armature[t] != 0.0):
            first, end = model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]
            for e in range(first, end):
                i = model.tendon_dof[e]
                rate = work.ten_bias[t] + work.ten_J[e] * work.lanes.cast(qacc[i])
                for f in range(first, end):
                    j = model.tendon_dof[f]
                    if f != e and entry_of(work, ti.max(i, j), ti.min(i, j)) >= 0:
                        rate += work.ten_J[f] * work.lanes.cast(qacc[j])
                push = work.precise_lanes.cast(rate * work.ten_J[e] * model.tendon_armature[t])
                work.qfrc_inverse.put(i, work.qfrc_inverse[i] + push)


@stage(
    when=lambda has: has.tendon_armature,
    reads="qvel xpos xquat root_offset inertial_offset com_offset anchor_offset cdof cvel",
    updates="ten_bias body_acc dqacc",
)
def tendon_rates(model, work):
    """Set ten_bias, dJ/dt qvel, of tendons with armature.

    For a straight segment from p1 to p2 of length l and direction n it is n . (a2 - a1) + |v_across|^2 / l, with the
    points' accelerations caused by velocities, and the part of v2 - v1 across n.
    """
    for t in range(model.ntendon):
        work.ten_bias[t] = work.real(0.0)
    if ti.static(model.has.spatial_tendons):
        velocity_accelerations(model, work)
        for t in range(model.ntendon):
            if model.any_true(work.lanes, model.tendon_armature[t] != 0.0):
                _add_rates(model, work, t)


@func
def _add_rates(model, work, t: ti.i32):
    """Add the terms of all segments of tendon t to ten_bias."""
    # segments whose ends are on different bodies
    for link in range(model.tendon_linkadr[t], model.tendon_linkadr[t] + model.tendon_linknum[t]):
        b1, b2 = model.link_body1[link], model.link_body2[link]
        if b1 != b2:
            # both ends from the root of their trees, and the direction between them
            start = link_end(model, work, b1, model.link_pos1[link])
            stop = link_end(model, work, b2, model.link_pos2[link])
            across = work.lanes.cast(offset_between(model, work, b1, start, b2, stop))
            length = across.norm()
            along = direction(work, across, length)
            # relative acceleration and velocity of the ends
            push = _point_acceleration(work, b2, stop) - _point_acceleration(work, b1, start)
            pace = _point_velocity(model, work, b2, stop) - _point_velocity(model, work, b1, start)
            turning = pace - along * along.dot(pace)
            # the square of the velocity across the segment over its length
            bend = ti.select(length > SHORTEST, turning.dot(pace) / ti.max(length, SHORTEST), work.real(0.0))
            rate = (along.dot(push) + bend) * model.link_share[link]
            work.ten_bias[t] = work.ten_bias[t] + rate


@func
def _point_acceleration(work, b: ti.i32, point):
    """Return the acceleration, caused by velocities, of a point of body b, given relative to the tree's root."""
    acceleration = work.body_acc[b]
    arm = point - work.precise_lanes.cast(work.inertial_offset[b])
    return work.lanes.cast(acceleration.lin + carried(acceleration.rot, work.cvel[b].rot, arm))


@func
def _point_velocity(model, work, b: ti.i32, point):
    """Return the velocity of a point of body b, given relative to the tree's root; 0 for the world."""
    velocity = work.cvel[b]
    arm = point - work.precise_lanes.cast(work.com_offset[model.body_rootid[b]])
    zero = work.precise_lanes.real(0.0)
    speed = Vec3(zero, zero, zero)
    if b > 0:
        speed += velocity.lin + velocity.rot.cross(arm)
    return work.lanes.cast(speed)
