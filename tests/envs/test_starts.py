"""Starts that are drawn ahead are those of (seed, episode), whoever asks first and however often."""

import numpy as np
import pytest

from tumble.envs.noise import Noise
from tumble.envs.starts import Starts

WIDTHS = (3, 2)


def draw(noise: Noise) -> tuple[np.ndarray, np.ndarray]:
    """Positions evenly drawn, velocities normally."""
    return noise.uniform(-1, 1, WIDTHS[0]), noise.normal(WIDTHS[1])


def expected(seed: int, episode: int) -> np.ndarray:
    """The start of one episode, drawn alone."""
    return np.concatenate(draw(Noise(np.array([seed], np.uint64), np.array([episode], np.uint64))), 1)[0]


@pytest.mark.parametrize("num_envs", [1, 5, 1500, 5000])
def test_every_episode_has_its_own_start(num_envs):
    """Environments that begin episodes at their own pace, each its first, second, ... seventh."""
    starts, rng = Starts(num_envs, draw, np.dtype(np.float64)), np.random.default_rng(0)
    starts.seed([10 + i for i in range(num_envs)], np.arange(num_envs))
    begun = np.zeros(num_envs, int)
    while begun.min() < 7:
        rows = np.flatnonzero((rng.random(num_envs) < 0.4) | (begun == begun.min()))
        taken = starts.take(rows)
        assert taken.shape == (len(rows), sum(WIDTHS))
        for row in rng.choice(len(rows), min(len(rows), 20), replace=False):
            np.testing.assert_array_equal(taken[row], expected(10 + rows[row], begun[rows[row]]))
        begun[rows] += 1


def test_a_new_seed_begins_anew_and_leaves_the_others():
    """What was drawn ahead under the old seed is forgotten; None goes on where the environment was."""
    starts, everyone = Starts(3, draw, np.dtype(np.float64)), np.arange(3)
    starts.seed([1, 2, 3], everyone)
    starts.take(everyone)
    starts.seed([7, None, 9], np.array([0, 1]))
    np.testing.assert_array_equal(starts.take(everyone), [expected(7, 0), expected(2, 1), expected(3, 1)])
    assert starts.seeds == [7, 2, 3]


def test_saved_and_loaded():
    """What counts is how many episodes have begun, not how many were drawn."""
    starts, other = (Starts(2, draw, np.dtype(np.float64)) for _ in range(2))
    starts.seed([4, 5], np.arange(2))
    for rows in ([0, 1], [1], [1]):
        starts.take(np.array(rows))
    other.seed([8, 9], np.arange(2))
    other.take(np.arange(2))
    other.load_state_dict(starts.state_dict())
    np.testing.assert_array_equal(other.take(np.arange(2)), [expected(4, 1), expected(5, 3)])


def test_precision():
    """Numbers are rounded once, from double precision."""
    starts = Starts(1, draw, np.dtype(np.float32))
    starts.seed([6], np.arange(1))
    taken = starts.take(np.arange(1))
    assert taken.dtype == np.float32
    np.testing.assert_array_equal(taken[0], expected(6, 0).astype(np.float32))
