"""A recurrent policy: what it remembers of an episode, where it forgets, and what it needs to be installed."""

import importlib.util
import json

import numpy as np
import pytest
import torch

from tumble.training.evaluate import evaluate, play
from tumble.training.learning.learner import Learner
from tumble.training.learning.networks import LibraryError
from tumble.training.policy import Policy
from tumble.training.results.video import film_policy
from tumble.training.runs import Run

needs_sb3_contrib = pytest.mark.skipif(importlib.util.find_spec("sb3_contrib") is None, reason="needs sb3-contrib")


@pytest.fixture
def trained(tmp_path, pendulums, configs):
    """A learner after two iterations, and its policy."""
    config = configs["recurrent_ppo"]
    learner = Learner(config, pendulums(8))
    learner.model.learn(256)
    learner.save(tmp_path)
    return learner, Policy(config, tmp_path, learner.bridge.observation_space, learner.bridge.action_space)


@needs_sb3_contrib
def test_remembers_each_row_until_its_episode_ends(trained):
    """Compared with sb3-contrib's own model, which is given the states and the starts."""
    learner, policy = trained
    rng, states = np.random.default_rng(0), None
    starts = np.ones(5, dtype=bool)
    for _ in range(12):
        seen = rng.normal(size=(5, 3)).astype(np.float32)
        normal = learner.normalizer.normalize_obs(seen)
        expected, states = learner.model.predict(normal, states, starts, deterministic=True)
        np.testing.assert_array_equal(policy.act(seen, starts=starts), expected)
        starts = rng.random(5) < 0.3


@needs_sb3_contrib
def test_the_past_matters_and_a_start_forgets_it(trained):
    _, policy = trained
    seen, other = np.ones((3, 3), np.float32), -np.ones((3, 3), np.float32)
    fresh = policy.act(seen, starts=np.ones(3, dtype=bool))
    policy.act(other)
    later = policy.act(seen, starts=np.array([True, False, False]))
    assert np.array_equal(later[0], fresh[0]) and not np.array_equal(later[1], fresh[1])
    assert np.array_equal(policy.act(seen[:2]), fresh[:2]), "other episodes: nothing is known of them"


@needs_sb3_contrib
def test_each_episode_is_played_as_if_it_were_alone(trained, pendulums):
    """Among others or not: the memory of one environment says nothing to another."""

    class Numpy(pendulums):
        def reset(self, **options):
            return super().reset(seed=range(options["seed"], options["seed"] + self.num_envs))[0].numpy(), {}

        def step(self, actions):
            *values, info = super().step(actions)
            return *[value.numpy() for value in values], info

    _, policy = trained
    returns, lengths, *_ = play(policy, Numpy(6), seed=3, deterministic=True)
    for i in range(6):
        alone, length, *_ = play(policy, Numpy(1), seed=3 + i, deterministic=True)
        assert length[0] == lengths[i] and alone[0] == pytest.approx(returns[i], rel=1e-4)


@needs_sb3_contrib
def test_the_memory_is_part_of_a_checkpoint(trained, tmp_path, pendulums):
    learner, _ = trained
    again = Learner(learner.config, pendulums(8))
    again.load(tmp_path)
    ours, theirs = (one.state_dict()["memory"] for one in (learner, again))
    assert len(ours) == 4 and all(float(state.abs().max()) > 0 for state in ours)
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


@needs_sb3_contrib
@pytest.mark.parametrize("critic_lstm", [True, False])
def test_actor_and_critic_may_see_different_parts(tmp_path, told_apart_pendulums, configs, critic_lstm):
    config = configs["recurrent_ppo"].change({"recurrent_ppo.critic_lstm": critic_lstm})
    envs = told_apart_pendulums(8)
    learner = Learner(config, envs)
    learner.model.learn(256)
    learner.save(tmp_path)
    policy = learner.model.policy
    optimized = {id(parameter) for group in policy.optimizer.param_groups for parameter in group["params"]}
    assert optimized == {id(parameter) for parameter in policy.parameters()}
    actor = Policy(config, tmp_path, envs.single_observation_space["policy"], envs.single_action_space)
    shown = {name: part[:6] for name, part in envs._observe().items()}
    normal = learner.normalizer.normalize_obs({name: part.numpy() for name, part in shown.items()})
    expected, _ = learner.model.predict(normal, deterministic=True)
    np.testing.assert_array_equal(actor.act(shown["policy"].numpy()), expected)
    changed, _ = learner.model.predict(normal | {"critic": normal["critic"] + 1}, deterministic=True)
    np.testing.assert_array_equal(changed, expected)


def test_without_the_library_the_remedy_is_named(monkeypatch, command, pendulums, configs):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sb3_contrib" else find(name))
    with pytest.raises(LibraryError, match=r'needs sb3-contrib: pip install "tumble\[recurrent\]"'):
        Learner(configs["recurrent_ppo"], pendulums(8))
    assert "needs sb3-contrib" in command.mistake("train", "InvertedPendulum", "--algo", "recurrent_ppo")


@needs_sb3_contrib
def test_from_training_to_both_simulators_and_films(tmp_path, command):
    """The whole way, with a real task."""
    small = ["--steps", 512, "--num-envs", 8, "--no-progress", "--evaluate-every", 256]
    small += ["--set", "recurrent_ppo.n_steps=32", "--set", "recurrent_ppo.batch_size=128"]
    small += ["--option", "width=64", "--option", "height=64"]
    folder = tmp_path / "run"
    command("train", "InvertedPendulum", "--algo", "recurrent_ppo", *small, "--out", folder)
    command("train", "--resume", folder, "--steps", 1024, "--no-progress")
    printed = command("evaluate", folder, "--in", "tumble", "--in", "mujoco", "--episodes", 5, "--checkpoint", "best")
    assert "the means" in printed
    scores = [json.loads((folder / f"evaluation-{name}.json").read_text()) for name in ("tumble", "mujoco")]
    assert all(score["episodes"] == 5 and min(score["lengths"]) > 1 for score in scores)
    run = Run.find(folder)
    for simulator in ("tumble", "mujoco"):
        film = film_policy(run, simulator, seconds=0.1)
        assert next(film.frames).shape == (64, 64, 3)
        film.frames.close()
    assert len(evaluate(run, episodes=2, deterministic=False).returns) == 2
