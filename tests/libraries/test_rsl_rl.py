"""The bridge to rsl-rl gives what the vector environment gives, and its runner learns from exactly that."""

import copy
from dataclasses import asdict

import gymnasium
import pytest
import torch
from gymnasium.spaces import Discrete

import tumble
from tumble.envs.v5.hopper import Hopper
from tumble.wrappers import RecordEpisodeStatistics

from ..envs.own_tasks import Leashed

pytest.importorskip("rsl_rl")

from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

from tumble.training.rsl_rl import RslRlVecEnv

CONFIG = {
    "num_steps_per_env": 16,
    "save_interval": 100,
    "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "algorithm": {"class_name": "PPO", "rnd_cfg": None, "symmetry_cfg": None},
    "actor": {
        "class_name": "MLPModel",
        "hidden_dims": [16],
        "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0},
    },
    "critic": {"class_name": "MLPModel", "hidden_dims": [16]},
}


class TorchHopper(Hopper):
    """Computed in torch on a CPU too, as it is on a GPU."""

    array_library = "torch"


def hoppers(task="Hopper", num_envs=6, **options):
    return tumble.make_vec(task, num_envs, **{"max_episode_steps": 18} | options)


@pytest.mark.parametrize("task", ["Hopper", TorchHopper])
def test_steps_are_those_of_the_vector_environment(task):
    """Until episodes have ended in both ways; actions out of bounds are brought within."""
    plain, bridge = hoppers(task), RslRlVecEnv(hoppers(task))
    expected, _ = plain.reset(seed=3)
    observations, extras = bridge.reset(seed=3)
    assert isinstance(observations, TensorDict) and observations.batch_size == (6,) and extras == {}
    torch.testing.assert_close(observations["policy"], expected, rtol=0, atol=0)
    assert (bridge.num_envs, bridge.num_actions, bridge.max_episode_length) == (6, 3, 18)
    assert bridge.step_dt == pytest.approx(0.008) and bridge.unwrapped is bridge
    assert asdict(bridge.cfg) == asdict(plain.task) and bridge.cfg.healthy_reward == 1.0
    generator, ways = torch.Generator().manual_seed(0), set()
    for _ in range(60):
        actions = 0.6 * torch.randn(6, 3, generator=generator)
        with torch.inference_mode():  # as the runner has it
            observations, rewards, dones, extras = bridge.step(actions)
        expected, reward, terminated, truncated, info = plain.step(actions.clamp(-1, 1))
        torch.testing.assert_close(observations["policy"], expected, rtol=0, atol=0)
        assert bridge.get_observations() is observations
        torch.testing.assert_close(rewards, reward, rtol=0, atol=0)
        assert torch.equal(dones > 0, terminated | truncated) and dones.shape == (6,)
        assert torch.equal(extras["time_outs"], truncated & ~terminated)
        assert torch.equal(bridge.episode_length_buf, plain.episode_lengths)
        assert ("final_obs" in extras) == ("final_obs" in info)
        if "final_obs" in info:
            assert torch.equal(extras["final_obs"]["policy"], info["final_obs"])
        terms = {"reward_forward", "reward_survive", "reward_ctrl"}
        assert float(sum(extras["log"][f"Task/{term}"] for term in terms)) == pytest.approx(
            float(reward.mean()), abs=1e-5
        )
        ways |= {"time out" if cut else "fall" for cut in extras["time_outs"][dones > 0].tolist()}
    assert ways == {"time out", "fall"}
    bridge.reset()  # outside of inference mode, after steps inside of it
    bridge.step(torch.zeros(6, 3))


def test_terminated_and_truncated_at_once_is_no_time_out():
    """The time limit is the step at which the first pole falls; the others are still up."""
    start = torch.tensor([[0.0], [3.0], [0.0]])
    plain = hoppers("InvertedPendulum", 3, max_episode_steps=1000)
    plain.reset(seed=0)
    limit, fallen = 0, torch.zeros(3, dtype=torch.bool)
    while not fallen.any():
        fallen, limit = plain.step(start)[2], limit + 1
    bridge = RslRlVecEnv(hoppers("InvertedPendulum", 3, max_episode_steps=limit))
    bridge.reset(seed=0)
    for _ in range(limit):
        _, _, dones, extras = bridge.step(start)
    assert dones.tolist() == [1, 1, 1] and fallen.tolist() == [False, True, False]
    assert extras["time_outs"].tolist() == [True, False, True]


def test_episodes_that_the_task_cuts_are_time_outs():
    """The runner gets the same of them as of those that the limit cuts."""
    bridges = [RslRlVecEnv(hoppers(Leashed, 4, max_episode_steps=5, bend=0.2))]
    bridges.append(RslRlVecEnv(hoppers(Leashed, 4, cut=5, bend=0.2)))
    generator, cuts = torch.Generator().manual_seed(0), 0
    for bridge in bridges:
        bridge.reset(seed=1)
    for _ in range(30):
        actions = 1.5 * torch.randn(4, 2, generator=generator)
        limited, cut = (bridge.step(actions) for bridge in bridges)
        for mine, theirs in zip(cut[:3], limited[:3], strict=True):
            torch.testing.assert_close(mine, theirs, rtol=0, atol=0)
        assert torch.equal(cut[3]["time_outs"], limited[3]["time_outs"])
        assert ("final_obs" in cut[3]) == ("final_obs" in limited[3])
        cuts += int(cut[3]["time_outs"].sum())
    assert cuts > 5
    with pytest.raises(TypeError, match=r"RslRlVecEnv takes a vector environment, and .* is a single environment"):
        RslRlVecEnv(gymnasium.make("tumble/Hopper-v0"))


