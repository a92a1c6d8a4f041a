"""The residual of the smooth forces at given accelerations, and the acceleration without constraints."""

import taichi as ti

from ...base.hooks import FROZEN, INERTIAL_FORCES
from ...base.math import func
from ...base.stage import stage
from .newton_euler import inverse_dynamics
from .tree_matrix import factor, solve

FORCES = (
    "qvel applied qfrc_passive qfrc_actuator qfrc_external",
    "inertial_offset anchor_offset own_inertia cdof cvel",
)
MOTION = "body_acc cfrc qfrc_inverse"
RESIDUAL = (FROZEN, INERTIAL_FORCES)
"""Fields that `force_residual` loads, fields that it loads and stores, and its hooks, for declarations of stages."""
ROUNDS, MIXED_ROUNDS, DOUBLE_ROUNDS = 3, 6, 1
"""Iterations of M qacc_smooth = force at most: in single, mixed (`Features.mixed_precision`) and double precision."""
COARSE, MIXED_COARSE = 2e-3, 1e-4
"""Size of a correction, relative to qacc_smooth, above which another iteration follows; each shrinks the correction by
about this factor. In mixed precision, where forces are exact, slowly shrinking corrections still improve the result."""


@func
def force_residual(model, work, qacc):
    """Set qfrc_unbalanced at the accelerations `qacc`: all forces but the constraints', minus qfrc_inverse."""
    inverse_dynamics(model, work, qacc)
    for add in ti.static(INERTIAL_FORCES.of(model.has)):
        add(model, work, qacc)
    for i in range(model.nv):
        force = (work.qfrc_passive[i] - work.qfrc_inverse[i]) + work.qfrc_actuator[i]
        if work.applied[0] == 1:
            force += work.qfrc_external[i]
        for frozen in ti.static(FROZEN.of(model.has)):
            force = ti.select(frozen(model, work, i), work.precise_lanes.real(0.0), force)
        work.qfrc_unbalanced[i] = work.lanes.cast(force)


@stage(
    reads=(*FORCES, "qacc_warmstart M_rownnz M_rowadr M_colind"),
    writes="qfrc_unbalanced",
    updates=f"{MOTION} qacc",
    hooks=RESIDUAL,
)
def start_acceleration(model, work):
    """Set qacc to the warm start, and qfrc_unbalanced to its residual, so that the solver's unknown dqacc is small."""
    for i in range(model.nv):
        work.qacc[i] = work.qacc_warmstart[i] if model.warmstart == 1 else work.real(0.0)
        for frozen in ti.static(FROZEN.of(model.has)):
            work.qacc[i] = ti.select(frozen(model, work, i), work.real(0.0), work.qacc[i])
    force_residual(model, work, work.qacc)


@stage(
    reads=(*FORCES, "M M_rownnz M_rowadr M_colind M_order"),
    writes="qfrc_bias qfrc_smooth",
    updates=f"{MOTION} qfrc_unbalanced L D_inv qacc_smooth",
    hooks=RESIDUAL,
)
def smooth_acceleration(model, work):
    """Set qfrc_bias, qfrc_smooth = passive - bias + actuator + applied, and qacc_smooth: only outputs need them.

    The first iteration starts at qacc_smooth = 0, where qfrc_inverse is qfrc_bias. Further ones correct the rounding of
    the solution (iterative refinement: Higham 2002, chapter 12) in lanes whose last correction was large.
    """
    lanes = work.lanes
    for i in range(model.nv):
        work.qacc_smooth[i] = work.real(0.0)
    # factor M
    for e in range(model.nM):
        work.L[e] = work.M[e]
    factor(0, model.nv, work.M_pattern, work.L, work.D_inv)
    rounds = ti.static(DOUBLE_ROUNDS if lanes.double else MIXED_ROUNDS if model.has.mixed_precision else ROUNDS)
    due = work.real(1.0)
    r = 0
    # solve M correction = residual; add the correction in lanes that are not finished
    while r < rounds and lanes.any(due):
        force_residual(model, work, work.qacc_smooth)
        if r == 0:
            for i in range(model.nv):
                work.qfrc_bias[i] = lanes.cast(work.qfrc_inverse[i])
                work.qfrc_smooth[i] = work.qfrc_unbalanced[i]
        solve(model.nv, work.M_pattern, work.L, work.D_inv, work.qfrc_unbalanced)
        change, size = work.real(0.0), work.real(0.0)
        for i in range(model.nv):
            correction = work.qfrc_unbalanced[i]
            work.qacc_smooth[i] = ti.select(due > 0.5, work.qacc_smooth[i] + correction, work.qacc_smooth[i])
            change += correction * correction
            size += work.qacc_smooth[i] * work.qacc_smooth[i]
        coarse = MIXED_COARSE if ti.static(model.has.mixed_precision) else COARSE
        due = due * lanes.mask(change > coarse * coarse * size)
        r += 1
