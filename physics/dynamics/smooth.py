"""Acceleration without constraints."""

import taichi as ti

from .bias import inverse_dynamics
from .local_inverse import local_inverse_dynamics
from .tree_matrix import factor, solve

ROUNDS, FINE_ROUNDS, DOUBLE_ROUNDS = 3, 6, 1
"""Solutions of M qacc = force at most: in single precision, in fine kernels (`Features.fine`), in double precision."""
OF_BIAS, OF_M = 2.4e-7, 4e-7
"""Rounding errors to be expected in single precision: of a bias force, relative to its terms, and of M, relative to its
diagonal. With these `doubt` was never below 0.43 times an error above 3e-5 (20 models of parity). Of light limbs on
heavy bodies it can be 25 times the error, so lanes are refined that need not be."""
DOUBTFUL = 3e-5
"""Doubt above which qacc_smooth is refined; docs/parity.md allows an error of 5e-5."""
TINY = 1e-20  # (m/s^2)^2 or (rad/s^2)^2
COARSE, FINE_COARSE = 2e-3, 1e-4
"""Correction, relative to qacc_smooth, after which another one is due: it shrinks by about this factor each time. In
fine kernels, whose inverse dynamics are exact, corrections that shrink slowly are worth going on with."""


@ti.func
def smooth_acceleration(model: ti.template(), work: ti.template()):
    """qfrc_bias, qfrc_smooth = passive - bias + actuator and qacc_smooth; L and D_inv become M's factor.

    The first round starts at zero acceleration, where the inverse dynamics are the bias. What is left of the force
    after it is rounding, which large bias forces bring in and an ill-conditioned M multiplies. So in single precision,
    where that may be much, a second round puts back what inverse dynamics, which never see M, find missing, and a third
    where the second had much to do (iterative refinement: Higham 2002, chapter 12); in fine kernels, where inverse
    dynamics are in double precision, as many as pay, up to six.
    """
    lanes = work.lanes
    for i in range(model.nv):
        work.qacc_smooth[i] = work.real(0.0)
        for e in range(work.tree_count[i]):
            j = work.tree_index[i, e]
            work.L[i, j] = work.M[i, j]
    factor(model.nv, work.tree_count, work.tree_index, work.L, work.D_inv)
    due = work.real(1.0)
    for r in range(ti.static(DOUBLE_ROUNDS if lanes.double else FINE_ROUNDS if model.has.fine else ROUNDS)):
        if lanes.any(due):
            if r == 0:
                inverse_dynamics(model, work, work.qacc_smooth, work.residual)
                for i in range(model.nv):
                    work.qfrc_bias[i] = work.residual[i]
                    work.residual[i] = (work.qfrc_passive[i] - work.residual[i]) + work.qfrc_actuator[i]
                    work.qfrc_smooth[i] = work.residual[i]
            elif ti.static(not lanes.double):
                needed = work.fine.residual
                local_inverse_dynamics(model, work, work.qacc_smooth, needed)
                for i in range(model.nv):
                    work.residual[i] = lanes.rounded((work.qfrc_passive[i] - needed[i]) + work.qfrc_actuator[i])
            solve(model.nv, work.tree_count, work.tree_index, work.L, work.D_inv, work.residual)
            due = _correct(model, work, due)
            if ti.static(not lanes.double):
                if r == 0:
                    _estimate_error(model, work)
                due = due * lanes.mask(work.doubt[0] > DOUBTFUL)


@ti.func
def _estimate_error(model: ti.template(), work: ti.template()):
    """Set `doubt`: solve once for what rounding may have done to the forces, relative to the largest qacc_smooth.

    As LINPACK estimates a condition number (Cline, Moler, Stewart and Wilkinson 1979), each sign of the right side is
    the one that adds to what came down from the dofs solved before.
    """
    inertial, largest = work.real(0.0), work.real(0.0)
    for i in range(model.nv):
        square = work.qacc_smooth[i] * work.qacc_smooth[i]
        inertial = ti.max(inertial, square * work.M[i, i])
        largest = ti.max(largest, square)
        work.residual[i] = work.real(0.0)
    inertial = ti.sqrt(inertial) * OF_M
    for k in range(model.nv):
        i = model.nv - 1 - k
        value = work.residual[i]
        size = _bias_terms(model, work, i) * OF_BIAS + ti.sqrt(work.M[i, i]) * inertial
        value += ti.select(value < 0.0, -size, size)
        work.residual[i] = value
        for p in range(1, work.tree_count[i]):
            j = work.tree_index[i, p]
            work.residual[j] = work.residual[j] - work.L[i, j] * value
    worst = work.real(0.0)
    for i in range(model.nv):
        value = work.residual[i] * work.D_inv[i]
        for p in range(1, work.tree_count[i]):
            j = work.tree_index[i, p]
            value -= work.L[i, j] * work.residual[j]
        work.residual[i] = value
        worst = ti.max(worst, value * value)
    work.doubt[0] = ti.sqrt(worst / ti.max(largest, TINY))


@ti.func
def _bias_terms(model: ti.template(), work: ti.template(), i: ti.i32):
    """Sum of the sizes of the terms whose sum is dof i's bias, after inverse dynamics."""
    force, axis = work.cfrc[model.dof_bodyid[i]], work.cdof[i]
    turning = ti.abs(force.rot.x * axis.rot.x) + ti.abs(force.rot.y * axis.rot.y) + ti.abs(force.rot.z * axis.rot.z)
    moving = ti.abs(force.lin.x * axis.lin.x) + ti.abs(force.lin.y * axis.lin.y) + ti.abs(force.lin.z * axis.lin.z)
    return turning + moving


@ti.func
def _correct(model: ti.template(), work: ti.template(), due: ti.template()):
    """Add the correction in lanes where it is due; a mask of the lanes in which it was large."""
    change, size = work.real(0.0), work.real(0.0)
    for i in range(model.nv):
        correction = work.residual[i]
        work.qacc_smooth[i] = ti.select(due > 0.5, work.qacc_smooth[i] + correction, work.qacc_smooth[i])
        change += correction * correction
        size += work.qacc_smooth[i] * work.qacc_smooth[i]
    coarse = FINE_COARSE if ti.static(model.has.fine) else COARSE
    return due * work.lanes.mask(change > coarse * coarse * size)
