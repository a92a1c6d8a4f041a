"""An environment's trajectory has the same bits in any company: any batch size, any index, alone through gym.make."""

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble.envs.registry import V5
from tumble.physics.solver import solver

from ..widths import WIDTH

STEPS, LIMIT, SIZES = 120, 40, (1, 7, 64, 1000)
DEFAULT = ("Ant", "Reacher")
"""Tasks that the default run proves: one with contacts and a free body, and one whose starts are drawn most."""


def rollout(name: str, num_envs: int, seed: int, index: int, actions: np.ndarray) -> list[np.ndarray]:
    """Observations, rewards and flags of environment `index` under its actions (steps, nu), others doing their own."""
    envs = tumble.make_vec(name, num_envs, max_episode_steps=LIMIT)
    envs.reset(seed=seed)
    envs.action_space.seed(num_envs)
    rows = []
    for action in actions:
        everyone = torch.as_tensor(envs.action_space.sample())
        everyone[index] = torch.as_tensor(action)
        observation, reward, terminated, truncated, _ = envs.step(everyone)
        rows.append(np.concatenate((observation[index].numpy(), [reward[index], terminated[index], truncated[index]])))
    envs.close()
    return np.array(rows)


def alone(name: str, seed: int, actions: np.ndarray) -> np.ndarray:
    """The same through gymnasium.make, reset whenever an episode ends."""
    env = gymnasium.make(f"tumble/{name}-v0", max_episode_steps=LIMIT)
    env.reset(seed=seed)
    rows = []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()
        rows.append(np.concatenate((observation, [reward, terminated, truncated])))
    env.close()
    return np.array(rows)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in DEFAULT else pytest.mark.slow) for name in V5])
def test_same_bits_in_any_company(name, monkeypatch):
    """Seed 1234 is environment 1234 - s of a batch seeded with s, whatever s and the batch's size."""
    env = gymnasium.make(f"tumble/{name}-v0")
    env.action_space.seed(0)
    actions = np.array([env.action_space.sample() for _ in range(STEPS)])
    env.close()
    wanted = alone(name, 1234, actions)
    for size in SIZES:
        index = size // 2
        np.testing.assert_array_equal(rollout(name, size, 1234 - index, index, actions), wanted)
    monkeypatch.setattr(solver, "lanes_by_default", lambda *_: WIDTH)  # as where a batch has been compiled before
    np.testing.assert_array_equal(alone(name, 1234, actions), wanted)
