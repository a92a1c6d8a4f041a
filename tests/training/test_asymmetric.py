"""An actor that sees less than its critic: in every algorithm, resumed, and played where nothing else is shown."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from tumble.training.evaluate import evaluate
from tumble.training.learning.lean_ppo import Update
from tumble.training.learning.learner import Learner
from tumble.training.policy import Policy, PolicyError
from tumble.training.results.video import film_policy
from tumble.training.runs import Run
from tumble.training.spaces import SpaceError


def outputs(learner, observations):
    """The action and the value that the networks give for the learner's observations, changed in one part each."""
    policy, model = learner.model.policy, learner.model
    tensors = {name: torch.as_tensor(part) for name, part in observations.items()}
    with torch.no_grad():
        actions = policy._predict(tensors, deterministic=True)
        if hasattr(policy, "predict_values"):
            return actions, policy.predict_values(tensors)
        return actions, torch.cat(model.critic(tensors, torch.zeros(len(actions), 1)))


@pytest.mark.parametrize("both", [False, True], ids=["critic alone", "both"])
@pytest.mark.parametrize("algo", ["ppo", "lean", "sac", "td3"])
def test_each_network_sees_its_parts_alone(told_apart_pendulums, configs, algo, both):
    config = configs[algo]
    if both:
        config = config.change({"policy.critic_parts": ["policy", "critic"]})
    learner = Learner(config, told_apart_pendulums(config.num_envs))
    learner.model.learn(256)
    assert set(learner.normalizer.obs_rms) == {"policy", "critic"}
    seen = learner.model._last_obs
    actions, values = outputs(learner, seen)
    other_actions, other_values = outputs(learner, seen | {"critic": seen["critic"] + 1})
    assert torch.equal(actions, other_actions) and not torch.equal(values, other_values)
    other_actions, other_values = outputs(learner, seen | {"policy": seen["policy"] + 1})
    assert not torch.equal(actions, other_actions) and torch.equal(values, other_values) != both


def test_the_lean_gradient_is_ppos(told_apart_pendulums, configs, monkeypatch):
    """Float32 sums in another order: 1e-5 of the gradient's largest part; PPO's own update must not be called."""
    gradients, calls, original = [], [], Update.differentiate
    monkeypatch.setattr(Update, "differentiate", lambda *batch: calls.append(1) or original(*batch))
    for name in ("ppo", "lean"):
        config = configs[name].change({"policy.critic_hidden": [24], "policy.critic_parts": ["critic", "policy"]})
        learner = Learner(config, told_apart_pendulums(8))
        learner.model.learn(128)
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in learner.model.policy.parameters()]))
    assert len(calls) == 4, "two minibatches, twice"
    largest = float(gradients[0].abs().max())
    assert largest > 1e-4
    np.testing.assert_allclose(gradients[1], gradients[0], atol=1e-5 * largest)


@pytest.mark.parametrize("algo", ["ppo", "sac", "td3"])
def test_acts_on_what_the_actor_sees(tmp_path, told_apart_pendulums, configs, algo):
    """The critic's part may be missing, and the actor's one part may be the whole observation, as in MuJoCo's tasks."""
    config = configs[algo]
    envs = told_apart_pendulums(config.num_envs)
    learner = Learner(config, envs)
    learner.model.learn(256)
    learner.save(tmp_path)
    space, actions = envs.single_observation_space, envs.single_action_space
    numbers = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    shown = {"critic": numbers, "policy": numbers[:, :2]}
    expected, _ = learner.model.predict(learner.normalizer.normalize_obs(shown), deterministic=True)
    np.testing.assert_array_equal(Policy(config, tmp_path, space, actions).act(shown), expected)
    alone = Policy(config, tmp_path, gym.spaces.Dict({"policy": space["policy"]}), actions)
    np.testing.assert_array_equal(alone.act({"policy": shown["policy"]}), expected)
    whole = Policy(config, tmp_path, space["policy"], actions)
    np.testing.assert_array_equal(whole.act(shown["policy"]), expected)
    with pytest.raises(PolicyError, match=r"does not fit \{critic: \(3,\)\} observations.*it sees policy"):
        Policy(config, tmp_path, gym.spaces.Dict({"critic": space["critic"]}), actions)
    with pytest.raises(PolicyError, match=r"does not fit \(3,\) observations"):
        Policy(config, tmp_path, space["critic"], actions)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policy.actor_parts": ["angle"]}, "policy.actor_parts: the observation has no part 'angle'; it has critic, "),
        ({"policy.critic_parts": ["state"]}, "policy.critic_parts: the observation has no part 'state'"),
    ],
)
def test_parts_that_are_not_there_are_named(told_apart_pendulums, small_ppo, settings, message):
    with pytest.raises(SpaceError, match=message):
        Learner(small_ppo.change(settings), told_apart_pendulums(8))


def test_one_array_has_no_parts(pendulums, small_ppo):
    with pytest.raises(SpaceError, match=r"policy\.actor_parts names parts, but .* one array"):
        Learner(small_ppo.change({"policy.actor_parts": ["policy"]}), pendulums(8))


def test_a_third_part_needs_a_decision(told_apart_pendulums, small_ppo):
    class Third(told_apart_pendulums):
        def __init__(self, num_envs):
            super().__init__(num_envs)
            third = {"height": gym.spaces.Box(-1, 1, (1,), np.float32)}
            self.single_observation_space = gym.spaces.Dict(dict(self.single_observation_space.spaces) | third)
            self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, num_envs)

        def _observe(self):
            return super()._observe() | {"height": torch.cos(self.angle)[:, None]}

    with pytest.raises(SpaceError, match="also 'height': name the parts that each"):
        Learner(small_ppo, Third(8))
    config = small_ppo.change({"policy.actor_parts": ["height", "policy"]})
    learner = Learner(config, Third(8))
    assert learner.model.policy.pi_features_extractor.features_dim == 3
    assert learner.model.policy.vf_features_extractor.features_dim == 3


ASYMMETRIC = '''

class Seen(Lever):
    """The actor does not see the speed."""

    def observation(self, state):
        whole = super().observation(state)
        return {"policy": self.xp.concat((whole[:, :1], whole[:, 2:]), axis=1), "critic": whole}


tumble.register("me/Seen-v0", Seen, max_episode_steps=20)
'''


def test_a_task_of_ones_own_from_training_to_a_film(workshop, command):
    """The whole way, with a real task: trained on both parts, evaluated during training and after, and filmed."""
    workshop.write("lever.py", more=ASYMMETRIC)
    small = ["--steps", 512, "--num-envs", 8, "--set", "ppo.n_steps=32", "--set", "ppo.batch_size=64"]
    small += ["--option", "width=64", "--option", "height=64", "--evaluate-every", 256]
    command("train", "lever.py:Seen", "--out", "run", *small, "--no-progress")
    printed = command("evaluate", "run", "--task", "lever.py", "--checkpoint", "best", "--episodes", 3)
    assert "me/Seen-v0" in printed
    run = Run.find(workshop.folder / "run")
    assert len(evaluate(run, episodes=2).returns) == 2
    film = film_policy(run, "tumble", seconds=0.2)
    assert next(film.frames).shape == (64, 64, 3)
    film.frames.close()
