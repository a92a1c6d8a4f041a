"""Fields: rows of difficulty, columns of kinds, seeds, borders, colours."""

import numpy as np
import pytest

from tumble import terrain
from tumble.terrain import Ramp, SubTerrain, TerrainGenerator


def steps(**options) -> TerrainGenerator:
    """Stairs whose height says the difficulty, beside flat and rough ground."""
    kinds = {
        "stairs": SubTerrain("pyramid_stairs", proportion=0.5, step_height=Ramp(0.0, 0.2), platform_width=1.0),
        "flat": SubTerrain("flat", proportion=0.3),
        "rough": SubTerrain("random_uniform", proportion=0.2, noise_range=(0.02, 0.1), noise_step=0.02),
    }
    return TerrainGenerator(**{"sub_terrains": kinds, "size": (4.0, 3.0), "num_rows": 5, "num_cols": 10} | options)


def part_of(field: terrain.Terrain, row: int, col: int) -> np.ndarray:
    """The points of a sub-terrain, found from its origin."""
    x, y, _ = field.origins[row, col]
    nrow, ncol = field.heights.shape
    dx, dy = field.size[0] / (ncol - 1), field.size[1] / (nrow - 1)
    first = [
        round((x - field.sub_size[0] / 2 + field.size[0] / 2) / dx),
        round((y - field.sub_size[1] / 2 + field.size[1] / 2) / dy),
    ]
    return field.heights[
        first[1] : first[1] + round(field.sub_size[1] / dy) + 1, first[0] : first[0] + round(field.sub_size[0] / dx) + 1
    ]


def test_rows_have_difficulties_and_columns_kinds():
    field = steps(difficulty_range=(0.2, 1.0), vertical_scale=0.0).generate()
    assert field.heights.shape == (151, 401) and field.size == pytest.approx((40.0, 15.0))
    np.testing.assert_allclose(field.difficulties, np.linspace(0.2, 1.0, 5)[:, None].repeat(10, 1))
    assert field.kinds[0].tolist() == ["stairs"] * 5 + ["flat"] * 3 + ["rough"] * 2
    assert (field.kinds == field.kinds[0]).all()
    tops = [part_of(field, row, 2).max() for row in range(5)]
    np.testing.assert_allclose(np.diff(tops), tops[-1] * 0.2, atol=1e-12)
    np.testing.assert_allclose(tops[-1], 3 * 0.2)  # three treads of 0.3 m beside a platform of 1 m in 3 m
    assert not part_of(field, 3, 6)[1:-1, 1:-1].any()


def test_origins_stand_in_the_middle_of_their_ground():
    field = steps(border_width=2.0).generate()
    np.testing.assert_allclose(field.origins[0, 0, :2], [-18.0, -6.0])
    np.testing.assert_allclose(field.origins[4, 9, :2], [18.0, 6.0])
    np.testing.assert_allclose(np.diff(field.origins[:, :, 0], axis=1), 4.0)
    np.testing.assert_allclose(np.diff(field.origins[:, :, 1], axis=0), 3.0)
    under = field.height_at(field.origins[..., :2])
    np.testing.assert_allclose(field.origins[:, :8, 2], under[:, :8], atol=1e-12)  # a platform, and flat ground
    assert (field.origins[:, 8:, 2] >= under[:, 8:]).all()
    for row, col in ((1, 8), (4, 9)):
        own = part_of(field, row, col)
        np.testing.assert_allclose(field.origins[row, col, 2], own[10:21, 15:26].max())  # 0.5 m around


