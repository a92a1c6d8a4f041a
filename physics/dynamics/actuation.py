"""Actuators: force = gain(length, velocity) * control + bias(length, velocity).

Of an actuator with an activation (`activation`) that takes the control's place.
"""

import taichi as ti

from ..hooks import (
    ACTUATOR_FORCES,
    ADDED_FORCES,
    CLEAR_RATES,
    CONTROLS,
    GAIN_INPUT,
    JOINT_ACTUATORS,
    JOINT_LIMITS,
    SHAFT_FORCES,
    TRANSMISSIONS,
)
from ..kinematics.forward import BALL, FREE
from ..math import Quat, Vec3, func
from ..math.quaternion import rotation_vector
from ..mjmodel.transmissions import TENDON
from ..stage import stage
from .dof_control import dof_control
from .setpoints import clamped_control, nearest
from .tendon_forces import pull, share_of_force, sum_actuators

PLAIN, IDLE = 0, -1
"""Values of `actuator_servo` of gain and bias, and of a kind whose forces are switched off; others are the kinds'."""


@stage(
    reads=(
        "qpos qvel ctrl dof_mode dof_target dof_kp dof_kv dof_force_range ten_length ten_velocity ten_J controlled",
    ),
    writes="actuator_length actuator_velocity",
    updates="ten_actfrc acting_ctrl actuator_force actuator_slope moment qfrc_actuator dof_slope",
    hooks=(
        CONTROLS,
        CLEAR_RATES,
        TRANSMISSIONS,
        GAIN_INPUT,
        ADDED_FORCES,
        ACTUATOR_FORCES,
        SHAFT_FORCES,
        JOINT_ACTUATORS,
        JOINT_LIMITS,
    ),
)
def actuation(model, work):
    """Set length, velocity, force and slope of actuators, act_dot, and qfrc_actuator, controls of dofs included."""
    if ti.static(not CONTROLS.is_empty(model.has)):
        for c in range(model.nu):
            work.acting_ctrl[c] = work.ctrl[c]
    for change in ti.static(CONTROLS.of(model.has)):
        change(model, work)
    for clear in ti.static(CLEAR_RATES.of(model.has)):
        clear(model, work)
    for i in range(model.nv):
        work.qfrc_actuator[i] = work.real(0.0)
    for u in range(model.nout):
        length, velocity = work.real(0.0), work.real(0.0)
        kind = model.actuator_type[u]
        if kind == TENDON:
            if ti.static(model.has.tendons):
                t, gear = model.actuator_tendon[u], model.actuator_gear.at(u, 0)
                length = work.ten_length[t] * gear
                velocity = work.ten_velocity[t] * gear
        elif kind > TENDON:
            for motion_of, _ in ti.static(TRANSMISSIONS.of(model.has)):
                length, velocity = motion_of(model, work, u)
        elif kind > BALL:
            length = work.qpos[model.actuator_qposadr[u]] * model.actuator_gear.at(u, 0)
            velocity = work.qvel[model.actuator_dofadr[u]] * model.actuator_gear.at(u, 0)
        else:
            if ti.static(model.has.ball_joints):
                length, velocity = _turning(model, work, u)
        work.actuator_length[u] = length
        work.actuator_velocity[u] = velocity
        if model.actuates == 0:
            work.actuator_velocity[u] = work.real(0.0)
        _unlimited_force(model, work, u, length, velocity)
        if kind != TENDON:
            _limit_force(model, work, u)
            if kind > TENDON:
                for _, push in ti.static(TRANSMISSIONS.of(model.has)):
                    push(model, work, u)
            else:
                _push_joint(model, work, u)
    dof_control(model, work)
    if ti.static(model.has.tendons):
        _pull_tendons(model, work)
    for add in ti.static(JOINT_ACTUATORS.of(model.has)):
        add(model, work)
    for limit in ti.static(JOINT_LIMITS.of(model.has)):
        limit(model, work)


@func
def _push_joint(model, work, u: ti.i32):
    """qfrc_actuator += moment' force of an actuator on a joint."""
    dof = model.actuator_dofadr[u]
    if model.actuator_type[u] > BALL:
        push = work.actuator_force[u] * model.actuator_gear.at(u, 0)
        work.qfrc_actuator[dof] = work.qfrc_actuator[dof] + push
    else:
        if ti.static(model.has.ball_joints):
            count = 6
            if model.actuator_type[u] == BALL:
                count = 3
            for c in range(count):
                work.qfrc_actuator[dof + c] = work.qfrc_actuator[dof + c] + work.actuator_force[u] * work.moment[u, c]


@func
def _pull_tendons(model, work):
    """The range of what all actuators do to a tendon comes before that of each."""
    sum_actuators(model, work)
    for u in range(model.nout):
        t = model.actuator_tendon[u]
        if t >= 0:
            share = share_of_force(model, work, t)
            work.actuator_force[u] = work.actuator_force[u] * share
            work.actuator_slope[u] = ti.select(share == 1.0, work.actuator_slope[u], work.real(0.0))
            _limit_force(model, work, u)
            pull(model, work, t, work.actuator_force[u] * model.actuator_gear.at(u, 0), work.qfrc_actuator)


