"""Newton's method with exact line search for the constrained acceleration, all lanes of a tile together.

Groups of trees (`islands`) are solved one after the other; every island of a lane has a separate step and a separate
convergence test. The rest of this text is about one island.

The unknown is the difference dqacc = qacc - qacc_warmstart, and the smooth forces enter as the residual that they leave
at the warm start, qfrc_unbalanced (`smooth.start_acceleration`): single precision then rounds a small number, and
qacc_smooth is not needed. A lane without active constraints takes one full step and is done: M dqacc = qfrc_unbalanced.
The others take Newton steps with an exact line search; converged lanes are frozen while the others iterate. The
stopping rules and their scale are MuJoCo's (mj_solNewton): improvement, gradient, or Newton decrement below the
tolerance. There are two differences. A step that changed the active set is not the last unless the gradient is small:
near the solution its improvement is small while its forces are still off by much more than the tolerance. And a lane
that stops because of a small improvement takes one more step along the current direction if that gains anything (a
polishing step, not counted as an iteration). In single precision, if dqacc is so large that its rounding shows, the
solver restarts from its result (iterative refinement: Higham 2002, chapter 12).

Some constraints are so hard that single precision loses M in M + J' D J: a pyramid with friction mu has rows of
stiffness D in proportion to 1 / mu^2. At rest jar = J qacc - aref is then so small a difference that single precision
has no digit of it, and changes of D leave nothing of M in H. Such environments are solved in double precision. The
inputs may be rounded: a relative change of J, aref, M or forces by 1e-7 gives a neighbouring problem.
"""

import taichi as ti

from ...base.fields import SMALL_BITS, below
from ...base.math import func
from ...base.stage import stage
from ..dynamics.smooth import FORCES, MOTION, RESIDUAL, force_residual
from ..dynamics.tree_matrix import multiply
from .hessian import solve_hessian, start_hessian, update_hessian
from .hessian_pattern import lay_out_hessian
from .islands import dofs_of, island_sum, label_islands, list_blocks, trees_of
from .line_search import TRIALS, search
from .problem import (
    BLOCKS,
    SOLUTION,
    clear_solution,
    constraint_force,
    move_dofs,
    multiply_blocks,
    place_blocks,
    set_scale,
    sums_along,
)
from .rows import count_blocks

UNIT_ROUNDOFF = 6e-8  # of single precision
VISIBLE = 3e-4
"""Relative error of qacc that a solution in single precision may leave; docs/reference/parity.md allows 1e-3."""
RESTARTS, MIXED_RESTARTS = 2, 5
"""At most; more with mixed precision (`Features.mixed_precision`): its qfrc_unbalanced is exact, so each one gains."""
WORTHLESS = 1e-3
"""Fraction of the tolerance below which a polishing step along the current direction is not worth it."""
FINITE = 1e38
ENOUGH = {False: 1e-5, True: 0.0}
"""Fraction of the initial slope that the line search may leave, by double precision; single resolves little more."""


@stage(
    when=lambda has: not has.cg,
    reads=(*FORCES, *BLOCKS, "M M_rownnz M_rowadr M_colind tile_njac"),
    writes="solver_niter need_nH",
    updates=(
        *(MOTION, "qfrc_unbalanced", *SOLUTION, *TRIALS),
        "H H_rownnz H_rowadr H_colind H_order H_parent H_ncouple H_couple depth_place tile_ncon tile_ngroup tree_group",
        "group_treeadr group_treenum group_tree group_dofadr group_dofnum group_dof tree_island block_column",
        "block_weight cone_zone cone_weight weight_change cross_change cone_row double_*",
        "tree_gradient tree_improvement tree_change tree_niter tree_full_step tree_polish",
    ),
    hooks=RESIDUAL,
)
def acceleration_by_newton(model, work):
    """Solve for qacc by Newton's method; set qfrc_constraint, block_force and solver_niter.

    On entry qacc is the warm start, and qfrc_unbalanced the residual force there.
    """
    if ti.static(model.has.double_solver):
        to_double(model, work, work.doubled)
        _minimise(model, work.doubled)
        from_double(model, work, work.doubled)
    else:
        _minimise(model, work)


