"""The names of isaacgym and Genesis make what their parameters say."""

import inspect

import numpy as np
import pytest

from tumble.terrain import KINDS, SubTerrain
from tumble.terrain.genesis_names import GENESIS_KINDS

from ..cases import cases
from .measure import along_x, runs

DEFAULTS = {
    "flat_terrain": {},
    "fractal_terrain": {"levels": 8, "scale": 5.0},
    "random_uniform_terrain": {"min_height": -0.1, "max_height": 0.1, "step": 0.1, "downsampled_scale": 0.5},
    "sloped_terrain": {"slope": -0.5},
    "pyramid_sloped_terrain": {"slope": -0.1},
    "discrete_obstacles_terrain": {"max_height": 0.05, "min_size": 1.0, "max_size": 5.0, "num_rects": 20},
    "wave_terrain": {"num_waves": 2, "amplitude": 0.1},
    "stairs_terrain": {"step_width": 0.75, "step_height": -0.1},
    "pyramid_stairs_terrain": {"step_width": 0.75, "step_height": -0.1},
    "stepping_stones_terrain": {"stone_size": 1.0, "stone_distance": 0.25, "max_height": 0.2, "platform_size": 0.0},
}


def test_names_and_defaults_are_theirs():
    assert {*GENESIS_KINDS} == {*DEFAULTS} and not {*GENESIS_KINDS} & {*KINDS}
    for name, known in DEFAULTS.items():
        own = {key: each.default for key, each in inspect.signature(GENESIS_KINDS[name]).parameters.items()}
        assert own["horizontal_scale"] == 0.25
        assert known == {key: own[key] for key in known}


@cases("name", DEFAULTS)
def test_each_makes_ground(name):
    heights = SubTerrain(name).heights((12.0, 12.0), 0.25, 0)
    assert heights.shape == (49, 49) and (heights.std() > 0.01) == (name != "flat_terrain")


def test_negative_heights_fall():
    stairs = SubTerrain("stairs_terrain").heights((12.0, 12.0), 0.25, 0)
    np.testing.assert_allclose([height for height, _ in runs(along_x(stairs))], -0.1 * np.arange(16), atol=1e-12)
    assert SubTerrain("pyramid_stairs_terrain").heights((12.0, 12.0), 0.25, 0).min() == pytest.approx(-0.7)
    assert SubTerrain("pyramid_sloped_terrain").heights((12.0, 12.0), 0.25, 0).min() == pytest.approx(-0.1 * 5.5)
    assert SubTerrain("stepping_stones_terrain").heights((12.0, 12.0), 0.25, 0).min() == -10.0
