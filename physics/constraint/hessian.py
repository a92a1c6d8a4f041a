"""Hessian M + J' W J of the cost, kept up to date as rows become active or inactive, and its factor.

Everything is done for the entries `first` to before `end` of group_tree, the trees of a group.
"""

import taichi as ti

from ..dynamics.tree_matrix import factor, solve_from_root, solve_to_root
from ..fields import ROW_BITS, SMALL_BITS, below
from ..math import func
from .cone import cross
from .cost import block_weight, is_cone
from .islands import dofs_of


@func
def start_hessian(model, work, first: ti.i32, end: ti.i32):
    """H = M, no block counted in yet."""
    for s in range(first, end):
        t = work.group_tree[s]
        start, behind = dofs_of(model, t)
        _copy_mass(work, start, behind)
        for b in range(work.tree_blockadr[t], work.tree_blockadr[t] + work.tree_blocknum[t]):
            k = work.tree_block[b]
            for c in range(2 * work.block_dim[k] - 1):
                work.block_weight.at(k, c)._assign(work.real(0.0))
            if ti.static(work.blocks.two_sided):
                if k < work.ntwosided:
                    work.block_weight.at(k, 1)._assign(work.real(0.0))
            if ti.static(work.blocks.elliptic):
                if is_cone(work, work.blocks, k):
                    work.cone_zone[k] = work.real(0.0)
                    for c in range(10):
                        work.cone_weight.at(k, c)._assign(work.real(0.0))


@func
def _copy_mass(work, first: ti.i32, end: ti.i32):
    """H = M in these rows."""
    for i in range(first, end):
        start, from_start = work.H_pattern.start(i), work.M_pattern.start(i)
        count = work.M_pattern.count[i]
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
    """Count in the blocks whose weight changed in some lane since the last update, and factor if there are any.

    Column 2 of tree_part becomes the mask of the lanes in which other rows of the tree push than before. `fresh` = 1
    factors in any case.
    """
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
    """Overwrite `x` by the solution of H y = x in the dofs of group g."""
    first, end = work.group_treeadr[g], work.group_treeadr[g] + work.group_treenum[g]
    for s in range(first, end):
        t = work.group_tree[first + end - 1 - s]
        start, behind = dofs_of(model, t)
        solve_to_root(start, behind, work.H_pattern, work.H_L, x)
    dofs = work.group_dofadr[g]
    behind = dofs + work.group_dofnum[g]
    solve_from_root(dofs, behind, work.group_dof, work.H_pattern, work.H_L, work.H_inv, x)


@func
def _add_block(work, k: ti.i32):
    """H += J' weight_change J."""
    dim, dofs = work.block_dim[k], work.block_dofnum[k]
    if dim * dofs == 1:
        slope = work.block_J[work.block_jacadr[k]]
        entry = work.H_pattern.start(work.block_dof[work.block_dofadr[k]])
        work.H[entry] = work.H[entry] + work.weight_change[0] * slope * slope
    else:
        side_by_side = _find_columns(work, k)
        if ti.static(work.blocks.elliptic):
            _add_cone_or_row(work, k, dim, side_by_side)
        elif dim == 3:
            _add_three(work, k, side_by_side)
        elif dim == 1:
            _add_one(work, k, side_by_side)
        else:
            _add_any(work, k, dim)


@func
def _find_columns(work, k: ti.i32):
    """Whether a block's entries lie side by side, as a row's do: no other has put dofs between those of this one.

    `block_column` says how far before the end of every row its columns are.
    """
    first, count = work.block_dofadr[k], work.block_dofnum[k]
    for e in range(count):
        work.block_column.put(e, work.H_pattern.count[work.block_dof[first + e]])
    side_by_side = True
    if count > 1:
        side_by_side = work.block_column[0] - work.block_column[count - 1] == count - 1
    return side_by_side


@func
def _entry(work, end: ti.i32, e: ti.i32):
    """Address of the entry at the e-th dof of the block in hand, in the row that ends at `end`."""
    return below(ROW_BITS - 1, end - work.block_column[e])


