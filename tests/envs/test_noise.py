"""The noise of resets depends on (seed, episode) alone, and is as random as it should be."""

import numpy as np
import pytest
from scipy import stats

from tumble.envs.noise import Noise, Streams


def noise_of(seeds, episode=0) -> Noise:
    """Noise of these seeds, all at the same episode."""
    seeds = np.asarray(seeds, np.uint64)
    return Noise(seeds, np.full(len(seeds), episode, np.uint64))


@pytest.mark.parametrize("draw", [lambda noise: noise.uniform(-1, 2, 15), lambda noise: noise.normal(15)])
def test_an_environment_alone_draws_the_same(draw):
    """Row i of many is the row of seed i alone, to the last bit."""
    together = draw(noise_of(range(100)))
    for i in (0, 1, 42, 99):
        np.testing.assert_array_equal(draw(noise_of([i]))[0], together[i])


def test_uniform_distribution():
    """Even over its range, over seeds, over the numbers of an episode and over episodes."""
    by_seed = noise_of(range(4000)).uniform(0, 1, 25)
    by_episode = np.concatenate([noise_of([7], episode).uniform(0, 1, 25) for episode in range(4000)])
    for numbers in (by_seed, by_episode):
        assert stats.kstest(numbers.ravel(), "uniform").pvalue > 1e-3
        correlation = np.corrcoef(numbers.T) - np.eye(25)
        assert np.abs(correlation).max() < 5 / np.sqrt(4000)
    scaled = noise_of(range(4000)).uniform(-3, 5, 25)
    np.testing.assert_allclose(scaled, -3 + 8 * by_seed)


def test_normal_distribution():
    """Mean 0, variance 1, normal in the bulk and in the tails, no correlation between the pairs of a draw."""
    numbers = noise_of(range(20_000)).normal(15)
    assert stats.kstest(numbers.ravel(), "norm").pvalue > 1e-3
    assert abs((numbers**4).mean() - 3) < 0.1
    assert np.abs(np.corrcoef(numbers.T) - np.eye(15)).max() < 5 / np.sqrt(20_000)
    assert np.isfinite(numbers).all()


def test_consecutive_draws_are_different_numbers():
    """Uniform and normal draws of one episode go on where the last one stopped."""
    noise = noise_of([3])
    first, second = noise.uniform(0, 1, 4), noise.uniform(0, 1, 4)
    whole = noise_of([3]).uniform(0, 1, 8)
    np.testing.assert_array_equal(np.concatenate((first, second), 1), whole)


def test_streams_count_episodes_since_the_seed():
    """An episode counts one environment on; a new seed starts at its first episode; None goes on."""
    streams, rows = Streams(3), np.arange(3)
    streams.seed([10, 11, 12], rows)
    first = streams.noise(rows).uniform(0, 1, 2)
    streams.count(rows, 1)
    second = streams.noise(np.array([1])).uniform(0, 1, 2)
    np.testing.assert_array_equal(second, noise_of([11], 1).uniform(0, 1, 2))
    streams.seed([None, 11, 12], np.array([0, 1]))
    np.testing.assert_array_equal(streams.noise(np.array([1])).uniform(0, 1, 2)[0], first[1])
    np.testing.assert_array_equal(streams.noise(np.array([2])).uniform(0, 1, 2), noise_of([12], 1).uniform(0, 1, 2))


def test_large_seeds_are_welcome():
    """Seeds of more than 64 bits, such as numpy's entropy, give streams of their own."""
    streams = Streams(2)
    streams.seed([5, 5 + 2**64], np.arange(2))
    numbers = streams.noise(np.arange(2)).uniform(0, 1, 3)
    assert (numbers[0] != numbers[1]).all()
