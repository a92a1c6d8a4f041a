"""All algorithms of Stable-Baselines3 and sb3-contrib that train on a vector environment do so through the bridge."""

import numpy as np
import pytest
import stable_baselines3 as sb3
import torch
from gymnasium.spaces import Discrete

import tumble
from tumble.envs import StepResult
from tumble.envs.v5.inverted_pendulum import InvertedPendulum
from tumble.training.sb3_bridge import TumbleVecEnv

OFF_POLICY = {"learning_starts": 50, "buffer_size": 1000, "batch_size": 32}


class PushOrPull(InvertedPendulum):
    """The cart is pushed left, not at all, or right."""

    @property
    def action_space(self):
        """Three forces."""
        return Discrete(3)

    def control(self, state, action):
        """Forces of -1, 0, 1."""
        return self.array(action - 1)[:, None]


def trained(algorithm, policy, task=InvertedPendulum, output="torch", steps=400, **options):
    """Let an algorithm learn for a while; returns it, and how much its policy changed."""
    venv = TumbleVecEnv(tumble.make_vec(task, 4, output=output, max_episode_steps=30))
    model = algorithm(policy, venv, seed=0, device="cpu", **options)
    before = {name: weight.clone() for name, weight in model.policy.state_dict().items()}
    model.learn(steps)
    assert model.num_timesteps >= steps and len(model.ep_info_buffer) >= 4
    assert all(0 < episode["l"] <= 30 for episode in model.ep_info_buffer)
    after = model.policy.state_dict()
    assert all(weight.isfinite().all() for weight in after.values())
    changed = [name for name, weight in after.items() if not torch.equal(weight, before[name])]
    assert changed, "nothing was learned"
    actions, _ = model.predict(venv.reset(), deterministic=True)
    assert all(venv.action_space.contains(np.asarray(action, venv.action_space.dtype)) for action in actions)
    venv.close()
    return model


@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("A2C", {"n_steps": 8}),
        ("PPO", {"n_steps": 32, "batch_size": 64, "n_epochs": 2}),
        ("DDPG", OFF_POLICY),
        ("SAC", OFF_POLICY),
        ("TD3", OFF_POLICY),
    ],
)
def test_algorithms_for_real_actions(name, options, output):
    trained(getattr(sb3, name), "MlpPolicy", output=output, **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("A2C", {"n_steps": 8}),
        ("PPO", {"n_steps": 32, "batch_size": 64, "n_epochs": 2}),
        ("DQN", OFF_POLICY | {"train_freq": 4}),
    ],
)
def test_algorithms_for_choices(name, options):
    trained(getattr(sb3, name), "MlpPolicy", PushOrPull, **options)


def test_dqn_says_what_it_wants():
    with pytest.raises(AssertionError, match="Discrete"):
        sb3.DQN("MlpPolicy", TumbleVecEnv(tumble.make_vec("InvertedPendulum", 2)))


@pytest.mark.parametrize(
    ("name", "policy", "task", "options"),
    [
        ("ARS", "LinearPolicy", InvertedPendulum, {"n_delta": 2, "steps": 400}),
        pytest.param("CrossQ", "MlpPolicy", InvertedPendulum, OFF_POLICY, marks=pytest.mark.slow),
        ("QRDQN", "MlpPolicy", PushOrPull, OFF_POLICY | {"train_freq": 4}),
        ("RecurrentPPO", "MlpLstmPolicy", InvertedPendulum, {"n_steps": 32, "batch_size": 64, "n_epochs": 2}),
        ("TQC", "MlpPolicy", InvertedPendulum, OFF_POLICY),
        ("TRPO", "MlpPolicy", InvertedPendulum, {"n_steps": 32, "batch_size": 64}),
    ],
)
def test_algorithms_of_sb3_contrib(name, policy, task, options):
    contrib = pytest.importorskip("sb3_contrib")
    trained(getattr(contrib, name), policy, task, **options)


