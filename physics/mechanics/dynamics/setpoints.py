"""The inputs of actuators: controls clamped to their ranges, setpoints on a circle, and rate limits."""

import taichi as ti

from ...base.math import func


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
