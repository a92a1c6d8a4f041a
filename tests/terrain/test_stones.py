"""Stones, beams and stars: widths, distances, heights and directions, from heights alone."""

import numpy as np

from tumble import terrain

from .measure import is_symmetric, middle, runs


def test_stones_have_their_width_distance_and_heights():
    heights = terrain.stepping_stones(
        (8.0, 8.0), 0.1, 1, stone_width=0.5, stone_distance=0.2, stone_height_max=0.1, platform_width=0.0,
        holes_depth=-2.0,
    )  # fmt: skip
    shifts, levels = [], []
    for band in range(11):
        row = heights[7 * band + 2]
        found = runs(row)
        inner = found[1:-1]
        assert {count - 1 for height, count in inner if height > -2.0} == {5}  # stones of 0.5 m
        assert {count + 1 for height, count in inner if height == -2.0} == {2}  # 0.2 m between their edges
        levels += [height for height, _ in found if height > -2.0]
        shifts.append(int(np.flatnonzero(row == -2.0)[0]) % 7)
        gap = heights[7 * band + 6]  # one line of points between rows of stones
        assert (gap == -2.0).all()
    assert len({*shifts}) > 3
    assert max(map(abs, levels)) <= 0.1 and len({*levels}) == len(levels) and np.std(levels) > 0.04


def test_stones_leave_a_platform():
    heights = terrain.stepping_stones((8.0, 8.0), 0.1, 1, stone_height_max=0.0, platform_width=1.6)
    assert not middle(heights, 8).any()
    assert {*heights.ravel().tolist()} == {0.0, -1.0}


def test_beams_lead_from_the_platform_to_the_rim():
    heights = terrain.beams((8.0, 8.0), 0.05, num_beams=4, beam_width=0.3, platform_width=1.0, rim_width=0.5)
    assert is_symmetric(heights) and {*heights.ravel().tolist()} == {0.0, -1.0}
    assert not middle(heights, 10).any() and not heights[:11].any()
    across = runs(heights[:, 40])  # a line over one beam, 2 m from the middle
    assert [height for height, _ in across] == [0.0, -1.0, 0.0, -1.0, 0.0]
    assert across[2][1] - 1 == 6  # 0.3 m
    many = terrain.beams((8.0, 8.0), 0.05, num_beams=12, beam_width=0.3, platform_width=1.0, rim_width=0.5)
    angle = np.linspace(0.0, 2 * np.pi, 2000, endpoint=False)
    around = many[np.round(80 + 60 * np.sin(angle)).astype(int), np.round(80 + 60 * np.cos(angle)).astype(int)]
    high = around == 0.0
    assert (np.diff(np.append(high, high[0]).astype(int)) == 1).sum() == 12
    assert abs(high.mean() - 12 * 0.3 / (2 * np.pi * 3.0)) < 0.06


def test_a_star_has_its_bars_and_a_platform_of_their_height():
    heights = terrain.star((8.0, 8.0), 0.05, num_bars=4, bar_width=0.4, bar_height=0.2, platform_width=1.0)
    assert is_symmetric(heights) and {*heights.ravel().tolist()} == {0.0, 0.2}
    assert (middle(heights, 10) == 0.2).all()
    assert (heights[:, 20] == 0.2).sum() - 1 == 8  # 0.4 m
