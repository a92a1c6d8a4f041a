"""Symmetric matrices with tree sparsity: L^T D L factorisation, solve, product (Featherstone 2008, section 6.5).

A matrix A is stored at (i, j) for j in row i's pattern: `index[i, 0] == i`, then smaller columns in descending
order, `count[i]` of them. The pattern must hold the fill: all columns of row k but k are in each other's rows.
"""

import taichi as ti


@ti.func
def factor(n: ti.i32, count: ti.template(), index: ti.template(), a: ti.template(), inverse: ti.template()):
    """Overwrite the strict lower triangle of `a` by L of A = L^T D L; `inverse` becomes 1 / D."""
    for kk in range(n):
        k = n - 1 - kk
        row = count[k]
        inv = 1.0 / a[k, k]
        inverse[k] = inv
        for p in range(1, row):
            i = index[k, p]
            scaled = a[k, i] * inv
            for q in range(p, row):
                j = index[k, q]
                a[i, j] = a[i, j] - scaled * a[k, j]
            a[k, i] = scaled


@ti.func
def solve(
    n: ti.i32,
    count: ti.template(),
    index: ti.template(),
    a: ti.template(),
    inverse: ti.template(),
    x: ti.template(),
):
    """Overwrite `x` by the solution of A y = x, given the output of `factor`."""
    for kk in range(n):
        i = n - 1 - kk
        value = x[i]
        for p in range(1, count[i]):
            j = index[i, p]
            x[j] = x[j] - a[i, j] * value
    for i in range(n):
        value = x[i] * inverse[i]
        for p in range(1, count[i]):
            value -= a[i, index[i, p]] * x[index[i, p]]
        x[i] = value


@ti.func
def multiply(
    n: ti.i32,
    count: ti.template(),
    index: ti.template(),
    a: ti.template(),
    x: ti.template(),
    y: ti.template(),
):
    """Y = A x."""
    for i in range(n):
        value = x[i]
        total = a[i, i] * value
        for p in range(1, count[i]):
            j = index[i, p]
            entry = a[i, j]
            total += entry * x[j]
            y[j] = y[j] + entry * value
        y[i] = total
