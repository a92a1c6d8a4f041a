"""The Hessian H = M + J' W J of the cost, updated as the weights W of blocks change, and its L' D L factor.

The functions work on one group of trees: the entries of group_tree from `first` to before `end`.
"""

from functools import reduce
from operator import add

import taichi as ti

from ...base.fields import ROW_BITS, SMALL_BITS, below
from ...base.math import func
from ...base.math.lanes import let, traced
from ..dynamics.tree_matrix import factor, solve_from_root, solve_to_root
from .cone import cross
from .cost import block_weight, is_cone
from .islands import dofs_of, trees_of


@func
def start_hessian(model, work, first: ti.i32, end: ti.i32):
    """Set H to M, and the weights of all blocks of the group to 0."""
    for s in range(first, end):
        t = work.group_tree[s]
        start, behind = dofs_of(model, t)
        _copy_mass(work, start, behind)
        for b in range(work.tree_blockadr[t], work.tree_blockadr[t] + work.tree_blocknum[t]):
            k = work.tree_block[b]
            for c in range(ti.max(2 * work.block_dim[k] - 1, 2)):  # of two-sided rows entry 1 as well
                work.block_weight.at(k, c)._assign(work.real(0.0))
            if ti.static(work.blocks.elliptic):
                if is_cone(work, work.blocks, k):
                    work.cone_zone[k] = work.real(0.0)
                    for c in range(10):
                        work.cone_weight.at(k, c)._assign(work.real(0.0))


@func
def _copy_mass(work, first: ti.i32, end: ti.i32):
    """Set H to M in the rows `first` to before `end`."""
    for i in range(first, end):
        start, from_start = work.H_pattern.start(i), work.M_pattern.start(i)
        count = work.M_pattern.count[i]
        # Rows of the same pattern are copied side by side, others entry by entry.
        if work.H_pattern.count[i] == count:
            for p in range(count):
                work.H[start + below(SMALL_BITS, p)] = work.M[from_start + below(SMALL_BITS, p)]
        else:
            row_end = work.H_pattern.end(i)
            for e in range(start, row_end):
                work.H[e] = work.real(0.0)
            for p in range(count):
                work.H[work.H_pattern.address(row_end, work.M_pattern.column(from_start, p))] = work.M[from_start + p]


@func
def update_hessian(model, work, first: ti.i32, end: ti.i32, fresh: ti.i32):
    """Add the changes of weights since the last update to H; factor it in H_L if there are any, or if `fresh` is 1.

    Column 2 of tree_part becomes the mask of the lanes in which the active set of the tree changed.
    """
    # Add blocks whose weight changed in some lane.
    changed = work.real(0.0)
    for s in range(first, end):
        t = work.group_tree[s]
        of_tree, other = work.real(0.0), work.real(0.0)
        for b in range(work.tree_blockadr[t], work.tree_blockadr[t] + work.tree_blocknum[t]):
            k = work.tree_block[b]
            here, moved = block_weight(work, k)
            if work.lanes.any(here):
                _add_block(work, k)
            of_tree = ti.max(of_tree, here)
            other = ti.max(other, moved)
        work.tree_part.at(t, 2)._assign(other)
        changed = ti.max(changed, of_tree)
    # Copy H and factor it, the last tree first: dofs come before their ancestors.
    if fresh == 1 or work.lanes.any(changed):
        for s in range(first, end):
            t = work.group_tree[s]
            start, behind = dofs_of(model, t)
            for e in range(work.H_pattern.start(start), work.H_pattern.end(behind - 1)):
                work.H_L[e] = work.H[e]
        for s in range(first, end):
            t = work.group_tree[first + end - 1 - s]
            start, behind = dofs_of(model, t)
            factor(start, behind, work.H_pattern, work.H_L, work.H_inv)


@func
def solve_hessian(model, work, g: ti.i32, x):
    """Overwrite `x` by H^-1 x in the dofs of group g."""
    first, end = trees_of(work, g)
    for s in range(first, end):
        t = work.group_tree[first + end - 1 - s]
        start, behind = dofs_of(model, t)
        solve_to_root(start, behind, work.H_pattern, work.H_L, x)
    dofs = work.group_dofadr[g]
    behind = dofs + work.group_dofnum[g]
    solve_from_root(dofs, behind, work.group_dof, work.H_pattern, work.H_L, work.H_inv, x)


@func
def _add_block(work, k: ti.i32):
    """Add J' (change of W) J of block k to H."""
    dim, dofs = work.block_dim[k], work.block_dofnum[k]
    # One row on one dof adds only to the diagonal.
    if dim * dofs == 1:
        slope = work.block_J[work.block_jacadr[k]]
        entry = work.H_pattern.start(work.block_dof[work.block_dofadr[k]])
        work.H[entry] = work.H[entry] + work.weight_change[0] * slope * slope
    else:
        side_by_side = _find_columns(work, k)
        if dim == 3:
            _add_axes(work, k, 3, 3, side_by_side)
        elif dim == 1:
            _add_axes(work, k, 1, 1, side_by_side)
        else:
            _add_axes(work, k, dim, 0, side_by_side)


