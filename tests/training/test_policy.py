"""A policy taken out of a checkpoint acts as the model that was trained; evaluation counts each episode once."""

import math
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

from tumble.training.evaluate import SIMULATORS, Evaluation, agreement, make_envs, play, twin_of
from tumble.training.learning.learner import Learner
from tumble.training.policy import Policy, PolicyError


@pytest.mark.parametrize("algo", ["ppo", "sac", "td3"])
def test_sees_several_parts_as_the_trained_model_does(tmp_path, seen_pendulums, small_ppo, small_sac, small_td3, algo):
    """A picture, which nobody normalises, and numbers far from their mean, which are brought to scale and clipped."""
    config = {"ppo": small_ppo, "sac": small_sac, "td3": small_td3}[algo]
    config = replace(config, normalize=replace(config.normalize, clip_observations=0.5))
    envs = seen_pendulums(config.num_envs)
    learner = Learner(config, envs)
    learner.model.learn(256)
    learner.save(tmp_path)
    policy = Policy(config, tmp_path, envs.single_observation_space, envs.single_action_space)
    rng = np.random.default_rng(0)
    observations = {
        "direction": rng.normal(size=(50, 2)).astype(np.float32),
        "picture": rng.integers(0, 256, (50, 36, 40, 3), np.uint8),
        "speed": 3 * rng.normal(size=(50, 1)).astype(np.float32),
    }
    turned = observations | {"picture": observations["picture"].transpose(0, 3, 1, 2)}
    expected, _ = learner.model.predict(learner.normalizer.normalize_obs(turned), deterministic=True)
    np.testing.assert_array_equal(policy.act(observations), expected)
    dark = policy.act(observations | {"picture": np.zeros_like(observations["picture"])})
    still = policy.act(observations | {"speed": np.zeros_like(observations["speed"])})
    assert not np.array_equal(dark, expected) and not np.array_equal(still, expected)
    direction, picture, speed = envs.single_observation_space.values()
    for other in ({"direction": direction, "picture": picture}, {"way": direction, "picture": picture, "speed": speed}):
        with pytest.raises(PolicyError, match=r"does not fit .*picture: \(36, 40, 3\)"):
            Policy(config, tmp_path, gym.spaces.Dict(other), envs.single_action_space)


@pytest.mark.parametrize("algo", ["ppo", "sac", "td3"])
def test_acts_as_the_trained_model(tmp_path, pendulums, small_ppo, small_sac, small_td3, algo):
    config = {"ppo": small_ppo, "sac": small_sac, "td3": small_td3}[algo]
    learner = Learner(config, pendulums(config.num_envs))
    learner.model.learn(256)
    learner.save(tmp_path)
    space, actions = learner.bridge.observation_space, learner.bridge.action_space
    policy = Policy(config, tmp_path, space, actions)
    observations = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32) * 3
    expected, _ = learner.model.predict(learner.normalizer.normalize_obs(observations), deterministic=True)
    np.testing.assert_array_equal(policy.act(observations), expected)
    assert policy.step == learner.model.num_timesteps
    assert actions.contains(policy.act(observations)[0])
    double = policy.act(observations.astype(np.float64))  # MuJoCo's tasks observe in double precision
    np.testing.assert_allclose(double, expected, atol=1e-6)


def test_the_wrong_environment_is_refused(tmp_path, pendulums, small_ppo):
    learner = Learner(small_ppo, pendulums(8))
    learner.model.learn(128)
    learner.save(tmp_path)
    with pytest.raises(PolicyError, match=r"\(7,\) observations"):
        Policy(small_ppo, tmp_path, gym.spaces.Box(-1, 1, (7,)), learner.bridge.action_space)


def test_each_environments_first_episode_is_the_one_that_counts(pendulums):
    """Played again by hand: the sum of rewards until the first end, whatever comes after."""

    class Numpy(pendulums):
        def reset(self, **options):
            return super().reset(seed=range(options["seed"], options["seed"] + self.num_envs))[0].numpy(), {}

        def step(self, actions):
            *values, info = super().step(actions)
            return *[value.numpy() for value in values], info

    class Push:
        def act(self, observations, deterministic, starts):
            return np.full((len(observations), 1), 2.0, np.float32)

    returns, lengths, *_ = play(Push(), Numpy(20), seed=3, deterministic=True)
    for i in range(20):
        env = Numpy(1)
        env.reset(seed=3 + i)
        total, steps, over = 0.0, 0, False
        while not over:
            _, reward, terminated, truncated, _ = env.step(np.full((1, 1), 2.0, np.float32))
            total, steps, over = total + float(reward[0]), steps + 1, bool(terminated[0] or truncated[0])
        assert (lengths[i], returns[i]) == (steps, pytest.approx(total, rel=1e-5))
    assert len(set(lengths.tolist())) > 1


