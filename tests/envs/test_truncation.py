"""Episodes that a task cuts short end exactly as by the limit: final observations, resets, infos, bootstrapping."""

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.vec_env import VecNormalize

import tumble
from tumble import wrappers
from tumble.envs import SingleEnv
from tumble.envs.arrays import host
from tumble.training.learning.lean_ppo import LeanPPO
from tumble.training.sb3_bridge import TumbleVecEnv

from .own_tasks import Leashed

MODES = pytest.mark.parametrize("mode", AutoresetMode)
NUM_ENVS, CUT, STEPS = 5, 7, 34
TOUCHY = {"far": 0.2, "bend": 0.3}


def both(mode: AutoresetMode | str = "SAME_STEP", **options: Any) -> list[Any]:
    """The same environments, whose episodes are cut after seven steps by the limit, and by the task."""
    common = {"autoreset_mode": mode} | options
    limited = tumble.make_vec(Leashed, NUM_ENVS, max_episode_steps=CUT, **common)
    return [limited, tumble.make_vec(Leashed, NUM_ENVS, cut=CUT, **common)]


def play(envs: Any) -> list[tuple]:
    """Results of resets and steps; some environments are reset by hand at odd times, so that they are staggered."""
    rng, found = np.random.default_rng(0), [envs.reset(seed=3)]
    for step in range(STEPS):
        found.append(envs.step(rng.uniform(-1.5, 1.5, (NUM_ENVS, 2))))
        mask = host(found[-1][2] | found[-1][3])
        mask = mask if envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED else np.zeros(NUM_ENVS, bool)
        if step % 9 == 3:
            mask = mask | (rng.random(NUM_ENVS) < 0.4)
        if mask.any():
            found.append(envs.reset(options={"reset_mask": mask}))
    return found


def assert_same(one: Any, other: Any) -> None:
    """Two results are equal to the last bit, but for the seconds that episodes took."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one.keys() - {"t"}:
            assert_same(one[key], other[key])
    elif isinstance(one, tuple | list):
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    else:
        np.testing.assert_array_equal(host(one), host(other))


@pytest.mark.parametrize("output", ["torch", "numpy"])
@MODES
def test_as_by_the_time_limit(mode, output):
    """Observations, rewards, flags, final observations and infos of every step and reset."""
    limited, cut = (play(envs) for envs in both(mode, output=output, bend=0.2))
    assert_same(cut, limited)
    steps = [result for result in cut if len(result) == 5]
    assert sum(int(host(truncated).sum()) for _, _, _, truncated, _ in steps) > 10
    assert sum(int(host(terminated).sum()) for _, _, terminated, _, _ in steps) > 2
    if mode is AutoresetMode.SAME_STEP:
        for _, _, _, truncated, info in steps:
            assert not truncated.any() or host(info["_final_obs"])[host(truncated)].all()


@MODES
def test_step_by_step_like_gymnasiums_single_environments(mode):
    """Cut by the task, cut by Gymnasium's TimeLimit, and failed: all three happen, alone and together."""
    limit = 8
    theirs = SyncVectorEnv([lambda: TimeLimit(SingleEnv(Leashed, **TOUCHY), limit)] * NUM_ENVS, autoreset_mode=mode)
    ours = tumble.make_vec(Leashed, NUM_ENVS, max_episode_steps=limit, autoreset_mode=mode, output="numpy", **TOUCHY)
    lengths, ways = np.zeros(NUM_ENVS, int), set()
    for mine, wanted in zip(play(ours), play(theirs), strict=True):
        np.testing.assert_array_equal(mine[0], wanted[0])
        if len(mine) == 2:
            lengths[:] = ours.episode_lengths
            continue
        for got, expected in zip(mine[1:4], wanted[1:4], strict=True):
            np.testing.assert_array_equal(got, expected)
        assert mine[4].keys() == wanted[4].keys()
        if "final_obs" in wanted[4]:
            for env in np.flatnonzero(wanted[4]["_final_obs"]):
                np.testing.assert_array_equal(mine[4]["final_obs"][env], wanted[4]["final_obs"][env])
        if mode is AutoresetMode.SAME_STEP:
            lengths += 1
            for env in np.flatnonzero(wanted[2] | wanted[3]):
                ways.add((bool(wanted[2][env]), bool(wanted[3][env]), bool(lengths[env] == limit)))
                lengths[env] = 0
    if mode is AutoresetMode.SAME_STEP:
        assert {(False, True, False), (False, True, True), (True, False, False)} <= ways


