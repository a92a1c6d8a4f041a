"""A physics step: the stages of MuJoCo's pipeline in their order, and the loop over substeps.

MuJoCo documentation, Computation: Simulation pipeline. A *stage* is a function of (model, work) (`stage`). With the
Runge-Kutta integrator a step has four *evaluations*, with the others one.
"""

from collections.abc import Callable
from typing import Any

import taichi as ti

from ..base.hooks import (
    BEGINNING,
    BODY_FORCES,
    CONTACT_FORCES,
    CONTACTS_FOUND,
    END_OF_EVALUATION,
    END_OF_STEP,
    FIRST_EVALUATION,
    OUTPUT_LENGTHS,
    POSITION,
    ROWS,
    STANDSTILL,
    STATES_ADVANCE,
    VELOCITY,
    Hook,
)
from ..base.math import func
from ..base.math.lanes import traced
from ..base.stage import Stage
from ..mechanics.collision.narrow_phase import collide
from ..mechanics.constraint.conjugate_gradients import acceleration_by_gradients
from ..mechanics.constraint.contacts import contact_blocks
from ..mechanics.constraint.newton import acceleration_by_newton
from ..mechanics.constraint.noslip import noslip
from ..mechanics.constraint.rows import clear_blocks
from ..mechanics.dynamics.actuation import actuation
from ..mechanics.dynamics.body_forces import applied_force
from ..mechanics.dynamics.mass_matrix import mass_matrix
from ..mechanics.dynamics.newton_euler import body_velocities
from ..mechanics.dynamics.passive import passive_force
from ..mechanics.dynamics.smooth import smooth_acceleration, start_acceleration
from ..mechanics.dynamics.stage_time import RK4
from ..mechanics.kinematics.center_of_mass import center_of_mass
from ..mechanics.kinematics.forward import forward_kinematics, geom_frames
from ..model.features import Features
from ..model.state.capacity import within_capacity
from ..model.state.snapshot import hold_faulty, keep_evaluation, keep_start, report_mean_acceleration
from .integrate import advance, implicit_acceleration, runge_kutta_stage

_ORDER: tuple[Stage | Callable[..., Any] | Hook, ...] = (
    forward_kinematics,
    geom_frames,
    center_of_mass,
    POSITION,
    body_velocities,
    mass_matrix,
    collide,
    CONTACTS_FOUND,
    VELOCITY,
    clear_blocks,
    ROWS,
    contact_blocks,
    BODY_FORCES,
    OUTPUT_LENGTHS,
    actuation,
    passive_force,
    CONTACT_FORCES,
    applied_force,
    start_acceleration,
    acceleration_by_gradients,
    acceleration_by_newton,
    noslip,
)
"""The stages of an evaluation, in their order. A hook stands for the stages that parts add there.

Velocities of bodies come before contacts, so that an evaluation that needs no more than motion ends there.
"""
PIPELINE: tuple[Stage | Callable[..., Any], ...] = tuple(
    entry for item in _ORDER for entry in ([e for _, e in item.entries] if isinstance(item, Hook) else [item])
)
LAST = len(PIPELINE) - 1
"""Position of the last stage in `PIPELINE`."""


@func
def forward(model, work, last: ti.i32):
    """Compute all that follows from qpos, qvel and ctrl up to stage `last`: poses, velocities, forces and so on."""
    for place, stage in ti.static(stages_of(model.has)):
        if place <= last and within_capacity(
            work
        ):  # a block per stage, as Taichi's passes take the square of a block's length
            stage(model, work)


@traced
def stages_of(has: Features) -> list[tuple[int, Callable]]:
    """Return the stages of an evaluation that a kernel has, each with its position in the pipeline."""
    return [(place, stage) for place, stage in enumerate(PIPELINE) if not isinstance(stage, Stage) or stage.wanted(has)]


@func
def step(model, work, substeps: ti.i32, smooth: ti.i32, last: ti.i32):
    """Take `substeps` steps under the same controls; 0 evaluates at the present state without moving.

    With `smooth` 1 the last evaluation also computes the acceleration without constraints. An evaluation that moves
    nothing may end with the stage `last` of the pipeline; steps need all, LAST.
    """
    stages = 1
    if model.integrator == RK4 and substeps > 0:
        stages = 4
    evaluations = ti.max(substeps, 1) * stages
    for evaluation in range(evaluations):
        stage = evaluation % stages
        work.rk_stages[0], work.rk_stage[0] = stages, stage
        # states that the integrator, sensors and outputs need later
        if stage == 0 and substeps > 0:
            keep_start(model, work)
        if evaluation == evaluations - 1:
            keep_evaluation(model, work)
        for begin in ti.static(BEGINNING.of(model.has)):
            begin(model, work)
        if ti.static(not STANDSTILL.is_empty(model.has)):
            still = True
            for find in ti.static(STANDSTILL.of(model.has)):
                still = still and find(model, work)
            if still and (evaluation < evaluations - 1 or work.handed_out[0] == 0):
                if substeps > 0:
                    for passing in ti.static(END_OF_EVALUATION.of(model.has)):
                        passing(model, work)
                continue
        forward(model, work, last)
        for after_first in ti.static(FIRST_EVALUATION.of(model.has)):
            if stage == 0:
                after_first(model, work)
        if smooth == 1 and evaluation == evaluations - 1:
            smooth_acceleration(model, work)
        if stage < stages - 1:  # the next stage starts from this one
            for i in range(model.nv):
                work.qacc_warmstart[i] = work.qacc[i]
        if substeps > 0:
            integrate(model, work, stages)
    report_mean_acceleration(model, work)


@func
def integrate(model, work, stages: ti.i32):
    """Advance the state after an evaluation, the stage `rk_stage` of `stages`; the last one ends the step."""
    if stages == 4:
        runge_kutta_stage(model, work)
    else:
        implicit_acceleration(model, work)
    for go_on in ti.static(STATES_ADVANCE.of(model.has)):
        go_on(model, work)
    advance(model, work)
    if work.rk_stage[0] == stages - 1:
        hold_faulty(model, work)
        for at_end in ti.static(END_OF_STEP.of(model.has)):
            at_end(model, work)
    for passing in ti.static(END_OF_EVALUATION.of(model.has)):
        passing(model, work)
