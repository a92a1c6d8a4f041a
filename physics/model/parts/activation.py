"""Activations of actuators: states between a control and a force, and muscles (MuJoCo documentation, Actuation model).

An integrator adds up its control, a filter follows it; a muscle follows it at a speed that depends on how active it is
(Millard et al. 2013). Each such actuator has one activation, `act`. The common part of all kinds is in
`dynamics.actuation`.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import (
    ACTIVATION_END,
    ACTIVATION_START,
    ADDED_FORCES,
    CLEAR_RATES,
    GAIN_INPUT,
    SETPOINTS_END,
    STATES_ADVANCE,
)
from ...base.math import func
from ...base.stage import piece, stage
from ...files.mjmodel.actuators import (
    BIAS_MUSCLE,
    GAIN_MUSCLE,
    activation_outputs,
    activation_owners,
    disabled_actuators,
    output_activations,
    owners,
)
from ...files.mjmodel.allowed import GAIN, RANGE, Parameter
from ...files.mjmodel.flags import UNLIMITED, disabled
from ...files.mjmodel.solver_params import MINVAL
from ...mechanics.dynamics.actuation import INTEGRATOR, MUSCLE, SHORTEST, next_activation
from ...mechanics.dynamics.stage_time import stage_time
from .part import Memory, Part, Rule


@piece(writes="act_dot")
def clear_rates(model, work):
    """Set act_dot to 0."""
    for a in range(model.na):
        work.act_dot[a] = work.real(0.0)


@piece(reads="act", writes="act_dot act_length")
def activate(model, work, u: ti.i32, control, length):
    """Return the activation of output u, whose act_dot is set, or its control if it has none."""
    found = control
    if model.actuator_actadr[u] >= 0:
        found = _activation(model, work, u, control, length)
    return found


@func
def _activation(model, work, u: ti.i32, control, length):
    """Set act_dot and act_length of output u, which has an activation; return the activation that acts."""
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
    """Return (control - act) over the time constant of activation or of deactivation, with a smooth passage between."""
    activity = 0.5 + 1.5 * ti.min(ti.max(act, 0.0), 1.0)
    excess = ti.min(ti.max(control, 0.0), 1.0) - act
    width = model.actuator_dynprm.at(u, 2)
    rising, falling = activity * model.actuator_dynprm.at(u, 0), model.actuator_dynprm.at(u, 1) / activity
    time = ti.select(excess > 0.0, rising, falling)
    if width >= SHORTEST:
        x = ti.min(ti.max(excess / width + 0.5, 0.0), 1.0)
        time = falling + (rising - falling) * (x * x * x * (10.0 + x * (6.0 * x - 15.0)))
    return excess / ti.max(time, SHORTEST)


@piece()
def add_muscle(model, work, u: ti.i32, length, velocity, control, clamped, force, slope):
    """Return the force of output u and its derivative by the velocity, with a muscle's added to them."""
    total, steep = force, slope
    muscle = model.actuator_muscle[u]
    if muscle % 2 == 1:
        gain, gain_slope = _muscle_gain(model, work, u, length, velocity)
        total += gain * control
        steep += gain_slope * clamped
    if muscle >= 2:
        total += _muscle_bias(model, work, u, length)
    return total, steep


@piece()
def muscle_has_slope(model, work, u: ti.i32):
    """Return True if output u has the gain of a muscle, which depends on the velocity."""
    return model.actuator_muscle[u] % 2 == 1


@func
def _muscle_gain(model, work, u: ti.i32, length, velocity):
    """Return the active force of a muscle for an activation of 1, and its derivative by the velocity.

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
def _muscle_bias(model, work, u: ti.i32, length):
    """Return the passive force of a muscle, which pulls back beyond its optimal length.

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