def test_a_single_environment_of_gymnasiums():
    """An episode ends at the limit or by the task, at the earlier of the two."""
    tumble.register("mine/Leashed-v0", Leashed, max_episode_steps=6)
    try:
        for cut, length in ((4, 4), (9, 6), (6, 6)):
            env = gymnasium.make("mine/Leashed-v0", cut=cut)
            env.reset(seed=0)
            flags = [env.step(np.zeros(2, np.float32))[2:4] for _ in range(length)]
            assert flags == [(False, False)] * (length - 1) + [(False, True)]
            assert all(type(flag) is bool for flag in flags[-1])
            env.close()
    finally:
        del gymnasium.registry["mine/Leashed-v0"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("RecordEpisodeStatistics", {}),
        ("NormalizeObservation", {}),
        ("NormalizeReward", {"gamma": 0.9}),
        ("FrameStackObservation", {"stack_size": 3}),
    ],
)
@MODES
def test_wrappers_see_no_difference(mode, name, options):
    """All of `tumble.wrappers`, in all modes."""
    limited, cut = (play(getattr(wrappers, name)(envs, **options)) for envs in both(mode, bend=0.2))
    assert_same(cut, limited)


def test_stable_baselines3_is_told():
    """The bridge's infos are those of the limit; where the task both ends and cuts an episode, it is an end."""
    seen = []
    for envs in both(bend=0.2):
        bridge, rng = TumbleVecEnv(envs), np.random.default_rng(0)
        bridge.seed(3)
        found: list[Any] = [bridge.reset()]
        for _ in range(STEPS):
            found.append(bridge.step(rng.uniform(-1.5, 1.5, (NUM_ENVS, 2)).astype(np.float32)))
        seen.append(found)
    limited, cut = seen
    assert_same(cut[0], limited[0])
    kinds = []
    for mine, theirs in zip(cut[1:], limited[1:], strict=True):
        assert_same(mine[:3], theirs[:3])
        for info, wanted in zip(mine[3], theirs[3], strict=True):
            assert info.keys() == wanted.keys()
            if info:
                assert_same(info["terminal_observation"], wanted["terminal_observation"])
                assert (info["episode"]["r"], info["episode"]["l"]) == (wanted["episode"]["r"], wanted["episode"]["l"])
                assert info["TimeLimit.truncated"] == wanted["TimeLimit.truncated"]
                kinds.append(info["TimeLimit.truncated"])
    assert kinds.count(True) > 5 and kinds.count(False) > 2
    at_once = TumbleVecEnv(tumble.make_vec(Leashed, 2, cut=1, bend=0.0))
    at_once.reset()
    assert [info["TimeLimit.truncated"] for info in at_once.step(np.zeros((2, 2), np.float32))[3]] == [False, False]


def test_terminated_and_truncated_at_once():
    """Both flags are handed out, as in Gymnasium; the wrapper of rewards takes it as an end."""
    for mode in AutoresetMode:
        envs = tumble.make_vec(Leashed, 2, cut=1, bend=0.0, autoreset_mode=mode)
        envs.reset(seed=0)
        *_, terminated, truncated, _ = envs.step(np.zeros((2, 2)))
        assert terminated.all() and truncated.all()
    env = SingleEnv(Leashed, cut=1, bend=0.0)
    env.reset(seed=0)
    assert env.step(np.zeros(2))[2:4] == (True, True)


@pytest.mark.parametrize("kind", [PPO, LeanPPO])
def test_learners_bootstrap_as_at_the_limit(kind):
    """The same weights to the bit; others where the same steps are said to be the end of everything."""
    failing = tumble.make_vec(Leashed, NUM_ENVS, cut=CUT, cut_fails=True)
    weights = []
    for envs in (*both(), failing):
        model = kind("MlpPolicy", VecNormalize(TumbleVecEnv(envs)), n_steps=16, batch_size=20, n_epochs=2, seed=4)
        model.learn(2 * 16 * NUM_ENVS)
        weights.append(torch.cat([parameter.detach().flatten() for parameter in model.policy.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_replay_buffer_knows_what_was_cut():
    """SAC's: `dones` of the steps from which a value is not to be taken leave them out."""
    kept = []
    for envs in both(bend=0.2):
        model = SAC("MlpPolicy", TumbleVecEnv(envs), learning_starts=10_000, buffer_size=400, seed=1)
        model.learn(25 * NUM_ENVS)
        buffer = model.replay_buffer
        kept.append([buffer.observations[:25], buffer.next_observations[:25], buffer.dones[:25], buffer.timeouts[:25]])
    assert_same(kept[1], kept[0])
    assert kept[1][3].sum() > 5 and (kept[1][2] > kept[1][3]).sum() > 0
