"""`CompiledPPO` is Stable-Baselines3's PPO to its users, and learns what LeanPPO learns."""

import copy

import gymnasium as gym
import numpy as np
import pytest
import torch
from scipy import stats
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

from tumble.training.learning.asymmetric import AsymmetricActorCriticPolicy
from tumble.training.learning.compiled_ppo import CompiledPPO
from tumble.training.learning.lean_ppo import LeanPPO
from tumble.training.sb3_bridge import TumbleVecEnv

OPTIONS = {"n_steps": 16, "batch_size": 32, "n_epochs": 3, "seed": 4, "device": "cpu", "ent_coef": 0.01}


def model_of(pendulums, kind=CompiledPPO, envs=8, **options):
    """An algorithm on pendulums whose first episodes end at different steps."""
    bridge = TumbleVecEnv(pendulums(envs))
    bridge.set_options({"elapsed_steps": [(5 * i) % 40 for i in range(envs)]})
    policy = "MlpPolicy"
    if isinstance(bridge.observation_space, gym.spaces.Dict):
        policy = AsymmetricActorCriticPolicy
        options["policy_kwargs"] = {"actor_parts": ("policy",), "critic_parts": ("critic",)}
    return kind(policy, VecNormalize(bridge, gamma=0.9), gamma=0.9, **(OPTIONS | options))


def parameters(model):
    """All weights in one vector."""
    return torch.cat([parameter.detach().flatten() for parameter in model.policy.parameters()])


class Watch(BaseCallback):
    """Keeps the infos of steps, and copies of the rollout at its end."""

    def __init__(self):
        super().__init__()
        self.infos, self.buffers, self.steps = [], [], 0

    def _on_step(self):
        self.steps += 1
        self.infos += [info for info in self.locals["infos"] if info]
        return True

    def _on_rollout_end(self):
        self.buffers.append(copy.deepcopy(self.model.rollout_buffer))


@pytest.mark.parametrize("options", [{}, {"clip_range_vf": 0.1}, {"normalize_advantage": False}, {"batch_size": 50}])
def test_an_update_is_that_of_stable_baselines(pendulums, options):
    """The learners take the same rollout and weights; batches of 50 leave a last one of 28 rows."""
    ours, theirs = model_of(pendulums, **options), model_of(pendulums, PPO, **options)
    watch = Watch()
    ours.learn(128, callback=watch)  # fills the buffer, and updates
    theirs.learn(0)
    theirs.policy.load_state_dict(ours.policy.state_dict())
    theirs.policy.optimizer.load_state_dict(copy.deepcopy(ours.policy.optimizer.state_dict()))
    buffer = watch.buffers[-1]
    for name in ("observations", "actions", "log_probs", "advantages", "returns", "values"):
        array = np.ascontiguousarray(getattr(buffer, name))
        setattr(theirs.rollout_buffer, name, array)
    theirs.rollout_buffer.pos, theirs.rollout_buffer.full = 16, True
    theirs.rollout_buffer.generator_ready = False
    for model in (ours, theirs):
        np.random.seed(7)
        model.train()
    np.testing.assert_allclose(parameters(ours), parameters(theirs), rtol=0, atol=2e-6)


