"""Heights in a task's arrays are the terrain's, in each library and precision."""

import array_api_strict
import mujoco
import numpy as np
import pytest
import torch

from tumble.envs import Ground, grid_points
from tumble.envs.arrays import ArrayKind, host
from tumble.terrain import Terrain

from .drifting import TERRAIN

KINDS = {
    "numpy": ArrayKind.of(torch.float64, "cpu"),
    "single": ArrayKind.of(torch.float32, "cpu"),
    "torch": ArrayKind.of(torch.float64, "cpu", "torch"),
    "strict": ArrayKind(array_api_strict, array_api_strict.float64, None),
}


class Arrays:
    """A stand-in for a bound task, with what `Ground` reads."""

    def __init__(self, kind: str) -> None:
        self.kind = KINDS[kind]

    def array(self, values):
        """Numbers as arrays of the kind."""
        if self.kind.xp is array_api_strict:
            return array_api_strict.asarray(np.asarray(values, float))
        return self.kind.numbers(values)


def on(kind: str, terrain: Terrain = TERRAIN):
    arrays = Arrays(kind)
    return Ground(terrain, arrays), arrays.array


@pytest.mark.parametrize("kind", KINDS)
def test_heights_are_the_terrains(kind):
    ground, array = on(kind)
    xy = np.random.default_rng(0).uniform(-0.55, 0.55, (300, 4, 2)) * TERRAIN.size
    atol = 2e-5 if kind == "single" else 1e-12
    found = np.asarray(ground.height(array(xy)))
    assert found.shape == (300, 4)
    np.testing.assert_allclose(found, TERRAIN.height_at(xy, clamp=True), atol=atol)
    pos = np.concatenate((xy, np.full((300, 4, 1), 2.0)), -1)
    np.testing.assert_allclose(np.asarray(ground.above(array(pos))), 2.0 - found, atol=atol)


@pytest.mark.parametrize("kind", KINDS)
def test_places_off_the_field_are_outside(kind):
    ground, array = on(kind, Terrain.from_heights(np.zeros((5, 9)), size=(8.0, 4.0)))
    xy = np.array([[0, 0], [3.9, 1.9], [4.1, 0], [0, -2.1], [-3.6, 0], [0, 1.6], [np.nan, 0], [np.inf, 0]])
    assert np.asarray(ground.outside(array(xy))).tolist() == [False, False, True, True, False, False, True, True]
    assert np.asarray(ground.outside(array(xy), 0.5)).tolist() == [False, True, True, True, True, True, True, True]


def test_a_place_that_is_no_number_has_a_height_nevertheless():
    ground, array = on("numpy")
    found = ground.height(array([[np.nan, np.nan], [np.inf, -np.inf], [1.0, 1.0]]))
    assert np.isfinite(found).all() and found[2] == pytest.approx(TERRAIN.height_at([1.0, 1.0]))


def test_one_environment_has_the_bits_of_many():
    ground, array = on("single")
    xy = np.random.default_rng(1).uniform(-10, 10, (64, 2))
    many = host(ground.height(array(xy)))
    for k in (0, 17, 63):
        np.testing.assert_array_equal(host(ground.height(array(xy[k : k + 1]))), many[k : k + 1])


@pytest.mark.parametrize("kind", KINDS)
def test_scans_turn_with_the_heading(kind):
    """The heading is the x axis seen from above; a body that looks straight up has none, and its scan does not turn."""
    ground, array = on(kind)
    rng = np.random.default_rng(2)
    quaternions, pos = (
        rng.normal(size=(20, 4)),
        np.concatenate((rng.uniform(-6, 6, (20, 2)), rng.uniform(0, 2, (20, 1))), -1),
    )
    quaternions[0] = [np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0]
    mat = np.zeros((20, 9))
    for row, quaternion in enumerate(quaternions):
        mujoco.mju_quat2Mat(mat[row], quaternion / np.linalg.norm(quaternion))
    found = np.asarray(ground.scan(array(pos), array(mat), array(grid_points())))
    yaw = np.where(np.arange(20) == 0, 0.0, np.arctan2(mat[:, 3], mat[:, 0]))[:, None]
    x, y = grid_points()[:, 0], grid_points()[:, 1]
    place = pos[:, None, :2] + np.stack((np.cos(yaw) * x - np.sin(yaw) * y, np.sin(yaw) * x + np.cos(yaw) * y), -1)
    atol = 1e-4 if kind == "single" else 1e-12
    np.testing.assert_allclose(found, pos[:, 2:] - TERRAIN.height_at(place, clamp=True), atol=atol)
