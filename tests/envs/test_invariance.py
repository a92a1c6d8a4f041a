"""An environment's trajectory has the same bits in any company: any batch size, any index, alone through gym.make."""

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble.envs import vector_env
from tumble.envs.registry import TASKS

STEPS, SIZES = 300, (1, 7, 64, 1000)


def rollout(name: str, num_envs: int, seed: int, index: int, actions: np.ndarray) -> list[np.ndarray]:
    """Observations, rewards and flags of environment `index` under its actions (steps, nu), others doing their own."""
    envs = tumble.make_vec(name, num_envs, max_episode_steps=100)
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
    env = gymnasium.make(f"tumble/{name}-v0", max_episode_steps=100)
    env.reset(seed=seed)
    rows = []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()
        rows.append(np.concatenate((observation, [reward, terminated, truncated])))
    env.close()
    return np.array(rows)


@pytest.mark.parametrize("name", TASKS)
def test_same_bits_in_any_company(name):
    """Seed 1234 is environment 1234 - s of a batch seeded with s, whatever s and the batch's size."""
    env = gymnasium.make(f"tumble/{name}-v0")
    env.action_space.seed(0)
    actions = np.array([env.action_space.sample() for _ in range(STEPS)])
    env.close()
    wanted = alone(name, 1234, actions)
    for size in SIZES:
        index = size // 2
        np.testing.assert_array_equal(rollout(name, size, 1234 - index, index, actions), wanted)


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
@pytest.mark.parametrize("name", TASKS)
def test_same_bits_judged_in_torch(name, mode, monkeypatch):
    """Batches too large for numpy are judged in torch: the same numbers, infos included."""
    ours = {"num_envs": 5, "max_episode_steps": 15, "autoreset_mode": mode}
    in_numpy = tumble.make_vec(name, **ours)
    monkeypatch.setattr(vector_env, "MOST_IN_NUMPY", 0)
    in_torch = tumble.make_vec(name, **ours)
    in_numpy.action_space.seed(0)
    assert_same(in_torch.reset(seed=3), in_numpy.reset(seed=3))
    for step in range(40):
        actions = torch.as_tensor(in_numpy.action_space.sample())
        if step == 20:
            in_torch.load_state_dict(in_numpy.state_dict())  # saved by one kind, loaded by the other
        assert_same(in_torch.step(actions), in_numpy.step(actions))
    in_numpy.close()
    in_torch.close()


def assert_same(one, other):
    """Nested tuples and dicts of tensors, equal to the last bit."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, tuple):
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    else:
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.numpy(), other.numpy())