@func
def _minimise(model, work):
    """Minimise the cost for `acceleration_by_newton`, with the numbers of `work`."""
    lanes = work.lanes
    # Pattern of H, blocks by tree, islands of every lane.
    lay_out_hessian(model, work)
    list_blocks(model, work, count_blocks(work))
    label_islands(model, work)
    clear_solution(model, work)
    going, restarts = 1, 0
    # Solve group by group; in single precision restart where rounding may show.
    while going == 1:
        for g in range(work.tile_ngroup[0]):
            if restarts == 0:
                _start(model, work, g)
            _solve(model, work, g, restarts)
        going = 0
        if ti.static(model.has.double_solver or not lanes.double):
            if restarts < ti.static(MIXED_RESTARTS if model.has.mixed_precision else RESTARTS):
                if lanes.any(_coarse(model, work)):
                    _restart(model, work)
                    restarts += 1
                    going = 1
    # Report the most iterations of any tree, and add dqacc to the warm start.
    iterations = work.real(0.0)
    for t in range(model.ntree):
        iterations = ti.max(iterations, work.tree_niter[t])
    work.solver_niter[0] = iterations
    for i in range(model.nv):
        work.qacc[i] = work.qacc[i] + work.dqacc[i]


@func
def _start(model, work, g: ti.i32):
    """Set scale and masks of the trees of group g; islands without active blocks take a full step."""
    first, end = trees_of(work, g)
    set_scale(model, work, first, end)
    # Mask of the lanes in which a block of the tree is active.
    for s in range(first, end):
        t = work.group_tree[s]
        pushed = work.real(0.0)
        for b in range(work.tree_blockadr[t], work.tree_blockadr[t] + work.tree_blocknum[t]):
            pushed = ti.max(pushed, work.lanes.mask(work.block_D[work.tree_block[b]] > 0.0))
        work.tree_part.at(t, 0)._assign(pushed)
    # Islands without such a block take a full step.
    for s in range(first, end):
        t = work.group_tree[s]
        work.tree_full_step[t] = 1.0 - work.lanes.mask(island_sum(work, first, end, t, 0) > 0.5)
        work.tree_done[t] = work.real(0.0)
        work.tree_niter[t] = work.real(0.0)
        work.tree_improvement[t] = work.real(0.0)


@func
def _solve(model, work, g: ti.i32, restarts: ti.i32):
    """Take Newton steps until all islands of group g have converged in all lanes."""
    first, end = trees_of(work, g)
    waiting, rounds = work.real(0.0), 0
    # A group that has converged in all lanes is skipped.
    for s in range(first, end):
        t = work.group_tree[s]
        work.tree_step[t] = work.real(0.0)
        waiting = ti.max(waiting, 1.0 - work.tree_done[t])
    going = work.lanes.any(waiting)
    if going:
        place_blocks(work, first, end, work.qacc)
    while going:
        constraint_force(model, work, first, end)
        going = _direction(model, work, g, rounds, restarts)
        if going:
            multiply_blocks(work, first, end, work.search)
            _step(model, work, first, end, rounds)
            rounds += 1


@func
def _direction(model, work, g: ti.i32, rounds: ti.i32, restarts: ti.i32):
    """Compute gradient, Hessian, search direction, tree_done and tree_polish; return True if a step is to be taken."""
    first, end = trees_of(work, g)
    going = _gradient(model, work, first, end, rounds) and rounds < model.iterations
    if going:
        fresh = 0
        if rounds + restarts == 0:
            fresh = 1
            start_hessian(model, work, first, end)
        update_hessian(model, work, first, end, fresh)
        solve_hessian(model, work, g, work.search)
        going = _decrement(model, work, first, end, rounds)
    return going


@func
def _gradient(model, work, first: ti.i32, end: ti.i32, rounds: ti.i32):
    """Set `gradient` = M dqacc - qfrc_unbalanced - qfrc_constraint, and `search` to minus it.

    Returns True if some island in some lane has not converged by the length of its gradient.
    """
    lanes = work.lanes
    # Gradient of the cost, and its squared length tree by tree.
    for s in range(first, end):
        t = work.group_tree[s]
        square = work.real(0.0)
        start, behind = dofs_of(model, t)
        for k in range(start, behind):
            i = below(SMALL_BITS, k)
            gradient = (work.M_dqacc[i] - work.qfrc_unbalanced[i]) - work.qfrc_constraint[i]
            work.gradient[i] = gradient
            work.search[i] = -gradient
            square += gradient * gradient
        work.tree_part.at(t, 0)._assign(square)
    # Convergence by the scaled length over the island.
    waiting = work.real(0.0)
    for s in range(first, end):
        t = work.group_tree[s]
        square = island_sum(work, first, end, t, 0)
        length = work.tree_scale[t] * ti.sqrt(square)
        nonfinite = 1.0 - lanes.mask(square < FINITE)
        work.tree_gradient[t] = length
        work.tree_polish[t] = work.real(0.0)
        if rounds == 0:
            # qacc becomes non-finite, and `hold_faulty` stops the lane
            work.tree_full_step[t] = ti.max(work.tree_full_step[t], nonfinite)
        else:
            small = lanes.mask(length < model.tolerance[0])
            work.tree_done[t] = ti.max(work.tree_done[t], ti.max(nonfinite, small))
        waiting = ti.max(waiting, 1.0 - work.tree_done[t])
    return lanes.any(waiting)


