"""The friction force of one elliptic contact that minimises its unregularised cost at a given normal force N.

Minimise x'Ax/2 + b'x subject to sum (x_i / mu_i)^2 <= N^2. In z = x / mu, with A and b scaled accordingly, the feasible
set is a ball, and the solution is z = -(A + la I)^-1 b with the least la >= 0 that brings it inside, found by Newton's
method on |z|^2 - N^2 (mju_QCQP). MuJoCo's thresholds are part of the result: if A is singular by them, the friction is
0.
"""

import taichi as ti

from ...base.math import func

MINIMUM = 1e-15  # MuJoCo's mjMINVAL
SMALL = 1e-10
ROUNDS = 20
COARSE = 1e-6
"""Fraction of the squared radius that single precision cannot resolve."""


@func
def friction_in_cone(work, k: ti.i32, n: ti.i32, normal):
    """Set slip_force (n,) for the n friction axes of block k at the normal force `normal` (N).

    On entry slip_b (n,) is the linear part b of the cost.
    """
    lanes = work.lanes
    # Scale b; start at la = 0.
    square = normal * normal
    for c in range(n):
        mu = work.block_friction.at(k, c)
        work.slip_b[c] = work.slip_b[c] * mu
        work.slip_force[c] = work.real(0.0)
    shift, going, regular = work.real(0.0), work.real(1.0), work.real(1.0)
    r = 0
    # Newton's method on la, until |z|^2 <= N^2 or the step is small.
    while r < ROUNDS and lanes.any(going):
        fine = _solve(work, k, n, shift)
        regular = ti.select(going > 0.5, regular * fine, regular)
        going = going * fine
        size, slope = _size_and_slope(work, n)
        value = size - square
        close = value < SMALL
        if ti.static(not lanes.double):
            close = value < SMALL + COARSE * square
        delta = value / ti.max(2.0 * slope, 1e-30)
        for c in range(n):
            work.slip_force[c] = ti.select(going > 0.5, work.slip_v[c], work.slip_force[c])
        going = going * (1.0 - lanes.mask(close)) * (1.0 - lanes.mask(delta < SMALL))
        shift = ti.select(going > 0.5, shift + delta, shift)
        r += 1
    # Project onto the cone's surface if la > 0; no friction if A is singular or N is 0; undo the scaling.
    total = work.real(0.0)
    for c in range(n):
        total += work.slip_force[c] * work.slip_force[c]
    onto = ti.sqrt(square / ti.max(total, MINIMUM))
    scale = ti.select((shift != 0.0) & (regular > 0.5), onto, work.real(1.0))
    scale = ti.select((normal < MINIMUM) | (regular < 0.5), work.real(0.0), scale)
    for c in range(n):
        work.slip_force[c] = work.slip_force[c] * (scale * work.block_friction.at(k, c))


@func
def _solve(work, k: ti.i32, n: ti.i32, shift):
    """Set slip_v = -(A + shift)^-1 b in the scaled space; return the mask of the lanes in which A is regular to MuJoCo.

    slip_P holds the unit lower factor L, slip_pivot the pivots.
    """
    determinant, least = work.real(1.0), work.real(1e30)
    # L' D L by rows, with the determinant and the least pivot for MuJoCo's tests.
    for i in range(n):
        row = i * (i + 1) // 2
        for j in range(i + 1):
            other = j * (j + 1) // 2
            entry = work.slip_A.at(k, row + j) * (work.block_friction.at(k, i) * work.block_friction.at(k, j))
            if i == j:
                entry = ti.max(work.slip_A.at(k, row + j), SMALL) * (
                    work.block_friction.at(k, i) * work.block_friction.at(k, i)
                )
                entry += shift
            for m in range(j):
                entry -= work.slip_P[row + m] * work.slip_P[other + m] * work.slip_pivot[m]
            if i == j:
                determinant = determinant * entry
                least = ti.min(least, entry)
                work.slip_pivot[i] = entry
            else:
                work.slip_P[row + j] = entry / work.slip_pivot[j]
    fine = work.lanes.mask(determinant >= SMALL)
    if n > 3:
        fine = work.lanes.mask(least >= SMALL)
    for c in range(n):
        work.slip_v[c] = -work.slip_b[c]
    _substitute(work, n)
    return fine


@func
def _substitute(work, n: ti.i32):
    """Overwrite slip_v by the solution of L diag(pivot) L' y = slip_v."""
    for i in range(n):
        row = i * (i + 1) // 2
        for m in range(i):
            work.slip_v[i] = work.slip_v[i] - work.slip_P[row + m] * work.slip_v[m]
    for i in range(n):
        work.slip_v[i] = work.slip_v[i] / work.slip_pivot[i]
    for ii in range(n):
        i = n - 1 - ii
        for m in range(i):
            work.slip_v[m] = work.slip_v[m] - work.slip_P[i * (i + 1) // 2 + m] * work.slip_v[i]


@func
def _size_and_slope(work, n: ti.i32):
    """Return v'v and v' (A + shift)^-1 v, the latter as the sum of (L^-1 v)_i^2 / pivot_i."""
    size, slope = work.real(0.0), work.real(0.0)
    for i in range(n):
        row = i * (i + 1) // 2
        value = work.slip_v[i]
        size += value * value
        for m in range(i):
            value -= work.slip_P[row + m] * work.slip_w[m]
        work.slip_w[i] = value
        slope += value * value / work.slip_pivot[i]
    return size, slope