class CartTo(InvertedPendulum):
    """The cart is brought to a place that it is told, however the pole stands."""

    def reset(self, noise):
        """Somewhere within half a metre."""
        return super().reset(noise)._replace(memory={"goal": noise.uniform(-0.5, 0.5, 1)})

    def observation(self, state):
        """With the names that HER looks for."""
        return {
            "observation": state.coordinates,
            "achieved_goal": state.qpos[:, :1],
            "desired_goal": state.memory["goal"],
        }

    def compute_reward(self, achieved_goal, desired_goal, infos):
        """-1 until it is within a decimetre."""
        return -self.array(abs(achieved_goal - desired_goal)[:, 0] > 0.1)

    def step(self, state, action):
        """Nothing ends but by the time limit."""
        seen = self.observation(state)
        return StepResult(seen, {"reward": self.compute_reward(seen["achieved_goal"], seen["desired_goal"], None)})


def test_hindsight_experience_replay():
    """Its buffer asks the task what other goals would have been worth."""
    model = trained(
        sb3.SAC,
        "MultiInputPolicy",
        CartTo,
        replay_buffer_class=sb3.HerReplayBuffer,
        steps=800,
        **OFF_POLICY | {"learning_starts": 200},
    )
    relabelled = model.replay_buffer.sample(500)
    seen = relabelled.next_observations
    rewards = -((seen["achieved_goal"] - seen["desired_goal"]).abs() > 0.1).float()
    torch.testing.assert_close(relabelled.rewards, rewards)
    goals = {round(float(goal), 5) for goal in seen["desired_goal"][:, 0]}
    assert len(goals) > 4 * (800 // 4 // 30 + 2), "goals that were reached later, besides those that were drawn"


def test_numpy_output_gives_the_same_numbers():
    """Observations, rewards, dones, infos, of observations in parts too, through the ends of episodes."""

    class Parts(InvertedPendulum):
        """Positions and velocities apart."""

        def observation(self, state):
            return {"position": state.qpos, "velocity": state.qvel}

    for task in (InvertedPendulum, Parts):
        ours, theirs = (
            TumbleVecEnv(tumble.make_vec(task, 4, output=output, max_episode_steps=12)) for output in ("torch", "numpy")
        )
        for venv in (ours, theirs):
            venv.seed(2)
        _same(ours.reset(), theirs.reset())
        rng, ends = np.random.default_rng(0), []
        for _ in range(40):
            actions = rng.uniform(-3, 3, (4, 1)).astype(np.float32)
            *expected, infos = ours.step(actions)
            *got, same_infos = theirs.step(actions)
            for one, other in zip(expected, got, strict=True):
                _same(one, other)
            for one, other in zip(infos, same_infos, strict=True):
                assert one.keys() == other.keys()
                if one:
                    _same(one["terminal_observation"], other["terminal_observation"])
                    assert one["TimeLimit.truncated"] == other["TimeLimit.truncated"]
                    assert one["episode"]["r"] == other["episode"]["r"] and one["episode"]["l"] == other["episode"]["l"]
                    ends.append(one["TimeLimit.truncated"])
        assert {*ends} == {True, False}


def _same(one, other):
    """Equal to the last bit, whether one array or several by name."""
    for a, b in zip(*([x.values() if isinstance(x, dict) else [x] for x in (one, other)]), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_wrappers_between_numpy_environments_and_the_bridge():
    """Gymnasium's own, which are numpy code, get numpy actions."""
    from gymnasium.wrappers.vector import RescaleAction

    envs = tumble.make_vec("InvertedPendulum", 3, output="numpy")
    seen, step = [], envs.step
    envs.step = lambda actions: (seen.append(actions), step(actions))[1]
    bridge = TumbleVecEnv(RescaleAction(envs, -1.0, 1.0))
    bridge.reset()
    bridge.step(np.full((3, 1), 0.5, np.float32))
    assert isinstance(seen[0], np.ndarray) and np.allclose(seen[0], 1.5)
    bridge.close()
