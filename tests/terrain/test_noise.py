"""Random ground: ranges, steps, octaves and seeds, from heights alone."""

import numpy as np
import pytest

from tumble import terrain
from tumble.terrain.grid import Grid
from tumble.terrain.noise import gradient_noise


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
