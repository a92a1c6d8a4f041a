"""Stairs: heights, widths, platforms and slots, from heights alone."""

import numpy as np
import pytest

from tumble import terrain

from .measure import along_x, is_symmetric, middle, runs


def test_straight_stairs_rise_by_whole_steps():
    heights = terrain.stairs((3.0, 2.0), 0.1, step_height=0.15, step_width=0.5)
    found = runs(along_x(heights))
    np.testing.assert_allclose([height for height, _ in found], 0.15 * np.arange(6), atol=1e-12)
    assert [count for _, count in found] == [5, 5, 5, 5, 5, 6]  # the upper edge of each step stands every 0.5 m
    assert not np.diff(heights, axis=0).any()


@pytest.mark.parametrize("inverted", [False, True])
def test_pyramid_stairs_have_equal_steps_on_all_sides(inverted):
    heights = terrain.pyramid_stairs(
        (8.0, 8.0), 0.1, step_height=0.1, step_width=0.3, platform_width=2.0, inverted=inverted
    )
    assert is_symmetric(heights)
    found = runs(along_x(heights))
    levels = (-1 if inverted else 1) * 0.1 * np.append(np.arange(11), np.arange(9, -1, -1))
    np.testing.assert_allclose([height for height, _ in found], levels, atol=1e-12)
    assert {count for _, count in found[1:10]} == {3}  # treads of 0.3 m
    platform = found[10][1] - 1  # cells
    assert platform == (20 - 2 if inverted else 20)  # the wall takes a cell of what is lower
    assert np.ptp(middle(heights, 9)) == 0.0


def test_what_is_left_of_a_tread_belongs_to_the_platform():
    heights = terrain.pyramid_stairs((4.0, 4.0), 0.1, step_height=0.1, step_width=0.4, platform_width=1.0)
    found = runs(along_x(heights))
    assert [count for _, count in found] == [4, 4, 4, 17, 4, 4, 4]


def test_holes_leave_four_flights():
    heights = terrain.pyramid_stairs((8.0, 8.0), 0.1, platform_width=2.0, holes=True, holes_depth=-2.0)
    plain = terrain.pyramid_stairs((8.0, 8.0), 0.1, platform_width=2.0)
    assert is_symmetric(heights)
    flight = slice(30, 51)  # 2 m wide
    np.testing.assert_array_equal(heights[flight], plain[flight])
    np.testing.assert_array_equal(heights[:, flight], plain[:, flight])
    assert (heights[4:29, 4:29] == -2.0).all()


def test_random_stairs_have_steps_within_their_range():
    heights = terrain.random_stairs(
        (8.0, 8.0), 0.1, 5, step_height_range=(0.02, 0.15), step_width=0.3, platform_width=2.0
    )
    levels = np.array([height for height, _ in runs(along_x(heights)[:41])])
    rises = np.diff(levels)
    assert is_symmetric(heights) and len(rises) == 10
    assert rises.min() >= 0.02 and rises.max() <= 0.15 and np.ptp(rises) > 0.04
    other = terrain.random_stairs((8.0, 8.0), 0.1, 5, step_height_range=(0.02, 0.15), platform_width=2.0, inverted=True)
    np.testing.assert_allclose(other.min(), -heights.max())


def test_open_stairs_have_a_slot_before_each_step():
    heights = terrain.open_stairs((8.0, 8.0), 0.1, step_height=0.1, step_width=0.5, slot_width=0.2, platform_width=2.0)
    line = along_x(heights)[:41]
    assert is_symmetric(heights)
    found = runs(line)
    treads = [(height, count) for height, count in found if height > -0.5]
    slots = [count for height, count in found if height == -1.0]
    np.testing.assert_allclose([height for height, _ in treads], 0.1 * np.arange(7), atol=1e-12)
    assert [count - 1 for _, count in treads[:-1]] == [3] * 6  # treads of 0.3 m
    assert slots == [1] * 6  # 0.2 m between edges
