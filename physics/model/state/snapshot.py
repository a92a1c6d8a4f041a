"""Copies of the state within a step, and the stop of environments whose state is no longer finite."""

from typing import Any

import taichi as ti

from ...base.math import func
from ...base.math.lanes import traced
from ...base.stage import stage
from ...mechanics.dynamics.stage_time import RK4
from .memory import NOT_INTEGRATED, REMEMBERED

LARGEST = 1e10  # a coordinate, velocity or acceleration beyond it counts as diverged (MuJoCo's mjMAXVAL)


@traced
def memory_of(model: Any, work: Any, flag: str = "", twin: str = "eval_") -> list[tuple[Any, Any, Any]]:
    """Return the memory of the mechanisms that a kernel has: how many numbers, the field of them, and a twin of it.

    With a flag, such as "guarded", return the memory for which it is True (`parts.part.Memory`). The twin is the value
    of the last evaluation, or of staged memory that of the start of the step, "start_".
    """
    found = [
        (getattr(model, size), getattr(work, now), getattr(work, twin + now))
        for feature, now, size, flags, _ in REMEMBERED
        if getattr(model.has, feature) and (not flag or flag in flags)
    ]
    return [
        (items, now, then) if now.width == 1 else (items * now.width, now.flat(), then.flat())
        for items, now, then in found
    ]


def _names(flag: str = "", twin: str = "") -> str:
    """Return the names of the memory fields with a flag, or of their twins, for the declarations of stages."""
    return " ".join(twin + now for _, now, _, flags, _ in REMEMBERED if not flag or flag in flags)


@stage(
    reads=("qpos qvel qacc_warmstart qpos_rest", _names("staged")),
    writes=("eval_rest start_qpos start_qvel start_warm", _names("staged", "start_")),
)
def keep_start(model, work):
    """Set the start_ fields to the current state, and eval_rest to 0 or qpos_rest.

    It is qpos_rest with `double_solver`: bodies on hard contacts rest at depths below the resolution of qpos.
    """
    for i in range(model.nq):
        work.start_qpos[i] = work.qpos[i]
        if ti.static(model.has.mixed_precision):
            rest = work.real(0.0)
            if ti.static(model.has.double_solver):
                rest = work.real(0.0) + work.qpos_rest[i]
            work.eval_rest[i] = rest
    for i in range(model.nv):
        work.start_qvel[i] = work.qvel[i]
        if ti.static(model.has.sensors):
            work.start_warm[i] = work.qacc_warmstart[i]
    for count, now, start in ti.static(memory_of(model, work, "staged", "start_")):
        for i in range(count):
            start[i] = now[i]


@stage(
    when=lambda has: has.sensors,
    reads=("start_qpos start_qvel start_warm", _names("staged", "start_")),
    updates=("qpos qvel qacc_warmstart eval_qacc eval_rest", _names("staged"), _names("aged")),
)
def back_to_start(model, work):
    """Restore the state at the start of the last step, in lanes in which a step followed the last evaluation.

    There qacc is that of the first stage, not the mean acceleration, so eval_qacc becomes NOT_INTEGRATED.
    """
    for i in range(model.nq):
        after = work.eval_qacc[0] <= LARGEST
        work.qpos[i] = ti.select(after, work.start_qpos[i], work.qpos[i])
        if ti.static(model.has.mixed_precision):
            work.eval_rest[i] = ti.select(after, work.real(0.0), work.eval_rest[i])
    for count, now, start in ti.static(memory_of(model, work, "staged", "start_")):
        for i in range(count):
            now[i] = ti.select(work.eval_qacc[0] <= LARGEST, start[i], now[i])
    # Counters of the age of a memory go back by one step.
    for count, age, _ in ti.static(memory_of(model, work, "aged")):
        for i in range(count):
            aged = ti.select(work.eval_qacc[0] <= LARGEST, work.real(1.0), work.real(0.0))
            age[i] = age[i] - aged
    for i in range(model.nv):
        after = work.eval_qacc[i] <= LARGEST
        work.qvel[i] = ti.select(after, work.start_qvel[i], work.qvel[i])
        work.qacc_warmstart[i] = ti.select(after, work.start_warm[i], work.qacc_warmstart[i])
        work.eval_qacc[i] = work.real(NOT_INTEGRATED)


