"""Activations of actuators: states between a control and a force (MuJoCo documentation, Computation: Actuation model).

An integrator adds up its control, a filter follows it; a muscle follows it at a speed that depends on how active it is
(Millard et al. 2013). Each such actuator has one activation, `act`.
"""

import taichi as ti

from ..math import func

INTEGRATOR, FILTER, FILTEREXACT, MUSCLE = 1, 2, 3, 4
"""Values of `actuator_dyntype`; 0: none."""
SHORTEST = 1e-15  # seconds: MuJoCo's mjMINVAL


@func
def activate(model, work, u: ti.i32, control, length):
    """Set act_dot of actuator u, which has an activation; what its gain is multiplied by."""
    a = model.actuator_actadr[u]
    act = work.real(0.0) + work.act[a]
    rate = work.real(0.0) + control
    if model.actuator_dyntype[u] == MUSCLE:
        rate = _muscle_rate(model, work, u, control, act)
    elif model.actuator_dyntype[u] != INTEGRATOR:
        rate = (control - act) / ti.max(model.actuator_dynprm.at(u, 0), SHORTEST)
    work.act_dot[a] = rate
    work.act_length[a] = length
    if model.actuator_actearly[u] == 1:
        act = next_activation(model, a, act, rate)
    return act


@func
def _muscle_rate(model, work, u: ti.i32, control, act):
    """(control - act) over a time constant: that of activation or of deactivation, or a smooth passage between them."""
    activity = 0.5 + 1.5 * ti.min(ti.max(act, 0.0), 1.0)
    excess = ti.min(ti.max(control, 0.0), 1.0) - act
    width = model.actuator_dynprm.at(u, 2)
    rising, falling = activity * model.actuator_dynprm.at(u, 0), model.actuator_dynprm.at(u, 1) / activity
    time = ti.select(excess > 0.0, rising, falling)
    if width >= SHORTEST:
        x = ti.min(ti.max(excess / width + 0.5, 0.0), 1.0)
        time = falling + (rising - falling) * (x * x * x * (10.0 + x * (6.0 * x - 15.0)))
    return excess / ti.max(time, SHORTEST)


@func
def next_activation(model, a: ti.i32, act, rate):
    """Activation a, a step later: `act_hold` is the step, or what an exact filter takes for it."""
    return ti.min(ti.max(act + rate * model.act_hold[a], model.act_range.at(a, 0)), model.act_range.at(a, 1))


@func
def muscle_gain(model, work, u: ti.i32, length, velocity):
    """Active force of a muscle for an activation of 1, and its derivative by the velocity (MuJoCo: Muscle actuators).

    `actuator_muscle_gain` has the peak force (N), the optimal length (m), the lower end of the operating range in
    optimal lengths and in metres, the shortest and longest length in optimal lengths, the highest velocity (m/s), and
    the factor of the force at fast lengthening.
    """
    prm = model.actuator_muscle_gain
    zero, one = work.real(0.0), work.real(1.0)
    x = (length - prm.at(u, 3)) / prm.at(u, 1) + prm.at(u, 2)
    low, high = prm.at(u, 4), prm.at(u, 5)
    a, b = 0.5 * (low + 1.0), 0.5 * (high + 1.0)
    rise, fall = (x - low) / ti.max(a - low, SHORTEST), (high - x) / ti.max(high - b, SHORTEST)
    left, right = (1.0 - x) / ti.max(1.0 - a, SHORTEST), (x - 1.0) / ti.max(b - 1.0, SHORTEST)
    curve = ti.select(x <= b, 1.0 - 0.5 * right * right, 0.5 * fall * fall)
    curve = ti.select(x <= 1.0, 1.0 - 0.5 * left * left, curve)
    curve = ti.select(x <= a, 0.5 * rise * rise, curve)
    curve = ti.select((x >= low) & (x <= high), curve, zero)
    v, most = velocity / prm.at(u, 6), prm.at(u, 7)
    y = most - 1.0
    spare = ti.max(y, SHORTEST)
    faster = ti.select(v <= y, most - (y - v) * (y - v) / spare, one * most)
    faster_slope = ti.select(v <= y, 2.0 * (y - v) / spare, zero)
    speed = ti.select(v <= 0.0, (v + 1.0) * (v + 1.0), faster)
    slope = ti.select(v <= 0.0, 2.0 * (v + 1.0), faster_slope)
    speed, slope = ti.select(v <= -1.0, zero, speed), ti.select(v <= -1.0, zero, slope)
    force = curve * -prm.at(u, 0)
    return force * speed, force * slope / prm.at(u, 6)


@func
def muscle_bias(model, work, u: ti.i32, length):
    """Passive force of a muscle, which pulls back beyond its optimal length.

    `actuator_muscle_bias` begins as `actuator_muscle_gain`; then the longest length and the force there in peak forces.
    """
    prm = model.actuator_muscle_bias
    x = (length - prm.at(u, 3)) / prm.at(u, 1) + prm.at(u, 2)
    b = 0.5 * (prm.at(u, 4) + 1.0)
    range_ = ti.max(b - 1.0, SHORTEST)
    bent = (x - 1.0) / range_
    share = ti.select(x <= b, 0.5 * bent * bent, 0.5 + (x - b) / range_)
    share = ti.select(x <= 1.0, work.real(0.0), share)
    return share * (prm.at(u, 0) * -prm.at(u, 5))