@func
def _limit_force(model, work, u: ti.i32):
    """Keep actuator_force in its range, where alone it has a slope; what acts on a motor's shaft is added to that."""
    low, high, force = model.actuator_forcerange.at(u, 0), model.actuator_forcerange.at(u, 1), work.actuator_force[u]
    free = (force > low) & (force < high)
    work.actuator_force[u] = ti.min(ti.max(force, low), high)
    work.actuator_slope[u] = ti.select(free, work.actuator_slope[u], work.real(0.0))
    for code, add in ti.static(SHAFT_FORCES.of(model.has)):
        if model.actuator_servo[u] == code:
            add(model, work, u)


@func
def _unlimited_force(model, work, u: ti.i32, length, velocity):
    """actuator_force and actuator_slope where no range limits them."""
    if ti.static(ACTUATOR_FORCES.is_empty(model.has)):
        _plain_force(model, work, u, length, velocity)
    else:
        kind = model.actuator_servo[u]
        if kind == IDLE:
            work.actuator_force[u], work.actuator_slope[u] = work.real(0.0), work.real(0.0)
        if kind == PLAIN:
            _plain_force(model, work, u, length, velocity)
        for code, set_force in ti.static(ACTUATOR_FORCES.of(model.has)):
            if kind == code:
                set_force(model, work, u, length, velocity)


@func
def _plain_force(model, work, u: ti.i32, length, velocity):
    """Of an actuator with a gain and a bias."""
    clamped = clamped_control(model, work, model.actuator_ctrladr[u])
    for take in ti.static(GAIN_INPUT.of(model.has)):
        clamped = take(model, work, u, clamped, length)
    control = nearest(model, work, u, clamped, length)
    gain0, gain1, gain2 = model.actuator_gain.at(u, 0), model.actuator_gain.at(u, 1), model.actuator_gain.at(u, 2)
    bias0, bias1, bias2 = model.actuator_bias.at(u, 0), model.actuator_bias.at(u, 1), model.actuator_bias.at(u, 2)
    force = (length * gain1 + velocity * gain2 + gain0) * control + (length * bias1 + velocity * bias2 + bias0)
    slope = clamped * gain2 + bias2
    for add, _ in ti.static(ADDED_FORCES.of(model.has)):
        force, slope = add(model, work, u, length, velocity, control, clamped, force, slope)
    work.actuator_force[u] = force
    work.actuator_slope[u] = slope


@func
def has_slope(model, work, u: ti.i32):
    """Whether the force of an actuator may depend on its velocity."""
    found = model.some(work.lanes, (model.actuator_gain.at(u, 2) != 0.0) | (model.actuator_bias.at(u, 2) != 0.0))
    for _, slopes in ti.static(ADDED_FORCES.of(model.has)):
        found = found or slopes(model, work, u)
    for code, _ in ti.static(SHAFT_FORCES.of(model.has)):
        found = found or model.actuator_servo[u] == code
    return found


@func
def _turning(model, work, u: ti.i32):
    """Length and velocity of an actuator on a ball joint (3 gears) or a free joint (6), and its moment.

    The gears are a torque, or a force and torque.
    """
    dof = model.actuator_dofadr[u]
    q = model.actuator_qposadr[u]
    zero = work.real(0.0)
    gear = model.actuator_gear[u]
    force_axis = Vec3(zero + gear.rot.x, zero + gear.rot.y, zero + gear.rot.z)
    turn_axis = Vec3(zero + gear.lin.x, zero + gear.lin.y, zero + gear.lin.z)
    length = zero
    velocity = zero
    if model.actuator_type[u] == FREE:
        q += 3
    quat = Quat(work.qpos[q], work.qpos[q + 1], work.qpos[q + 2], work.qpos[q + 3]).normalized()
    if model.actuator_type[u] == BALL:
        turn_axis = force_axis
    if model.actuator_inparent[u] == 1:
        turn_axis = quat.conjugate().rotate(turn_axis)
    if model.actuator_type[u] == FREE:
        velocity = work.qvel[dof] * force_axis.x + work.qvel[dof + 1] * force_axis.y + work.qvel[dof + 2] * force_axis.z
        dof += 3
    else:
        length = rotation_vector(work.lanes, quat).dot(turn_axis)
    velocity += work.qvel[dof] * turn_axis.x + work.qvel[dof + 1] * turn_axis.y + work.qvel[dof + 2] * turn_axis.z
    if model.actuator_type[u] == BALL:
        force_axis = turn_axis
    _set_moment(work, u, 0, force_axis)
    _set_moment(work, u, 3, turn_axis)
    return length, velocity


@func
def _set_moment(work, u: ti.i32, c, axis):
    work.moment[u, c] = axis.x
    work.moment[u, c + 1] = axis.y
    work.moment[u, c + 2] = axis.z
