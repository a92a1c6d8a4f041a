"""Squares around a platform: widths, depths and heights, from heights alone."""

import numpy as np
import pytest

from tumble import terrain

from .measure import along_x, is_symmetric, middle, runs


def test_a_gap_is_as_wide_as_asked_between_its_edges():
    heights = terrain.gap((8.0, 8.0), 0.1, gap_width=0.6, platform_width=2.0, holes_depth=-1.5)
    assert is_symmetric(heights)
    found = runs(along_x(heights))
    assert [height for height, _ in found] == [0.0, -1.5, 0.0, -1.5, 0.0]
    assert found[2][1] == 21  # the platform, 2 m
    assert found[1][1] + 1 == 6  # 0.6 m from edge to edge


@pytest.mark.parametrize(("kind", "name", "sign"), [("pit", "pit_depth", -1), ("box", "box_height", 1)])
def test_a_pit_is_a_box_that_goes_down(kind, name, sign):
    make = terrain.KINDS[kind]
    heights = make((8.0, 8.0), 0.1, platform_width=3.0, **{name: 0.4})
    found = runs(along_x(heights))
    assert is_symmetric(heights) and [height for height, _ in found] == [0.0, sign * 0.4, 0.0]
    assert found[1][1] == (31 if sign > 0 else 29)  # edges stand 3 m apart
    double = make((8.0, 8.0), 0.1, platform_width=3.0, double=True, ledge_width=0.5, **{name: 0.4})
    found = runs(along_x(double))
    np.testing.assert_allclose([height for height, _ in found], np.array([0.0, 0.2, 0.4, 0.2, 0.0]) * sign)
    assert found[1][1] == 5


def test_rails_have_their_height_and_thickness():
    heights = terrain.rails((8.0, 8.0), 0.1, rail_height=0.15, rail_thickness=0.2, platform_width=1.0)
    found = runs(along_x(heights))
    assert is_symmetric(heights)
    assert [height for height, _ in found] == [0.0, 0.15] * 4 + [0.0]
    assert [count - 1 for height, count in found if height] == [2, 2, 2, 2]
    assert found[4][1] + 1 == 10  # the platform, 1 m between the rails' edges
    assert np.flatnonzero(along_x(heights))[0] == 40 - 22 - 2  # the outer rail's inner edges are 4.4 m apart


def test_a_ring_stands_around_its_platform():
    heights = terrain.ring((8.0, 8.0), 0.1, ring_height=0.25, ring_width=0.5, platform_width=2.0)
    found = runs(along_x(heights))
    assert is_symmetric(heights) and [height for height, _ in found] == [0.0, 0.25, 0.0, 0.25, 0.0]
    assert found[1][1] - 1 == 5 and found[2][1] + 1 == 20


def test_nested_rings_have_heights_of_their_own_and_gaps_between():
    heights = terrain.nested_rings(
        (8.6, 8.6), 0.1, 1, ring_height=0.1, ring_width=0.5, gap_width=0.2, platform_width=1.0, holes_depth=-2.0
    )
    assert is_symmetric(heights) and not middle(heights, 5).any()
    found = runs(along_x(heights)[43:])
    assert [height == -2.0 for height, _ in found] == [False, True] * 5 + [False, False]
    assert {count + 1 for height, count in found if height == -2.0} == {2}  # 0.2 m from edge to edge
    rings = [height for height, _ in found[2::2]]
    assert len({*rings}) == 5 and max(map(abs, rings)) <= 0.1
    assert found[-1][0] == 0.0
