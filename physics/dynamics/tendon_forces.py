"""Forces along tendons: of actuators, and of the inertia of tendons."""

import taichi as ti

from ..kinematics.tendons import SHORTEST, apart, direction, link_end
from ..math import Vec3, func
from ..stage import piece, stage
from .newton_euler import carried, velocity_accelerations


@func
def pull(model, work, t: ti.i32, force, qfrc):
    """Add a force along a tendon to the dofs' `qfrc`."""
    for at in range(model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]):
        i = model.tendon_dof[at]
        qfrc[i] = qfrc[i] + work.ten_J[at] * force


@func
def sum_actuators(model, work):
    """Set ten_actfrc to the sum of actuator_force over the actuators of each tendon."""
    for t in range(model.ntendon):
        work.ten_actfrc[t] = work.real(0.0)
    for u in range(model.nout):
        t = model.actuator_tendon[u]
        if t >= 0:
            work.ten_actfrc[t] = work.ten_actfrc[t] + work.actuator_force[u]


@func
def share_of_force(model, work, t: ti.i32):
    """Factor that brings ten_actfrc into its range; a sum of 0 stays."""
    total = work.ten_actfrc[t]
    low, high = model.tendon_actfrcrange.at(t, 0), model.tendon_actfrcrange.at(t, 1)
    inverse = 1.0 / ti.select(total == 0.0, work.real(1.0), total)
    share = ti.select(total > high, inverse * high, work.real(1.0))
    return ti.select((total < low) & (total != 0.0), inverse * low, ti.select(total == 0.0, work.real(1.0), share))


@func
def entry_of(work, i: ti.i32, j: ti.i32):
    """Address of the entry of dofs i >= j in a matrix like M; -1 where j is none of i's ancestors."""
    entry, start, at = -1, work.M_pattern.start(i), work.M_pattern.count[i] - work.M_pattern.count[j]
    if at >= 0:
        if work.M_pattern.column(start, at) == j:
            entry = start + at
    return entry


@piece(reads="ten_J ten_bias")
def add_inertial_forces(model, work, qacc):
    """Add to qfrc_inverse what tendons with armature need for the accelerations `qacc`, with the entries that M has."""
    for t in range(model.ntendon):
        if model.some(work.lanes, model.tendon_armature[t] != 0.0):
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

    A straight piece from p1 to p2 along n gains n . (a2 - a1), accelerations that velocities alone make, and the square
    of what turns it over its length.
    """
    for t in range(model.ntendon):
        work.ten_bias[t] = work.real(0.0)
    if ti.static(model.has.spatial_tendons):
        velocity_accelerations(model, work)
        for t in range(model.ntendon):
            if model.some(work.lanes, model.tendon_armature[t] != 0.0):
                _add_rates(model, work, t)


@func
def _add_rates(model, work, t: ti.i32):
    for link in range(model.tendon_linkadr[t], model.tendon_linkadr[t] + model.tendon_linknum[t]):
        b1, b2 = model.link_body1[link], model.link_body2[link]
        if b1 != b2:
            start = link_end(model, work, b1, model.link_pos1[link])
            stop = link_end(model, work, b2, model.link_pos2[link])
            across = work.lanes.cast(apart(model, work, b1, start, b2, stop))
            length = across.norm()
            along = direction(work, across, length)
            push = _point_acceleration(work, b2, stop) - _point_acceleration(work, b1, start)
            pace = _point_velocity(model, work, b2, stop) - _point_velocity(model, work, b1, start)
            turning = pace - along * along.dot(pace)
            bend = ti.select(length > SHORTEST, turning.dot(pace) / ti.max(length, SHORTEST), work.real(0.0))
            rate = (along.dot(push) + bend) * model.link_share[link]
            work.ten_bias[t] = work.ten_bias[t] + rate


@func
def _point_acceleration(work, b: ti.i32, point):
    """Acceleration of a point of body b, given from the root of its tree, that velocities alone make."""
    acceleration = work.body_acc[b]
    arm = point - work.precise_lanes.cast(work.inertial_offset[b])
    return work.lanes.cast(acceleration.lin + carried(acceleration.rot, work.cvel[b].rot, arm))


@func
def _point_velocity(model, work, b: ti.i32, point):
    """Velocity of such a point."""
    velocity = work.cvel[b]
    arm = point - work.precise_lanes.cast(work.com_offset[model.body_rootid[b]])
    zero = work.precise_lanes.real(0.0)
    speed = Vec3(zero, zero, zero)
    if b > 0:
        speed += velocity.lin + velocity.rot.cross(arm)
    return work.lanes.cast(speed)
