"""The noslip solver: after the main solver, friction forces are recomputed without regularisation, to suppress slip.

MuJoCo documentation, Computation: Noslip (mj_solNoSlip). Projected Gauss-Seidel over the friction losses of dofs and
tendons and the friction of contacts, in MuJoCo's order of rows; normal forces, limits and equalities keep their forces.
For an axis of a pyramid, whose two edges have the total normal force N, the friction force f moves to f - r / A,
clamped to +- mu N, with r the residual J qacc - aref of the axis and A its diagonal entry of J M^-1 J'. The friction of
an elliptic contact moves as a vector. An island of a lane stops when a sweep improves its cost by less
than noslip_tolerance; acceleration and forces follow from the new friction.

N is the force of the constraint: for a contact that a mechanism pulls it includes the pull, as its cone in the solver
does. A tether (such a contact beyond its margin) has one row and no friction. The pull shifts the references of both
edges by the same amount, and so leaves the residual of an axis, half of their difference, as it is.

For an elliptic contact minimise x'Ax/2 + b'x subject to sum (x_i / mu_i)^2 <= N^2. In z = x / mu, with A and b scaled
accordingly, the feasible set is a ball, and the solution is z = -(A + la I)^-1 b with the least la >= 0 that brings it
inside, found by Newton's method on |z|^2 - N^2 (mju_QCQP). MuJoCo's thresholds are part of the result: if A is singular
by them, the friction is 0.
"""

import taichi as ti

from ...base.math import func
from ...base.stage import stage
from ..dynamics.smooth import FORCES, MOTION, RESIDUAL, force_residual
from ..dynamics.tree_matrix import factor, solve_from_root, solve_to_root
from .cost import edges
from .islands import join_islands, sum_over_island
from .noslip_rows import make_rows, order_contacts, push, residual
from .problem import scale_of, trace_of_mass

WORSE = 1e-10
"""Increase of the cost (J/s^2) beyond which the update of a block is rejected, as in MuJoCo."""


@stage(
    when=lambda has: has.noslip,
    reads=(
        *(*FORCES, "M M_rownnz M_rowadr M_colind M_order subtree_com con_pos con_frame con_geom1 con_geom2 con_pair"),
        "block_D block_friction block_reach block_jar block_J block_jacadr cone_mu tile_conadr tile_ncon",
        "block_dim block_dofnum block_dofadr block_dof group_tree",
    ),
    updates=(MOTION, "qfrc_unbalanced L D_inv qacc qfrc_constraint block_force slip_* tile_slipdof tile_slipy"),
    hooks=RESIDUAL,
)
def noslip(model, work):
    """Recompute the friction in block_force without regularisation; update qacc and qfrc_constraint accordingly."""
    _begin(model, work)
    order_contacts(model, work)
    make_rows(model, work)
    _label(model, work)
    sweep, going = 0, True
    while sweep < model.noslip_iterations and going:
        for t in range(model.ntree):
            work.slip_gain[t] = work.real(0.0)
        if sweep == 0:
            _regularisation(model, work)
        _sweep(model, work)
        going = _finished(model, work)
        sweep += 1
    _end(model, work)


@func
def _begin(model, work):
    """Factor M in L and D_inv; set slip_u = L^-T (qfrc_unbalanced + qfrc_constraint), the residual of the solver."""
    for e in range(model.nM):
        work.L[e] = work.M[e]
    factor(0, model.nv, work.M_pattern, work.L, work.D_inv)
    force_residual(model, work, work.qacc)
    for i in range(model.nv):
        work.slip_u[i] = work.qfrc_unbalanced[i] + work.qfrc_constraint[i]
    solve_to_root(0, model.nv, work.M_pattern, work.L, work.slip_u)
    for i in range(model.nv):
        work.slip_start[i] = work.slip_u[i]


@func
def _end(model, work):
    """Add the change in J' force, L' (change of slip_u), to qfrc_constraint, and the resulting acceleration to qacc."""
    # Change of slip_u; its product with L' is the change of J' force.
    for i in range(model.nv):
        work.slip_start[i] = work.slip_u[i] - work.slip_start[i]
    for i in range(model.nv):
        start = work.M_pattern.start(i)
        change = work.slip_start[i]
        work.qfrc_constraint[i] = work.qfrc_constraint[i] + change
        for p in range(1, work.M_pattern.count[i]):
            j = work.M_pattern.column(start, p)
            work.qfrc_constraint[j] = work.qfrc_constraint[j] + work.L[start + p] * change
    # All of slip_u, the solver's residual included, becomes acceleration.
    solve_from_root(0, model.nv, work.M_pattern.order, work.M_pattern, work.L, work.D_inv, work.slip_u)
    for i in range(model.nv):
        work.qacc[i] = work.qacc[i] + work.slip_u[i]


