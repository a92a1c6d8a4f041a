"""Duels: every side trains until it is judged; the single file's advantages; the page."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from tumble.benchmarks import duel_side, duels, duels_page
from tumble.benchmarks.duel_side import DuelJob, Judge
from tumble.benchmarks.plain_ppo import Moments, PlainPPO, PlainSettings
from tumble.benchmarks.results import Unavailable


class Targets:
    """Environments with one number to observe and one to choose, best 0.5; every third step ends them.

    They are reset in the next step; every second end is a time limit.
    """

    num_envs = 4
    space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self):
        self.count = np.arange(self.num_envs)
        return self.count[:, None] % 4 * 1.0, {}

    def step(self, actions):
        self.count = self.count + 1
        ended = self.count % 4 == 3
        rewards = np.where(self.count % 4 == 0, 0.0, -np.abs(actions[:, 0] - 0.5))
        terminated = ended & (self.count % 8 == 3)
        return self.count[:, None] % 4 * 1.0, rewards, terminated, ended & ~terminated, {}


def learner(**numbers):
    settings = PlainSettings(num_envs=4, num_steps=16, minibatches=4, **numbers)
    return PlainPPO(Targets(), Targets.space, settings, 0, {})


def test_rows_of_resets_are_left_out_and_time_limits_bootstrap():
    ppo = learner()
    values = {}
    ppo.agent.value = lambda rows: values.setdefault(len(values), torch.rand(len(rows)))  # type: ignore[method-assign]
    rewards = []
    step = ppo.envs.step
    ppo.envs.step = lambda actions: rewards.append(step(actions)) or rewards[-1]
    ppo.scaled = lambda rewards, ended: rewards
    rows = ppo.collect()
    value = torch.stack([values[t] for t in range(17)])
    wanted = []
    for env in range(4):
        carried, found = 0.0, []
        for t in reversed(range(16)):
            _, reward, terminated, truncated, _ = (part[env] if k < 4 else 0 for k, part in enumerate(rewards[t]))
            ended = terminated or truncated
            surprise = reward + 0.99 * value[t + 1, env].item() * (not terminated) - value[t, env].item()
            carried = surprise + 0.99 * 0.95 * carried * (not ended)
            if t == 0 or not (rewards[t - 1][2] | rewards[t - 1][3])[env]:
                found.append((t, env, carried))
        wanted += found
    wanted = [carried for _, _, carried in sorted(wanted)]
    assert len(wanted) < 64
    np.testing.assert_allclose(rows.advantages.numpy(), wanted, atol=1e-5)


def test_the_single_file_learns():
    ppo = learner(total_steps=64 * 60, learning_rate=3e-3)
    ppo.train(lambda steps, act: False)
    assert ppo.steps == 64 * 60
    np.testing.assert_allclose(ppo.act(np.array([[0.0], [1.0], [2.0]])), 0.5, atol=0.15)


def test_moments_are_those_of_all_rows():
    rows, moments = np.random.default_rng(0).normal(3, 2, (100, 2)), Moments(2)
    for part in np.split(rows, 10):
        moments.add(part)
    np.testing.assert_allclose(moments.mean, rows.mean(0), rtol=1e-4)
    np.testing.assert_allclose(moments.variance, rows.var(0), rtol=1e-4)


@pytest.mark.parametrize("side", [name for name in duel_side.SIDES if name != "plain on envpool"])
def test_every_side_trains_until_it_is_judged(monkeypatch, side):
    monkeypatch.setattr(duel_side, "FIRST", 0.01)
    figures = duel_side.main(DuelJob("Hopper", side, -1e9, 100.0))
    (end,) = figures["curve"]
    assert end["steps"] > 0 and 0 < end["cpu"] < 100 and figures["num_envs"] == (1 if side == "sb3" else 64)


def test_clocks_stand_still_while_a_policy_is_judged():
    judge = Judge(DuelJob("Hopper", "", 1e9, 1e9), 1)
    before = judge.seconds()
    judge.judge(7, lambda observations: np.zeros((len(observations), 3)))
    judge.judge(8, lambda observations: np.zeros((len(observations), 3)))
    (first, second), after = judge.curve, judge.seconds()
    assert first["return"] == second["return"] > 0 and (first["steps"], second["steps"]) == (7, 8)
    assert (after - before < 0.05).all() and not judge.is_over(8, None)


def test_times_are_those_of_the_first_judgement_that_reaches_a_score(monkeypatch):
    def figures(*returns):
        curve = [
            {"cpu": 10.0 * k, "seconds": 20.0 * k, "steps": 4000 * k, "return": r} for k, r in enumerate(returns, 1)
        ]
        return {"num_envs": 64, "start": 1.0, "curve": curve}

    sides = {"tumble": figures(1000.0, 4100.0, 3900.0, 6100.0), "sb3": figures(*[900.0] * 29, 2000.0)}
    monkeypatch.setattr(duels, "_train", lambda task, side, *rest: sides.get(side, sides["sb3"]))
    *_, result = duels.run(["HalfCheetah"], 300.0, 1, 0)
    first, second, *_ = result.tables[0].rows
    assert [first[duels.name(score)] for score in (2000, 4000, 6000)] == [20.0, 20.0, 40.0]
    assert second[duels.name(2000)] == 300.0 and duels.name(4000) not in second
    assert first["steps a CPU second"] == 400.0
    machine = {"processor": "AMD", "cores": 2, "busy before": 0.5}
    names = ("tumble", "torch", "stable-baselines3", "gymnasium", "mujoco-core", "envpool")
    record = {"command": "tumble bench duels", "date": "2026-11-28T00", "machine": machine, **result.record()}
    record |= {"versions": dict.fromkeys(names, "1"), "options": {"limit": 300.0, "threads": 1, "seed": 0}}
    text = duels_page.page(record)
    assert "| 64 | 20 | 20 | 40 | 400 | 6,100 after 40 s, 16,000 steps |" in text
    assert "| 64 | 300 (15.0) | - | - | 400 | 2,000 after 300 s, 120,000 steps |" in text
    with pytest.raises(Unavailable, match="no score for Nowhere"):
        next(duels.run(["Nowhere"], 1.0, 1, 0))
