"""Kinds of ground have the shapes that their parameters ask for."""

import inspect
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

from tumble import terrain
from tumble.terrain import ALL_TERRAINS, KINDS, SubTerrain
from tumble.terrain.genesis_names import GENESIS_KINDS
from tumble.terrain.grid import Grid
from tumble.terrain.kinds_table import FROM_FILES, parameters_of, written
from tumble.terrain.noise import gradient_noise
from tumble.terrain.relief import relief, sample_of

from ..cases import cases
from .measure import along_x, is_symmetric, middle, runs

# -- Planes: their tangents, platforms and symmetry, from heights alone


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


# -- Stairs: heights, widths, platforms and slots, from heights alone


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


# -- Squares around a platform: widths, depths and heights, from heights alone


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


# -- Stones, beams and stars: widths, distances, heights and directions, from heights alone


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


# -- Things that stand on the ground: their heights, sizes, shares and places, from heights alone


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


# -- Random ground: ranges, steps, octaves and seeds, from heights alone


def test_uniform_heights_are_whole_steps_in_their_range():
    heights = terrain.random_uniform((8.0, 8.0), 0.1, 1, noise_range=(0.02, 0.10), noise_step=0.02)
    values, counts = np.unique(heights.round(9), return_counts=True)
    np.testing.assert_allclose(values, [0.02, 0.04, 0.06, 0.08, 0.10])
    assert abs(counts / heights.size - 0.2).max() < 0.02
    assert abs(np.corrcoef(heights[:, 1:].ravel(), heights[:, :-1].ravel())[0, 1]) < 0.05


def test_between_points_drawn_heights_are_straight_lines():
    heights = terrain.random_uniform(
        (8.0, 4.0), 0.1, 1, noise_range=(-0.1, 0.1), noise_step=0.05, downsampled_scale=0.5
    )
    drawn = heights[::5, ::5]
    np.testing.assert_allclose(np.unique(drawn.round(9)), [-0.1, -0.05, 0.0, 0.05, 0.1], atol=1e-12)
    np.testing.assert_allclose(np.diff(heights[::5].reshape(9, 81)[:, :80].reshape(9, 16, 5), 2), 0.0, atol=1e-12)
    assert heights.min() >= -0.1 and heights.max() <= 0.1 and heights.std() > 0.03


def test_a_wave_has_its_number_of_waves_and_its_amplitude():
    heights = terrain.wave((8.0, 6.0), 0.05, amplitude=0.2, num_waves=3)
    for line in (heights[0], heights[:, 0]):
        power = abs(np.fft.rfft(line[:-1] - line[:-1].mean()))
        assert power.argmax() == 3 and np.delete(power, 3).max() < 1e-9 * power.max()
    np.testing.assert_allclose([heights.min(), heights.max()], [-0.2, 0.2], atol=0.002)


@pytest.mark.parametrize("persistence", [0.5, 0.8])
def test_displacements_of_a_level_shrink_by_persistence(persistence):
    """A midpoint less the mean of its two neighbours is what was drawn for it."""
    side = 6.4
    heights = terrain.fractal((side, side), 0.1, 2, amplitude=0.4, persistence=persistence, levels=6)
    for level in (2, 3, 4, 5):
        step = 2 ** (5 - level)
        rows = heights[:: 2 * step]
        drawn = rows[:, step :: 2 * step] - 0.5 * (rows[:, : -step : 2 * step] + rows[:, 2 * step :: 2 * step])
        largest = 0.4 * persistence**level
        assert abs(drawn).max() <= largest + 1e-12
        expected = largest / np.sqrt(3.0)
        assert abs(drawn.std() / expected - 1.0) < 4.0 / np.sqrt(2 * drawn.size)
    assert not heights[[0, 0, -1, -1], [0, -1, 0, -1]].any()


def test_fractal_ground_need_not_be_a_power_of_two():
    heights = terrain.fractal((7.3, 5.0), 0.1, 2)
    assert heights.shape == (51, 74) and heights.std() > 0.05


def test_perlin_noise_is_zero_at_its_gradients_and_within_its_amplitude():
    octave = gradient_noise(Grid((16.0, 16.0), 0.125), 2.0, np.random.default_rng(0))
    np.testing.assert_allclose(octave[::16, ::16], 0.0, atol=1e-12)
    assert 0.5 < abs(octave).max() <= 1.0
    heights = terrain.perlin_noise((16.0, 16.0), 0.125, 0, amplitude=0.3, octaves=4, persistence=0.5)
    assert 0.05 < abs(heights).max() <= 0.3


def test_each_octave_of_perlin_noise_has_persistences_share():
    """The heights of two octaves less those of one are the second, and its waves are shorter by the lacunarity."""
    options = dict(amplitude=1.0, wavelength=4.0, persistence=0.25, lacunarity=2.0)
    one = terrain.perlin_noise((64.0, 64.0), 0.25, 4, octaves=1, **options)
    two = 1.25 * terrain.perlin_noise((64.0, 64.0), 0.25, 4, octaves=2, **options) - one
    assert abs(two.std() / one.std() - 0.25) < 0.02
    steepness = [np.hypot(*np.gradient(z)).std() / z.std() for z in (one, two)]
    assert abs(steepness[1] / steepness[0] - 2.0) < 0.2
    np.testing.assert_allclose(two[::8, ::8], 0.0, atol=1e-12)
    assert abs(one[8::16, 8::16]).max() > 0.3


@pytest.mark.parametrize("kind", ["random_uniform", "fractal", "perlin_noise"])
def test_seeds_make_ground_again_and_others_make_other_ground(kind):
    make = terrain.KINDS[kind]
    first = make((4.0, 4.0), 0.1, 7)
    np.testing.assert_array_equal(first, make((4.0, 4.0), 0.1, np.random.default_rng(7)))
    assert abs(first - make((4.0, 4.0), 0.1, 8)).max() > 1e-3


# -- The names of isaacgym and Genesis make what their parameters say


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


# -- The page of terrain shows every kind with the parameters that it has


PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "terrain_kinds.md"


def test_the_table_is_made_of_the_kinds():
    text = PAGE.read_text("utf-8")
    assert written(text) == text, "python -m tumble.terrain.kinds_table docs/reference/terrain_kinds.md"


def test_every_parameter_is_explained():
    assert all(words for kind in KINDS.values() for _, words in parameters_of(kind).values())


def test_every_kind_has_its_picture_and_its_column():
    drawn = {*KINDS} - {*FROM_FILES}
    assert {path.stem for path in PAGE.with_suffix("").glob("*.png")} == drawn
    assert {*ALL_TERRAINS.sub_terrains} == drawn and ALL_TERRAINS.num_cols == len(drawn)
    for name in ("pyramid_stairs", "perlin_noise"):
        picture = iio.imread(PAGE.with_suffix("") / f"{name}.png").astype(int)
        again = relief(sample_of(name), (8.0, 8.0), width=260)
        assert np.mean(abs(picture - again)) < 0.1, name
