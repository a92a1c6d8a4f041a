"""Starts that are drawn ahead are those of (seed, episode), whoever asks first and however often."""

import numpy as np
import pytest
import torch

from tumble.envs.noise import Noise
from tumble.envs.starts import Start, Starts

WIDTH = 5


def draw(noise: Noise) -> Start:
    """A state, evenly and normally drawn, and what follows from it in several shapes and types."""
    state = np.concatenate((noise.uniform(-1, 1, 3), noise.normal(WIDTH - 3)), 1)
    info = {"sum": state.sum(1).astype(np.float32), "up": state[:, 0] > 0, "pair": state[:, :2] + 1}
    return Start(state, state[:, :1] * 2, np.tanh(state).T.copy().T, info)


def alone(seed: int, episode: int) -> Start:
    """The start of one episode, drawn alone, (1, ...)."""
    return draw(Noise(np.array([seed], np.uint64), np.array([episode], np.uint64)))


def expected(seed: int, episode: int) -> np.ndarray:
    """The state that one episode starts from."""
    return alone(seed, episode).state[0]


def parts(start: Start) -> list[np.ndarray]:
    """All arrays of a start."""
    return [*start[:3], *start.info.values()]


@pytest.mark.parametrize("num_envs", [1, 5, 1500, 5000])
def test_every_episode_has_its_own_start(num_envs):
    """Environments that begin episodes at their own pace, each its first, second, ... seventh."""
    starts, rng = Starts(num_envs, draw), np.random.default_rng(0)
    starts.seed([10 + i for i in range(num_envs)], np.arange(num_envs))
    begun = np.zeros(num_envs, int)
    while begun.min() < 7:
        rows = np.flatnonzero((rng.random(num_envs) < 0.4) | (begun == begun.min()))
        taken = starts.take(rows)
        assert taken.state.shape == (len(rows), WIDTH)
        assert list(taken.info) == ["sum", "up", "pair"]
        for row in rng.choice(len(rows), min(len(rows), 20), replace=False):
            own = alone(10 + rows[row], begun[rows[row]])
            for mine, whole in zip(parts(own), parts(taken), strict=True):
                assert whole.dtype == mine.dtype
                np.testing.assert_array_equal(whole[row], mine[0])
        begun[rows] += 1


def test_a_new_seed_begins_anew_and_leaves_the_others():
    """What was drawn ahead under the old seed is forgotten; None goes on where the environment was."""
    starts, everyone = Starts(3, draw), np.arange(3)
    starts.seed([1, 2, 3], everyone)
    starts.take(everyone)
    starts.seed([7, None, 9], np.array([0, 1]))
    np.testing.assert_array_equal(starts.take(everyone).state, [expected(7, 0), expected(2, 1), expected(3, 1)])
    assert starts.seeds == [7, 2, 3]


def test_saved_and_loaded():
    """What counts is how many episodes have begun, not how many were drawn."""
    starts, other = (Starts(2, draw) for _ in range(2))
    starts.seed([4, 5], np.arange(2))
    for rows in ([0, 1], [1], [1]):
        starts.take(np.array(rows))
    other.seed([8, 9], np.arange(2))
    other.take(np.arange(2))
    other.load_state_dict(starts.state_dict())
    np.testing.assert_array_equal(other.take(np.arange(2)).state, [expected(4, 1), expected(5, 3)])


def test_torch_and_numpy():
    """Where the arena's arrays are tensors, so are the starts; the numbers are the same."""

    def in_torch(noise: Noise) -> Start:
        start = draw(noise)
        tensors = [torch.from_numpy(np.ascontiguousarray(part)) for part in parts(start)]
        return Start(*tensors[:3], dict(zip(start.info, tensors[3:], strict=True)))

    both = Starts(4, draw), Starts(4, in_torch)
    for starts in both:
        starts.seed([1, 2, 3, 4], np.arange(4))
    for rows in ([0, 1, 2, 3], [2], [2, 3]):
        mine, theirs = both[0].take(np.array(rows)), both[1].take(torch.tensor(rows))
        for array, tensor in zip(parts(mine), parts(theirs), strict=True):
            assert isinstance(tensor, torch.Tensor)
            np.testing.assert_array_equal(tensor.numpy(), array)
