"""How activations advance in a step."""

import taichi as ti

from ..math import func
from ..state.stage import stage
from ..state.stage_time import stage_time
from .activation import INTEGRATOR, SHORTEST, next_activation
from .dc_motor import bend, keep_speeds
from .orientation_servo import anchor_setpoints


@stage(
    when=lambda has: has.activation,
    reads="act_dot act_length motor_speed start_act rk_stage rk_stages",
    updates="act motor_start mean_act_dot",
)
def advance_activations(model, work):
    """Act from start_act: a step on at the end of it, before that where the next stage of Runge and Kutta begins.

    The setpoint of a servo that turns stays within a turn of where the joint is.
    """
    stage, stages, dt = work.rk_stage[0], work.rk_stages[0], stage_time(model, work)
    if ti.static(model.has.dc_motor):
        if stage == 0:
            keep_speeds(model, work)
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
        if ti.static(model.has.orientation):
            if stage == stages - 1:
                anchor_setpoints(model, work)


@func
def _end_step(model, work, a: ti.i32, rate):
    """Act at the end of a step."""
    act = next_activation(model, a, work.start_act[a], rate)
    u = model.act_outid[a]
    period = model.actuator_period[u]
    if model.actuator_dyntype[u] == INTEGRATOR and model.some(work.lanes, period > 0.0):
        turns = ti.round((act - work.act_length[a]) / ti.max(period, SHORTEST))
        act = ti.select(work.lanes.mask(period > 0.0) > 0.5, act - turns * period, act)
    if ti.static(model.has.dc_motor):
        act = bend(model, work, a, act)
    work.act[a] = act
