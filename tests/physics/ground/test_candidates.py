"""The rule that keeps a few of many candidates, against a page of numpy."""

from typing import Any

import numpy as np
import pytest
import taichi as ti

from tumble.physics.base.fields import Field, FieldView, flat_array
from tumble.physics.base.math import Lanes, Vec3
from tumble.physics.mechanics.collision.candidates import put_candidate, reduce_candidates
from tumble.physics.mechanics.collision.pair_table import CANDIDATES, SPREAD

from ..starts import run_in_columns

ROWS = CANDIDATES * (1 + 3 + 3 + 1)
F1 = ti.types.ndarray(ti.f64, 1)


class View:
    """The fields of a lane that candidates need, in two arrays; and the one size of the model."""

    _data_oriented = True

    def __init__(self, numbers: Any, count: Any) -> None:
        self.ccd_lanes, self.nhit, first = Lanes(1, ti.f64), CANDIDATES, 0
        for name, width in (("dist", 1), ("pos", 3), ("normal", 3), ("apart", 1)):
            field = Field(f"hit_{name}", ("nhit",), width, "", "")
            setattr(self, field.name, FieldView(field, first, None, flat_array(numbers)))
            first += CANDIDATES * width
        self.hit_count = FieldView(Field("hit_count", ("one",), 1, "", ""), 0, None, flat_array(count))


@pytest.fixture(scope="module")
def reduced():
    """A function that puts candidates (n, 4) of distance and position, and returns those kept, in order."""
    run_in_columns("64")

    @ti.kernel
    def run(numbers: F1, count: ti.types.ndarray(ti.i32, 1), given: F1, close: ti.f64):
        for _ in range(1):
            one = View(numbers, count)
            for k in range(given.shape[0] // 4):
                pos = Vec3(given[4 * k + 1], given[4 * k + 2], given[4 * k + 3])
                put_candidate(one, one, close, given[4 * k], pos, pos)
            reduce_candidates(one, close)

    def keep(candidates: np.ndarray, close: float) -> np.ndarray:
        numbers, count = np.zeros(ROWS), np.zeros(1, np.int32)
        run(numbers, count, candidates.ravel(), close)
        dist, pos = numbers[:CANDIDATES], numbers[CANDIDATES : 4 * CANDIDATES].reshape(-1, 3)
        return np.column_stack((dist, pos))[: count[0]]

    return keep


def by_the_rule(candidates: np.ndarray, close: float) -> np.ndarray:
    """The deepest, then always the farthest from those kept."""
    left = list(candidates)
    kept = [left.pop(int(np.argmin([row[0] for row in left])))]
    while left and len(kept) < SPREAD:
        apart = [min(float(((row[1:] - other[1:]) ** 2).sum()) for other in kept) for row in left]
        if max(apart) <= close**2:
            break
        kept.append(left.pop(int(np.argmax(apart))))
    return np.array(kept)


@pytest.mark.parametrize("count", [1, 3, SPREAD, 20, CANDIDATES])
def test_the_deepest_and_the_widest_spread_are_kept(reduced, count):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        candidates = np.column_stack((rng.normal(size=count), rng.uniform(-1, 1, (count, 3))))
        for close in (0.0, 0.4):
            np.testing.assert_array_equal(reduced(candidates, close), by_the_rule(candidates, close))


def test_of_more_than_there_is_room_for_the_deepest_stays(reduced):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        candidates = np.column_stack((rng.normal(size=500), rng.uniform(-1, 1, (500, 3))))
        kept = reduced(candidates, 0.0)
        assert kept[0, 0] == candidates[:, 0].min() and len(kept) == SPREAD
        gaps = np.linalg.norm(kept[:, None, 1:] - kept[None, :, 1:], axis=-1)[np.triu_indices(SPREAD, 1)]
        assert gaps.min() > 0.5  # of a cube with sides of 2


def test_candidates_at_one_place_are_one_contact(reduced):
    candidates = np.tile([-0.1, 1.0, 2.0, 3.0], (30, 1))
    candidates[:, 1] += np.linspace(0, 1e-3, 30)
    assert len(reduced(candidates, 0.01)) == 1