@func
def _tree_of(model, work, k: ti.i32, side: ti.i32):
    """Return a tree that block k acts on.

    For a contact it is the tree of the moving geom whose last dof is larger (`side` 0), or of the other one if both
    move (1); for other blocks that of the first (0) or the last dof (1).
    """
    t = -1
    if k < work.tile_conadr[0]:
        place = work.block_dofadr[k]
        if side == 1:
            place += work.block_dofnum[k] - 1
        t = model.dof_treeid[work.block_dof[place]]
    else:
        c = k - work.tile_conadr[0]
        last1 = model.body_lastdof[model.geom_bodyid[work.con_geom1[c]]]
        last2 = model.body_lastdof[model.geom_bodyid[work.con_geom2[c]]]
        last = ti.max(last1, last2)
        if side == 1 and last1 >= 0 and last2 >= 0:
            last = ti.min(last1, last2)
        t = model.dof_treeid[last]
    return t


@func
def _label(model, work):
    """Set slip_island, the least tree of the lane's island (0 for models without islands), and slip_trace."""
    # Every tree is an island; then merge by block.
    for t in range(model.ntree):
        alone = work.real(t)
        if model.any_true(work.lanes, model.solver_scale[0] > 0.0):
            alone = work.real(0.0)
        first = model.tree_dofadr[t]
        work.slip_trace[t] = trace_of_mass(work, first, first + model.tree_dofnum[t])
        work.slip_island[t] = alone
        work.slip_done[t] = work.real(0.0)
    for k in range(work.tile_conadr[0] + work.tile_ncon[0]):
        first = _tree_of(model, work, k, 0)
        if k < work.tile_conadr[0]:
            for e in range(1, work.block_dofnum[k]):
                _join(model, work, k, first, model.dof_treeid[work.block_dof[work.block_dofadr[k] + e]])
        else:
            _join(model, work, k, first, _tree_of(model, work, k, 1))


@func
def _join(model, work, k: ti.i32, t1: ti.i32, t2: ti.i32):
    """Merge the islands of two trees in lanes in which block k is active."""
    if t1 != t2:
        join_islands(work, work.slip_island, 0, model.ntree, k, t1, t2)


@func
def _regularisation(model, work):
    """Add force^2 R / 2 of every row to slip_gain: the part of the cost that the regularisation made up."""
    for k in range(work.tile_conadr[0] + work.tile_ncon[0]):
        stiffness = ti.max(work.block_D[k], MINIMUM)
        total = work.real(0.0)
        dim = work.block_dim[k]
        if dim == 1:
            force = work.block_force.at(k, 0)
            total = force * force / stiffness
        else:
            if ti.static(work.blocks.elliptic):
                mu = work.cone_mu[k]
                for c in range(dim):
                    force = work.block_force.at(k, c)
                    share = work.real(1.0)
                    if c > 0:
                        share = mu / work.block_friction.at(k, c - 1)
                    total += force * force * (share * share) / stiffness
            else:
                for c in range(1, dim):
                    up, down = edges(work.blocks, k, c, work.block_jar.at(k, 0))
                    total += (up * up + down * down) * stiffness
        gain = ti.select(work.block_D[k] > 0.0, 0.5 * total, work.real(0.0))
        t = _tree_of(model, work, k, 0)
        work.slip_gain[t] = work.slip_gain[t] + gain


