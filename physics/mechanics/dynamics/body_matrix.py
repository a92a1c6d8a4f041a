"""Products and solutions with the 6x6 block of a free body in a matrix with tree sparsity, unrolled.

The rows of the block have one to six numbers and lie one after the other. Operations and their order are those of
`tree_matrix`; only loops and addresses are known while tracing.
"""

from typing import Any

from taichi.lang.impl import expr_init

from ...base.math.lanes import traced

DOFS = 6


def entry(i: int, p: int) -> int:
    """Return the position, in the block, of the p-th entry of row i, which couples dofs i and i - p."""
    return i * (i + 1) // 2 + p


@traced
def solve_body(first: Any, start: Any, a: Any, inverse: Any, x: Any) -> None:
    """Solve as `tree_matrix.solve` does, for the six dofs from `first` on, whose rows start at `start`."""
    found = [expr_init(x.at(first, i)) for i in range(DOFS)]
    lower = [expr_init(a.at(start, e)) for e in range(entry(DOFS, 0))]
    # L^T y = x from the last dof to the first, then D L z = y from the first to the last
    for i in reversed(range(DOFS)):
        for p in range(1, i + 1):
            found[i - p] = expr_init(found[i - p] - lower[entry(i, p)] * found[i])
    for i in range(DOFS):
        value = found[i] * inverse.at(first, i)
        for p in range(1, i + 1):
            value = value - lower[entry(i, p)] * found[i - p]
        found[i] = expr_init(value)
        x.at(first, i)._assign(found[i])


@traced
def multiply_body(first: Any, start: Any, a: Any, x: Any, y: Any) -> None:
    """Multiply as `tree_matrix.multiply` does, for the six dofs from `first` on, whose rows start at `start`."""
    given = [expr_init(x.at(first, i)) for i in range(DOFS)]
    full = [expr_init(a.at(start, e)) for e in range(entry(DOFS, 0))]
    for i in range(DOFS):
        # row i, and the entries of later rows in column i
        total = full[entry(i, 0)] * given[i]
        for p in range(1, i + 1):
            total = total + full[entry(i, p)] * given[i - p]
        for k in range(i + 1, DOFS):
            total = total + full[entry(k, k - i)] * given[k]
        y.at(first, i)._assign(total)
