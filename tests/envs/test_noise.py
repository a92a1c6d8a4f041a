"""The noise of resets depends on (seed, episode) alone, and is as random as it should be."""

import numpy as np
import pytest
import torch
from scipy import stats

from tumble.envs.arrays import ArrayKind
from tumble.envs.task.noise import Noise, Streams
from tumble.physics.base.draws import hashed_key, mix

NUMPY, TORCH = ArrayKind.of(torch.float32, "cpu"), ArrayKind.of(torch.float32, "cpu", "torch")


def noise_of(seeds, episode=0) -> Noise:
    """Noise of these seeds, all at the same episode."""
    seeds = np.asarray(seeds, np.int64)
    return Noise(lambda: hashed_key(mix(seeds), np.full(len(seeds), episode)))


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
    streams, rows = Streams(3, NUMPY), np.arange(3)
    streams.seed([10, 11, 12], rows)
    first = streams.begin(rows).uniform(0, 1, 2)
    second = streams.begin(np.array([1])).uniform(0, 1, 2)
    np.testing.assert_array_equal(second, noise_of([11], 1).uniform(0, 1, 2))
    streams.seed([None, 11, 12], np.array([0, 1]))
    np.testing.assert_array_equal(streams.begin(np.array([1])).uniform(0, 1, 2)[0], first[1])
    np.testing.assert_array_equal(streams.begin(np.array([2])).uniform(0, 1, 2), noise_of([12], 1).uniform(0, 1, 2))


def test_steps_have_noise_of_their_own():
    """It depends on the episode and the number of the step, on neither neighbours nor what was drawn before."""
    streams, rows = Streams(3, NUMPY), np.arange(3)
    streams.seed([10, 11, 12], rows)
    starts = streams.begin(rows).uniform(0, 1, 4)
    steps = [streams.advance().uniform(0, 1, 4) for _ in range(3)]
    assert len(np.unique(np.concatenate([starts, *steps]))) == 4 * 3 * 4
    streams.begin(np.array([1]))
    streams.advance()
    assert streams.steps.tolist() == [4, 1, 4]
    alone = Streams(1, NUMPY)
    alone.seed([11], np.arange(1))
    alone.begin(np.arange(1))
    for step in steps:
        np.testing.assert_array_equal(alone.advance().uniform(0, 1, 4)[0], step[1])


def test_steps_are_even_and_uncorrelated():
    """Over environments and from step to step."""
    streams, rows = Streams(4000, NUMPY), np.arange(4000)
    streams.seed(list(range(4000)), rows)
    streams.begin(rows)
    numbers = np.concatenate([streams.advance().uniform(0, 1, 2) for _ in range(10)], 1)
    assert stats.kstest(numbers.ravel(), "uniform").pvalue > 1e-3
    assert np.abs(np.corrcoef(numbers.T) - np.eye(20)).max() < 5 / np.sqrt(4000)


def test_streams_are_saved_and_loaded():
    """Seeds, episodes, steps and the noise of the present episode."""
    streams, other, rows = Streams(2, NUMPY), Streams(2, NUMPY), np.arange(2)
    streams.seed([4, 5], rows)
    for begun in ([0, 1], [1]):
        streams.begin(np.array(begun))
        streams.advance()
    other.load_state_dict(streams.state_dict())
    assert other.seeds == [4, 5]
    for draw in (Streams.advance, lambda streams: streams.begin(rows)):
        np.testing.assert_array_equal(draw(streams).normal(3), draw(other).normal(3))


def test_integers():
    """Every number of the range equally often, none outside of it; an impossible range is refused."""
    numbers = noise_of(range(6000)).integers(-2, 5, 10)
    assert numbers.dtype == np.int64
    values, counts = np.unique(numbers, return_counts=True)
    assert values.tolist() == list(range(-2, 5))
    assert stats.chisquare(counts).pvalue > 1e-3
    for low, high in ((3, 3), (0, 2**32)):
        with pytest.raises(ValueError, match="high must be above low"):
            noise_of([0]).integers(low, high, 1)


def test_torch_draws_the_same_numbers():
    """Evenly drawn ones to the last bit; normal ones to the rounding of a square root, which torch takes from MKL."""
    both = Streams(50, NUMPY), Streams(50, TORCH)
    for streams in both:
        streams.seed([7 * i for i in range(50)], np.arange(50))
    mine, theirs = both[0].begin(np.arange(50)), both[1].begin(torch.arange(50))
    np.testing.assert_array_equal(mine.uniform(-1, 1, 5), theirs.uniform(-1, 1, 5).numpy())
    np.testing.assert_array_equal(mine.integers(0, 9, 5), theirs.integers(0, 9, 5).numpy())
    np.testing.assert_allclose(mine.normal(5), theirs.normal(5).numpy(), rtol=1e-14)


def test_large_seeds_are_welcome():
    """Seeds of more than 64 bits, such as numpy's entropy, give streams of their own."""
    streams = Streams(2, NUMPY)
    streams.seed([5, 5 + 2**64], np.arange(2))
    numbers = streams.begin(np.arange(2)).uniform(0, 1, 3)
    assert (numbers[0] != numbers[1]).all()


def test_noise_of_some_environments_goes_on_where_that_of_all_is():
    """Parts draw what those environments would have drawn; skipping numbers is as good as drawing them."""
    for taken in (0, 3, 40):
        whole, split = noise_of(range(100)), noise_of(range(100))
        whole.uniform(0, 1, taken), split.uniform(0, 1, taken)
        part = split.of(np.array([5, 77]))
        expected = np.concatenate((whole.normal(3), whole.uniform(2, 3, 2)), axis=1)
        found = np.concatenate((part.normal(3), part.uniform(2, 3, 2)), axis=1)
        np.testing.assert_array_equal(found, expected[[5, 77]])
        assert part.position == whole.position == taken + 6
        split.skip(6)
        np.testing.assert_array_equal(split.uniform(0, 1, 50), whole.uniform(0, 1, 50))