def test_advantages_are_those_of_stable_baselines(pendulums):
    """Generalised advantages of rewards and values, with ends and time limits, to rounding."""
    watch, model = Watch(), model_of(pendulums)
    model.learn(128 * 8, callback=watch)
    assert watch.infos
    for buffer in watch.buffers:
        after = copy.deepcopy(buffer)
        last = model._memory.values[16].clone() if buffer is watch.buffers[-1] else None
        if last is None:
            continue
        for name in ("advantages", "returns"):
            setattr(after, name, np.zeros((16, 8), np.float32))
        after.values, after.rewards = np.array(buffer.values), np.array(buffer.rewards)
        after.compute_returns_and_advantage(last, model._last_episode_starts)
        np.testing.assert_allclose(buffer.advantages, after.advantages, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(buffer.returns, after.returns, rtol=1e-5, atol=1e-6)


def test_rollouts_are_those_of_stable_baselines(pendulums):
    """The same actions in a second copy of the environments give the same normalised observations and rewards."""
    watch, model = Watch(), model_of(pendulums)
    model.learn(128 * 6, callback=watch)
    bridge = TumbleVecEnv(pendulums(8))
    bridge.set_options({"elapsed_steps": [(5 * i) % 40 for i in range(8)]})
    venv = VecNormalize(bridge, gamma=0.9)
    venv.seed(4)
    last = venv.reset()
    for buffer in watch.buffers:
        for t in range(16):
            np.testing.assert_allclose(buffer.observations[t], last, rtol=1e-5, atol=1e-5)
            action = np.clip(buffer.actions[t], model.action_space.low, model.action_space.high)
            last, reward, done, infos = venv.step(action)
            cut = np.array([info.get("TimeLimit.truncated", False) for info in infos])
            np.testing.assert_allclose(buffer.rewards[t][~cut], reward[~cut], rtol=1e-5, atol=1e-5)
            if t < 15:
                np.testing.assert_array_equal(buffer.episode_starts[t + 1], done)
    np.testing.assert_allclose(model.env.obs_rms.mean, venv.obs_rms.mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.env.obs_rms.var, venv.obs_rms.var, rtol=1e-5)
    assert model.env.obs_rms.count == pytest.approx(venv.obs_rms.count)
    np.testing.assert_allclose(model.env.ret_rms.var, venv.ret_rms.var, rtol=1e-5)
    assert len(watch.buffers) == 6


def test_log_probabilities_and_values_are_those_of_the_policy(pendulums):
    watch, model = Watch(), model_of(pendulums)
    model.learn(128, callback=watch, progress_bar=False)
    fresh = model_of(pendulums)  # the weights that collected
    buffer = watch.buffers[0]
    seen = torch.from_numpy(np.ascontiguousarray(buffer.observations)).flatten(0, 1)
    actions = torch.from_numpy(np.ascontiguousarray(buffer.actions)).flatten(0, 1)
    values, log_probs, _ = fresh.policy.evaluate_actions(seen, actions)
    np.testing.assert_allclose(buffer.values.ravel(), values.detach().ravel(), rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(buffer.log_probs.ravel(), log_probs.detach(), rtol=1e-5, atol=2e-6)


def test_draws_are_normal_and_independent(pendulums):
    """Kolmogorov and Smirnov's test of 64,000 deviations, and their correlation along environments and steps."""
    watch, model = Watch(), model_of(pendulums, envs=64, n_steps=1000, batch_size=8000, n_epochs=1)
    model.learn(64_000, callback=watch)
    buffer, fresh = watch.buffers[0], model_of(pendulums, envs=64)
    seen = torch.from_numpy(np.ascontiguousarray(buffer.observations)).flatten(0, 1)
    mean = fresh.policy.get_distribution(seen).distribution.mean.detach().numpy().reshape(1000, 64)
    deviations = (buffer.actions[:, :, 0] - mean) / float(fresh.policy.log_std.detach().exp())
    assert stats.kstest(deviations.ravel(), "norm").pvalue > 1e-3
    for a, b in ((deviations[1:], deviations[:-1]), (deviations[:, 1:], deviations[:, :-1])):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.016  # four standard errors


def test_callbacks_see_episodes(pendulums):
    """Infos have what SB3's `Monitor` gives, and the model's mean of episodes is theirs."""
    watch, model = Watch(), model_of(pendulums)
    model.learn(128 * 30, callback=watch)
    episodes = [info["episode"] for info in watch.infos if "episode" in info]
    assert len(episodes) >= 8 and watch.steps == 30 * 16
    assert all(episode["l"] <= 40 for episode in episodes)
    assert [episode["r"] for episode in model.ep_info_buffer] == [episode["r"] for episode in episodes[-100:]]
    assert all(info["terminal_observation"].shape == (3,) for info in watch.infos)
    assert any(info["TimeLimit.truncated"] for info in watch.infos)


def test_a_callback_ends_training(pendulums):
    class Stop(BaseCallback):
        def _on_step(self):
            return self.num_timesteps < 64

    model = model_of(pendulums)
    model.learn(10_000, callback=Stop())
    assert model.num_timesteps == 64
    for statistics in (model.env.obs_rms, model.env.ret_rms):  # 8 at the reset, and 8 a step
        assert statistics.count == pytest.approx(64 + (8 if statistics is model.env.obs_rms else 0), abs=1e-3)


def test_the_saved_model_is_a_ppo(pendulums, tmp_path):
    """Plain Stable-Baselines3 reads it."""
    model = model_of(pendulums)
    model.learn(128)
    model.save(tmp_path / "model.zip")
    loaded = PPO.load(tmp_path / "model.zip")
    assert torch.equal(parameters(loaded), parameters(model))
    state = model.policy.optimizer.state_dict()["state"]
    assert all(
        torch.equal(a["exp_avg"], state[k]["exp_avg"]) for k, a in loaded.policy.optimizer.state_dict()["state"].items()
    )


def test_what_is_not_compiled_is_said_once(pendulums, caplog):
    caplog.set_level("INFO", "tumble")
    ours = model_of(pendulums, use_sde=True)
    ours.learn(256)
    assert [record.getMessage() for record in caplog.records] == [
        "the update is not compiled: its noise depends on the state (gSDE)"
    ]
    theirs = model_of(pendulums, LeanPPO, use_sde=True)
    theirs.learn(256)
    assert torch.equal(parameters(ours), parameters(theirs))
