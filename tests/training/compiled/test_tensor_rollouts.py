"""Rollouts in torch, as on a GPU, are those of compiled code: field by field, to rounding."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from scipy import stats
from stable_baselines3 import PPO

from tumble.envs.task.observations import parts_of
from tumble.physics.base.draws import hashed_key
from tumble.training.learning.compiled_ppo import CompiledPPO
from tumble.training.learning.tensor_rollouts import TensorRollouts, choose, normal

from ..conftest import choosing
from .test_compiled_ppo import Watch, model_of, parameters

ROUNDING = {"rtol": 1e-5, "atol": 2e-5}
"""Of numbers in single precision that depend on all earlier ones: 16 steps of eight environments."""


def learned(pendulums, in_torch, iterations=6, **options):
    """A model and what its callback saw, with rollouts in torch or compiled."""
    model, watch = model_of(pendulums, **options), Watch()
    if in_torch:
        space, (parts, columns) = model.action_space, model._layout()
        limits = (space.low, space.high) if isinstance(space, gym.spaces.Box) else (0, 0)
        model._memory = TensorRollouts(8, 16, parts, columns, model.policy, model._options(), *limits)
    model.learn(128 * iterations, callback=watch)
    return model, watch


@pytest.mark.parametrize("kind", ["numbers", "a choice", "choices", "told apart"])
def test_rollouts_in_torch_are_the_compiled_ones(pendulums, told_apart_pendulums, kind):
    """Also their statistics and episodes; without updates, which would magnify rounding."""
    if kind == "told apart":
        pendulums = told_apart_pendulums
    elif kind != "numbers":
        space = gym.spaces.Discrete(3) if kind == "a choice" else gym.spaces.MultiDiscrete([3, 2])
        pendulums = choosing(pendulums, space)
    (compiled, seen), (in_torch, also) = (learned(pendulums, kind, learning_rate=0.0) for kind in (False, True))
    assert all(model.reason() == "" and model._collected for model in (compiled, in_torch))
    for a, b in zip(seen.buffers, also.buffers, strict=True):
        for name in ("log_probs", "advantages", "returns", "values", "rewards", "episode_starts"):
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), err_msg=name, **ROUNDING)
    rows, others = (model._memory.rows[:16] for model in (compiled, in_torch))
    np.testing.assert_allclose(rows, others, **ROUNDING)
    statistics = [[*parts_of(model.env.obs_rms).values(), model.env.ret_rms] for model in (compiled, in_torch)]
    for a, b in zip(*statistics, strict=True):
        np.testing.assert_allclose(a.mean, b.mean, **ROUNDING)
        np.testing.assert_allclose(a.var, b.var, **ROUNDING)
        assert a.count == b.count
    np.testing.assert_allclose(compiled.env.returns, in_torch.env.returns, **ROUNDING)
    episodes = [[(e["r"], e["l"]) for e in model.ep_info_buffer] for model in (compiled, in_torch)]
    assert len(episodes[0]) > 8
    np.testing.assert_allclose(*episodes, **ROUNDING)


def test_an_update_goes_on_from_rollouts_in_torch(pendulums, monkeypatch):
    """With LeanPPO's update, as on a GPU: the weights of the compiled update after an iteration."""
    expected, _ = learned(pendulums, False, iterations=1)
    monkeypatch.setattr(CompiledPPO, "reason", lambda self: "a test")
    monkeypatch.setattr(CompiledPPO, "_collects", lambda self, env: True)
    monkeypatch.setattr(PPO, "train", lambda self: pytest.fail("not compiled, and not lean either"))
    actual, _ = learned(pendulums, True, iterations=1)
    np.testing.assert_allclose(parameters(actual), parameters(expected), rtol=0, atol=1e-5)


def test_draws_have_their_distributions():
    """Normal numbers by Kolmogorov and Smirnov's test, choices by Pearson's."""
    bits = hashed_key(torch.tensor([[5], [7]]), torch.arange(1, 100_001))
    for drawn in normal(bits):
        assert stats.kstest(drawn.numpy(), "norm").pvalue > 1e-3
    logits = torch.log(torch.tensor([0.5, 0.2, 0.3, 0.9, 0.1]))
    chosen, log_prob = choose(logits.expand(100_000, 5), [3, 2], bits.T)
    for column, chances in ((0, [0.5, 0.2, 0.3]), (1, [0.9, 0.1])):
        counts = np.bincount(chosen[:, column].long(), minlength=len(chances))
        assert stats.chisquare(counts, np.array(chances) * 100_000).pvalue > 1e-3
    first, second = torch.tensor([0.5, 0.2, 0.3]), torch.tensor([0.9, 0.1])
    expected = first[chosen[:, 0].long()].log() + second[chosen[:, 1].long()].log()
    np.testing.assert_allclose(log_prob, expected, rtol=1e-5)