@stage(
    reads=("qpos qvel qacc_warmstart ctrl mocap_pos mocap_quat eq_active", _names()),
    writes=(
        "eval_qpos eval_qvel eval_warm eval_ctrl eval_mocap_pos eval_mocap_quat eval_eq_active",
        _names(twin="eval_"),
    ),
)
def keep_evaluation(model, work):
    """Set the eval_ fields to state and inputs; the derived quantities are computed from these next."""
    for i in range(model.nq):
        work.eval_qpos[i] = work.qpos[i]
    for i in range(model.nv):
        work.eval_qvel[i] = work.qvel[i]
        work.eval_warm[i] = work.qacc_warmstart[i]
    for count, now, evaluated in ti.static(memory_of(model, work)):
        for i in range(count):
            evaluated.put(i, now[i])
    for i in range(model.nu):
        work.eval_ctrl[i] = work.ctrl[i]
    for i in range(model.nmocap):
        work.eval_mocap_pos.put(i, work.mocap_pos[i])
        work.eval_mocap_quat.put(i, work.mocap_quat[i])
    for i in range(model.neq):
        work.eval_eq_active[i] = work.eq_active[i]


@stage(
    reads=("qacc start_qpos start_qvel drive_qacc", _names("staged", "start_")),
    writes="qacc_warmstart eval_qacc",
    updates=(
        *("qpos qvel eval_qpos eval_qvel eval_warm qpos_rest qvel_rest eval_rest fault", _names("staged")),
        _names("staged", "eval_"),
    ),
)
def hold_faulty(model, work):
    """Stop lanes that diverged in this step: set their fault, and reset them to the state at the start of the step.

    Lanes that were stopped earlier stay there.
    """
    # sound: mask of lanes in which state and acceleration are finite and at most LARGEST.
    sound = 1.0 - work.fault[0]
    for i in range(model.nq):
        sound = ti.select(ti.abs(work.qpos[i]) <= LARGEST, sound, work.real(0.0))
    for i in range(model.nv):
        sound = ti.select(ti.abs(work.qvel[i]) <= LARGEST, sound, work.real(0.0))
        sound = ti.select(ti.abs(work.qacc[i]) <= LARGEST, sound, work.real(0.0))
    for count, now, _ in ti.static(memory_of(model, work, "staged")):
        for i in range(count):
            sound = ti.select(ti.abs(now[i]) <= LARGEST, sound, work.real(0.0))
    # Set the fault; stopped lanes get the state at the start of the step.
    work.fault[0] = 1.0 - sound
    for count, now, start in ti.static(memory_of(model, work, "staged", "start_")):
        for i in range(count):
            now[i] = ti.select(sound > 0.5, now[i], start[i])
    for i in range(model.nq):
        work.qpos[i] = ti.select(sound > 0.5, work.qpos[i], work.start_qpos[i])
        work.qpos_rest[i] = ti.select(sound > 0.5, work.qpos_rest[i], work.real(0.0))
    for i in range(model.nv):
        work.qvel[i] = ti.select(sound > 0.5, work.qvel[i], work.start_qvel[i])
        work.qvel_rest[i] = ti.select(sound > 0.5, work.qvel_rest[i], work.real(0.0))
        work.qacc_warmstart[i] = ti.select(sound > 0.5, work.qacc[i], work.real(0.0))
        if model.integrator == RK4:
            work.eval_qacc[i] = ti.select(sound > 0.5, work.drive_qacc[i], work.real(NOT_INTEGRATED))
    if work.lanes.any(work.fault[0]):
        _evaluated_at_start(model, work)


