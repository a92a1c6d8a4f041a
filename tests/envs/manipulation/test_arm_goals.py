"""Tasks with goals: rewards for any goals, from single and vector environments, and replay with hindsight."""

import gymnasium as gym
import numpy as np
import pytest
import stable_baselines3 as sb3
import torch

import tumble
from tumble.training.sb3_bridge import TumbleVecEnv

from . import published, scripted

THRESHOLDS = {"ArmReachGoal": 0.02, "ArmPushGoal": 0.05, "ArmPickGoal": 0.05}
SLOW = pytest.mark.slow  # what is wrong with all tasks is seen in one


def fetch_reward(achieved: np.ndarray, desired: np.ndarray, threshold: float) -> np.ndarray:
    """Gymnasium-Robotics' sparse reward."""
    return -(np.linalg.norm(achieved - desired, axis=-1) > threshold).astype(np.float32)


@pytest.mark.parametrize(
    "name", ["ArmPickGoal", pytest.param("ArmReachGoal", marks=SLOW), pytest.param("ArmPushGoal", marks=SLOW)]
)
def test_goals_are_achieved_and_paid(name):
    """Achieved goals are grip or cube; rewards those of Fetch, for the goals of a step and for any others."""
    envs = tumble.make_vec(name, 16, output="numpy")
    observations, _ = envs.reset(seed=0)
    rng, threshold, wished = np.random.default_rng(0), THRESHOLDS[name], []
    for _ in range(30):
        action = rng.uniform(-1, 1, envs.action_space.shape).astype(np.float32)
        action[:, :3] = scripted.towards(observations["observation"], observations["desired_goal"])
        observations, rewards, *_, info = envs.step(action)
        seen, achieved, desired = published.seen(envs), observations["achieved_goal"], observations["desired_goal"]
        thing = seen.grip if name == "ArmReachGoal" else seen.body("cube")
        np.testing.assert_allclose(achieved, thing, atol=1e-6)
        goal = seen.goal * [1, 1, 0] + [0, 0, 0.02] if name == "ArmPushGoal" else seen.goal
        np.testing.assert_allclose(desired, goal, atol=1e-6)
        np.testing.assert_array_equal(rewards, fetch_reward(achieved, desired, threshold))
        np.testing.assert_array_equal(info["is_success"], rewards == 0)
        wished.append(desired)
    others = achieved + rng.normal(scale=0.03, size=(7, 16, 3)).astype(np.float32)
    found = envs.unwrapped.compute_reward(np.broadcast_to(achieved, others.shape), others, {})
    assert {0, -1} == set(np.unique(found)) and found.shape == (7, 16)
    np.testing.assert_array_equal(found, fetch_reward(achieved, others, threshold))
    tensors = envs.call("compute_reward", torch.from_numpy(achieved), torch.from_numpy(others[0]), {})[0]
    np.testing.assert_array_equal(tensors, found[0])
    for flag in (envs.unwrapped.compute_terminated, envs.unwrapped.compute_truncated):
        assert not flag(achieved, others[0], {}).any()
    if name == "ArmPickGoal":
        low = np.isclose(wished[-1][:, 2], 0.02)
        assert 3 <= low.sum() <= 13, "half of the goals lie on the table"
    envs.close()


@pytest.mark.slow
def test_a_single_environment_pays_for_any_goal():
    env = gym.make("tumble/ArmReachGoal-v0")
    env.reset(seed=0)
    observation, reward, *_ = env.step(np.zeros(3, np.float32))
    pay = env.unwrapped.compute_reward
    assert reward == -1 == pay(observation["achieved_goal"], observation["desired_goal"], {})
    assert pay(observation["achieved_goal"], observation["achieved_goal"], {}) == 0
    env.close()
    plain = gym.make("tumble/InvertedPendulum-v0")
    assert not hasattr(plain.unwrapped, "compute_reward"), "checkers take what has the method for a task with goals"
    plain.close()


def test_hindsight_replay_asks_for_rewards():
    """SB3's buffer exchanges goals for those that were reached later, and gets their rewards through the bridge."""
    venv = TumbleVecEnv(tumble.make_vec("ArmReachGoal", 4, max_episode_steps=20))
    model = sb3.SAC(
        "MultiInputPolicy",
        venv,
        replay_buffer_class=sb3.HerReplayBuffer,
        learning_starts=200,
        buffer_size=2000,
        batch_size=32,
        train_freq=8,
        seed=0,
        device="cpu",
    )
    model.learn(400)
    batch = model.replay_buffer.sample(400)
    seen = batch.next_observations
    rewards = -((seen["achieved_goal"] - seen["desired_goal"]).norm(dim=1) > 0.02).float()
    torch.testing.assert_close(batch.rewards[:, 0], rewards)
    assert (rewards == 0).float().mean() > 0.05, "some of the goals were reached, as none was that was drawn"
    venv.close()
