"""Unsymmetric matrices with tree sparsity: LU factorisation without pivoting, and solution.

The pattern is that of `tree_matrix`: entries couple a dof only with its ancestors and descendants. If entry e of row i
belongs to the ancestor j, `low[e]` is A_ij and `up[e]` is A_ji; the diagonal is in `low` alone. Dofs are eliminated
from the leaves to the roots, so there is no fill-in (Featherstone 2008, section 6.5, without the symmetry).
"""

import taichi as ti

from ...base.math import func


@func
def factor_unsymmetric(n: ti.i32, pattern, low, up, inverse):
    """Factor A in place by eliminating all n dofs; set `inverse` (n,) to the reciprocals of the pivots."""
    for kk in range(n):
        k = n - 1 - kk
        base, count = pattern.start(k), pattern.count[k]
        inv = 1.0 / low[base]
        inverse[k] = inv
        # subtract dof k's contribution from the rows and columns of its ancestors
        for p in range(1, count):
            to = pattern.start(pattern.column(base, p))
            down, across = up[base + p] * inv, low[base + p] * inv
            low[to] = low[to] - down * low[base + p]
            for q in range(1, count - p):
                low[to + q] = low[to + q] - down * low[base + p + q]
                up[to + q] = up[to + q] - across * up[base + p + q]


@func
def solve_unsymmetric(n: ti.i32, pattern, low, up, inverse, x):
    """Overwrite `x` by the solution y of A y = x, given the output of `factor_unsymmetric`."""
    # from the leaves to the roots, then from the roots to the leaves
    for kk in range(n):
        k = n - 1 - kk
        base = pattern.start(k)
        share = x[k] * inverse[k]
        for p in range(1, pattern.count[k]):
            j = pattern.column(base, p)
            x[j] = x[j] - up[base + p] * share
    for i in range(n):  # ancestors have smaller numbers, so they come first
        base = pattern.start(i)
        value = x[i]
        for p in range(1, pattern.count[i]):
            value -= low[base + p] * x[pattern.column(base, p)]
        x[i] = value * inverse[i]