@func
def _add_one(work, k: ti.i32, side_by_side: ti.i32):
    """Without friction."""
    address = below(ROW_BITS - 1, work.block_jacadr[k])
    first = work.block_dofadr[k]
    count = work.block_dofnum[k]
    weight = work.weight_change[0]
    for e in range(count):
        i = work.block_dof[first + e]
        a = below(ROW_BITS - 1, address + e)
        scaled = weight * work.block_J[a]
        if side_by_side:
            start = work.H_pattern.start(i)
            for q in range(count - e):
                f = below(SMALL_BITS, q)
                work.H[start + f] = work.H[start + f] + scaled * work.block_J[a + f]
        else:
            end = work.H_pattern.end(i)
            for q in range(e, count):
                f = below(SMALL_BITS, q)
                entry = _entry(work, end, f)
                work.H[entry] = work.H[entry] + scaled * work.block_J[address + f]


@func
def _add_three(work, k: ti.i32, side_by_side: ti.i32):
    """With friction along two axes."""
    address = below(ROW_BITS - 1, work.block_jacadr[k])
    first = work.block_dofadr[k]
    count = work.block_dofnum[k]
    nn, n1, w1 = work.weight_change[0], work.weight_change[1], work.weight_change[2]
    n2, w2 = work.weight_change[3], work.weight_change[4]
    for e in range(count):
        i = work.block_dof[first + e]
        a = below(ROW_BITS - 1, address + 3 * e)
        jn, j1, j2 = work.block_J[a], work.block_J[a + 1], work.block_J[a + 2]
        tn = nn * jn + n1 * j1 + n2 * j2
        t1 = n1 * jn + w1 * j1
        t2 = n2 * jn + w2 * j2
        if side_by_side:
            start = work.H_pattern.start(i)
            for q in range(count - e):
                f = below(SMALL_BITS, q)
                b = below(ROW_BITS - 1, a + 3 * f)
                total = tn * work.block_J[b] + t1 * work.block_J[b + 1] + t2 * work.block_J[b + 2]
                work.H[start + f] = work.H[start + f] + total
        else:
            end = work.H_pattern.end(i)
            for q in range(e, count):
                f = below(SMALL_BITS, q)
                b = below(ROW_BITS - 1, address + 3 * f)
                total = tn * work.block_J[b] + t1 * work.block_J[b + 1] + t2 * work.block_J[b + 2]
                entry = _entry(work, end, f)
                work.H[entry] = work.H[entry] + total


@func
def _add_any(work, k: ti.i32, dim: ti.i32):
    """With rotation too."""
    address = work.block_jacadr[k]
    first = work.block_dofadr[k]
    count = work.block_dofnum[k]
    for e in range(count):
        end = work.H_pattern.end(work.block_dof[first + e])
        a = address + dim * e
        tn = work.weight_change[0] * work.block_J[a]
        for c in range(1, dim):
            tn += work.weight_change[2 * c - 1] * work.block_J[a + c]
        for f in range(e, count):
            b = address + dim * f
            total = tn * work.block_J[b]
            for c in range(1, dim):
                side = work.weight_change[2 * c - 1] * work.block_J[a] + work.weight_change[2 * c] * work.block_J[a + c]
                total += side * work.block_J[b + c]
            entry = _entry(work, end, f)
            work.H[entry] = work.H[entry] + total


@func
def _add_cone_or_row(work, k: ti.i32, dim: ti.i32, side_by_side: ti.i32):
    """In kernels with elliptic cones, whose weight is a full matrix."""
    if dim == 1:
        _add_one(work, k, side_by_side)
    else:
        first, count, address = work.block_dofadr[k], work.block_dofnum[k], work.block_jacadr[k]
        for e in range(count):
            end = work.H_pattern.end(work.block_dof[first + e])
            for c in range(dim):
                scaled = work.real(0.0)
                for d in range(dim):
                    scaled += _cone_change(work, c, d) * work.block_J[address + dim * e + d]
                work.cone_row[c] = scaled
            for f in range(e, count):
                total = work.real(0.0)
                for c in range(dim):
                    total += work.cone_row[c] * work.block_J[address + dim * f + c]
                entry = _entry(work, end, f)
                work.H[entry] = work.H[entry] + total


@func
def _cone_change(work, c: ti.i32, d: ti.i32):
    """Change of the weight of axes c and d of the block in hand."""
    low, high = ti.min(c, d), ti.max(c, d)
    change = work.real(0.0)
    if low == high:
        change = work.weight_change[2 * high]
    elif low == 0:
        change = work.weight_change[2 * high - 1]
    else:
        change = work.cross_change[cross(high, low)]
    return change
