"""The bridge gives Stable-Baselines3 what SB3's own vector environments give it."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

import tumble
from tumble.training.learning.learner import stagger
from tumble.training.sb3_bridge import TumbleVecEnv


class OnePendulum(gym.Env):
    """One environment of the batch as a plain Gymnasium environment, for SB3's own machinery."""

    def __init__(self, pendulums):
        self.batch = pendulums(1)
        self.observation_space, self.action_space = self.batch.single_observation_space, self.batch.single_action_space

    def reset(self, *, seed=None, options=None):
        observation, _ = self.batch.reset(seed=None if seed is None else [seed])
        return observation[0].numpy(), {}

    def step(self, action):
        observation, reward, terminated, truncated, info = self.batch.step(action[None])
        if terminated[0] or truncated[0]:
            observation = info["final_obs"]
        return observation[0].numpy(), float(reward[0]), bool(terminated[0]), bool(truncated[0]), {}


def test_equals_sb3s_own_vector_environment_step_by_step(pendulums):
    """DummyVecEnv over Monitor is the reference, until each environment's first episode ends."""
    bridge = TumbleVecEnv(pendulums(3))
    reference = DummyVecEnv([lambda: Monitor(OnePendulum(pendulums))] * 3)
    bridge.seed(5)
    reference.seed(5)
    np.testing.assert_array_equal(bridge.reset(), reference.reset())
    rng = np.random.default_rng(0)
    compared = np.zeros(3, dtype=bool)
    for _ in range(60):
        actions = rng.uniform(-2, 2, (3, 1)).astype(np.float32)
        observation, reward, done, infos = bridge.step(actions)
        expected_observation, expected_reward, expected_done, expected_infos = reference.step(actions)
        for i in np.flatnonzero(~compared):
            assert reward[i] == pytest.approx(expected_reward[i], rel=1e-6)
            assert done[i] == expected_done[i]
            if not done[i]:
                np.testing.assert_array_equal(observation[i], expected_observation[i])
                assert infos[i] == {}
                continue
            compared[i] = True
            np.testing.assert_array_equal(infos[i]["terminal_observation"], expected_infos[i]["terminal_observation"])
            assert infos[i]["TimeLimit.truncated"] == expected_infos[i]["TimeLimit.truncated"]
            assert infos[i]["episode"]["l"] == expected_infos[i]["episode"]["l"]
            assert infos[i]["episode"]["r"] == pytest.approx(expected_infos[i]["episode"]["r"], abs=1e-5)
        if compared.all():
            break
    assert compared.all()


def test_both_kinds_of_ending_are_told_apart(pendulums):
    bridge = TumbleVecEnv(pendulums(32))
    bridge.seed(0)
    bridge.reset()
    endings = []
    for _ in range(45):
        _, _, done, infos = bridge.step(np.full((32, 1), 2.0, np.float32))
        endings += [infos[i]["TimeLimit.truncated"] for i in np.flatnonzero(done)]
    assert True in endings and False in endings


def test_terminated_and_truncated_at_once_is_terminated(pendulums):
    envs = pendulums(2)
    bridge = TumbleVecEnv(envs)
    bridge.reset()
    envs.steps[:] = 39
    envs.speed[0] = 100.0
    _, _, done, infos = bridge.step(np.zeros((2, 1), np.float32))
    assert done.all()
    assert [info["TimeLimit.truncated"] for info in infos] == [False, True]


@pytest.mark.filterwarnings("ignore:The environment is already wrapped")
def test_episode_statistics_start_afresh(pendulums):
    """The second episode's return and length do not contain the first's; VecMonitor counts the same."""
    bridge = VecMonitor(TumbleVecEnv(pendulums(4)))
    bridge.seed(3)
    bridge.reset()
    own, theirs = [], []
    inner = bridge.venv.step_wait

    def spy():
        result = inner()
        own.extend((i, info["episode"]["r"], info["episode"]["l"]) for i, info in enumerate(result[3]) if info)
        return result

    bridge.venv.step_wait = spy
    for _ in range(130):
        _, _, _, infos = bridge.step(np.zeros((4, 1), np.float32))
        theirs += [(i, info["episode"]["r"], info["episode"]["l"]) for i, info in enumerate(infos) if info]
    assert len(own) >= 12
    assert [(i, length) for i, _, length in own] == [(i, length) for i, _, length in theirs]
    np.testing.assert_allclose([r for _, r, _ in own], [r for _, r, _ in theirs], atol=1e-4)


def test_infos_are_not_shared_and_arrays_are_not_overwritten(pendulums):
    bridge = TumbleVecEnv(pendulums(2))
    bridge.reset()
    observation, reward, _, infos = bridge.step(np.zeros((2, 1), np.float32))
    kept = observation.copy(), reward.copy()
    infos[0]["mine"] = 1
    assert "mine" not in infos[1]
    bridge.step(np.ones((2, 1), np.float32))
    np.testing.assert_array_equal(observation, kept[0])
    np.testing.assert_array_equal(reward, kept[1])
    assert observation.flags.c_contiguous and observation.dtype == np.float32 and reward.dtype == np.float32


