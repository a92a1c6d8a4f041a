"""Delays of actuators (MuJoCo documentation, XML reference: actuator/general, `delay`, `nsample` and `interp`).

What acts at a time t is the control at t - delay. An actuator remembers the controls of its last steps: `history_ctrl`,
the newest first, and `history_age`, how many steps before the evaluation in hand they were given. Between two samples
the older one acts, or what is between them on a line, or on a cubic with the slopes of Catmull and Rom; beyond the
newest and the oldest sample it is these. Ages are counted in steps, not made of times as in MuJoCo: whole numbers are
exact, and a delay of three steps is one after a million of them as well.
"""

import taichi as ti

from ..math import func
from ..stage import stage

HOLD, LINEAR, CUBIC = range(3)
"""Values of `lag_interp`: what acts between two samples is the older one, on a line, or on a cubic through them."""
ROUNDING = 1e-6
"""Steps by which a sample may be younger than the delay and count as just as old: ages and delays are rounded."""


@func
def acting_controls(model, work):
    """late_ctrl: of every control, what acts now."""
    for c in range(model.nu):
        work.late_ctrl[c] = work.ctrl[c]
    for g in range(model.nlag):
        if model.some(work.lanes, model.lag_delay[g] != 0.0):
            delay = work.real(0.0) + model.lag_delay[g]
            for j in range(model.lag_ctrlnum[g]):
                c = model.lag_ctrladr[g] + j
                past = work.real(0.0)
                if model.lag_interp[g] == HOLD:
                    past = _held(model, work, g, j, delay)
                else:
                    past = _between(model, work, g, j, delay)
                work.late_ctrl[c] = ti.select(delay != 0.0, past, work.ctrl[c])


@func
def _held(model, work, g: ti.i32, j: ti.i32, delay):
    """Control j of actuator g: the youngest sample that is as old as the delay, else the oldest."""
    count, age, at = model.lag_nsample[g], model.lag_ageadr[g], model.lag_historyadr[g] + j
    stride = model.lag_ctrlnum[g]
    found = work.real(0.0) + work.history_ctrl[at + (count - 1) * stride]
    for m in range(1, count):
        k = count - 1 - m
        old = work.history_age[age + k] >= delay - ROUNDING
        found = ti.select(old, work.history_ctrl[at + k * stride], found)
    return found


@func
def _between(model, work, g: ti.i32, j: ti.i32, delay):
    """Control j of actuator g on the line or cubic from the youngest sample that is as old as the delay to the next."""
    count, age, at = model.lag_nsample[g], model.lag_ageadr[g], model.lag_historyadr[g] + j
    stride, ages, values, zero = model.lag_ctrlnum[g], work.history_age, work.history_ctrl, work.real(0.0)
    last, before = count - 1, ti.max(count - 2, 0)
    from_age, to_age = zero + ages[age + last], zero + ages[age + before]
    start, end = zero + values[at + last * stride], zero + values[at + before * stride]
    start_slope, end_slope = zero, zero  # by steps
    for m in range(last):
        k = last - m
        older, newer, slope, next_slope = values[at + k * stride], values[at + (k - 1) * stride], zero, zero
        if model.lag_interp[g] == CUBIC:
            if k < last:
                slope = (newer - values[at + (k + 1) * stride]) / (ages[age + k + 1] - ages[age + k - 1])
            if k > 1:
                next_slope = (values[at + (k - 2) * stride] - older) / (ages[age + k] - ages[age + k - 2])
        old = ages[age + k] >= delay - ROUNDING
        from_age, to_age = ti.select(old, ages[age + k], from_age), ti.select(old, ages[age + k - 1], to_age)
        start, end = ti.select(old, older, start), ti.select(old, newer, end)
        start_slope, end_slope = ti.select(old, slope, start_slope), ti.select(old, next_slope, end_slope)
    way = ti.max(from_age - to_age, ROUNDING)
    x = ti.min(ti.max((from_age - delay) / way, 0.0), 1.0)
    found = start + (end - start) * x
    if model.lag_interp[g] == CUBIC:
        rise = x * x * (3.0 - x * 2.0)
        found = start + (end - start) * rise
        found += way * x * (1.0 - x) * (start_slope * (1.0 - x) - end_slope * x)
    return found


@stage(
    when=lambda has: has.delays,
    reads="ctrl fault rk_stage rk_stages",
    updates="history_age history_ctrl eval_history_age",
)
def pass_time(model, work):
    """After an evaluation: to the next stage of Runge and Kutta samples age; at the end of a step a new one comes.

    Where an environment stopped everything is as the step began.
    """
    stage, stages = work.rk_stage[0], work.rk_stages[0]
    if stage < stages - 1:
        if stage != 1:  # the second and the third stage are at the same time
            for i in range(model.nsample):
                work.history_age[i] = work.history_age[i] + 0.5
    else:
        aged = ti.cast(stages == 4, work.lanes.dtype)
        for i in range(model.nsample):
            started = work.history_age[i] - aged
            work.history_age[i] = started
            work.eval_history_age[i] = ti.select(work.fault[0] > 0.5, started, work.eval_history_age[i])
        for g in range(model.nlag):
            _remember(model, work, g)


@func
def _remember(model, work, g: ti.i32):
    """The controls of a step that ended become the newest sample of actuator g; the oldest is forgotten."""
    count, age, at, stride = model.lag_nsample[g], model.lag_ageadr[g], model.lag_historyadr[g], model.lag_ctrlnum[g]
    moves = work.fault[0] < 0.5
    for m in range(count):
        k = count - 1 - m
        older = work.real(1.0)
        if k > 0:
            older = work.history_age[age + k - 1] + 1.0
        work.history_age[age + k] = ti.select(moves, older, work.history_age[age + k])
        for j in range(stride):
            told = work.real(0.0) + work.ctrl[model.lag_ctrladr[g] + j]
            if k > 0:
                told = work.real(0.0) + work.history_ctrl[at + (k - 1) * stride + j]
            place = at + k * stride + j
            work.history_ctrl[place] = ti.select(moves, told, work.history_ctrl[place])
