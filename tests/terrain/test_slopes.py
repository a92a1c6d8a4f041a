"""Planes: their tangents, platforms and symmetry, from heights alone."""

import numpy as np
import pytest

from tumble import terrain

from .measure import is_symmetric, middle


def test_flat_is_flat():
    heights = terrain.flat((3.0, 2.0), 0.5)
    assert heights.shape == (5, 7) and not heights.any()


@pytest.mark.parametrize("slope", [0.3, -0.5])
def test_a_slope_rises_along_x_by_its_tangent(slope):
    heights = terrain.slope((4.0, 3.0), 0.1, slope=slope)
    np.testing.assert_allclose(np.diff(heights, axis=1) / 0.1, slope, atol=1e-12)
    assert not np.diff(heights, axis=0).any() and not heights[:, 0].any()


@pytest.mark.parametrize("inverted", [False, True])
def test_a_pyramid_has_four_equal_slopes_and_a_flat_top(inverted):
    heights = terrain.pyramid_slope((8.0, 8.0), 0.1, slope=0.4, platform_width=2.0, inverted=inverted)
    sign = -1 if inverted else 1
    assert is_symmetric(heights)
    np.testing.assert_allclose(sign * heights.max() if not inverted else -heights.min(), 0.4 * 3.0)
    np.testing.assert_allclose(middle(heights, 10), sign * 1.2)
    assert abs(heights[40, 29]) < 1.2 - 0.03
    steps = np.diff(heights[40]) / 0.1
    np.testing.assert_allclose(steps[:30], sign * 0.4, atol=1e-9)
    np.testing.assert_allclose(steps[30:50], 0.0, atol=1e-9)
    gradient = np.hypot(*np.gradient(heights, 0.1))
    assert gradient.max() <= 0.4 + 1e-9  # nowhere steeper than asked, ridges included


def test_a_pyramid_on_a_rectangle_reaches_the_platform_from_the_long_sides():
    heights = terrain.pyramid_slope((10.0, 4.0), 0.1, slope=0.5, platform_width=1.0)
    np.testing.assert_allclose(heights.max(), 0.5 * 1.5)
    assert (heights[20] == heights.max()).sum() == 71  # 10 m less 1.5 m on either side


def test_tiles_are_planes_of_at_most_their_tilt():
    heights = terrain.tilted_grid((8.0, 8.0), 0.1, 3, grid_width=0.8, tilt=15.0, platform_width=1.6)
    inner = heights.reshape(-1)[: 80 * 81].reshape(80, 81)[:, :80].reshape(10, 8, 10, 8).swapaxes(1, 2)[:, :, 1:, 1:]
    u, v = np.meshgrid(np.arange(7) * 0.1, np.arange(7) * 0.1)
    plane = np.stack([u.ravel(), v.ravel(), np.ones(49)], -1)
    tangents, centres = [], []
    for tile in inner.reshape(100, 49):
        (a, b, c), residual, *_ = np.linalg.lstsq(plane, tile, rcond=None)
        assert residual.size == 0 or residual[0] < 1e-20
        tangents.append(np.hypot(a, b))
        centres.append(a * 0.3 + b * 0.3 + c)
    tangents = np.array(tangents).reshape(10, 10)
    assert tangents.max() <= np.tan(np.radians(15.0)) + 1e-9
    assert (tangents[4:6, 4:6] == 0).all() and (np.delete(tangents.ravel(), [44, 45, 54, 55]) > 1e-4).all()
    np.testing.assert_allclose(centres, 0.0, atol=1e-12)
    assert len(np.unique(tangents.round(9))) > 90
    assert not middle(heights, 7).any()
