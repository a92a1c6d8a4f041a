"""Acceleration without constraints."""

import taichi as ti

from .bias import inverse_dynamics
from .tree_matrix import factor, solve

ROUNDS = {False: 3, True: 1}
"""Solutions of M qacc = force at most, by double precision or not."""
ILL_CONDITIONED = 130.0
"""Amplification of an error in M, relative to its diagonal, above which qacc is refined: single precision computes M
to about 1e-6, and qacc then errs by up to 4e-7 times the amplification (measured on the models of docs/parity.md)."""
COARSE = 2e-3
"""Correction, relative to qacc_smooth, after which another one is due: it shrinks by about this factor each time."""


@ti.func
def smooth_acceleration(model: ti.template(), work: ti.template()):
    """qfrc_bias, qfrc_smooth = passive - bias + actuator and qacc_smooth; L and D_inv become M's factor.

    The first round starts at zero acceleration, where the inverse dynamics are the bias. What is left of the force
    after it is rounding, which an ill-conditioned M multiplies. So in single precision, where that is much, a second
    round puts back what inverse dynamics, which never see M, find missing, and a third where the second had much to do
    (iterative refinement: Higham 2002, chapter 12).
    """
    lanes = work.lanes
    for i in range(model.nv):
        work.qacc_smooth[i] = work.real(0.0)
        for e in range(work.tree_count[i]):
            j = work.tree_index[i, e]
            work.L[i, j] = work.M[i, j]
    factor(model.nv, work.tree_count, work.tree_index, work.L, work.D_inv)
    if ti.static(not lanes.double):
        _mark_ill_conditioned(model, work)
    due = work.real(1.0)
    for r in range(ROUNDS[lanes.double]):
        if lanes.any(due):
            inverse_dynamics(model, work, work.qacc_smooth, work.residual)
            for i in range(model.nv):
                missing = (work.qfrc_passive[i] - work.residual[i]) + work.qfrc_actuator[i]
                if r == 0:
                    work.qfrc_bias[i] = work.residual[i]
                    work.qfrc_smooth[i] = missing
                work.residual[i] = missing
            solve(model.nv, work.tree_count, work.tree_index, work.L, work.D_inv, work.residual)
            due = _correct(model, work, due)
            if ti.static(not lanes.double):
                due = due * work.ill_conditioned[0]


@ti.func
def _mark_ill_conditioned(model: ti.template(), work: ti.template()):
    """Estimate the amplification by one solution, whose right side is chosen to make it grow.

    As LINPACK estimates a condition number (Cline, Moler, Stewart and Wilkinson 1979): the right side is plus or minus
    the root of M's diagonal, each sign the one that adds to what came down from the dofs solved before.
    """
    for i in range(model.nv):
        work.residual[i] = work.real(0.0)
    for k in range(model.nv):
        i = model.nv - 1 - k
        value = work.residual[i]
        size = ti.sqrt(work.M[i, i])
        value += ti.select(value < 0.0, -size, size)
        work.residual[i] = value
        for p in range(1, work.tree_count[i]):
            j = work.tree_index[i, p]
            work.residual[j] = work.residual[j] - work.L[i, j] * value
    square = work.real(0.0)
    for i in range(model.nv):
        value = work.residual[i] * work.D_inv[i]
        for p in range(1, work.tree_count[i]):
            j = work.tree_index[i, p]
            value -= work.L[i, j] * work.residual[j]
        work.residual[i] = value
        square = ti.max(square, value * value * work.M[i, i])
    work.ill_conditioned[0] = work.lanes.mask(square > ILL_CONDITIONED * ILL_CONDITIONED)


@ti.func
def _correct(model: ti.template(), work: ti.template(), due: ti.template()):
    """Add the correction in lanes where it is due; a mask of the lanes in which it was large."""
    change, size = work.real(0.0), work.real(0.0)
    for i in range(model.nv):
        correction = work.residual[i]
        work.qacc_smooth[i] = ti.select(due > 0.5, work.qacc_smooth[i] + correction, work.qacc_smooth[i])
        change += correction * correction
        size += work.qacc_smooth[i] * work.qacc_smooth[i]
    return due * work.lanes.mask(change > COARSE * COARSE * size)
