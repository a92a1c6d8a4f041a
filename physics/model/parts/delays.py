"""Delays of actuators (MuJoCo documentation, XML reference: actuator/general, `delay`, `nsample` and `interp`).

The control that acts at a time t is that of t - delay. An actuator remembers the controls of its last steps, its
samples: `history_ctrl`, the newest first, and their ages `history_age`, in steps before the current evaluation. Between
two samples the older one acts, or a number between them on a line, or on a cubic with the slopes of Catmull and Rom;
beyond the newest and the oldest sample these act. Ages are counted in steps, where MuJoCo subtracts times: whole
numbers are exact, so a delay of three steps is three steps after a million of them.

Kernels have a table of the actuators that have samples, in the order of the actuators: fields named `lag_*`. All
controls of an actuator are late.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import CONTROLS, END_OF_EVALUATION
from ...base.math import func
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import FINITE, AllowedNumbers, Parameter
from ...files.mjmodel.history import CUBIC, HOLD, LINEAR, ROUNDING, History, Ring
from .part import Memory, Part, Refusal


@piece(reads="ctrl history_age history_ctrl", writes="acting_ctrl")
def late_controls(model, work):
    """Set acting_ctrl of actuators with a delay to their past controls."""
    for g in range(model.nlag):
        if model.any_true(work.lanes, model.lag_delay[g] != 0.0):
            delay = work.real(0.0) + model.lag_delay[g]
            for j in range(model.lag_ctrlnum[g]):
                c = model.lag_ctrladr[g] + j
                past = work.real(0.0)
                if model.lag_interp[g] == HOLD:
                    past = _held(model, work, g, j, delay)
                else:
                    past = _between(model, work, g, j, delay)
                work.acting_ctrl[c] = ti.select(delay != 0.0, past, work.ctrl[c])


@func
def _held(model, work, g: ti.i32, j: ti.i32, delay):
    """Return control j of actuator g: the youngest sample that is as old as the delay, else the oldest."""
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
    """Return control j of actuator g, on the line or cubic between two samples.

    These are the youngest sample that is as old as the delay, and the next younger one.
    """
    count, age, at = model.lag_nsample[g], model.lag_ageadr[g], model.lag_historyadr[g] + j
    stride, ages, values, zero = model.lag_ctrlnum[g], work.history_age, work.history_ctrl, work.real(0.0)
    last, before = count - 1, ti.max(count - 2, 0)
    from_age, to_age = zero + ages[age + last], zero + ages[age + before]
    start, end = zero + values[at + last * stride], zero + values[at + before * stride]
    start_slope, end_slope = zero, zero  # per step
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
    """Advance the age of samples to the next stage of Runge and Kutta; at the end of a step, take a new one.

    In environments that stopped, ages and samples return to their values at the step's beginning.
    """
    stage, stages = work.rk_stage[0], work.rk_stages[0]
    if stage < stages - 1:
        if stage != 1:  # stages 1 and 2 are at the same time
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
    """Make the controls of a step that ended the newest sample of actuator g, and forget the oldest."""
    count, age, at, stride = model.lag_nsample[g], model.lag_ageadr[g], model.lag_historyadr[g], model.lag_ctrlnum[g]
    moves = work.fault[0] < 0.5
    for m in range(count):
        k = count - 1 - m
        older = work.real(1.0)
        if k > 0:
            older = work.history_age[age + k - 1] + 1.0
        work.history_age[age + k] = ti.select(moves, older, work.history_age[age + k])
        for j in range(stride):
            newer = work.real(0.0) + work.ctrl[model.lag_ctrladr[g] + j]
            if k > 0:
                newer = work.real(0.0) + work.history_ctrl[at + (k - 1) * stride + j]
            place = at + k * stride + j
            work.history_ctrl[place] = ti.select(moves, newer, work.history_ctrl[place])


def lagging(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the ids of the actuators that have samples of past controls; their delay may be 0."""
    return np.flatnonzero(samples(mjm) > 0)


