"""Symmetric matrices with tree sparsity: L^T D L factorisation, solution, product (Featherstone 2008, section 6.5).

Every dof has a parent dof of smaller number, or none, and entries couple a dof only with its ancestors. Row i of a
matrix A holds A_ii, then A_ij for i's parent j, the parent's parent, and so on to the root: `count[i]` numbers from
`start[i]` on, row after row, as MuJoCo stores qM. A parent's row therefore has the same columns as the rest of its
child's, so elimination adds one contiguous range to another.

Consecutive dofs i - 1 and i, where i - 1 is the parent of i, make a *supernode*: both are processed together, so that
most numbers are loaded once for two uses. Along limbs and inside bodies most dofs pair up so.

The 6x6 block of a free body has functions of its own, unrolled: operations and their order are the same, and loops and
addresses are known while tracing.
"""

from typing import Any

import taichi as ti

from ...base.fields import ROW_BITS, SMALL_BITS, below
from ...base.math import func
from ...base.math.lanes import let, traced


@func
def lay_out(n: ti.i32, parent, pattern, place):
    """Fill `pattern` for a tree with parent dofs `parent` (n,), -1 at a root; overwrite `place` (n,).

    `pattern.order` lists the dofs by their depth in the tree.
    """
    # the columns of each row: the dof itself, then its parent's columns; place counts the dofs of each depth
    total = 0
    for depth in range(n):
        place[depth] = 0
    for i in range(n):
        count = 1
        pattern.set_column(total, 0, i)
        if parent[i] >= 0:
            count += pattern.count[parent[i]]
            above = pattern.start(parent[i])
            for p in range(1, count):
                pattern.set_column(total, p, pattern.column(above, p - 1))
        pattern.count.put(i, count)
        pattern.set_start(i, total)
        total += count
        place[count - 1] = place[count - 1] + 1
    # the first place of each depth in pattern.order, then the dofs themselves
    before = 0
    for depth in range(n):
        rows = place[depth]
        place[depth] = before
        before += rows
    for i in range(n):
        depth = pattern.count[i] - 1
        pattern.order.put(place[depth], i)
        place[depth] = place[depth] + 1


@func
def count_entries(n: ti.i32, parent, pattern):
    """Return the number of entries that `lay_out` makes for a tree; set `pattern.count`."""
    total = 0
    for i in range(n):
        count = 1
        if parent[i] >= 0:
            count += pattern.count[parent[i]]
        pattern.count.put(i, count)
        total += count
    return total


@func
def _follows_parent(pattern, i: ti.i32):
    """Return 1 if dof i - 1 is the parent of dof i, so that both make a supernode; otherwise 0."""
    follows = 0
    if pattern.count[i] > 1:
        if pattern.column(pattern.start(i), 1) == i - 1:
            follows = 1
    return follows


@func
def factor(first: ti.i32, end: ti.i32, pattern, a, inverse):
    """Factor A = L^T D L in place: L replaces the strict lower triangle of `a`, and 1 / D goes to `inverse`.

    A supernode is eliminated from two ancestors at a time.

    Args:
        first: the first row to eliminate; rows from `end` on that couple with these are already eliminated.
        end: one more than the last row.
        pattern: columns and addresses of the entries.
        a: A, overwritten by its factor.
        inverse: (n,), overwritten by the reciprocals of D.
    """
    k = end - 1
    while k >= first:
        row, base = pattern.count[k], pattern.start(k)
        inv = 1.0 / a[base]
        inverse[k] = inv
        supernode = 0
        if k > first:
            supernode = _follows_parent(pattern, k)
        # dof k from its parent's row (of a supernode), or from all its ancestors' rows
        for p in range(1, 2 if supernode == 1 else row):
            _eliminate(pattern, a, k, inv, p)
        if supernode == 1:
            next_inv = 1.0 / a[pattern.start(k - 1)]
            inverse[k - 1] = next_inv
            _eliminate_two(pattern, a, k, inv, next_inv)
        k -= 1 + supernode


@func
def _eliminate(pattern, a, k: ti.i32, inv, p: ti.i32):
    """Subtract dof k's outer product from the row of its p-th ancestor; scale that entry of row k to L."""
    base = pattern.start(k)
    to = pattern.start(pattern.column(base, p))
    mine = below(ROW_BITS - 1, base + p)
    scaled = a[mine] * inv
    for q in range(pattern.count[k] - p):
        t = below(SMALL_BITS, q)
        a[to + t] = a[to + t] - scaled * a[mine + t]
    a[mine] = scaled


@func
def _eliminate_two(pattern, a, k: ti.i32, inv, next_inv):
    """Subtract the outer products of dof k and its parent k - 1 from the rows of all other ancestors, two at a time."""
    row, base, next_base = pattern.count[k], pattern.start(k), pattern.start(k - 1)
    p = 2
    while p < row:
        to = pattern.start(pattern.column(base, p))
        mine, theirs = below(ROW_BITS - 1, base + p), below(ROW_BITS - 1, next_base + p - 1)
        scaled, next_scaled = a[mine] * inv, a[theirs] * next_inv
        # the diagonal of the first ancestor, then the entries that its row has in common with the row of the second
        a[to] = (a[to] - scaled * a[mine]) - next_scaled * a[theirs]
        if p + 1 < row:
            up = pattern.start(pattern.column(base, p + 1))
            up_scaled, up_next_scaled = a[mine + 1] * inv, a[theirs + 1] * next_inv
            right = below(ROW_BITS - 1, to + 1)
            for q in range(row - p - 1):
                t = below(SMALL_BITS, q)
                x, y = a[mine + 1 + t], a[theirs + 1 + t]
                low, high = a[right + t], a[up + t]
                a[right + t] = (low - scaled * x) - next_scaled * y
                a[up + t] = (high - up_scaled * x) - up_next_scaled * y
            a[mine + 1] = up_scaled
            a[theirs + 1] = up_next_scaled
        a[mine] = scaled
        a[theirs] = next_scaled
        p += 2


