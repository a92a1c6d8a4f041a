"""Symmetric matrices with tree sparsity: L^T D L factorisation, solve, product (Featherstone 2008, section 6.5).

Every dof has a parent dof of smaller number, or none, and entries couple dofs with their ancestors alone. Row i of a
matrix A holds A_ii, A at i's parent, at the parent's parent, and so on to the root: `count[i]` numbers from `start[i]`
on, one row after the other (MuJoCo stores qM so). A parent's row therefore names the same columns as the rest of its
child's, and what elimination adds to it lies side by side.
"""

import taichi as ti

from ..fields import ROW_BITS, SMALL_BITS, below


@ti.func
def lay_out(n: ti.i32, parent: ti.template(), pattern: ti.template()):
    """Fill `pattern` for the tree in which `parent[i]` is dof i's parent, -1 at a root; returns the entries in all."""
    total, deepest = 0, 0
    for i in range(n):
        count = 1
        pattern.index.put((i, 0), i)
        if parent[i] >= 0:
            count += pattern.count[parent[i]]
            for p in range(1, count):
                pattern.index.put((i, p), pattern.index[parent[i], p - 1])
        pattern.count.put(i, count)
        pattern.set_start(i, total)
        total += count
        deepest = ti.max(deepest, count)
    place = 0
    for depth in range(1, deepest + 1):
        for i in range(n):
            if pattern.count[i] == depth:
                pattern.order.put(place, i)
                place += 1
    return total


@ti.func
def factor(n: ti.i32, pattern: ti.template(), a: ti.template(), inverse: ti.template()):
    """Overwrite the strict lower triangle of `a` by L of A = L^T D L; `inverse` becomes 1 / D.

    A dof and the one before it are eliminated together where that is its parent, as it is along limbs and inside
    bodies: every entry above is then read and written once instead of twice.
    """
    k = n - 1
    while k >= 0:
        row, base = pattern.count[k], pattern.start(k)
        inv = 1.0 / a[base]
        inverse[k] = inv
        paired = 0
        if row > 1:
            parent = pattern.index[k, 1]
            if parent == k - 1:
                paired = 1
            to = pattern.start(parent)
            scaled = a[base + 1] * inv
            for q in range(row - 1):
                t = below(SMALL_BITS, q)
                a[to + t] = a[to + t] - scaled * a[base + 1 + t]
            a[base + 1] = scaled
        if paired == 1:
            next_base = pattern.start(k - 1)
            next_inv = 1.0 / a[next_base]
            inverse[k - 1] = next_inv
            for p in range(2, row):
                to = pattern.start(pattern.index[k, p])
                here, there = below(ROW_BITS - 1, base + p), below(ROW_BITS - 1, next_base + p - 1)
                scaled, next_scaled = a[here] * inv, a[there] * next_inv
                for q in range(row - p):
                    t = below(SMALL_BITS, q)
                    a[to + t] = (a[to + t] - scaled * a[here + t]) - next_scaled * a[there + t]
                a[here] = scaled
                a[there] = next_scaled
        else:
            for p in range(2, row):
                to = pattern.start(pattern.index[k, p])
                here = below(ROW_BITS - 1, base + p)
                scaled = a[here] * inv
                for q in range(row - p):
                    t = below(SMALL_BITS, q)
                    a[to + t] = a[to + t] - scaled * a[here + t]
                a[here] = scaled
        k -= 1 + paired


@ti.func
def solve(n: ti.i32, pattern: ti.template(), a: ti.template(), inverse: ti.template(), x: ti.template()):
    """Overwrite `x` by the solution of A y = x, given the output of `factor`."""
    for kk in range(n):
        i = n - 1 - kk
        base = pattern.start(i)
        value = x[i]
        for p in range(1, pattern.count[i]):
            j = pattern.index[i, p]
            x[j] = x[j] - a[base + below(SMALL_BITS, p)] * value
    for k in range(n):
        i = pattern.order[k]
        base = pattern.start(i)
        value = x[i] * inverse[i]
        for p in range(1, pattern.count[i]):
            value -= a[base + below(SMALL_BITS, p)] * x[pattern.index[i, p]]
        x[i] = value


@ti.func
def multiply(n: ti.i32, pattern: ti.template(), a: ti.template(), x: ti.template(), y: ti.template()):
    """Y = A x."""
    for i in range(n):
        base = pattern.start(i)
        value = x[i]
        total = a[base] * value
        for p in range(1, pattern.count[i]):
            j = pattern.index[i, p]
            entry = a[base + below(SMALL_BITS, p)]
            total += entry * x[j]
            y[j] = y[j] + entry * value
        y[i] = total
