"""Acceleration without constraints."""

import taichi as ti

from .bias import inverse_dynamics
from .tree_matrix import factor, solve

ROUNDS = {False: 2, True: 1}
"""Solutions of M qacc = force, by double precision or not: single precision needs the second, see below."""


@ti.func
def smooth_acceleration(model: ti.template(), work: ti.template()):
    """qfrc_bias, qfrc_smooth = passive - bias + actuator and qacc_smooth; L and D_inv become M's factor.

    The first round starts at zero acceleration, where the inverse dynamics are the bias. What is left of the force
    after it is rounding, which an ill-conditioned M multiplies: in single precision a second round puts back what
    inverse dynamics, which never see M, find missing (iterative refinement: Higham 2002, chapter 12).
    """
    for i in range(model.nv):
        work.qacc_smooth[i] = work.real(0.0)
        for e in range(work.tree_count[i]):
            j = work.tree_index[i, e]
            work.L[i, j] = work.M[i, j]
    factor(model.nv, work.tree_count, work.tree_index, work.L, work.D_inv)
    for r in range(ROUNDS[work.lanes.double]):
        inverse_dynamics(model, work, work.qacc_smooth, work.residual)
        for i in range(model.nv):
            missing = (work.qfrc_passive[i] - work.residual[i]) + work.qfrc_actuator[i]
            if r == 0:
                work.qfrc_bias[i] = work.residual[i]
                work.qfrc_smooth[i] = missing
            work.residual[i] = missing
        solve(model.nv, work.tree_count, work.tree_index, work.L, work.D_inv, work.residual)
        for i in range(model.nv):
            work.qacc_smooth[i] = work.qacc_smooth[i] + work.residual[i]