@func
def solve(n: ti.i32, pattern, a, inverse, x):
    """Overwrite `x` by the solution y of A y = x, given the output of `factor` for all n rows."""
    solve_to_root(0, n, pattern, a, x)
    solve_from_root(0, n, pattern.order, pattern, a, inverse, x)


@func
def solve_to_root(first: ti.i32, end: ti.i32, pattern, a, x):
    """Overwrite `x` by the solution y of L^T y = x, as far as the rows from `first` to before `end` go."""
    i = end - 1
    while i >= first:
        base, count = pattern.start(i), pattern.count[i]
        value = x[i]
        supernode = 0
        if i > first:
            supernode = _follows_parent(pattern, i)
        # subtract row i (and i - 1) of L^T from the entries of the ancestors
        if supernode == 1:
            next_base = pattern.start(i - 1)
            next_value = x[i - 1] - a[base + 1] * value
            x[i - 1] = next_value
            for p in range(2, count):
                j = pattern.column(base, p)
                t = below(SMALL_BITS, p)
                x[j] = (x[j] - a[base + t] * value) - a[next_base + below(SMALL_BITS, p - 1)] * next_value
        else:
            for p in range(1, count):
                j = pattern.column(base, p)
                x[j] = x[j] - a[base + below(SMALL_BITS, p)] * value
        i -= 1 + supernode


@func
def solve_from_root(first: ti.i32, end: ti.i32, order, pattern, a, inverse, x):
    """Overwrite `x` by the solution y of D L y = x, for the dofs order[first] to before order[end].

    Every dof must come after its ancestors.
    """
    for k in range(first, end):
        i = order[k]
        base = pattern.start(i)
        value = x[i] * inverse[i]
        for p in range(1, pattern.count[i]):
            value -= a[base + below(SMALL_BITS, p)] * x[pattern.column(base, p)]
        x[i] = value


@func
def multiply(first: ti.i32, end: ti.i32, pattern, a, x, y):
    """Set y = A x in the rows from `first` to before `end`, which must be whole trees."""
    i = first
    while i < end:
        base, count = pattern.start(i), pattern.count[i]
        # row i gives y_i by its entries, and adds to y_j of each ancestor by symmetry
        value = x[i]
        total = a[base] * value
        supernode = 0
        if i + 1 < end:
            supernode = _follows_parent(pattern, i + 1)
        # rows i and i + 1 of a supernode: the entry between them, then all other ancestors
        if supernode == 1:
            next_base = below(ROW_BITS - 1, pattern.start(i + 1) + 1)
            next_value, entry = x[i + 1], a[next_base]
            next_total = a[next_base - 1] * next_value
            next_total += entry * value
            for p in range(1, count):
                t = below(SMALL_BITS, p)
                j = pattern.column(base, p)
                mine, theirs, other = a[base + t], a[next_base + t], x[j]
                total += mine * other
                next_total += theirs * other
                y[j] = (y[j] + mine * value) + theirs * next_value
            y[i] = total + entry * next_value
            y[i + 1] = next_total
        else:
            for p in range(1, count):
                j = pattern.column(base, p)
                entry = a[base + below(SMALL_BITS, p)]
                total += entry * x[j]
                y[j] = y[j] + entry * value
            y[i] = total
        i += 1 + supernode


DOFS = 6


def entry(i: int, p: int) -> int:
    """Return the position, in the block, of the p-th entry of row i, which couples dofs i and i - p."""
    return i * (i + 1) // 2 + p


@traced
def solve_body(first: Any, start: Any, a: Any, inverse: Any, x: Any) -> None:
    """Solve as `tree_matrix.solve` does, for the six dofs from `first` on, whose rows start at `start`."""
    found = [let(x.at(first, i)) for i in range(DOFS)]
    lower = [let(a.at(start, e)) for e in range(entry(DOFS, 0))]
    # L^T y = x from the last dof to the first, then D L z = y from the first to the last
    for i in reversed(range(DOFS)):
        for p in range(1, i + 1):
            found[i - p] = let(found[i - p] - lower[entry(i, p)] * found[i])
    for i in range(DOFS):
        value = found[i] * inverse.at(first, i)
        for p in range(1, i + 1):
            value = value - lower[entry(i, p)] * found[i - p]
        found[i] = let(value)
        x.at(first, i)._assign(found[i])


@traced
def multiply_body(first: Any, start: Any, a: Any, x: Any, y: Any) -> None:
    """Multiply as `tree_matrix.multiply` does, for the six dofs from `first` on, whose rows start at `start`."""
    given = [let(x.at(first, i)) for i in range(DOFS)]
    full = [let(a.at(start, e)) for e in range(entry(DOFS, 0))]
    for i in range(DOFS):
        # row i, and the entries of later rows in column i
        total = full[entry(i, 0)] * given[i]
        for p in range(1, i + 1):
            total = total + full[entry(i, p)] * given[i - p]
        for k in range(i + 1, DOFS):
            total = total + full[entry(k, k - i)] * given[k]
        y.at(first, i)._assign(total)