def test_a_sub_terrain_depends_on_its_place_and_the_seed_alone():
    generator = steps(seed=3)
    field = generator.generate()
    wider = steps(seed=3, num_rows=9, difficulty_range=(0.0, 1.0)).generate()
    for row, col in ((0, 9), (2, 8)):
        np.testing.assert_allclose(part_of(field, row, col)[1:-1, 1:-1], generator.heights(row, col)[1:-1, 1:-1])
        np.testing.assert_array_equal(part_of(wider, row, col)[1:-1, 1:-1], part_of(field, row, col)[1:-1, 1:-1])
    assert (generator.heights(0, 8) != generator.heights(0, 9)).any()
    np.testing.assert_array_equal(generator.generate().heights, field.heights)
    other = generator.generate(seed=4)
    assert (other.heights != field.heights).any()
    np.testing.assert_array_equal(other.heights, steps(seed=4).generate().heights)


def test_neighbours_share_the_higher_border():
    generator = steps(seed=1)
    field = generator.generate()
    left, right = generator.heights(2, 8), generator.heights(2, 9)
    np.testing.assert_array_equal(part_of(field, 2, 8)[1:-1, -1], np.maximum(left[1:-1, -1], right[1:-1, 0]))


def test_without_a_curriculum_kinds_and_difficulties_are_drawn():
    field = steps(curriculum=False, num_rows=30, num_cols=30, size=(1.0, 1.0), difficulty_range=(0.1, 0.6)).generate()
    shares = [(field.kinds == name).mean() for name in ("stairs", "flat", "rough")]
    for share, wanted in zip(shares, (0.5, 0.3, 0.2), strict=True):
        assert abs(share - wanted) < 3.5 * np.sqrt(wanted * (1 - wanted) / 900)
    assert field.difficulties.min() >= 0.1 and field.difficulties.max() <= 0.6
    assert abs(field.difficulties.mean() - 0.35) < 0.03
    assert not np.array_equal(field.kinds, steps(
        curriculum=False, num_rows=30, num_cols=30, size=(1.0, 1.0), seed=1).generate().kinds)  # fmt: skip


def test_one_row_has_the_lower_difficulty():
    assert steps(num_rows=1, difficulty_range=(0.4, 0.9)).generate().difficulties[0, 0] == 0.4


def test_heights_are_whole_vertical_steps():
    field = steps(vertical_scale=0.03, difficulty_range=(0.13, 1.0)).generate()
    np.testing.assert_allclose(field.heights / 0.03, np.round(field.heights / 0.03), atol=1e-9)
    fine = steps(vertical_scale=0.0, difficulty_range=(0.13, 1.0)).generate()
    assert 0.005 < abs(fine.heights - field.heights).max() <= 0.015 + 1e-12


def test_a_border_lies_around_all():
    field = steps(border_width=2.0, border_height=0.5).generate()
    inner = steps().generate()
    assert field.heights.shape == (191, 441)
    np.testing.assert_array_equal(field.heights[21:-21, 21:-21], inner.heights[1:-1, 1:-1])
    frame = np.ones(field.heights.shape, bool)
    frame[21:-21, 21:-21] = False
    assert (field.heights[frame] >= 0.5).all() and (field.heights[:20] == 0.5).all()


def test_a_rim_is_part_of_a_sub_terrain():
    rough = SubTerrain("random_uniform", noise_range=(0.1, 0.2), border_width=0.3)
    heights = rough.heights((4.0, 4.0), 0.1, 0)
    assert heights.shape == (41, 41) and not heights[:3].any() and not heights[:, -3:].any()
    assert heights[3:-3, 3:-3].min() >= 0.1
    pit = SubTerrain("random_uniform", noise_range=(-0.2, -0.1), border_width=0.3).heights((4.0, 4.0), 0.1, 0)
    assert not pit[3].any() and pit[4:-4, 4:-4].max() <= -0.1  # the rim's edge has its full width


