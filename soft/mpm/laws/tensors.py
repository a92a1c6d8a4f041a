"""Symmetric tensors in any arithmetic: lists of entries xx, yy, zz, xy, xz, yz."""

from collections.abc import Sequence
from typing import Any

PLACES = ((0, 3, 4), (3, 1, 5), (4, 5, 2))
"""The place of entry i, j in the list."""
_SWEEPS = 4
_TINY = 1e-30


def sym_scale_add(a: Sequence[Any], factor: Any, diagonal: Any) -> list:
    """Return a * factor + diagonal * 1."""
    return [factor * x + diagonal if k < 3 else factor * x for k, x in enumerate(a)]


def determinant_change(e: Sequence[Any]) -> Any:
    """Return det(1 + e) - 1."""
    xx, yy, zz, xy, xz, yz = e
    minors = xx * yy + xx * zz + yy * zz - xy * xy - xz * xz - yz * yz
    cubes = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    return xx + yy + zz + minors + cubes


def advanced(e: Sequence[Any], step: Sequence[Sequence[Any]]) -> list:
    """Return e after a step L of the deformation: (1 + L) (1 + e) (1 + L)' - 1."""
    moved = [  # L (1 + e)
        [sum_of(step[i][k] * e[PLACES[k][j]] for k in range(3)) + step[i][j] for j in range(3)] for i in range(3)
    ]
    new = list(e)
    for i in range(3):
        for j in range(i, 3):
            square = moved[i][0] * step[j][0] + moved[i][1] * step[j][1] + moved[i][2] * step[j][2]
            new[PLACES[i][j]] = e[PLACES[i][j]] + (moved[i][j] + moved[j][i] + square)
    return new


def eigen(m: Any, a: Sequence[Any]) -> tuple[list, list]:
    """Return the eigenvalues of a, and the columns of their directions: cyclic Jacobi (Golub and Van Loan, 8.5)."""
    d, off = list(a[:3]), {(0, 1): a[3], (0, 2): a[4], (1, 2): a[5]}
    zero = a[0] * 0.0
    columns = [[zero + float(i == j) for i in range(3)] for j in range(3)]
    for _ in range(_SWEEPS):
        for p, q, r in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
            across, gap = off[p, q], d[q] - d[p]
            signed = m.select(gap >= 0.0, across * 2.0, across * -2.0)
            t = signed / (m.abs(gap) + m.sqrt(gap * gap + across * across * 4.0) + _TINY)
            c = 1.0 / m.sqrt(t * t + 1.0)
            s = t * c
            d[p], d[q], off[p, q] = d[p] - t * across, d[q] + t * across, zero
            pr, qr = (min(p, r), max(p, r)), (min(q, r), max(q, r))
            off[pr], off[qr] = c * off[pr] - s * off[qr], s * off[pr] + c * off[qr]
            one, other = columns[p], columns[q]
            columns[p] = [c * x - s * y for x, y in zip(one, other, strict=True)]
            columns[q] = [s * x + c * y for x, y in zip(one, other, strict=True)]
    return d, columns


def from_eigen(values: Sequence[Any], columns: Sequence[Sequence[Any]]) -> list:
    """Return the tensor of eigenvalues and their directions."""
    scaled = [[value * x for x in column] for value, column in zip(values, columns, strict=True)]
    entries = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    return [sum_of(scaled[k][i] * columns[k][j] for k in range(3)) for i, j in entries]


def sum_of(terms: Any) -> Any:
    """Return the sum of some terms in their order."""
    first, *others = terms
    for term in others:
        first = first + term
    return first