@func
def _decrement(model, work, first: ti.i32, end: ti.i32, rounds: ti.i32):
    """Set tree_done and tree_polish by the Newton decrement, half of gradient' H^-1 gradient, and the last improvement.

    Returns True if a step is to be taken.
    """
    lanes, tolerance = work.lanes, model.tolerance[0]
    # Newton decrement g' H^-1 g, tree by tree.
    for s in range(first, end):
        t = work.group_tree[s]
        decrement = work.real(0.0)
        start, behind = dofs_of(model, t)
        for i in range(start, behind):
            decrement -= work.gradient[i] * work.search[i]
        work.tree_part.at(t, 0)._assign(decrement)
    # Convergence by decrement and improvement; a converged lane may take a polishing step.
    waiting = work.real(0.0)
    for s in range(first, end):
        t = work.group_tree[s]
        gain = 0.5 * work.tree_scale[t] * island_sum(work, first, end, t, 0)
        changed = lanes.mask(island_sum(work, first, end, t, 2) > 0.5)
        last = lanes.mask(gain < tolerance)
        if rounds == 0:
            last = last * lanes.mask(work.tree_gradient[t] < tolerance) * (1.0 - work.tree_full_step[t])
        else:
            improvement_small = lanes.mask(work.tree_scale[t] * work.tree_improvement[t] < tolerance)
            last = ti.max(last, improvement_small) * (1.0 - changed)
            gains = lanes.mask(gain > WORTHLESS * tolerance)
            work.tree_polish[t] = last * gains * (1.0 - work.tree_done[t])
        work.tree_done[t] = ti.max(work.tree_done[t], last)
        waiting = ti.max(waiting, ti.max(1.0 - work.tree_done[t], work.tree_polish[t]))
    return lanes.any(waiting)


@func
def _step(model, work, first: ti.i32, end: ti.i32, rounds: ti.i32):
    """Move along `search` to the minimum; set tree_step and tree_improvement, 0 if nothing was left to gain."""
    # Search the line if a lane neither rests nor takes the full step.
    searching = work.real(0.0)
    for s in range(first, end):
        t = work.group_tree[s]
        still, whole = _resting(work, t, rounds)
        work.tree_settled[t] = ti.max(still, whole)
        searching = ti.max(searching, 1.0 - work.tree_settled[t])
    if work.lanes.any(searching):
        _line_search(model, work, first, end)
    # Step, improvement and iterations of every tree.
    for s in range(first, end):
        t = work.group_tree[s]
        still, whole = _resting(work, t, rounds)
        keeps = ti.max(still, whole)
        work.tree_step[t] = ti.select(keeps > 0.5, whole, work.tree_step[t])
        gained = ti.select(ti.max(keeps, work.tree_done[t]) > 0.5, work.real(0.0), -work.tree_change[t])
        work.tree_improvement[t] = gained
        work.tree_done[t] = ti.max(work.tree_done[t], work.lanes.mask(gained == 0.0))
        work.tree_niter[t] = work.tree_niter[t] + (1.0 - work.tree_done[t])
    move_dofs(model, work, first, end)


@func
def _resting(work, t: ti.i32, rounds: ti.i32):
    """Return the masks of the lanes in which tree t does not move, and in which it takes the full first step."""
    still = work.tree_done[t] * (1.0 - work.tree_polish[t])
    whole = work.real(0.0)
    if rounds == 0:
        whole = work.tree_full_step[t] * (1.0 - still)
    return still, whole


@func
def _line_search(model, work, first: ti.i32, end: ti.i32):
    """Set M_search = M search, and tree_step by an exact line search along `search`."""
    # Derivatives of the unconstrained cost along the direction, tree by tree.
    for s in range(first, end):
        t = work.group_tree[s]
        start, behind = dofs_of(model, t)
        multiply(start, behind, work.M_pattern, work.M, work.search, work.M_search)
        work.tree_part.put_numbers(t, 0, sums_along(model, work, t))
    # Sums over islands; the derivative that counts as zero; Newton's step 1 as the first trial.
    for s in range(first, end):
        t = work.group_tree[s]
        work.tree_linear[t] = island_sum(work, first, end, t, 0)
        work.tree_quadratic[t] = island_sum(work, first, end, t, 1)
        length = ti.sqrt(island_sum(work, first, end, t, 2))
        least = model.tolerance[0] * model.ls_tolerance[0] * length / work.tree_scale[t]
        descent = island_sum(work, first, end, t, 3)
        work.tree_enough[t] = ti.max(least, ti.abs(descent) * ENOUGH[work.lanes.double])
        work.tree_step[t] = work.real(1.0)
    search(model, work, first, end, True)


