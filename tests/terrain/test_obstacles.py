"""Things that stand on the ground: their heights, sizes, shares and places, from heights alone."""

import numpy as np
import pytest

from tumble import terrain

from .measure import middle


@pytest.mark.parametrize(("mode", "known"), [("choice", {-0.2, -0.1, 0.0, 0.1, 0.2}), ("fixed", {0.0, 0.2})])
def test_obstacles_have_the_heights_of_their_mode(mode, known):
    heights = terrain.discrete_obstacles(
        (8.0, 8.0), 0.1, 1, obstacle_height=0.2, obstacle_height_mode=mode, num_obstacles=60, platform_width=1.0
    )
    assert {*heights.ravel().tolist()} == known
    assert not middle(heights, 4).any()


def test_one_obstacle_has_sides_within_its_range():
    sides = []
    for seed in range(60):
        heights = terrain.discrete_obstacles(
            (6.0, 5.0), 0.1, seed, obstacle_height_mode="fixed", obstacle_width_range=(0.4, 0.9), num_obstacles=1,
            platform_width=0.0,
        )  # fmt: skip
        row, col = np.nonzero(heights)
        assert len(row) == (np.ptp(row) + 1) * (np.ptp(col) + 1)  # a full rectangle
        sides += [np.ptp(row) * 0.1, np.ptp(col) * 0.1]
    assert min(sides) >= 0.4 - 1e-9 and max(sides) <= 0.9 + 1e-9 and min(sides) < 0.5 and max(sides) > 0.8


def test_obstacles_cover_the_share_that_chance_gives_them():
    """A point is free of n rectangles of mean area a with about (1 - a/A)^n, away from the border."""
    shares = [
        (terrain.discrete_obstacles(
            (20.0, 20.0), 0.1, seed, obstacle_height_mode="fixed", obstacle_width_range=(1.0, 1.0), num_obstacles=100,
            platform_width=0.0,
        )[40:-40, 40:-40] != 0).mean() for seed in range(10)
    ]  # fmt: skip
    expected = 1.0 - (1.0 - (1.1 / 19.1) ** 2) ** 100  # 11 points of the 192 - 1 places along each side
    assert abs(np.mean(shares) - expected) < 3 * np.std(shares) / np.sqrt(len(shares))


def test_tiles_have_heights_of_their_own_within_the_range():
    heights = terrain.random_grid((8.0, 8.0), 0.1, 2, grid_width=0.5, grid_height=0.15, platform_width=1.0)
    tiles = heights[:-1, :-1].reshape(16, 5, 16, 5).swapaxes(1, 2)[:, :, 1:, 1:]
    assert np.ptp(tiles, axis=(2, 3)).max() == 0.0
    levels = tiles[:, :, 0, 0]
    assert len(np.unique(levels)) == 16 * 16 - 3  # four tiles are the platform
    assert not levels[7:9, 7:9].any() and abs(levels).max() <= 0.15 and abs(levels.std() - 0.15 / np.sqrt(3)) < 0.01
    edge = heights[10:31:5, 12]  # between two rows of tiles the higher one counts
    np.testing.assert_allclose(edge, np.maximum(levels[1:6, 2], levels[2:7, 2]))


def test_a_grid_of_tiles_has_a_rim_where_no_tile_fits():
    heights = terrain.random_grid((8.0, 8.0), 0.1, 2, grid_width=0.9, platform_width=1.0)
    assert (heights[:4] >= 0).all() and not heights[:4].any() and not heights[:, :4].any()
    assert heights[5:10, 5:75].any()
    holes = terrain.random_grid((8.0, 8.0), 0.1, 2, grid_width=1.0, platform_width=2.0, holes=True, holes_depth=-3.0)
    assert (holes[1:29, 1:29] == -3.0).all() and holes[36:45].min() > -0.2


@pytest.mark.parametrize("kind", ["repeated_boxes", "repeated_cylinders", "repeated_pyramids"])
def test_objects_stand_on_flat_ground_within_their_heights(kind):
    make = terrain.KINDS[kind]
    heights = make((8.0, 8.0), 0.05, 3, num_objects=30, height_range=(0.1, 0.3), platform_width=1.5)
    assert heights.min() == 0.0 and 0.2 < heights.max() <= 0.3
    assert not middle(heights, 14).any()
    assert 0.02 < (heights > 0).mean() < 0.5
    assert not make((8.0, 8.0), 0.05, 3, num_objects=0).any()
    assert (make((8.0, 8.0), 0.05, 4) != make((8.0, 8.0), 0.05, 3)).any()


def test_one_box_has_its_area_in_any_direction():
    for seed in range(8):
        heights = terrain.repeated_boxes(
            (12.0, 12.0), 0.02, seed, num_objects=1, width_range=(0.8, 0.8), platform_width=0.0
        )
        (level,) = {*heights.ravel().tolist()} - {0.0}
        row, col = np.nonzero(heights)
        if min(row.min(), col.min()) > 0 and max(row.max(), col.max()) < 600:  # it lies on the ground as a whole
            assert abs(len(row) * 0.02**2 - 0.64) < 0.06
            assert np.hypot(row - row.mean(), col - col.mean()).max() * 0.02 < 0.8 / np.sqrt(2) + 0.04
        assert 0.05 <= level <= 0.15


def test_a_cylinder_is_round_and_a_pyramid_has_straight_sides():
    (row, col) = np.nonzero(
        terrain.repeated_cylinders((6.0, 6.0), 0.02, 1, num_objects=1, radius=0.5, platform_width=0.0)
    )
    centre = [(row.min() + row.max()) / 2, (col.min() + col.max()) / 2]
    away = np.hypot(row - centre[0], col - centre[1]) * 0.02
    assert abs(away.max() - 0.5) < 0.03 and abs(len(row) * 0.02**2 - np.pi * 0.25) < 0.06
    heights = terrain.repeated_pyramids(
        (6.0, 6.0), 0.05, 5, num_objects=1, height_range=(0.2, 0.2), width=1.0, platform_width=0.0
    )
    top = np.unravel_index(heights.argmax(), heights.shape)
    assert heights[top] == 0.2
    np.testing.assert_allclose(heights[top[0], top[1] : top[1] + 11], 0.2 * (1 - np.arange(11) / 10), atol=1e-12)
    np.testing.assert_allclose(
        np.diagonal(heights[top[0] :, top[1] :])[:11], 0.2 * (1 - np.arange(11) / 10), atol=1e-12
    )
