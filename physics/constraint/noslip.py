"""Noslip: after the solver, friction is computed once more without regularisation, so that it does not creep.

MuJoCo documentation, Computation: Noslip (mj_solNoSlip). Projected Gauss-Seidel over the dry friction of dofs and
tendons and the friction of contacts, in MuJoCo's order of rows; normal forces stay, as do limits and equalities. Along
an axis of a pyramid, whose two edges push with N in sum, the friction f moves to f - r / A within +- mu N, r being the
residual J qacc - aref of the axis alone. The friction of an elliptic contact moves as a whole (`noslip_cone`). Each
island of each lane stops where a sweep improves its cost by less than noslip_tolerance; acceleration and forces follow.

N is the force of the constraint. That of a contact that adheres has what it is pulled with in it, and so has its cone
in the solver: a tether, which is beyond its margin, has one row and no friction. The reference of both edges is shifted
by as much, which the residual of an axis, half of their difference, does not see.
"""

import taichi as ti

from ..dynamics.smooth import FORCES, MOTION, force_residual
from ..dynamics.tree_matrix import factor, solve_from_root, solve_to_root
from ..math import func
from ..stage import stage
from .noslip_cone import MINIMUM, friction_in_cone
from .noslip_rows import make_rows, order_contacts, push, residual

WORSE = 1e-10
"""Change of the cost (J/s^2) beyond which a block goes back, as in MuJoCo."""


@stage(
    when=lambda has: has.noslip,
    reads=(
        *(*FORCES, "M M_rownnz M_rowadr M_colind M_order subtree_com con_pos con_frame con_geom1 con_geom2 con_pair"),
        "block_D block_friction block_reach block_jar block_J block_jacadr cone_mu tile_conadr tile_ncon",
        "block_dim block_dofnum block_dofadr block_dof",
    ),
    updates=(MOTION, "qfrc_unbalanced L D_inv qacc qfrc_constraint block_force slip_* tile_slipdof tile_slipy"),
)
def noslip(model, work):
    """Overwrite the friction in block_force, and let qacc and qfrc_constraint follow."""
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
    """Factor M; slip_u is what the solver left unbalanced, as if acceleration had followed from its forces."""
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
    """Let qacc += M^-1 (unbalanced + J' change), qfrc_constraint += J' change = L^T (change of slip_u)."""
    for i in range(model.nv):
        work.slip_start[i] = work.slip_u[i] - work.slip_start[i]
    for i in range(model.nv):
        start = work.M_pattern.start(i)
        change = work.slip_start[i]
        work.qfrc_constraint[i] = work.qfrc_constraint[i] + change
        for p in range(1, work.M_pattern.count[i]):
            j = work.M_pattern.column(start, p)
            work.qfrc_constraint[j] = work.qfrc_constraint[j] + work.L[start + p] * change
    solve_from_root(0, model.nv, work.M_pattern.order, work.M_pattern, work.L, work.D_inv, work.slip_u)
    for i in range(model.nv):
        work.qacc[i] = work.qacc[i] + work.slip_u[i]


@func
def _tree_of(model, work, k: ti.i32, side: ti.i32):
    """A tree that block k acts on: of its first or its last dof, or of the second or the first geom of its contact."""
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
    """slip_island: the least tree of the lane's island; all are one where the model asks for no islands. slip_trace."""
    lanes = work.lanes
    for t in range(model.ntree):
        alone = work.real(t)
        if model.some(lanes, model.solver_scale[0] > 0.0):
            alone = work.real(0.0)
        trace = work.real(0.0)
        for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
            trace += work.M[work.M_pattern.start(i)]
        work.slip_trace[t] = trace
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
    """Make one island of those of two trees in lanes where block k is active."""
    lanes = work.lanes
    if t1 != t2:
        label1, label2 = work.slip_island[t1], work.slip_island[t2]
        joins = lanes.mask(work.block_D[k] > 0.0) * lanes.mask(label1 != label2)
        if lanes.any(joins):
            for t in range(model.ntree):
                label = work.slip_island[t]
                either = lanes.mask(label == label1) + lanes.mask(label == label2)
                work.slip_island[t] = ti.select(joins * either > 0.5, ti.min(label1, label2), label)