@pytest.mark.parametrize(
    ("proportions", "count", "given"),
    [
        ([0.2, 0.2, 0.2, 0.2, 0.1, 0.1], 20, [4, 4, 4, 4, 2, 2]),
        ([1, 1, 1], 10, [4, 3, 3]),
        ([0.9, 0.05, 0.05], 4, [2, 1, 1]),
        ([5, 3, 2], 7, [4, 2, 1]),  # quotas 3.5, 2.1, 1.4: the largest remainder is the first's
        ([0.98, 0.01, 0.01], 3, [1, 1, 1]),
    ],
)
def test_shares_go_by_the_largest_remainder_with_one_for_each(proportions, count, given):
    assert terrain.share_out(proportions, count).tolist() == given


def test_a_kind_of_ones_own_is_a_function():
    def crater(size, horizontal_scale=0.1, rng=0, *, depth=0.2):
        grid = terrain.Grid(size, horizontal_scale)
        return -depth * np.exp(-(grid.x**2 + grid.y**2))

    generator = TerrainGenerator(
        sub_terrains={"crater": SubTerrain(crater, depth=Ramp(0.0, 0.5))}, num_rows=3, num_cols=1, vertical_scale=0.0
    )
    field = generator.generate()
    np.testing.assert_allclose(field.height_at(field.origins[:, 0, :2]), [0.0, -0.25, -0.5], atol=1e-12)


def test_ramps_reach_pairs_and_whole_numbers():
    assert Ramp((0.0, 0.1), (0.2, 0.5)).at(0.5) == pytest.approx((0.1, 0.3))
    assert Ramp(1, 4).at(0.5) == 2 and isinstance(Ramp(1, 4).at(0.4), int)
    field = TerrainGenerator(
        sub_terrains={"w": SubTerrain("wave", num_waves=Ramp(1, 4))}, num_rows=4, num_cols=1
    ).generate()
    for row in range(4):
        line = part_of(field, row, 0)[40, :-1]
        assert abs(np.fft.rfft(line - line.mean())).argmax() == row + 1


def test_presets_have_the_published_numbers():
    rough = terrain.ROUGH_TERRAINS.generate()
    assert rough.size == pytest.approx((200.0, 120.0)) and rough.origins.shape == (10, 20, 3)
    names, counts = np.unique(rough.kinds[0], return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        "pyramid_stairs": 4, "pyramid_stairs_inv": 4, "boxes": 4, "random_rough": 4, "hf_pyramid_slope": 2,
        "hf_pyramid_slope_inv": 2,
    }  # fmt: skip
    np.testing.assert_allclose(part_of(rough, 0, 0).max() / part_of(rough, 9, 0).max(), 0.05 / 0.23)
    slope = np.diff(part_of(rough, 9, 16)[40]).max() / 0.1
    np.testing.assert_allclose(slope, 0.4, atol=0.05)
    assert part_of(rough, 9, 4).min() < -1.0 and part_of(rough, 9, 0)[1:-1, 1:-1].min() >= 0.0
    for preset in terrain.PRESETS.values():
        for name, part in preset.sub_terrains.items():
            tops = [np.ptp(part.heights((8.0, 8.0), 0.1, 0, difficulty)) for difficulty in (0.0, 1.0)]
            harder = any(isinstance(value, Ramp) and "height" in key for key, value in part.parameters.items())
            assert tops[1] > tops[0] or not harder, name


def test_colours_follow_height_or_the_sub_terrain():
    field = steps(color_scheme="height").generate()
    assert field.colors.shape == (*field.heights.shape, 3) and field.colors.dtype == np.uint8
    low, high = (
        field.colors[np.unravel_index(at, field.heights.shape)]
        for at in (field.heights.argmin(), field.heights.argmax())
    )
    assert abs(low.astype(int) - high).max() > 60
    random = steps(color_scheme="random", border_width=1.0).generate()
    blocks = random.colors[10:-11, 10:-11].reshape(5, 30, 10, 40, 3).swapaxes(1, 2)
    assert np.ptp(blocks, axis=(2, 3)).max() == 0 and len(np.unique(blocks[:, :, 0, 0].reshape(50, 3), axis=0)) == 50
    assert (random.colors[:10] == 128).all()
    assert steps().generate().colors is None
