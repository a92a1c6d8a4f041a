"""Actuator forces: force = gain(length, velocity) * control + bias(length, velocity).

If an actuator has an activation, the activation replaces the control (`activation`). An *output* u has one length and
one force; most actuators have one output.
"""

import taichi as ti

from ...base.hooks import (
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
from ...base.joints import dofs_of_ball_or_free, is_scalar, turning_transmission
from ...base.math import func
from ...base.stage import stage
from ...files.mjmodel.actuators import TENDON
from .dof_control import dof_control
from .tendon_forces import pull, share_of_force, sum_actuators

PLAIN, IDLE = 0, -1
"""Values of `actuator_servo`: force from gain and bias, and force switched off. Mechanisms add their own codes."""


@stage(
    reads=(
        "qpos qvel ctrl dof_mode dof_target dof_target_vel dof_kp dof_kv dof_force_range",
        "ten_length ten_velocity ten_J controlled",
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
    """Set length, velocity, force and slope of actuators, act_dot and qfrc_actuator, including controls of dofs."""
    # the controls that act, and the rates of activations
    if ti.static(not CONTROLS.is_empty(model.has)):
        for c in range(model.nu):
            work.acting_ctrl[c] = work.ctrl[c]
    for change in ti.static(CONTROLS.of(model.has)):
        change(model, work)
    for clear in ti.static(CLEAR_RATES.of(model.has)):
        clear(model, work)
    for i in range(model.nv):
        work.qfrc_actuator[i] = work.real(0.0)
    # each output: length and velocity, then force, then its moment times force on the dofs
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
        elif is_scalar(kind):
            length = work.qpos[model.actuator_qposadr[u]] * model.actuator_gear.at(u, 0)
            velocity = work.qvel[model.actuator_dofadr[u]] * model.actuator_gear.at(u, 0)
        else:
            if ti.static(model.has.ball_joints):
                length, velocity = turning_transmission(model, work, u)
        work.actuator_length[u] = length
        work.actuator_velocity[u] = velocity
        if model.actuates == 0:
            work.actuator_velocity[u] = work.real(0.0)
        _unlimited_force(model, work, u, length, velocity)
        # forces along tendons follow below, where the total per tendon is limited
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
    """Add moment' * force of output u, on a joint, to qfrc_actuator."""
    dof = model.actuator_dofadr[u]
    if is_scalar(model.actuator_type[u]):
        push = work.actuator_force[u] * model.actuator_gear.at(u, 0)
        work.qfrc_actuator[dof] = work.qfrc_actuator[dof] + push
    else:
        if ti.static(model.has.ball_joints):
            for c in range(dofs_of_ball_or_free(model.actuator_type[u])):
                work.qfrc_actuator[dof + c] = work.qfrc_actuator[dof + c] + work.actuator_force[u] * work.moment[u, c]


@func
def _pull_tendons(model, work):
    """Limit the total actuator force of each tendon, then each output's; add the result to qfrc_actuator."""
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
    """Clamp actuator_force to actuator_forcerange, with slope 0 outside; then add a motor's unlimited shaft force."""
    low, high, force = model.actuator_forcerange.at(u, 0), model.actuator_forcerange.at(u, 1), work.actuator_force[u]
    free = (force > low) & (force < high)
    work.actuator_force[u] = ti.min(ti.max(force, low), high)
    work.actuator_slope[u] = ti.select(free, work.actuator_slope[u], work.real(0.0))
    for code, add in ti.static(SHAFT_FORCES.of(model.has)):
        if model.actuator_servo[u] == code:
            add(model, work, u)


@func
def _unlimited_force(model, work, u: ti.i32, length, velocity):
    """Set actuator_force and actuator_slope before they are clamped to a range."""
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
    """Set actuator_force and actuator_slope of an output with a gain and a bias."""
    # the number that the gain multiplies; on a circle it is moved by whole turns towards the length
    clamped = clamped_control(model, work, model.actuator_ctrladr[u])
    for take in ti.static(GAIN_INPUT.of(model.has)):
        clamped = take(model, work, u, clamped, length)
    control = nearest(model, work, u, clamped, length)
    gain0, gain1, gain2 = model.actuator_gain.at(u, 0), model.actuator_gain.at(u, 1), model.actuator_gain.at(u, 2)
    bias0, bias1, bias2 = model.actuator_bias.at(u, 0), model.actuator_bias.at(u, 1), model.actuator_bias.at(u, 2)
    # gain * control + bias, and its derivative by the velocity
    force = (length * gain1 + velocity * gain2 + gain0) * control + (length * bias1 + velocity * bias2 + bias0)
    slope = clamped * gain2 + bias2
    for add, _ in ti.static(ADDED_FORCES.of(model.has)):
        force, slope = add(model, work, u, length, velocity, control, clamped, force, slope)
    work.actuator_force[u] = force
    work.actuator_slope[u] = slope


@func
def has_slope(model, work, u: ti.i32):
    """Return True if the force of output u may depend on its velocity in some lane."""
    found = model.any_true(work.lanes, (model.actuator_gain.at(u, 2) != 0.0) | (model.actuator_bias.at(u, 2) != 0.0))
    for _, slopes in ti.static(ADDED_FORCES.of(model.has)):
        found = found or slopes(model, work, u)
    for code, _ in ti.static(SHAFT_FORCES.of(model.has)):
        found = found or model.actuator_servo[u] == code
    return found


@func
def clamped_control(model, work, c: ti.i32):
    """Return acting control c, clamped to its range."""
    return ti.min(ti.max(work.acting_ctrl[c], model.actuator_ctrlrange.at(c, 0)), model.actuator_ctrlrange.at(c, 1))


@func
def input_of(model, work, c: ti.i32):
    """Return control c clamped to its range; 0 if c is -1, for an input that does not exist."""
    found = work.real(0.0)
    if c >= 0:
        found = clamped_control(model, work, c)
    return found


@func
def nearest(model, work, u: ti.i32, setpoint, place):
    """Return the setpoint; if output u is periodic, shifted by whole periods to be nearest to the length `place`."""
    found = setpoint
    period = model.actuator_period[u]
    if model.any_true(work.lanes, period > 0.0):
        within = found - ti.round((found - place) * (1.0 / period)) * period
        if ti.static(model.has.parameters):
            within = ti.select(period > 0.0, within, found)
        found = within
    return found


@func
def slowed(model, work, a: ti.i32, setpoint, speed):
    """Return how far activation a gets towards `setpoint` within a step at the rate `speed` (1/s); set act_dot."""
    before, reach = work.real(0.0) + work.act[a], speed * model.timestep[0]
    after = ti.min(ti.max(setpoint, before - reach), before + reach)
    work.act_dot[a] = (after - before) / model.timestep[0]
    return after


@func
def held_back(work, a: ti.i32, error, most):
    """Return the rate of activation a, an integral of `error`, without growth beyond +-most if `most` > 0.

    This is the anti-windup of an integral controller.
    """
    rate = work.real(0.0) + error
    if most > 0.0:
        total = work.act[a]
        rate = ti.select(total >= most, ti.min(rate, 0.0), ti.select(total <= -most, ti.max(rate, 0.0), rate))
    return rate


INTEGRATOR, FILTER, FILTEREXACT, MUSCLE = 1, 2, 3, 4
"""Values of `actuator_dyntype`; 0: no activation dynamics."""
SHORTEST = 1e-15  # MuJoCo's mjMINVAL, in seconds


@func
def next_activation(model, a: ti.i32, act, rate):
    """Return activation a at the end of the step: act + rate * act_hold[a], clamped to act_range.

    act_hold[a] (s) is the time step, or for an exact filter the time that gives the same result.
    """
    return ti.min(ti.max(act + rate * model.act_hold[a], model.act_range.at(a, 0)), model.act_range.at(a, 1))
