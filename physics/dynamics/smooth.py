"""Acceleration without constraints."""

import taichi as ti

from .bias import inverse_dynamics
from .tree_matrix import factor, solve

ROUNDS = {False: 3, True: 1}
"""Solutions of M qacc = force at most, by double precision or not."""
CANCELLED = 35.0
"""A pivot so many times smaller than its entry of M has lost digits: qacc then errs by 3e-7 to 2e-6 times that."""
COARSE = 2e-3
"""Correction, relative to qacc_smooth, after which another one is due: it shrinks by about this factor each time."""


@ti.func
def smooth_acceleration(model: ti.template(), work: ti.template()):
    """qfrc_bias, qfrc_smooth = passive - bias + actuator and qacc_smooth; L and D_inv become M's factor.

    The first round starts at zero acceleration, where the inverse dynamics are the bias. What is left of the force
    after it is rounding, which an ill-conditioned M multiplies. So in single precision, where elimination cancelled, a
    second round puts back what inverse dynamics, which never see M, find missing, and a third where the second had much
    to do (iterative refinement: Higham 2002, chapter 12).
    """
    lanes = work.lanes
    for i in range(model.nv):
        work.qacc_smooth[i] = work.real(0.0)
        for e in range(work.tree_count[i]):
            j = work.tree_index[i, e]
            work.L[i, j] = work.M[i, j]
    factor(model.nv, work.tree_count, work.tree_index, work.L, work.D_inv)
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
            due = _correct(model, work, due) * work.ill_conditioned[0]


@ti.func
def _mark_ill_conditioned(model: ti.template(), work: ti.template()):
    loss = work.real(0.0)
    for i in range(model.nv):
        loss = ti.max(loss, work.M[i, i] * work.D_inv[i])
    work.ill_conditioned[0] = work.lanes.mask(loss > CANCELLED)


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
