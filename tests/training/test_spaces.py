"""Observations in parts, pictures and other actions than real numbers reach Stable-Baselines3 whole, or are refused."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.torch_layers import CombinedExtractor, NatureCNN

from tumble.training.learning.lean_ppo import Update
from tumble.training.learning.learner import Learner
from tumble.training.policy import Policy
from tumble.training.sb3_bridge import TumbleVecEnv, copy_to_host
from tumble.training.spaces import SpaceError, check_spaces

from ..cases import cases

BOX = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)


def test_the_parts_are_those_of_the_one_observation(pendulums, seen_pendulums):
    """Same seeds, same actions: what the other environment shows in one row, also where episodes end."""
    flat, parts = TumbleVecEnv(pendulums(5)), TumbleVecEnv(seen_pendulums(5))
    for bridge in (flat, parts):
        bridge.seed(3)
    rows, seen = flat.reset(), parts.reset()
    rng, ends = np.random.default_rng(0), 0
    for _ in range(90):
        np.testing.assert_array_equal(np.hstack([seen["direction"], seen["speed"]]), rows)
        assert seen["picture"].shape == (5, 36, 40, 3) and seen["picture"].dtype == np.uint8
        actions = rng.uniform(-2, 2, (5, 1)).astype(np.float32)
        rows, reward, done, infos = flat.step(actions)
        seen, same_reward, same_done, same_infos = parts.step(actions)
        np.testing.assert_array_equal(reward, same_reward)
        np.testing.assert_array_equal(done, same_done)
        for i in np.flatnonzero(done):
            last = same_infos[i]["terminal_observation"]
            np.testing.assert_array_equal(
                np.hstack([last["direction"], last["speed"]]), infos[i]["terminal_observation"]
            )
            edge = int(np.float32(127) + np.float32(120) * last["direction"][1])
            assert abs(int(last["picture"][0, -1, 0]) - edge) <= 1
            assert last["speed"] != seen["speed"][i], "what was seen last, not where the next episode begins"
            ours, theirs = same_infos[i]["episode"], infos[i]["episode"]
            assert (ours["r"], ours["l"]) == (theirs["r"], theirs["l"])
            assert same_infos[i]["TimeLimit.truncated"] == infos[i]["TimeLimit.truncated"]
            ends += 1
    assert ends > 5


def test_what_has_one_type_is_copied_at_once():
    tensors = {"a": torch.arange(3.0), "b": torch.ones(2, 2), "bytes": torch.arange(4, dtype=torch.uint8)}
    arrays = copy_to_host(tensors)
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(arrays[name], tensor.numpy())
        assert arrays[name].dtype == tensor.numpy().dtype
    assert arrays["a"].base is arrays["b"].base and not np.shares_memory(arrays["a"], tensors["a"].numpy())


def test_pictures_are_turned_and_not_normalised(seen_pendulums, pendulums, small_ppo):
    learners = [Learner(small_ppo, kind(8)) for kind in (seen_pendulums, pendulums)]
    for learner in learners:
        learner.model.learn(128)
    ours, plain = (learner.normalizer for learner in learners)
    assert set(ours.obs_rms) == {"direction", "speed"}
    model = learners[0].model
    assert isinstance(model.policy.features_extractor, CombinedExtractor)
    assert isinstance(model.policy.features_extractor.extractors["picture"], NatureCNN)
    assert model._last_obs["picture"].shape == (8, 3, 36, 40) and model._last_obs["picture"].dtype == np.uint8
    assert ours.obs_rms["speed"].count == plain.obs_rms.count
    assert abs(float(model._last_obs["speed"].mean())) < 3 and ours.obs_rms["speed"].var > 0


@pytest.mark.parametrize("algo", ["ppo", "sac"])
def test_a_picture_alone_is_learned_from(tmp_path, seen_pendulums, small_ppo, small_sac, algo):
    class OnlyPicture(seen_pendulums):
        def __init__(self, num_envs):
            super().__init__(num_envs)
            self.single_observation_space = self.single_observation_space["picture"]
            self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, num_envs)

        def _observe(self):
            return super()._observe()["picture"]

    config = {"ppo": small_ppo, "sac": small_sac}[algo]
    envs = OnlyPicture(config.num_envs)
    learner = Learner(config, envs)
    learner.model.learn(200)
    learner.save(tmp_path)
    assert isinstance(
        learner.model.policy.actor.features_extractor if algo == "sac" else learner.model.policy.features_extractor,
        NatureCNN,
    )
    policy = Policy(config, tmp_path, envs.single_observation_space, envs.single_action_space)
    pictures = np.random.default_rng(0).integers(0, 256, (9, 36, 40, 3), np.uint8)
    expected, _ = learner.model.predict(pictures.transpose(0, 3, 1, 2), deterministic=True)
    np.testing.assert_array_equal(policy.act(pictures), expected)
    again = Learner(config, OnlyPicture(config.num_envs))
    again.load(tmp_path)
    np.testing.assert_array_equal(again.model._last_obs, learner.model._last_obs)


@pytest.mark.parametrize(
    "space",
    [gym.spaces.Discrete(3), gym.spaces.MultiDiscrete([3, 2]), gym.spaces.MultiBinary(2)],
    ids=lambda space: type(space).__name__,
)
def test_whole_actions_arrive_as_such(tmp_path, monkeypatch, pendulums, small_ppo, space):
    """PPO draws them, the environment gets int64 of its space's shape, and a policy gives the same kind."""
    given = []

    class Switched(pendulums):
        def __init__(self, num_envs):
            super().__init__(num_envs)
            self.single_action_space, self.action_space = space, gym.vector.utils.batch_space(space, num_envs)

        def step(self, actions):
            given.append(actions)
            return super().step(actions.reshape(self.num_envs, -1)[:, :1].float() - 1)

    monkeypatch.setattr(Update, "differentiate", lambda *batch: pytest.fail("not the gradient of such actions"))
    envs = Switched(8)
    learner = Learner(small_ppo, envs)
    learner.model.learn(256)
    assert all(actions.dtype == torch.int64 and actions.shape == envs.action_space.shape for actions in given)
    assert all(space.contains(action.astype(space.dtype)) for actions in given for action in actions.numpy())
    assert len({tuple(np.ravel(action)) for actions in given for action in actions.numpy()}) == np.prod(
        [space.n] if isinstance(space, gym.spaces.Discrete) else getattr(space, "nvec", [2, 2])
    )
    learner.save(tmp_path)
    policy = Policy(small_ppo, tmp_path, envs.single_observation_space, space)
    actions = policy.act(np.zeros((4, 3), np.float32))
    assert actions.shape == (4, *space.shape)
    assert space.contains(space.dtype.type(actions[0]) if space.shape == () else actions[0].astype(space.dtype))