@func
def _evaluated_at_start(model, work):
    """Set the eval_ fields of stopped lanes to the state at which they stopped.

    The last stage of their Runge-Kutta step may have been evaluated at any state.
    """
    stopped = work.fault[0]
    for i in range(model.nq):
        work.eval_qpos[i] = ti.select(stopped > 0.5, work.start_qpos[i], work.eval_qpos[i])
        if ti.static(model.has.mixed_precision):
            work.eval_rest[i] = ti.select(stopped > 0.5, work.real(0.0), work.eval_rest[i])
    for i in range(model.nv):
        work.eval_qvel[i] = ti.select(stopped > 0.5, work.start_qvel[i], work.eval_qvel[i])
        work.eval_warm[i] = ti.select(stopped > 0.5, work.real(0.0), work.eval_warm[i])
    for count, now, evaluated in ti.static(memory_of(model, work, "staged")):
        for i in range(count):
            evaluated[i] = ti.select(stopped > 0.5, now[i], evaluated[i])


@stage(
    reads=("eval_qpos eval_qvel eval_mocap_pos eval_mocap_quat", _names("guarded", "eval_")),
    updates=("qpos qvel ctrl mocap_pos mocap_quat fault", _names("guarded")),
)
def reject_nonfinite(model, work):
    """Stop lanes whose state or inputs are not finite, or beyond LARGEST, before a step.

    Their state becomes that of the last evaluation, and their controls become 0.
    """
    # sound: mask of lanes with a valid state; broken: mask of lanes with invalid controls.
    sound = 1.0 - work.fault[0]
    for i in range(model.nq):
        sound = ti.select(ti.abs(work.qpos[i]) <= LARGEST, sound, work.real(0.0))
    for i in range(model.nv):
        sound = ti.select(ti.abs(work.qvel[i]) <= LARGEST, sound, work.real(0.0))
    for count, now, _ in ti.static(memory_of(model, work, "guarded")):
        for i in range(count):
            sound = ti.select(ti.abs(now[i]) <= LARGEST, sound, work.real(0.0))
    broken = sound * 0.0
    for i in range(model.nu):
        broken = ti.select(ti.abs(work.ctrl[i]) <= LARGEST, broken, work.real(1.0))
    # The last evaluated state replaces an invalid one; controls of stopped lanes are 0.
    for i in range(model.nq):
        work.qpos[i] = ti.select(sound > 0.5, work.qpos[i], work.eval_qpos[i])
    for i in range(model.nv):
        work.qvel[i] = ti.select(sound > 0.5, work.qvel[i], work.eval_qvel[i])
    for count, now, evaluated in ti.static(memory_of(model, work, "guarded")):
        for i in range(count):
            now[i] = ti.select(sound > 0.5, now[i], evaluated[i])
    work.fault[0] = ti.max(ti.max(1.0 - sound, broken), _reject_mocap(model, work))
    for i in range(model.nu):
        work.ctrl[i] = ti.select(work.fault[0] > 0.5, work.real(0.0), work.ctrl[i])


@func
def _reject_mocap(model, work):
    """Restore the last evaluated poses of mocap bodies where a pose is invalid; return the mask of such lanes."""
    broken = work.real(0.0)
    for i in range(model.nmocap):
        for c in ti.static(range(3)):
            broken = ti.select(ti.abs(work.mocap_pos.at(i, c)) <= LARGEST, broken, work.real(1.0))
        for c in ti.static(range(4)):
            broken = ti.select(ti.abs(work.mocap_quat.at(i, c)) <= LARGEST, broken, work.real(1.0))
    for i in range(model.nmocap):
        work.mocap_pos.put(i, work.eval_mocap_pos[i].select(broken > 0.5, work.mocap_pos[i]))
        work.mocap_quat.put(i, work.eval_mocap_quat[i].select(broken > 0.5, work.mocap_quat[i]))
    return broken


@stage(reads="eval_qacc", updates="qacc")
def report_mean_acceleration(model, work):
    """Set qacc to the mean acceleration of a Runge-Kutta step, as MuJoCo does; qacc_warmstart is the last stage's."""
    if model.integrator == RK4:
        for i in range(model.nv):
            work.qacc[i] = ti.select(work.eval_qacc[i] <= LARGEST, work.eval_qacc[i], work.qacc[i])