@stage(
    when=lambda has: has.activation,
    reads="act_dot act_length start_act rk_stage rk_stages",
    updates="act mean_act_dot",
    hooks=(ACTIVATION_START, ACTIVATION_END, SETPOINTS_END),
)
def advance_activations(model, work):
    """Set act: at the end of a step, and before that where the next stage of Runge and Kutta begins.

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
    """Set activation a at the end of a step, from its rate (1/s)."""
    act = next_activation(model, a, work.start_act[a], rate)
    u = model.act_outid[a]
    period = model.actuator_period[u]
    if model.actuator_dyntype[u] == INTEGRATOR and model.any_true(work.lanes, period > 0.0):
        turns = ti.round((act - work.act_length[a]) / ti.max(period, SHORTEST))
        act = ti.select(work.lanes.mask(period > 0.0) > 0.5, act - turns * period, act)
    for end in ti.static(ACTIVATION_END.of(model.has)):
        act = end(model, work, a, act)
    work.act[a] = act


_ACT = Field("act", ("na",), 1, "", "activations of actuators")


_EXACT = int(mujoco.mjtDyn.mjDYN_FILTEREXACT)


def _off(mjm: mujoco.MjModel) -> bool:
    return disabled(mjm, mujoco.mjtDisableBit.mjDSBL_ACTUATION)


def activation_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields that cannot be set per environment."""
    of, moves = owners(mjm), activation_owners(mjm)
    exact = mjm.actuator_dyntype[moves] == _EXACT
    tau = np.maximum(mjm.actuator_dynprm[moves, 0], MINVAL)
    dt = float(mjm.opt.timestep)
    holds = np.where(exact, tau * -np.expm1(-dt / tau), dt)
    muscles = (mjm.actuator_gaintype == GAIN_MUSCLE) + 2 * (mjm.actuator_biastype == BIAS_MUSCLE)
    return {
        "actuator_dyntype": mjm.actuator_dyntype[of],
        "actuator_actadr": np.full(len(of), -1) if _off(mjm) else output_activations(mjm),
        "actuator_actearly": mjm.actuator_actearly[of].astype(int),
        "actuator_muscle": muscles[of].astype(int),
        "actuator_dynprm": mjm.actuator_dynprm[of, :3],
        "act_outid": activation_outputs(mjm),
        "act_hold": np.where(disabled_actuators(mjm)[moves], 0.0, holds),
    }


def has_activations(mjm: mujoco.MjModel) -> bool:
    """Return True if some actuator has an activation, or is a muscle."""
    muscles = (mjm.actuator_gaintype == GAIN_MUSCLE) | (mjm.actuator_biastype == BIAS_MUSCLE)
    return bool(mjm.na or muscles.any())


def _peak_force(mjm: mujoco.MjModel, prm: np.ndarray, acc0: np.ndarray) -> np.ndarray:
    """Return the peak force (N): given, or such that a muscle at rest accelerates the model by `scale`; 0 if off."""
    scaled = prm[..., 3] / np.maximum(acc0, MINVAL)
    on = ~(disabled_actuators(mjm)[owners(mjm)] | _off(mjm))
    return np.where(prm[..., 2] < 0, scaled, prm[..., 2]) * on