def samples(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the number of samples that each actuator has, (nactuator,)."""
    return np.asarray(mjm.actuator_history, int).reshape(-1, 2)[:, 0]


def delay_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the integer fields `lag_*`."""
    chosen = lagging(mjm)
    count, controls = samples(mjm)[chosen], mjm.actuator_ctrlnum[chosen]
    way = mjm.actuator_history.reshape(-1, 2)[chosen, 1]
    return {
        "lag_ctrladr": mjm.actuator_ctrladr[chosen],
        "lag_ctrlnum": controls,
        "lag_nsample": count,
        "lag_interp": np.where(np.isin(way, (HOLD, LINEAR)), way, CUBIC),
        "lag_ageadr": np.cumsum([0, *count], dtype=int)[:-1],
        "lag_historyadr": np.cumsum([0, *(count * controls)], dtype=int)[:-1],
    }


def delays_in_steps(mjm: mujoco.MjModel, delay: np.ndarray) -> np.ndarray:
    """Return the delays (n, nlag) in steps, from delays in seconds (n, nactuator)."""
    return delay[:, lagging(mjm)] / float(mjm.opt.timestep)


def forgetful(mjm: mujoco.MjModel, delay: np.ndarray) -> np.ndarray:
    """Return a mask of delays (n, nactuator) of actuators that have no samples."""
    return (delay > 0) & (samples(mjm) == 0)


def first_ages(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the ages of samples after a reset, (1, nsample) steps: one, two, and so on."""
    return np.concatenate([np.zeros(0), *(np.arange(1.0, samples(mjm)[a] + 1) for a in lagging(mjm))])[None]


def first_controls(mjm: mujoco.MjModel, ctrl: np.ndarray) -> np.ndarray:
    """Return the controls in samples after a reset, (n, nhistory), from the reset's controls (n, nu)."""
    of_all = [ctrl[:, :0]]
    for a in lagging(mjm):
        first = mjm.actuator_ctrladr[a]
        of_all.append(np.tile(ctrl[:, first : first + mjm.actuator_ctrlnum[a]], samples(mjm)[a]))
    return np.concatenate(of_all, 1)


def rings_of_actuators(mjm: mujoco.MjModel) -> tuple[Ring, ...]:
    """Return the ring buffers of all actuators that keep past controls (`nsample` above 0)."""
    rings, age, control = [], 0, 0
    for a in lagging(mjm):
        n, width = int(samples(mjm)[a]), int(mjm.actuator_ctrlnum[a])
        places = slice(age, age + n), slice(control, control + n * width)
        rings.append(Ring(mjm.actuator(a).name or f"actuator {a}", int(mjm.actuator_historyadr[a]), n, width, *places))
        age, control = age + n, control + n * width
    return tuple(rings)


PART = Part(
    name="delays",
    doc="some actuators remember their controls, which act later",
    wanted=lambda model: model.sizes["nlag"] > 0,
    integers=(
        ids("lag_ctrladr", ("nlag",), "first control of an actuator with delay"),
        ids("lag_ctrlnum", ("nlag",), "number of controls of that actuator"),
        ids("lag_interp", ("nlag",), "interpolation between two samples: 0 the older one, 1 linear, 2 cubic"),
        Field("lag_nsample", ("nlag",), 1, "", "number of samples of each control"),
        Field("lag_ageadr", ("nlag",), 1, "", "first of them in history_age"),
        Field("lag_historyadr", ("nlag",), 1, "", "first of their controls in history_ctrl"),
    ),
    reals=(Field("lag_delay", ("nlag",), 1, "steps", "delay of the actuator's controls"),),
    values=delay_values,
    rules={"lag_delay": (("actuator_delay",), delays_in_steps)},
    sizes=lambda mjm, values: {
        "nlag": len(values["lag_nsample"]),
        "nsample": int(values["lag_nsample"].sum()),
        "nhistory": int(values["lag_nsample"] @ values["lag_ctrlnum"]),
    },
    memory=(
        Memory(
            Field("history_age", ("nsample",), 1, "steps", "ages of samples of controls, the newest first"),
            reset=((), first_ages),
            guarded=False,
            aged=True,
        ),
        Memory(
            Field("history_ctrl", ("nhistory",), 1, "", "the controls in them, all of an actuator together"),
            reset=(("ctrl",), first_controls),
        ),
    ),
    hooks={CONTROLS: late_controls, END_OF_EVALUATION: pass_time},
    mujoco="actuator_delay actuator_history actuator_historyadr",
    allowed={"actuator_delay": AllowedNumbers(FINITE, "a delay; one below 0 asks for a time after the newest sample")},
    parameters=(Parameter("actuator_delay", positive=True),),
    refusals={
        "actuator_delay": Refusal(forgetful, "the actuator has no samples of controls; give it nsample in the file")
    },
    history=History(rings_of_actuators, "history_age", "history_ctrl"),
)