def test_a_grid_of_numbers_is_learned_from_with_ppos_own_update(monkeypatch, pendulums, small_ppo):
    class Grid(pendulums):
        def __init__(self, num_envs):
            super().__init__(num_envs)
            self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (3, 2), np.float32)
            self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, num_envs)

        def _observe(self):
            return torch.stack([super()._observe()] * 2, dim=2)

    monkeypatch.setattr(Update, "differentiate", lambda *batch: pytest.fail("not the gradient of a grid"))
    learner = Learner(small_ppo.change({"ppo.learner": "lean"}), Grid(8))
    learner.model.learn(128)
    assert learner.model._last_obs.shape == (8, 3, 2)


@cases(
    "observations, actions, algo, message",
    [
        (BOX, gym.spaces.Discrete(3), "sac", "SAC needs actions in a Box .* train with --algo ppo"),
        (BOX, gym.spaces.Discrete(3), "td3", "TD3 needs actions in a Box .* train with --algo ppo"),
        (BOX, gym.spaces.Discrete(3, start=2), "ppo", "counts actions from 0"),
        (BOX, gym.spaces.MultiBinary((2, 2)), "ppo", "in one row"),
        (BOX, gym.spaces.Box(-1, np.array([1.0, np.inf], np.float32)), "ppo", "action 1 has no bounds.*ctrlrange"),
        (BOX, gym.spaces.Box(0, 5, (2,), np.int64), "ppo", "use Discrete"),
        (BOX, gym.spaces.Text(3), "ppo", "MultiBinary"),
        (gym.spaces.Discrete(3), BOX, "ppo", "the observation is Discrete"),
        (gym.spaces.Box(0, 255, (9,), np.uint8), BOX, "ppo", "the observation is uint8 .9,."),
        (gym.spaces.Box(0, 255, (20, 20, 3), np.uint8), BOX, "sac", "at least 36 pixels"),
        (gym.spaces.Box(0, 255, (3, 64, 64), np.uint8), BOX, "ppo", "height, width, channels"),
        (
            gym.spaces.Dict({"eye": gym.spaces.Box(0, 1, (64, 64, 3), np.uint8)}),
            BOX,
            "ppo",
            "part 'eye'.*from 0 to 255",
        ),
    ],
)
def test_what_cannot_be_learned_from_is_refused_with_a_remedy(observations, actions, algo, message):
    with pytest.raises(SpaceError, match=message):
        check_spaces(observations, actions, algo)


def test_the_learner_refuses_before_it_learns(pendulums, small_sac):
    envs = pendulums(4)
    envs.single_action_space = gym.spaces.Discrete(3)
    with pytest.raises(SpaceError, match="SAC needs actions in a Box"):
        Learner(small_sac, envs)


def test_the_bridge_refuses_other_spaces(pendulums):
    envs = pendulums(4)
    envs.single_observation_space = gym.spaces.Tuple([BOX])
    with pytest.raises(ValueError, match="a Dict of boxes"):
        TumbleVecEnv(envs)