@func
def _sweep(model, work):
    """Update all friction losses, then the friction of all contacts."""
    # Friction losses, within +- their loss.
    for k in range(model.ne, model.ne + model.nf):
        loss = work.block_reach[k] * work.block_D[k]
        _interval(model, work, k, 0, 0, loss, 0.0)
    # Contacts in MuJoCo's order: the cone as a whole, or each axis within +- mu N.
    for place in range(work.tile_ncon[0]):
        k = work.tile_conadr[0] + work.slip_order[place]
        dim = work.block_dim[k]
        if dim > 1 and work.lanes.any(_active(model, work, k)):
            if ti.static(work.blocks.elliptic):
                _cone(model, work, k, dim)
            else:
                for c in range(1, dim):
                    up, down = edges(work.blocks, k, c, work.block_jar.at(k, 0))
                    mu = work.block_friction.at(k, c - 1)
                    limit = -(up + down) * work.block_D[k] * mu
                    _interval(model, work, k, c, c - 1, limit, MINIMUM / (4.0 * mu * mu))


@func
def _active(model, work, k: ti.i32):
    """Return the mask of the lanes in which block k is active and its island has not converged."""
    t = _tree_of(model, work, k, 0)
    return work.lanes.mask(work.block_D[k] > 0.0) * (1.0 - work.slip_done[t])


@func
def _interval(model, work, k: ti.i32, c: ti.i32, a: ti.i32, limit, least):
    """Move the force on axis c of block k, row a of its slip_y, to a residual of 0, clamped to +- `limit`."""
    active, t = _active(model, work, k), _tree_of(model, work, k, 0)
    diagonal = _entry(work, k, a, a)
    left = residual(work, k, a, work.block_jar.at(k, c))
    before = work.real(0.0) + work.block_force.at(k, c)
    # Unconstrained minimum along the axis, clamped.
    there = ti.min(ti.max(before - left / ti.max(diagonal, MINIMUM), -limit), limit)
    there = ti.select(diagonal < least, work.real(0.0), there)
    change = ti.select(active > 0.5, there - before, work.real(0.0))
    work.block_force.at(k, c)._assign(before + change)
    work.slip_gain[t] = work.slip_gain[t] - change * (0.5 * change * diagonal + left)
    push(work, k, a, change)


@func
def _cone(model, work, k: ti.i32, dim: ti.i32):
    """Move the friction force of the elliptic contact k, of `dim` axes, to the minimum inside its cone."""
    active, t, n = _active(model, work, k), _tree_of(model, work, k, 0), dim - 1
    # Linear part of the cost: b = residual - A force.
    for a in range(n):
        left = residual(work, k, a, work.block_jar.at(k, a + 1))
        work.slip_left[a] = left
        for b in range(n):
            left -= _entry(work, k, a, b) * work.block_force.at(k, b + 1)
        work.slip_b[a] = left
    friction_in_cone(work, k, n, work.block_force.at(k, 0))
    # Change of the cost; the move is rejected if it rises.
    cost = work.real(0.0)
    for a in range(n):
        change = work.slip_force[a] - work.block_force.at(k, a + 1)
        cost += change * work.slip_left[a]
        for b in range(n):
            cost += 0.5 * change * _entry(work, k, a, b) * (work.slip_force[b] - work.block_force.at(k, b + 1))
    takes = active * work.lanes.mask(cost <= WORSE)
    for a in range(n):
        before = work.real(0.0) + work.block_force.at(k, a + 1)
        change = ti.select(takes > 0.5, work.slip_force[a] - before, work.real(0.0))
        work.block_force.at(k, a + 1)._assign(before + change)
        push(work, k, a, change)
    work.slip_gain[t] = work.slip_gain[t] - ti.select(takes > 0.5, cost, work.real(0.0))


@func
def _entry(work, k: ti.i32, a: ti.i32, b: ti.i32):
    """Return entry (a, b) of the symmetric slip_A of block k."""
    high, low = ti.max(a, b), ti.min(a, b)
    return work.slip_A.at(k, high * (high + 1) // 2 + low)


@func
def _finished(model, work):
    """Set slip_done by the improvement of each island in the last sweep; return True if some island goes on."""
    waiting = work.real(0.0)
    for t in range(model.ntree):
        gain = sum_over_island(work, work.slip_gain, work.slip_island, 0, model.ntree, t, 0)
        trace = sum_over_island(work, work.slip_trace, work.slip_island, 0, model.ntree, t, 0)
        small = work.lanes.mask(gain * scale_of(model, work, trace) < model.noslip_tolerance[0])
        work.slip_done[t] = ti.max(work.slip_done[t], small)
        waiting = ti.max(waiting, 1.0 - work.slip_done[t])
    return work.lanes.any(waiting)


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