@func
def _coarse(model, work):
    """Set tree_full_step to the mask of trees whose qacc may show the rounding of dqacc; return its union over trees.

    The error of a solution is bounded, in the norm in which `condition` is measured (dof i scaled by sqrt(M_ii)), by
    the condition number times the unit roundoff times the largest dqacc (Higham 2002, section 7.3).
    """
    error = model.condition[0] * (UNIT_ROUNDOFF / VISIBLE)
    # Compare the largest scaled dqacc with the largest qacc, tree by tree.
    for t in range(model.ntree):
        moved, size, least = work.real(0.0), work.real(0.0), work.real(FINITE)
        start, behind = dofs_of(model, t)
        for i in range(start, behind):
            end = work.qacc[i] + work.dqacc[i]
            inertia = work.M[work.M_pattern.start(i)]
            moved = ti.max(moved, work.dqacc[i] * work.dqacc[i] * inertia)
            size = ti.max(size, end * end)
            least = ti.min(least, inertia)
        work.tree_part.at(t, 0)._assign(work.lanes.mask(moved * (error * error) > size * least))
    # An island restarts as a whole.
    found = work.real(0.0)
    for t in range(model.ntree):
        first, end = trees_of(work, work.tree_group[t])
        work.tree_full_step[t] = work.lanes.mask(island_sum(work, first, end, t, 0) > 0.5)
        found = ti.max(found, work.tree_full_step[t])
    return found


@func
def _restart(model, work):
    """Restart trees with tree_full_step from the qacc that they have reached; freeze all others.

    Recomputes qfrc_unbalanced at the new qacc. Frozen trees do not read theirs any more.
    """
    for t in range(model.ntree):
        again = work.real(0.0) + work.tree_full_step[t]
        work.tree_done[t] = 1.0 - again
        start, behind = dofs_of(model, t)
        for i in range(start, behind):
            reached = ti.select(again > 0.5, work.qacc[i] + work.dqacc[i], work.qacc[i])
            work.dqacc[i] = ti.select(again > 0.5, work.real(0.0), work.dqacc[i])
            work.M_dqacc[i] = work.real(0.0)
            work.qacc[i] = reached
    if ti.static(model.has.double_solver):
        residual_to_double(model, work)
    else:
        force_residual(model, work, work.qacc)


@func
def to_double(model, work, to):
    """Copy the inputs of Newton's method to the view `to`, which is `work.doubled`."""
    lanes = to.lanes
    for i in range(model.nv):
        to.qacc[i] = lanes.cast(work.qacc[i])
        to.qfrc_unbalanced[i] = lanes.cast(work.qfrc_unbalanced[i])
    for e in range(model.nM):
        to.M[e] = lanes.cast(work.M[e])
    for k in range(count_blocks(work)):
        to.block_D[k] = lanes.cast(work.block_D[k])
        for c in range(work.block_dim[k]):
            to.block_aref.at(k, c)._assign(lanes.cast(work.block_aref.at(k, c)))
        for c in range(work.block_dim[k] - 1):
            to.block_friction.at(k, c)._assign(lanes.cast(work.block_friction.at(k, c)))
        if ti.static(work.blocks.elliptic):
            to.cone_mu[k] = lanes.cast(work.cone_mu[k])
    if ti.static(work.blocks.two_sided):
        for k in range(work.ntwosided):
            to.block_reach[k] = lanes.cast(work.block_reach[k])
    for e in range(work.tile_njac[0]):
        to.block_J[e] = lanes.cast(work.block_J[e])


@func
def residual_to_double(model, work):
    """Set qfrc_unbalanced of the view `work`, which is `doubled`, to the residual at its qacc."""
    force_residual(model, work.rounded, work.qacc)
    for i in range(model.nv):
        work.qfrc_unbalanced[i] = work.lanes.cast(work.rounded.qfrc_unbalanced[i])


@func
def from_double(model, work, source):
    """Round the results of Newton's method in the view `source`, which is `work.doubled`."""
    lanes = work.lanes
    for i in range(model.nv):
        work.qacc[i] = lanes.cast(source.qacc[i])
        work.qfrc_constraint[i] = lanes.cast(source.qfrc_constraint[i])
    for t in range(model.ntree):
        work.tree_island[t] = lanes.cast(source.tree_island[t])
    for k in range(count_blocks(work)):
        for c in range(work.block_dim[k]):
            work.block_force.at(k, c)._assign(lanes.cast(source.block_force.at(k, c)))
            work.block_jar.at(k, c)._assign(lanes.cast(source.block_jar.at(k, c)))
    work.solver_niter[0] = lanes.cast(source.solver_niter[0])
