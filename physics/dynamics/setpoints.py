"""What actuators are told: controls in their ranges, setpoints on a circle, setpoints that cannot jump."""

import taichi as ti

from ..math import func


@func
def clamped_control(model, work, c: ti.i32):
    """What acts as control c, within its range."""
    return ti.min(ti.max(work.acting_ctrl[c], model.actuator_ctrlrange.at(c, 0)), model.actuator_ctrlrange.at(c, 1))


@func
def input_of(model, work, c: ti.i32):
    """Control c within its range; 0 of an input that there is none of, c being -1."""
    found = work.real(0.0)
    if c >= 0:
        found = clamped_control(model, work, c)
    return found


@func
def nearest(model, work, u: ti.i32, setpoint, place):
    """The setpoint; where output u turns round and round, the one whole turns from it that is nearest to `place`."""
    found = setpoint
    period = model.actuator_period[u]
    if model.some(work.lanes, period > 0.0):
        within = found - ti.round((found - place) * (1.0 / period)) * period
        if ti.static(model.has.parameters):
            within = ti.select(period > 0.0, within, found)
        found = within
    return found


@func
def slowed(model, work, a: ti.i32, setpoint, speed):
    """The setpoint as far as it can get in a step from activation a, where it was, at `speed` (1/s); sets act_dot."""
    before, reach = work.real(0.0) + work.act[a], speed * model.timestep[0]
    after = ti.min(ti.max(setpoint, before - reach), before + reach)
    work.act_dot[a] = (after - before) / model.timestep[0]
    return after


@func
def held_back(work, a: ti.i32, error, most):
    """What activation a, the integral of an error, may gain: nothing more beyond `most`, if that is above 0."""
    rate = work.real(0.0) + error
    if most > 0.0:
        total = work.act[a]
        rate = ti.select(total >= most, ti.min(rate, 0.0), ti.select(total <= -most, ti.max(rate, 0.0), rate))
    return rate