@func
def _find_columns(work, k: ti.i32):
    """Set block_column for block k; return True if its dofs are consecutive in H's pattern.

    block_column[e] is the distance of the column of the e-th dof from the end of every row of H that has it.
    Consecutive entries are addressed by offset, without a lookup.
    """
    first, count = work.block_dofadr[k], work.block_dofnum[k]
    for e in range(count):
        work.block_column.put(e, work.H_pattern.count[work.block_dof[first + e]])
    side_by_side = True
    if count > 1:
        side_by_side = work.block_column[0] - work.block_column[count - 1] == count - 1
    return side_by_side


@func
def _add_axes(work, k: ti.i32, dim, unrolled, side_by_side: ti.i32):
    """Add J' (change of W) J of block k, of `dim` axes, to H.

    `unrolled` is `dim` as a Python integer, for code without loops over axes, or 0.
    """
    address = below(ROW_BITS - 1, work.block_jacadr[k])
    first = work.block_dofadr[k]
    count = work.block_dofnum[k]
    weights = _weights(work, unrolled)
    for e in range(count):
        i = work.block_dof[first + e]
        a = below(ROW_BITS - 1, address + dim * e)
        row = _weighted_column(work, a, dim, unrolled, weights)
        # Row i of H: the block's dofs from the e-th on, which are ancestors of i.
        if side_by_side:
            start = work.H_pattern.start(i)
            for q in range(count - e):
                f = below(SMALL_BITS, q)
                work.H[start + f] = work.H[start + f] + _product(work, row, a + dim * f, dim, unrolled)
        else:
            end = work.H_pattern.end(i)
            for q in range(e, count):
                f = below(SMALL_BITS, q)
                entry = below(ROW_BITS - 1, end - work.block_column[f])
                work.H[entry] = work.H[entry] + _product(work, row, address + dim * f, dim, unrolled)


@traced
def _weights(work, dim):
    """Return the entries (c, d), c >= d, of the change of W as a dict; a pyramid has none between two friction axes."""
    found = {(c, c): let(work.weight_change[2 * c]) for c in range(dim)}
    found.update({(c, 0): let(work.weight_change[2 * c - 1]) for c in range(1, dim)})
    if work.blocks.elliptic:
        pairs = [(c, d) for c in range(1, dim) for d in range(1, c)]
        found.update({(c, d): let(work.cross_change[cross(c, d)]) for c, d in pairs})
    return found


@func
def _weighted_column(work, a: ti.i32, dim, unrolled, weights):
    """Return W times the column of J at address a: a list of numbers, or the field cone_row if `unrolled` is 0."""
    if ti.static(unrolled > 0):
        return _unrolled_column(work, a, unrolled, weights)
    normal = work.weight_change[0] * work.block_J[a]
    for c in range(1, dim):
        normal += work.weight_change[2 * c - 1] * work.block_J[a + c]
        total = work.weight_change[2 * c - 1] * work.block_J[a]
        if ti.static(work.blocks.elliptic):
            for d in range(1, dim):
                total += _friction_change(work, c, d) * work.block_J[a + d]
        else:
            total += work.weight_change[2 * c] * work.block_J[a + c]
        work.cone_row[c] = total
    work.cone_row[0] = normal
    return work.cone_row


@traced
def _unrolled_column(work, a, dim, weights):
    """Return W times the column of J at address a as a list of numbers; `dim` is a Python integer."""
    J = [let(work.block_J[a + d]) for d in range(dim)]
    rows = [[(d, weights.get((max(c, d), min(c, d)))) for d in range(dim)] for c in range(dim)]
    return [reduce(add, [weight * J[d] for d, weight in row if weight is not None]) for row in rows]


@func
def _friction_change(work, c: ti.i32, d: ti.i32):
    """Return entry (c, d) of the change of W for two friction axes, c and d > 0, of an elliptic contact."""
    change = work.real(0.0) + work.weight_change[2 * c]
    if c != d:
        change = work.cross_change[cross(ti.max(c, d), ti.min(c, d))]
    return change


@func
def _product(work, row, at: ti.i32, dim, unrolled):
    """Return the product of a weighted column with the column of J at address `at`."""
    b = below(ROW_BITS - 1, at) if ti.static(unrolled > 1) else at
    total = row[0] * work.block_J[b]
    for c in ti.static(range(1, unrolled)):
        total += row[c] * work.block_J[b + c]
    if ti.static(unrolled == 0):
        for c in range(1, dim):
            total += row[c] * work.block_J[b + c]
    return total
