"""Flat patches are flat wherever one looks, and lie where they may."""

import numpy as np
import pytest

from tumble import terrain
from tumble.terrain import FlatPatches, Ramp, SubTerrain, TerrainGenerator


def field_with(patches: FlatPatches, seed: int = 0):
    kinds = {
        "obstacles": SubTerrain(
            "discrete_obstacles", obstacle_height=0.2, num_obstacles=30, flat_patches={"spawn": patches}
        ),
        "slope": SubTerrain("pyramid_slope", slope=Ramp(0.02, 0.3), flat_patches={"spawn": patches}),
        "none": SubTerrain("flat"),
    }
    return TerrainGenerator(sub_terrains=kinds, num_rows=3, num_cols=3, vertical_scale=0.0, seed=seed).generate()


def spread(field, centre: np.ndarray, radius: float) -> float:
    """The difference of heights in a disc, from 2,000 places in it and its rim."""
    draw = np.random.default_rng(0)
    angle, away = draw.uniform(0, 2 * np.pi, 2000), radius * np.sqrt(draw.uniform(0, 1, 2000))
    away[:500] = radius
    heights = field.height_at(centre[:2] + np.stack([away * np.cos(angle), away * np.sin(angle)], -1))
    return np.ptp(heights)


@pytest.mark.parametrize(("radius", "difference"), [(0.5, 0.05), (0.33, 0.12)])
def test_patches_are_flat(radius, difference):
    field = field_with(FlatPatches(num_patches=40, patch_radius=radius, max_height_diff=difference))
    patches = field.flat_patches["spawn"]
    assert patches.shape == (3, 3, 40, 3)
    np.testing.assert_allclose(patches[..., 2], field.height_at(patches[..., :2]), atol=1e-12)
    for row, col in ((0, 0), (1, 0), (2, 0), (0, 1), (2, 1)):
        assert max(spread(field, centre, radius) for centre in patches[row, col]) <= difference + 1e-9
        away = abs(patches[row, col, :, :2] - field.origins[row, col, :2])
        assert away.max() <= 4.0 - radius + 1e-9
        assert away.max() > 2.0 or col == 1  # only the platform of a steep pyramid is flat
        assert len(np.unique(patches[row, col], axis=0)) == 40 or (row, col) == (2, 1)
    np.testing.assert_array_equal(patches[:, 2], field.origins[:, 2][:, None].repeat(40, 1))  # none asked for


def test_nearly_every_flat_place_may_be_drawn():
    """A place that is left out lies within a cell of ground that differs."""
    heights = np.zeros((81, 81))
    heights[40, 40] = 1.0
    found = FlatPatches(patch_radius=0.5).flat(heights, 0.1)
    row, col = np.indices(found.shape) - 40
    inside = np.maximum(abs(row), abs(col)) <= 35
    away = np.hypot(row, col)
    assert not found[inside & (away < 6)].any() and found[inside & (away > 6.5)].all() and not found[~inside].any()


def test_patches_keep_to_ranges_and_resolution():
    heights = terrain.discrete_obstacles((8.0, 8.0), 0.1, 0, obstacle_height=0.2, num_obstacles=30)
    wanted = FlatPatches(
        num_patches=8, patch_radius=0.3, x_range=(-2.0, 1.0), y_range=(0.0, 3.0), z_range=(-0.01, 0.01), resolution=0.5
    )
    found = wanted.draw(heights, 0.1, 0, "obstacles")
    assert found[:, 0].min() >= -2.0 and found[:, 0].max() <= 1.0 and found[:, 1].min() >= 0.0
    assert abs(found[:, 2]).max() <= 0.01
    np.testing.assert_allclose(found[:, :2] / 0.5, np.round(found[:, :2] / 0.5), atol=1e-9)
    assert len(np.unique(found, axis=0)) == 8


def test_fewer_places_than_patches_are_drawn_again():
    wanted = FlatPatches(num_patches=50, patch_radius=0.5, x_range=(0.0, 0.1), y_range=(0.0, 0.0))
    heights = np.zeros((81, 81))
    assert len(np.unique(wanted.draw(heights, 0.1, 0, "flat"), axis=0)) == 2


def test_patches_come_again_with_the_seed():
    first, again, other = (field_with(FlatPatches(), seed).flat_patches["spawn"] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first[:, 1] != other[:, 1]).any()


def test_ground_without_a_patch_is_an_error():
    with pytest.raises(
        ValueError, match=r"sub_terrains\['obstacles'\] has no flat patch of patch_radius=2 .*smaller radius"
    ):
        field_with(FlatPatches(patch_radius=2.0, max_height_diff=0.0, z_range=(0.0, 0.0), num_patches=1))
