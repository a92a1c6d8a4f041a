"""The vocabulary of lanes, a few words of it: the same operation in lanes and in numpy, each with separate formulas.

In lanes an operand is an item of a field and tile t holds environments t W ... t W + W - 1; in numpy it is an array
(components, environments).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import taichi as ti

from ..physics.base.fields import Field, FieldView, flat_array
from ..physics.base.math import func
from ..physics.base.math.trigonometry import sincos
from ..physics.mechanics.dynamics.tree_matrix import factor
from ..physics.model.state.views import Pattern
from .inside import Fields

WIDTHS_OF_OPERANDS = {
    "quat": 4,
    "quat2": 4,
    "point": 3,
    "anchor": 3,
    "motion": 6,
    "motion2": 6,
    "inertia": 10,
    "angle": 1,
}
RESULT_WIDTH = 6
"""Numbers in the largest result of an operation on items."""
PATTERN = ("count", "start", "order")
"""Integers of every row of a tree-sparse matrix; the columns of all rows follow, one row after the other."""
Arrays = dict[str, np.ndarray]


class Operands:
    """Operands inside a kernel: `at.quat[t]`, ..., `at.out.put(t, value)`; and one tile of tree-sparse matrices."""

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, scratch: Fields, tiles: int, size: int) -> None:
        self.size = size
        number, index = flat_array(scratch.numbers), flat_array(scratch.indices)
        first = 0
        for name, width in (*WIDTHS_OF_OPERANDS.items(), ("out", RESULT_WIDTH)):
            setattr(self, name, FieldView(Field(name, ("tiles",), width, "", ""), first, None, number))
            first += tiles * width
        for name in ("L", "M", "inverse"):
            setattr(self, name, FieldView(Field(name, ("n",), 1, "", ""), first, None, number))
            first += size * size
        parts, first = {}, 0
        for name in (*PATTERN, "column"):
            parts[name] = FieldView(Field(name, ("n",), 1, "", "", small=True), first, None, index)
            first += size
        self.pattern = Pattern(**parts)


def first_rows(tiles: int, size: int) -> dict[str, int]:
    """Return the first row of each operand in the scratch, with "end", in the order of `Operands`."""
    rows, first = {}, 0
    for name, width in (*WIDTHS_OF_OPERANDS.items(), ("out", RESULT_WIDTH)):
        rows[name] = first
        first += tiles * width
    for name in ("L", "M", "inverse"):
        rows[name] = first
        first += size * size
    return rows | {"end": first}


@func
def _transform(lanes, at, t: ti.i32):
    at.out.put_numbers(t, 0, (at.quat[t].rotate(at.point[t]) + at.anchor[t]).numbers())


@func
def _quaternion_product(lanes, at, t: ti.i32):
    at.out.put_numbers(t, 0, (at.quat[t] * at.quat2[t]).numbers())


@func
def _momentum(lanes, at, t: ti.i32):
    at.out.put_numbers(t, 0, at.inertia[t].times(at.motion[t]).numbers())


@func
def _sincos(lanes, at, t: ti.i32):
    s, c = sincos(lanes, at.angle[t])
    at.out.put_numbers(t, 0, [s, c])


@func
def _tree_factor(lanes, at, t: ti.i32):
    for e in range(at.pattern.end(at.size - 1)):
        at.L[e] = at.M[e]
    factor(0, at.size, at.pattern, at.L, at.inverse)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))


def _numpy_transform(x: Arrays) -> np.ndarray:
    w, u, point = x["quat"][0], x["quat"][1:], x["point"]
    twice = 2 * _cross(u, point)
    return point + w * twice + _cross(u, twice) + x["anchor"]


def _numpy_quaternion_product(x: Arrays) -> np.ndarray:
    (aw, ax, ay, az), (bw, bx, by, bz) = x["quat"], x["quat2"]
    return np.stack(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        )
    )


def _numpy_momentum(x: Arrays) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = x["inertia"][:6]
    moment, mass, turn, shift = x["inertia"][6:9], x["inertia"][9], x["motion"][:3], x["motion"][3:]
    a, b, c = turn
    turned = np.stack((xx * a + xy * b + xz * c, xy * a + yy * b + yz * c, xz * a + yz * b + zz * c))
    return np.concatenate((turned + _cross(moment, shift), mass * shift - _cross(moment, turn)))


def _numpy_sincos(x: Arrays) -> np.ndarray:
    return np.concatenate((np.sin(x["angle"]), np.cos(x["angle"])))


def numpy_tree_factor(matrix: np.ndarray, ancestors: list[list[int]]) -> np.ndarray:
    """L of L^T D L below the diagonal, D on it, of matrices (n, n, environments); `ancestors[i]` begins with i."""
    a = matrix.copy()
    for k in reversed(range(len(a))):
        for p, i in enumerate(ancestors[k][1:], 1):
            scaled = a[k, i] / a[k, k]
            for j in ancestors[k][p:]:
                a[i, j] -= scaled * a[k, j]
            a[k, i] = scaled
    return a


class Operation(NamedTuple):
    """A word of the vocabulary.

    Attributes:
        name: for the table.
        lanes: for tile t in a kernel.
        arrays: for all environments in numpy; None: `numpy_tree_factor`.
    """

    name: str
    lanes: Any
    arrays: Callable[[Arrays], np.ndarray] | None


OPERATIONS = (
    Operation("rotate and shift a point", _transform, _numpy_transform),
    Operation("product of quaternions", _quaternion_product, _numpy_quaternion_product),
    Operation("inertia times motion", _momentum, _numpy_momentum),
    Operation("sine and cosine", _sincos, _numpy_sincos),
    Operation("tree-sparse factor, humanoid", _tree_factor, None),
)