def test_success_is_that_of_the_last_step_of_the_first_episode(pendulums):
    """What later episodes end with does not count; without `success` in the info there is none."""

    class Numpy(pendulums):
        def step(self, actions):
            observations, rewards, terminated, truncated, info = super().step(actions)
            ended = terminated | truncated
            self.ended = getattr(self, "ended", 0) + ended.numpy().astype(int)
            if ended.any():
                first = (self.ended == 1) & ended.numpy() & (np.arange(self.num_envs) % 2 == 0)
                info["final_info"] = {**info.get("final_info", {}), "success": first | (self.ended > 1)}
            return *(value.numpy() for value in (observations, rewards, terminated, truncated)), info

        def reset(self, **options):
            return super().reset(seed=range(options["seed"], options["seed"] + self.num_envs))[0].numpy(), {}

    class Push:
        def act(self, observations, deterministic, starts):
            return np.full((len(observations), 1), 2.0, np.float32)

    played = play(Push(), Numpy(6), seed=3, deterministic=True)
    successes = played.successes
    assert successes.tolist() == [True, False] * 3
    assert played.infos()["success"] == (3 / played.lengths.sum(), 0.5)  # of all steps, at the ends
    score = Evaluation("me/Task-v0", "tumble", 1, 0, True, [1.0] * 6, [3] * 6, successes=successes.tolist())
    assert score.success_rate == score.summary()["success_rate"] == 0.5
    assert Evaluation("me/Task-v0", "tumble", 1, 0, True, [1.0], [3]).success_rate is None


def scores(simulator, values):
    """An evaluation with these returns."""
    return Evaluation("tumble/Ant-v0", simulator, 1, 0, True, list(values), [10] * len(values))


def test_mean_and_standard_error():
    score = scores("tumble", [1.0, 2.0, 3.0, 6.0])
    assert score.mean == 3.0
    assert score.standard_error == pytest.approx(np.std([1, 2, 3, 6], ddof=1) / 2)
    assert math.isnan(scores("tumble", [1.0]).standard_error)
    assert scores("tumble", [1.0]).summary()["standard_error"] is None


def test_agreement_is_five_percent_or_two_standard_errors():
    rng = np.random.default_rng(0)
    near, wide = rng.normal(1000, 1, 100), rng.normal(1000, 500, 100)
    assert "agree" in agreement(scores("tumble", near), scores("mujoco", near * 1.04))
    assert "DIFFER" in agreement(scores("tumble", near), scores("mujoco", near * 1.08))
    assert "agree" in agreement(scores("tumble", wide), scores("mujoco", wide * 1.08))


def test_gymnasiums_class_plays_where_it_takes_the_options(small_ppo):
    """Those of the v5 task and of its base class; with an option of Tumble's alone the task's own code plays."""
    ant = replace(small_ppo, task="tumble/Ant-v0", env={"ctrl_cost_weight": 0.1, "width": 64, "max_episode_steps": 9})
    assert [twin_of(ant, simulator) for simulator in SIMULATORS] == [None, "Ant-v5", None]
    assert twin_of(replace(ant, env={"model_options": {"timestep": 0.005}}), "mujoco") is None
    assert twin_of(small_ppo, "mujoco") is None


def test_mujoco_warns_once(tmp_path, monkeypatch, capfd, small_ppo):
    """Gymnasium's model has a deprecated attribute: one warning, not one on the screen and in a log for each copy."""
    monkeypatch.chdir(tmp_path)
    config = replace(small_ppo, task="tumble/HalfCheetah-v0", env={})
    with pytest.warns(RuntimeWarning) as found:
        make_envs(config, "mujoco", 3).close()
    assert [str(w.message)[:8] for w in found] == ["MuJoCo: "] and "settotalmass" in str(found[0].message)
    assert "settotalmass" not in "".join(capfd.readouterr())
    assert not list(tmp_path.iterdir())


def comparable(outcome):
    """Arrays of objects, such as last observations, as lists, in which numpy compares arrays."""
    if isinstance(outcome, dict):
        return {name: comparable(part) for name, part in outcome.items()}
    if isinstance(outcome, tuple):
        return tuple(map(comparable, outcome))
    return outcome.tolist() if outcome.dtype == object else outcome


@pytest.mark.parametrize("task", ["Hopper", "HalfCheetah"])
def test_processes_of_gymnasiums_class_change_no_bit(small_ppo, task):
    """Some of the hoppers fall within these steps."""
    config, rng = replace(small_ppo, task=f"tumble/{task}-v0", env={}), np.random.default_rng(0)
    one, two = (make_envs(config, "mujoco", 7, processes) for processes in (1, 3))
    pairs = [(one.reset(seed=5), two.reset(seed=5))]
    for _ in range(60):
        actions = rng.uniform(-1, 1, one.action_space.shape).astype(np.float32)
        pairs.append((one.step(actions), two.step(actions)))
    for ours, theirs in pairs:
        np.testing.assert_equal(comparable(ours), comparable(theirs))
    assert any("final_info" in ours[-1] for ours, _ in pairs) == (task == "Hopper")
    one.close()
    two.close()
    assert all(child.poll() == 0 for child in two._children)
