"""Acceleration without constraints."""

import taichi as ti

from .tree_matrix import factor, solve


@ti.func
def smooth_acceleration(model: ti.template(), work: ti.template()):
    """qfrc_smooth and qacc_smooth = M^-1 (passive - bias + actuator); L and D_inv become M's factor."""
    for i in range(model.nv):
        force = (work.qfrc_passive[i] - work.qfrc_bias[i]) + work.qfrc_actuator[i]
        work.qfrc_smooth[i] = force
        work.qacc_smooth[i] = force
        for e in range(work.tree_count[i]):
            j = work.tree_index[i, e]
            work.L[i, j] = work.M[i, j]
    factor(model.nv, work.tree_count, work.tree_index, work.L, work.D_inv)
    solve(model.nv, work.tree_count, work.tree_index, work.L, work.D_inv, work.qacc_smooth)
