"""Exact line search: the cost along a direction is piecewise quadratic, its derivative piecewise linear.

Newton's method on the derivative inside a shrinking bracket. It ends at the exact minimum as soon as two evaluations in
a row have the same active set. Every island has a separate step.

Along elliptic cones the derivative is curved between its kinks, and Newton's method may cycle. There the bracket is
halved whenever a move is not at most half as long as the one before (after Press et al., Numerical Recipes, 9.4).
"""

import taichi as ti

from ...base.math import func
from .cost import block_along, no_change, spent_slope
from .islands import island_sum

TRIALS = (
    "tree_part tree_step tree_linear tree_quadratic tree_enough",
    "tree_low tree_high tree_move tree_curve tree_settled",
)
"""Fields that a search loads and stores, for the declarations of stages."""
UNBOUNDED = 1e30
NONE = -1e30


@func
def search(model, work, first: ti.i32, end: ti.i32, with_cost):
    """Set tree_step and, if `with_cost`, tree_change, for the trees in the entries `first` to `end` of group_tree.

    Inputs are tree_step, the first trial (for Newton's method 1, the minimum if the active set does not change),
    tree_linear, tree_quadratic and tree_enough, and the mask tree_settled of lanes that do not move, whose step has no
    meaning.
    """
    # The bracket is (0, infinity); no curve has been seen yet.
    for s in range(first, end):
        t = work.group_tree[s]
        work.tree_low[t] = work.real(0.0)
        work.tree_high[t] = work.real(UNBOUNDED)
        work.tree_curve[t] = work.real(NONE)
        work.tree_change[t] = work.real(0.0)
        if ti.static(model.has.elliptic):
            work.tree_move[t] = work.real(UNBOUNDED)
    trial = 0
    # Evaluate all trees, then judge each island, until all are settled.
    while trial >= 0:
        for s in range(first, end):
            _evaluate(model, work, work.group_tree[s], with_cost)
        moving = work.real(0.0)
        for s in range(first, end):
            moving = ti.max(moving, 1.0 - _next_trial(model, work, first, end, work.group_tree[s], with_cost))
        trial += 1
        if trial > model.ls_iterations or not work.lanes.any(moving):
            trial = -1


@func
def _evaluate(model, work, t: ti.i32, with_cost):
    """Set tree_part of tree t at its tree_step, from its blocks.

    Columns: the first and second derivative of their cost along `search`, twice its change from step 0, and the slope
    of the two-sided rows beyond their reach.
    """
    total = no_change(work)
    step = work.real(0.0) + work.tree_step[t]
    # Sum over the blocks of the tree, and for conjugate gradients over the lanes' own contacts.
    for b in range(work.tree_blockadr[t], work.tree_blockadr[t] + work.tree_blocknum[t]):
        k = work.tree_block[b]
        total += block_along(work, work.blocks, k, work.block_dim[k], step, with_cost)
    if ti.static(model.has.cg):
        for j in range(work.tile_nown[0]):
            total += block_along(work, work.own, j, model.naxis, step, with_cost)
    work.tree_part.put_numbers(t, 0, [total.slope, total.curve, total.change])
    # Slopes beyond the reach distinguish the two ends of a two-sided row.
    if ti.static(work.blocks.two_sided):
        spent = work.real(0.0)
        for b in range(work.tree_blockadr[t], work.tree_blockadr[t] + work.tree_blocknum[t]):
            k = work.tree_block[b]
            if k < work.ntwosided:
                spent += spent_slope(work, k, step)
        work.tree_part.at(t, 3)._assign(spent)


@func
def _next_trial(model, work, first: ti.i32, end: ti.i32, t: ti.i32, with_cost):
    """Judge the trial step of tree t; if it is not good enough, set the next one. Return the mask of good steps."""
    lanes = work.lanes
    step, settled, previous = work.real(0.0) + work.tree_step[t], work.tree_settled[t], work.tree_curve[t]
    slope, curve = island_sum(work, first, end, t, 0), island_sum(work, first, end, t, 1)
    active = work.real(0.0) + curve
    if ti.static(work.blocks.two_sided):  # from one end of its reach to the other a loss leaves the curve as it is
        active += island_sum(work, first, end, t, 3)
    # Total derivative at the trial; good if it is small, or if the active set is the last trial's.
    linear, quadratic = work.tree_linear[t], work.tree_quadratic[t]
    if ti.static(with_cost):
        change = step * (linear + 0.5 * step * quadratic) + island_sum(work, first, end, t, 2) * 0.5
        work.tree_change[t] = ti.select(settled > 0.5, work.tree_change[t], change)
    derivative = linear + step * quadratic + slope
    good = ti.max(settled, lanes.mask((active == previous) | (ti.abs(derivative) <= work.tree_enough[t])))
    # Shrink the bracket; next trial by Newton's method, or its middle.
    low = ti.select(derivative < 0.0, step, work.tree_low[t])
    high = ti.select(derivative < 0.0, work.tree_high[t], step)
    newton = step - derivative / (quadratic + curve)
    inside = (newton > low) & (newton < high)
    middle = 0.5 * (low + ti.min(high, 2.0 * low + 1.0))
    if ti.static(model.has.elliptic):
        inside &= 2.0 * ti.abs(newton - step) < work.tree_move[t]
        work.tree_move[t] = ti.abs(ti.select(inside, newton, middle) - step)
    work.tree_low[t] = low
    work.tree_high[t] = high
    work.tree_curve[t] = ti.select(inside, active, work.real(NONE))
    work.tree_step[t] = ti.select(good > 0.5, step, ti.select(inside, newton, middle))
    work.tree_settled[t] = good
    return good
