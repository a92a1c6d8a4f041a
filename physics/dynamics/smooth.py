"""What accelerations leave of the smooth forces unexplained, and the acceleration without constraints."""

import taichi as ti

from .newton_euler import inverse_dynamics
from .tree_matrix import factor, solve

ROUNDS, MIXED_ROUNDS, DOUBLE_ROUNDS = 3, 6, 1
"""Solutions of M qacc_smooth = force at most: in single, mixed (`Features.mixed_precision`) and double precision."""
COARSE, MIXED_COARSE = 2e-3, 1e-4
"""Correction, relative to qacc_smooth, after which another one is due: it shrinks by about this factor each time. In
mixed precision, where forces are exact, corrections that shrink slowly are worth going on with."""


@ti.func
def unexplained_force(model: ti.template(), work: ti.template(), qacc: ti.template()):
    """Set `residual`, passive + actuator - needed: what would still accelerate the joints."""
    inverse_dynamics(model, work, qacc)
    for i in range(model.nv):
        force = (work.qfrc_passive[i] - work.needed[i]) + work.qfrc_actuator[i]
        work.residual[i] = work.lanes.cast(force)


@ti.func
def start_acceleration(model: ti.template(), work: ti.template()):
    """Set `qacc` to the warm start, and `residual`: what is left to solve for is small, and its rounding smaller."""
    for i in range(model.nv):
        work.qacc[i] = work.qacc_warmstart[i] if model.warmstart == 1 else work.real(0.0)
    unexplained_force(model, work, work.qacc)


@ti.func
def smooth_acceleration(model: ti.template(), work: ti.template()):
    """qfrc_bias, qfrc_smooth = passive - bias + actuator and qacc_smooth, for who asks: the solver does without them.

    The first round starts at zero acceleration, where inverse dynamics are the bias. The others put back what rounding
    took (iterative refinement: Higham 2002, chapter 12), as long as that was much.
    """
    lanes = work.lanes
    for i in range(model.nv):
        work.qacc_smooth[i] = work.real(0.0)
    for e in range(model.nM):
        work.L[e] = work.M[e]
    factor(model.nv, work.M_pattern, work.L, work.D_inv)
    rounds = ti.static(DOUBLE_ROUNDS if lanes.double else MIXED_ROUNDS if model.has.mixed_precision else ROUNDS)
    due = work.real(1.0)
    r = 0
    while r < rounds and lanes.any(due):
        unexplained_force(model, work, work.qacc_smooth)
        if r == 0:
            for i in range(model.nv):
                work.qfrc_bias[i] = lanes.cast(work.needed[i])
                work.qfrc_smooth[i] = work.residual[i]
        solve(model.nv, work.M_pattern, work.L, work.D_inv, work.residual)
        change, size = work.real(0.0), work.real(0.0)
        for i in range(model.nv):
            correction = work.residual[i]
            work.qacc_smooth[i] = ti.select(due > 0.5, work.qacc_smooth[i] + correction, work.qacc_smooth[i])
            change += correction * correction
            size += work.qacc_smooth[i] * work.qacc_smooth[i]
        coarse = MIXED_COARSE if ti.static(model.has.mixed_precision) else COARSE
        due = due * lanes.mask(change > coarse * coarse * size)
        r += 1
