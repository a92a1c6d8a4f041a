"""How activations advance in a step."""

import taichi as ti

from ..hooks import ACTIVATION_END, ACTIVATION_START, SETPOINTS_END
from ..math import func
from ..stage import stage
from .activation import INTEGRATOR, SHORTEST, next_activation
from .stage_time import stage_time


@stage(
    when=lambda has: has.activation,
    reads="act_dot act_length start_act rk_stage rk_stages",
    updates="act mean_act_dot",
    hooks=(ACTIVATION_START, ACTIVATION_END, SETPOINTS_END),
)
def advance_activations(model, work):
    """Act from start_act: a step on at the end of it, before that where the next stage of Runge and Kutta begins.

    The setpoint of a servo that turns stays within a turn of where the joint is.
    """
    stage, stages, dt = work.rk_stage[0], work.rk_stages[0], stage_time(model, work)
    for keep in ti.static(ACTIVATION_START.of(model.has)):
        if stage == 0:
            keep(model, work)
    if model.actuates == 1:
        for a in range(model.na):
            rate = work.real(0.0) + work.act_dot[a]
            if stages == 4:
                weight = 1.0 / 6.0
                if stage == 1 or stage == 2:
                    weight = 1.0 / 3.0
                mean = work.mean_act_dot[a] + rate * weight
                if stage == 0:
                    mean = rate * weight
                work.mean_act_dot[a] = mean
                if stage == 3:
                    rate = mean
            if stage < stages - 1:
                work.act[a] = work.start_act[a] + rate * dt
            else:
                _end_step(model, work, a, rate)
        for bring in ti.static(SETPOINTS_END.of(model.has)):
            if stage == stages - 1:
                bring(model, work)


@func
def _end_step(model, work, a: ti.i32, rate):
    """Act at the end of a step."""
    act = next_activation(model, a, work.start_act[a], rate)
    u = model.act_outid[a]
    period = model.actuator_period[u]
    if model.actuator_dyntype[u] == INTEGRATOR and model.some(work.lanes, period > 0.0):
        turns = ti.round((act - work.act_length[a]) / ti.max(period, SHORTEST))
        act = ti.select(work.lanes.mask(period > 0.0) > 0.5, act - turns * period, act)
    for end in ti.static(ACTIVATION_END.of(model.has)):
        act = end(model, work, a, act)
    work.act[a] = act