@func
def _regularisation(model, work):
    """Half of f^2 R of all rows: what their cost loses before the first sweep."""
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
                    up, down = _edges(work, k, c)
                    total += (up * up + down * down) * stiffness
        gain = ti.select(work.block_D[k] > 0.0, 0.5 * total, work.real(0.0))
        t = _tree_of(model, work, k, 0)
        work.slip_gain[t] = work.slip_gain[t] + gain


@func
def _edges(work, k: ti.i32, c: ti.i32):
    """How far the two edges of axis c of a pyramid were pushed in, where the solver ended: at most 0."""
    x, y = work.block_jar.at(k, 0), work.block_jar.at(k, c) * work.block_friction.at(k, c - 1)
    return ti.min(x + y, 0.0), ti.min(x - y, 0.0)


@func
def _sweep(model, work):
    """All friction losses, then all contacts."""
    for k in range(model.nequality, model.nequality + model.nfriction):
        loss = work.block_reach[k] * work.block_D[k]
        _interval(model, work, k, 0, 0, loss, 0.0)
    for place in range(work.tile_ncon[0]):
        k = work.tile_conadr[0] + work.slip_order[place]
        dim = work.block_dim[k]
        if dim > 1 and work.lanes.any(_active(model, work, k)):
            if ti.static(work.blocks.elliptic):
                _cone(model, work, k, dim)
            else:
                for c in range(1, dim):
                    up, down = _edges(work, k, c)
                    mu = work.block_friction.at(k, c - 1)
                    limit = -(up + down) * work.block_D[k] * mu
                    _interval(model, work, k, c, c - 1, limit, MINIMUM / (4.0 * mu * mu))


@func
def _active(model, work, k: ti.i32):
    """Mask of the lanes in which block k is a constraint of an island that is not done."""
    t = _tree_of(model, work, k, 0)
    return work.lanes.mask(work.block_D[k] > 0.0) * (1.0 - work.slip_done[t])


@func
def _interval(model, work, k: ti.i32, c: ti.i32, a: ti.i32, limit, least):
    """Move the force on axis c of block k, row a of its slip_y, to where the residual is 0, within +- limit."""
    active, t = _active(model, work, k), _tree_of(model, work, k, 0)
    diagonal = work.slip_A.at(k, a * (a + 3) // 2)
    left = residual(work, k, a, work.block_jar.at(k, c))
    before = work.real(0.0) + work.block_force.at(k, c)
    there = ti.min(ti.max(before - left / ti.max(diagonal, MINIMUM), -limit), limit)
    there = ti.select(diagonal < least, work.real(0.0), there)
    change = ti.select(active > 0.5, there - before, work.real(0.0))
    work.block_force.at(k, c)._assign(before + change)
    work.slip_gain[t] = work.slip_gain[t] - change * (0.5 * change * diagonal + left)
    push(work, k, a, change)


@func
def _cone(model, work, k: ti.i32, dim: ti.i32):
    """Move the friction of an elliptic contact."""
    active, t, n = _active(model, work, k), _tree_of(model, work, k, 0), dim - 1
    for a in range(n):
        left = residual(work, k, a, work.block_jar.at(k, a + 1))
        work.slip_left[a] = left
        for b in range(n):
            left -= _entry(work, k, a, b) * work.block_force.at(k, b + 1)
        work.slip_b[a] = left
    friction_in_cone(work, k, n, work.block_force.at(k, 0))
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
    """Entry of the symmetric slip_A of block k."""
    high, low = ti.max(a, b), ti.min(a, b)
    return work.slip_A.at(k, high * (high + 1) // 2 + low)


@func
def _finished(model, work):
    """Set slip_done by what the last sweep gained in each island, over the trace of M; whether any goes on."""
    lanes = work.lanes
    waiting = work.real(0.0)
    for t in range(model.ntree):
        total, trace = work.real(0.0), work.real(0.0)
        for u in range(model.ntree):
            mine = work.slip_island[u] == work.slip_island[t]
            total += ti.select(mine, work.slip_gain[u], work.real(0.0))
            trace += ti.select(mine, work.slip_trace[u], work.real(0.0))
        scale = 1.0 / trace
        if model.some(lanes, model.solver_scale[0] > 0.0):
            scale = work.real(model.solver_scale[0])
        small = lanes.mask(total * scale < model.noslip_tolerance[0])
        work.slip_done[t] = ti.max(work.slip_done[t], small)
        waiting = ti.max(waiting, 1.0 - work.slip_done[t])
    return lanes.any(waiting)
