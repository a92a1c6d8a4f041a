"""Symmetric matrices with tree sparsity: L^T D L factorisation, solve, product (Featherstone 2008, section 6.5).

Every dof has a parent dof of smaller number, or none, and entries couple dofs with their ancestors alone. Row i of a
matrix A holds A_ii, A at i's parent, at the parent's parent, and so on to the root: `count[i]` numbers from `start[i]`
on, one row after the other (MuJoCo stores qM so). A parent's row therefore names the same columns as the rest of its
child's, and what elimination adds to it lies side by side.
"""

import taichi as ti

from ..fields import ROW_BITS, SMALL_BITS, below
from ..math import func


@func
def lay_out(n: ti.i32, parent, pattern, place):
    """Fill `pattern` for the tree in which `parent[i]` is dof i's parent, -1 at a root; `place` (n,) is overwritten."""
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
    """How many entries `lay_out` will make of a tree; sets `pattern.count`."""
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
    """1 where the dof before i is its parent: both make a supernode of two."""
    follows = 0
    if pattern.count[i] > 1:
        if pattern.column(pattern.start(i), 1) == i - 1:
            follows = 1
    return follows


@func
def factor(first: ti.i32, end: ti.i32, pattern, a, inverse):
    """A = L^T D L in place: L goes to the strict lower triangle of `a`, and 1 / D to `inverse`.

    A dof and the one before it are eliminated together where that is its parent, as it is along limbs and inside
    bodies, and from two ancestors at a time: so most numbers are read once for two uses.

    Args:
        first: first row to eliminate; those behind `end` that couple with these rows have been eliminated before.
        end: the row behind the last one.
        pattern: where the entries are.
        a: A, then its factor.
        inverse: (n,).
    """
    k = end - 1
    while k >= first:
        row, base = pattern.count[k], pattern.start(k)
        inv = 1.0 / a[base]
        inverse[k] = inv
        supernode = 0
        if k > first:
            supernode = _follows_parent(pattern, k)
        for p in range(1, 2 if supernode == 1 else row):
            _eliminate(pattern, a, k, inv, p)
        if supernode == 1:
            next_inv = 1.0 / a[pattern.start(k - 1)]
            inverse[k - 1] = next_inv
            _eliminate_two(pattern, a, k, inv, next_inv)
        k -= 1 + supernode


@func
def _eliminate(pattern, a, k: ti.i32, inv, p: ti.i32):
    """Dof k from its p-th ancestor's row."""
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
    """Dof k and its parent k - 1 from the rows of all other ancestors, two at a time."""
    row, base, next_base = pattern.count[k], pattern.start(k), pattern.start(k - 1)
    p = 2
    while p < row:
        to = pattern.start(pattern.column(base, p))
        mine, theirs = below(ROW_BITS - 1, base + p), below(ROW_BITS - 1, next_base + p - 1)
        scaled, next_scaled = a[mine] * inv, a[theirs] * next_inv
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
    """Overwrite `x` by the solution of A y = x, given the output of `factor` for all n rows."""
    solve_to_root(0, n, pattern, a, x)
    solve_from_root(0, n, pattern.order, pattern, a, inverse, x)


@func
def solve_to_root(first: ti.i32, end: ti.i32, pattern, a, x):
    """Overwrite `x` by the solution of L^T y = x, as far as the rows from `first` to before `end` go."""
    i = end - 1
    while i >= first:
        base, count = pattern.start(i), pattern.count[i]
        value = x[i]
        supernode = 0
        if i > first:
            supernode = _follows_parent(pattern, i)
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
    """Overwrite `x` by the solution of D L y = x in the rows order[first], ..., every one after its ancestors."""
    for k in range(first, end):
        i = order[k]
        base = pattern.start(i)
        value = x[i] * inverse[i]
        for p in range(1, pattern.count[i]):
            value -= a[base + below(SMALL_BITS, p)] * x[pattern.column(base, p)]
        x[i] = value


@func
def multiply(first: ti.i32, end: ti.i32, pattern, a, x, y):
    """Y = A x, in rows from `first` to before `end`: whole trees."""
    i = first
    while i < end:
        base, count = pattern.start(i), pattern.count[i]
        value = x[i]
        total = a[base] * value
        supernode = 0
        if i + 1 < end:
            supernode = _follows_parent(pattern, i + 1)
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