def _geometry(mjm: mujoco.MjModel, prm: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the optimal length (m), the lower end of the operating range in it, and in metres."""
    lengths = mjm.actuator_lengthrange
    optimal = (lengths[:, 1] - lengths[:, 0]) / np.maximum(prm[..., 1] - prm[..., 0], MINVAL)
    return np.maximum(optimal, MINVAL), prm[..., 0], np.broadcast_to(lengths[:, 0], optimal.shape)


def _gain_of_muscles(mjm: mujoco.MjModel, gainprm: np.ndarray, acc0: np.ndarray) -> np.ndarray:
    of = owners(mjm)
    prm = gainprm[:, of]
    optimal, low, start = _geometry(mjm, prm)
    fastest = np.maximum(optimal * prm[..., 6], MINVAL)
    columns = (_peak_force(mjm, prm, acc0), optimal, low, start, prm[..., 4], prm[..., 5], fastest, prm[..., 8])
    return np.stack(np.broadcast_arrays(*columns), -1) * _where(mjm.actuator_gaintype[of] == GAIN_MUSCLE)


def _bias_of_muscles(mjm: mujoco.MjModel, biasprm: np.ndarray, acc0: np.ndarray) -> np.ndarray:
    of = owners(mjm)
    prm = biasprm[:, of]
    columns = (_peak_force(mjm, prm, acc0), *_geometry(mjm, prm), prm[..., 5], prm[..., 7])
    return np.stack(np.broadcast_arrays(*columns), -1) * _where(mjm.actuator_biastype[of] == BIAS_MUSCLE)


def _where(muscles: np.ndarray) -> np.ndarray:
    return muscles[:, None].astype(float)


def _actrange(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    of = activation_owners(mjm)
    limited = np.asarray(mjm.actuator_actlimited, bool)[of, None]
    return np.where(limited, ranges[:, of], [-UNLIMITED, UNLIMITED])


ACTIVATION_RULES: dict[str, Rule] = {
    "act_range": (("actuator_actrange",), _actrange),
    "actuator_muscle_gain": (("actuator_gainprm", "actuator_acc0"), _gain_of_muscles),
    "actuator_muscle_bias": (("actuator_biasprm", "actuator_acc0"), _bias_of_muscles),
}
"""Rules of the real fields: the names of MuJoCo's numbers, and the function of them."""


PART = Part(
    name="activation",
    doc="actuators have activations, or are muscles",
    wanted=lambda model: has_activations(model.mj),
    integers=(
        ids("actuator_dyntype", ("nout",), "0 no activation, 1 integrator, 2 filter, 3 exact filter, 4 muscle"),
        Field("actuator_actadr", ("nout",), 1, "", "activation of the output's actuator; -1: none"),
        ids("actuator_actearly", ("nout",), "1: the force is that of the activation after the step"),
        ids("act_outid", ("na",), "output of the activation's actuator"),
        ids("actuator_muscle", ("nout",), "muscle functions: 1: gain, 2: bias, 3: both"),
    ),
    reals=(
        Field("act_range", ("na",), 2, "", "range of the activation, +-1e30: unlimited"),
        Field("actuator_muscle_gain", ("nout",), 8, "", "active force of a muscle (`_muscle_gain`)"),
        Field("actuator_muscle_bias", ("nout",), 6, "", "passive force of a muscle (`_muscle_bias`)"),
        Field(
            "actuator_dynprm",
            ("nout",),
            3,
            "",
            "of filters the time constant (s); of muscles two, and the width between",
        ),
        Field("act_hold", ("na",), 1, "s", "time for which the rate is integrated in a step; 0: its group is disabled"),
    ),
    values=activation_values,
    rules=ACTIVATION_RULES,
    sizes=lambda mjm, values: {"na": mjm.na},
    memory=(Memory(_ACT, state="act", keyframe="key_act", settable=True, staged=True),),
    scratch=(
        Field("act_dot", ("na",), 1, "1/s", "rate of activations"),
        Field("act_length", ("na",), 1, "m or rad", "length of the activation's actuator"),
        Field("mean_act_dot", ("na",), 1, "1/s", "Runge-Kutta's weighted rate of activations"),
    ),
    hooks={
        CLEAR_RATES: clear_rates,
        GAIN_INPUT: activate,
        ADDED_FORCES: (add_muscle, muscle_has_slope),
        STATES_ADVANCE: advance_activations,
    },
    mujoco=(
        "na actuator_actadr actuator_dynprm actuator_acc0 actuator_actlimited actuator_actearly actuator_lengthrange"
    ),
    ranges={"actuator_actrange": "actuator_actlimited"},
    allowed={"actuator_dynprm": GAIN},
    parameters=(Parameter("actuator_actrange", RANGE, ordered=True),),
)
