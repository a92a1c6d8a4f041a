"""The lines in which CleanRL's programs meet environments were written for numpy; they work with both outputs."""

import numpy as np
import pytest
import torch

import tumble

STEPS, NUM_ENVS = 30, 4


@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.filterwarnings("ignore:To copy construct from a tensor", "ignore:__array_wrap__ must accept")
def test_what_is_stored_is_what_the_environments_gave(output):
    """Observations, rewards and flags of a rollout, through the ends of episodes; actions are numpy arrays."""
    envs, plain = (tumble.make_vec("Hopper", NUM_ENVS, output=kind, max_episode_steps=12) for kind in (output, "torch"))
    obs = torch.zeros((STEPS, NUM_ENVS, *envs.single_observation_space.shape))
    rewards, dones = torch.zeros(STEPS, NUM_ENVS), torch.zeros(STEPS, NUM_ENVS)
    next_obs, _ = envs.reset(seed=1)
    next_obs, next_done = torch.Tensor(next_obs), torch.zeros(NUM_ENVS)
    expected, _ = plain.reset(seed=1)
    ended, ends = torch.zeros(NUM_ENVS, dtype=torch.bool), 0
    for step in range(STEPS):
        obs[step], dones[step] = next_obs, next_done
        assert torch.equal(obs[step], expected) and torch.equal(dones[step], ended.float())
        action = torch.rand(NUM_ENVS, 3) * 2 - 1
        next_obs, reward, terminations, truncations, _ = envs.step(action.cpu().numpy())
        next_done = np.logical_or(terminations, truncations)
        rewards[step] = torch.tensor(reward).view(-1)
        next_obs, next_done = torch.Tensor(next_obs), torch.Tensor(next_done)
        expected, reward, terminated, truncated, _ = plain.step(action)
        ended = terminated | truncated
        ends += int(ended.sum())
        assert torch.equal(rewards[step], reward)
    assert ends > NUM_ENVS
