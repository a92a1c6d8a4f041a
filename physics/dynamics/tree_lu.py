"""Unsymmetric matrices with tree sparsity: LU factorisation without exchange of rows, and solution.

The pattern is that of `tree_matrix`: entries couple dofs with their ancestors alone. Of the entry e of row i, which
names the ancestor j, `low[e]` is A_ij and `up[e]` is A_ji; the diagonal is in `low` alone. Dofs are eliminated from the
leaves to the roots, so that nothing fills in (Featherstone 2008, section 6.5, without the symmetry).
"""

import taichi as ti

from ..math import func


@func
def factor_unsymmetric(n: ti.i32, pattern, low, up, inverse):
    """Eliminate all n dofs in place; `inverse` (n,) gets one over every pivot."""
    for kk in range(n):
        k = n - 1 - kk
        base, count = pattern.start(k), pattern.count[k]
        inv = 1.0 / low[base]
        inverse[k] = inv
        for p in range(1, count):
            to = pattern.start(pattern.column(base, p))
            down, across = up[base + p] * inv, low[base + p] * inv
            low[to] = low[to] - down * low[base + p]
            for q in range(1, count - p):
                low[to + q] = low[to + q] - down * low[base + p + q]
                up[to + q] = up[to + q] - across * up[base + p + q]


@func
def solve_unsymmetric(n: ti.i32, pattern, low, up, inverse, x):
    """Overwrite `x` by the solution of A y = x, given the output of `factor_unsymmetric`."""
    for kk in range(n):
        k = n - 1 - kk
        base = pattern.start(k)
        share = x[k] * inverse[k]
        for p in range(1, pattern.count[k]):
            j = pattern.column(base, p)
            x[j] = x[j] - up[base + p] * share
    for i in range(n):  # every dof after its ancestors
        base = pattern.start(i)
        value = x[i]
        for p in range(1, pattern.count[i]):
            value -= low[base + p] * x[pattern.column(base, p)]
        x[i] = value * inverse[i]