def test_double_precision_observations_stay_double(pendulums):
    bridge = TumbleVecEnv(pendulums(2, dtype=torch.float64))
    assert bridge.reset().dtype == np.float64
    observation, reward, _, _ = bridge.step(np.zeros((2, 1), np.float32))
    assert observation.dtype == np.float64 and reward.dtype == np.float32


def test_seeds_and_options_are_given_once(pendulums):
    envs = pendulums(3)
    bridge = TumbleVecEnv(envs)
    bridge.seed(7)
    bridge.set_options({"low": 1})
    bridge.reset()
    bridge.reset()
    assert envs.reset_calls == [([7, 8, 9], {"low": 1}), (None, None)]


SHORT = {"terminal_observation", "TimeLimit.truncated"}
"""Entries of an info at the end of an episode that was shortened: SB3 counts none without `episode`."""


def test_staggered_episodes_end_one_after_the_other():
    """Where all would end by the time limit at once; later episodes have its whole length."""
    bridge = TumbleVecEnv(tumble.make_vec("HalfCheetah", 4, max_episode_steps=8))
    stagger(bridge)
    bridge.reset()
    dones, lengths, ended = [], [], []
    for _ in range(16):
        *_, done, infos = bridge.step(np.zeros((4, 6), np.float32))
        dones.append(done.tolist())
        lengths += [info["episode"]["l"] for info in infos if "episode" in info]
        ended.append(bridge.all_have_ended())
    for env in range(4):
        assert [row[env] for row in dones] == [(k + 2 * env) % 8 == 7 for k in range(16)]
    assert lengths == [8] * 5, "episodes that were shortened are none of the task"
    assert ended == [k >= 13 for k in range(16)]
    saved = bridge.state_dict()
    bridge.reset()
    assert not bridge.all_have_ended()
    bridge.load_state_dict(saved)
    assert bridge.all_have_ended()
    for steps in (np.array([6, 0, 7, 7]), torch.tensor([6, 0, 7, 7]), np.array([6, 0, 7, 7], np.uint16), None):
        bridge.set_options({"elapsed_steps": steps})
        bridge.reset()
        *_, infos = bridge.step(np.zeros((4, 6), np.float32))
        assert [info.keys() for info in infos if info] == ([] if steps is None else [SHORT] * 2)
    bridge.close()


def test_faults_are_reported(pendulums):
    class Faulty(pendulums):
        def step(self, actions):
            observation, reward, terminated, truncated, info = super().step(actions)
            terminated[1] = True
            info["final_info"] = {"fault": torch.tensor([0, 1], dtype=torch.int32)}
            return observation, reward, terminated, truncated, info

    bridge = TumbleVecEnv(Faulty(2))
    bridge.reset()
    bridge.envs.steps[0] = 39
    _, _, done, infos = bridge.step(np.zeros((2, 1), np.float32))
    assert done.all() and infos[1]["fault"] == 1 and "fault" not in infos[0]


def test_wrong_autoreset_mode_is_refused(pendulums):
    envs = pendulums(1)
    envs.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
    with pytest.raises(ValueError, match="SAME_STEP"):
        TumbleVecEnv(envs)


def test_a_single_environment_is_refused_with_what_to_do():
    """Named by its id; what is no environment at all, too."""
    words = r"TumbleVecEnv takes a vector environment, and <.*SingleEnv.* is a single environment: make one with "
    with pytest.raises(
        TypeError, match=words + r"tumble.make_vec\('tumble/Hopper-v0', num_envs=64\) or gymnasium.make_v"
    ):
        TumbleVecEnv(gym.make("tumble/Hopper-v0"))
    with pytest.raises(TypeError, match=r"and this is str: make one with tumble.make_vec"):
        TumbleVecEnv("Ant")


def test_attributes_methods_and_wrappers(pendulums):
    bridge = TumbleVecEnv(pendulums(2))
    assert bridge.get_attr("num_envs") == [2, 2] and bridge.get_attr("num_envs", indices=1) == [2]
    bridge.set_attr("note", 5)
    assert bridge.envs.note == 5 and bridge.has_attr("note") and not bridge.has_attr("nothing")
    assert len(bridge.env_method("render")) == 2
    with pytest.raises(ValueError, match="whole batch"):
        bridge.env_method("render", indices=[0])
    assert bridge.env_is_wrapped(Monitor) == [True, True]
    assert bridge.env_is_wrapped(gym.wrappers.TimeLimit) == [False, False]
    assert bridge.render("rgb_array").shape == (32, 16, 3)


def test_sb3s_evaluate_policy_uses_the_statistics(pendulums):
    """No warning about a missing Monitor; rewards are the raw ones under VecNormalize."""

    class Still:
        def predict(self, observations, state=None, episode_start=None, deterministic=True):
            return np.zeros((len(observations), 1), np.float32), None

    venv = VecNormalize(TumbleVecEnv(pendulums(2)), training=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        returns, lengths = evaluate_policy(Still(), venv, n_eval_episodes=4, return_episode_rewards=True)
    assert len(returns) == 4 and max(lengths) <= 40