def test_episodes_that_begin_part_of_the_way():
    """What the runner assigns before the first reset counts, too."""
    bridge = RslRlVecEnv(hoppers("HalfCheetah", 4, max_episode_steps=8))
    bridge.episode_length_buf = torch.tensor([0, 2, 4, 7])
    ends = [bridge.step(torch.zeros(4, 6))[2].tolist() for _ in range(9)]
    assert [[row[env] for row in ends].index(1) + 1 for env in range(4)] == [8, 6, 4, 1]


def test_the_runner_trains_on_what_the_environments_gave(tmp_path):
    """Its storage holds the bridge's numbers; lengths begin at random; what it logs is what the wrapper counted."""
    torch.manual_seed(0)
    envs = RecordEpisodeStatistics(hoppers())
    bridge = RslRlVecEnv(envs)
    runner = OnPolicyRunner(bridge, copy.deepcopy(CONFIG), log_dir=str(tmp_path), device="cpu")
    steps, begun = [], []
    step, act = bridge.step, runner.alg.act

    def spy(actions):
        result = step(actions)
        steps.append((actions.clone(), *result))
        return result

    bridge.step = spy
    runner.alg.act = lambda observations: (begun.append(observations["policy"].clone()), act(observations))[1]
    stored = {}
    update = runner.alg.update
    runner.alg.update = lambda: (stored.update(_stored(runner.alg.storage)), update())[1]
    before = [parameter.clone() for parameter in runner.alg.actor.parameters()]
    runner.learn(num_learning_iterations=3, init_at_random_ep_len=True)
    assert len(steps) == 48
    last = steps[-16:]
    torch.testing.assert_close(stored["observations"], torch.stack(begun[-16:]))
    torch.testing.assert_close(stored["actions"], torch.stack([actions for actions, *_ in last]))
    rewards = torch.stack([rewards for _, _, rewards, _, _ in last])
    time_outs = torch.stack([extras["time_outs"] for *_, extras in last])
    torch.testing.assert_close(stored["rewards"], rewards + 0.99 * stored["values"] * time_outs)
    assert torch.equal(stored["dones"], torch.stack([dones for _, _, _, dones, _ in last]).byte())
    assert any(extras["time_outs"].any() for *_, extras in steps) and len({*bridge.episode_length_buf.tolist()}) > 1
    assert list(runner.logger.lenbuffer) == [float(length) for length in envs.length_queue]
    torch.testing.assert_close(torch.tensor(runner.logger.rewbuffer), torch.tensor(envs.return_queue))
    after = list(runner.alg.actor.parameters())
    assert any((old != new).any() for old, new in zip(before, after, strict=True))
    assert all(parameter.isfinite().all() for parameter in after)


def _stored(storage):
    """Copies of a rollout, each (steps, num_envs, ...)."""
    whole = {name: getattr(storage, name).clone().squeeze(-1) for name in ("rewards", "values", "dones")}
    return whole | {"actions": storage.actions.clone(), "observations": storage.observations["policy"].clone()}


def test_parts_of_observations_are_groups():
    """By their names; bytes stay bytes."""

    class Seen(Hopper):
        """Positions and velocities apart, and a picture of nothing."""

        def observation(self, state):
            dark = self.xp.zeros((len(state.qpos), 2, 2, 3), dtype=self.xp.uint8)
            return {"position": state.qpos, "velocity": state.qvel, "picture": dark}

    bridge = RslRlVecEnv(hoppers(Seen, 2))
    observations = bridge.get_observations()
    assert {name: (tuple(part.shape), part.dtype) for name, part in observations.items()} == {
        "position": ((2, 6), torch.float32),
        "velocity": ((2, 6), torch.float32),
        "picture": ((2, 2, 2, 3), torch.uint8),
    }


class Switch(Hopper):
    """A hopper with a choice."""

    @property
    def action_space(self):
        return Discrete(3)

    def control(self, state, action):
        return self.array(self.xp.stack((action - 1,) * 3, axis=1))


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("Hopper", {"output": "numpy"}, "output='torch'"),
        ("Hopper", {"autoreset_mode": "NEXT_STEP"}, "autoreset_mode='SAME_STEP'"),
        ("Hopper", {"autoreset_mode": "DISABLED"}, "autoreset_mode='SAME_STEP'"),
        (Switch, {}, r"these have Discrete\(3\)"),
    ],
)
def test_what_it_cannot_use_is_refused_with_a_remedy(task, options, message):
    with pytest.raises(ValueError, match=message):
        RslRlVecEnv(hoppers(task, 2, **options))


def test_no_time_limit_is_said_when_it_is_asked_for():
    bridge = RslRlVecEnv(hoppers(Hopper, 2, max_episode_steps=None))
    bridge.reset()
    bridge.step(torch.zeros(2, 3))
    with pytest.raises(ValueError, match="max_episode_steps"):
        _ = bridge.max_episode_length
