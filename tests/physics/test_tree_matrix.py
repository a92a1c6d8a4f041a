"""Tree-sparse matrices against dense numpy, on chains, stars, forests and random trees."""

import numpy as np
import pytest
import taichi as ti

import tumble
from tumble.physics.base.fields import Field, FieldView, flat_array
from tumble.physics.machine.taichi_thread import in_taichis_thread
from tumble.physics.mechanics.dynamics.tree_matrix import factor, lay_out, multiply, solve
from tumble.physics.model.state.views import Pattern

from ..cases import cases

WIDTH, MOST = 4, 20
MATRICES, VECTORS = ("L", "A"), ("x", "y", "z", "inverse")
ROUNDING = 1e-12
"""Relative: matrices of 20 rows whose condition is below 100, in double precision."""
TREES = {
    "one": [-1],
    "chain": list(range(-1, 12)),
    "star": [-1] + 8 * [0],
    "forest": [-1, 0, 1, -1, 3, -1, -1, 6, 7, 6],
    "limbs": [-1, 0, 1, 2, 3, 4, 5, 6, 7, 5, 9, 10, 11, 5, 13, 14, 8, 16, 17, 18],
} | {f"random {k}": None for k in range(12)}


class Operands:
    """Matrices, vectors and a pattern inside a kernel."""

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, numbers: ti.Field, integers: ti.Field) -> None:
        first = 0
        for name, size in (*((m, MOST * MOST) for m in MATRICES), *((v, MOST) for v in VECTORS)):
            setattr(self, name, FieldView(Field(name, ("n",), 1, "", ""), first, None, flat_array(numbers)))
            first += size
        parts, first = {}, 0
        for name in ("parent", "place", "start", "count", "order", "column"):
            field = Field(name, ("n",), 1, "", "", small=name in ("count", "order", "column"))
            parts[name] = FieldView(field, first, None, flat_array(integers))
            first += MOST
        self.parent, self.place = parts.pop("parent"), parts.pop("place")
        self.pattern = Pattern(**parts)


class Bench:
    """A kernel that lays out a tree, multiplies, factors and solves."""

    def __init__(self) -> None:
        self.numbers = ti.Vector.field(WIDTH, ti.f64, shape=len(MATRICES) * MOST * MOST + len(VECTORS) * MOST)
        self.integers = ti.field(ti.i32, shape=5 * MOST + MOST * MOST)
        numbers, integers = self.numbers, self.integers

        @ti.kernel
        def work(n: ti.i32):
            ti.loop_config(serialize=True)
            for _ in range(1):
                at = Operands(numbers, integers)
                lay_out(n, at.parent, at.pattern, at.place)
                multiply(0, n, at.pattern, at.A, at.x, at.y)
                factor(0, n, at.pattern, at.L, at.inverse)
                solve(n, at.pattern, at.L, at.inverse, at.z)

        self.work = work


@pytest.fixture(scope="module")
def bench():
    tumble.init(precision="64")
    return in_taichis_thread(Bench)


def tree_of(name):
    """Parents of every row."""
    if TREES[name] is not None:
        return TREES[name]
    rng = np.random.default_rng(int(name.split()[1]))
    n = int(rng.integers(2, MOST + 1))
    return [int(i - 1 if rng.random() < 0.6 and i else rng.integers(-1, i)) for i in range(n)]


def paths_of(parent):
    """Rows with their ancestors: what a matrix of the tree holds, in its order."""
    paths = []
    for i, p in enumerate(parent):
        paths.append([i, *(paths[p] if p >= 0 else [])])
    return paths


@cases("name", TREES)
def test_against_dense(bench, name):
    """Product, factor and solution."""
    parent = tree_of(name)
    paths, n = paths_of(parent), len(parent)
    rng = np.random.default_rng(n)
    entries = [(i, j) for i, path in enumerate(paths) for j in path]
    rows, columns = np.array(entries).T
    lower = np.zeros((WIDTH, n, n))
    lower[:, rows, columns] = rng.uniform(-0.4, 0.4, (WIDTH, len(rows)))
    lower[:, range(n), range(n)] = 1.0
    diagonal = rng.uniform(1.0, 3.0, (WIDTH, n))
    dense = np.einsum("wki,wk,wkj->wij", lower, diagonal, lower)
    x = rng.normal(size=(WIDTH, n))

    numbers = rng.normal(size=(bench.numbers.shape[0], WIDTH))  # what is not written is not read
    packed = dense[:, rows, columns].T
    square, count = MOST * MOST, len(rows)
    numbers[:count] = numbers[square : square + count] = packed
    vectors = 2 * square
    numbers[vectors : vectors + n] = numbers[vectors + 2 * MOST : vectors + 2 * MOST + n] = x.T
    integers = np.full(bench.integers.shape[0], n - 1, np.int32)
    integers[:n] = parent
    bench.numbers.from_numpy(numbers)
    bench.integers.from_numpy(integers)
    bench.work(n)
    found = bench.numbers.to_numpy()

    def vector(place):
        return found[vectors + place * MOST : vectors + place * MOST + n].T

    assert np.array_equal(found[square : square + count], packed)
    np.testing.assert_allclose(vector(1), np.einsum("wij,wj->wi", dense, x), rtol=0, atol=ROUNDING * n)
    np.testing.assert_allclose(vector(2), np.linalg.solve(dense, x[..., None])[..., 0], rtol=0, atol=ROUNDING * n)
    np.testing.assert_allclose(1.0 / vector(3), diagonal, rtol=ROUNDING)
    below = rows > columns
    np.testing.assert_allclose(found[:count][below], lower[:, rows, columns].T[below], rtol=0, atol=ROUNDING)
