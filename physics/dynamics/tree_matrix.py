"""Symmetric matrices with tree sparsity: L^T D L factorisation, solve, product (Featherstone 2008, section 6.5).

A matrix A is stored at (i, j) for j in row i's pattern: `index[i, 0] == i`, then smaller columns in descending
order, `count[i]` of them. The pattern must hold the fill: all columns of row k but k are in each other's rows.
"""

import taichi as ti


@ti.func
def factor(n: ti.i32, count: ti.template(), index: ti.template(), a: ti.template(), inverse: ti.template()):
    """Overwrite the strict lower triangle of `a` by L of A = L^T D L; `inverse` becomes 1 / D.

    A dof and the one before it are eliminated together where they lie on one path to the root, which they do along
    limbs and inside bodies: every entry above is then read and written once instead of twice.
    """
    k = n - 1
    while k >= 0:
        row = count[k]
        inv = 1.0 / a[k, k]
        inverse[k] = inv
        paired = 0
        if row > 1:
            i = index[k, 1]
            if i == k - 1 and count[i] == row - 1:
                paired = 1
            scaled = a[k, i] * inv
            for q in range(1, row):
                j = index[k, q]
                a[i, j] = a[i, j] - scaled * a[k, j]
            a[k, i] = scaled
        if paired == 1:
            next_inv = 1.0 / a[k - 1, k - 1]
            inverse[k - 1] = next_inv
            for p in range(2, row):
                i = index[k, p]
                scaled = a[k, i] * inv
                next_scaled = a[k - 1, i] * next_inv
                for q in range(p, row):
                    j = index[k, q]
                    a[i, j] = (a[i, j] - scaled * a[k, j]) - next_scaled * a[k - 1, j]
                a[k, i] = scaled
                a[k - 1, i] = next_scaled
        else:
            for p in range(2, row):
                i = index[k, p]
                scaled = a[k, i] * inv
                for q in range(p, row):
                    j = index[k, q]
                    a[i, j] = a[i, j] - scaled * a[k, j]
                a[k, i] = scaled
        k -= 1 + paired


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
