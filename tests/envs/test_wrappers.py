"""The wrappers of `tumble.wrappers`: against Gymnasium's on the same numbers, and by hand where those have no mode.

Environments of the same seed return the same bits whatever they are wrapped in, so both sides see the same data.
"""

import gc
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.error import InvalidBound
from gymnasium.vector import AutoresetMode, VectorEnv

import tumble
from tumble import wrappers
from tumble.envs.arrays import host

from .own_tasks import Pointer
from .reference import OLD_GYMNASIUM

NUM_ENVS, STEPS = 5, 45
OUTPUTS = ("torch", "numpy")
EVERYTHING = {
    "RecordEpisodeStatistics": {},
    "NormalizeObservation": {},
    "NormalizeReward": {"gamma": 0.9},
    "FrameStackObservation": {"stack_size": 3},
}


def make(mode: AutoresetMode | str, output: str = "numpy", task: Any = "InvertedDoublePendulum", **options: Any):
    """Make five double pendulums whose episodes end now by falling, now by a limit of 9 steps."""
    own = {"max_episode_steps": 9} | ({"reset_noise_scale": 0.15} if isinstance(task, str) else {})
    return tumble.make_vec(task, NUM_ENVS, autoreset_mode=mode, output=output, **own | options)


def run(envs: Any, steps: int = STEPS, first: int = 0):
    """Yield what `reset` and then every step returned; under DISABLED what finished is reset, and that is yielded too.

    The first episodes have taken 0, 2, 4, 6, 8 steps already, so that the limit is reached one after the other.
    """
    rng = np.random.default_rng(first)
    if first == 0:
        yield envs.reset(seed=4, options={"elapsed_steps": 2 * np.arange(NUM_ENVS) % 9})
    for _ in range(steps):
        space = envs.unwrapped.single_action_space
        actions = rng.uniform(-1, 1, (NUM_ENVS, *space.shape)) if space.shape else rng.integers(0, space.n, NUM_ENVS)
        result = envs.step(actions)
        yield result
        done = host(result[2] | result[3])
        if envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED and done.any():
            yield envs.reset(options={"reset_mask": done.copy()})


def both_kinds_of_ends(envs: Any) -> bool:
    """Whether in a run some episodes end by falling, and some by the limit."""
    ends = [(host(result[2]).any(), host(result[3]).any()) for result in run(envs) if len(result) == 5]
    return bool(np.any(ends, axis=0).all())


@pytest.mark.parametrize("mode", AutoresetMode)
def test_the_runs_have_both_kinds_of_ends(mode):
    """What the tests below stand on."""
    assert both_kinds_of_ends(make(mode))


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_episode_statistics_like_gymnasiums(mode, output):
    """Infos, queues and counters of every step, in all modes."""
    if OLD_GYMNASIUM and mode is AutoresetMode.SAME_STEP:
        pytest.skip("Gymnasium 1.2 goes on counting after the end of an episode")
    ours = wrappers.RecordEpisodeStatistics(make(mode, output), buffer_length=7)
    theirs = gymnasium.wrappers.vector.RecordEpisodeStatistics(make(mode), buffer_length=7)
    for mine, other in zip(run(ours), run(theirs), strict=True):
        assert ("episode" in mine[-1]) == ("episode" in other[-1])
        if "episode" in mine[-1]:
            mask = other[-1]["_episode"]
            np.testing.assert_array_equal(host(mine[-1]["_episode"]), mask)
            for key in ("r", "l"):
                np.testing.assert_allclose(host(mine[-1]["episode"][key]), other[-1]["episode"][key], rtol=1e-12)
            times = host(mine[-1]["episode"]["t"])
            assert (times[mask] > 0).all() and not times[~mask].any()
            assert isinstance(mine[-1]["episode"]["r"], torch.Tensor) == (output == "torch")
        np.testing.assert_allclose(host(ours.episode_returns), theirs.episode_returns, rtol=1e-12)
        np.testing.assert_array_equal(host(ours.episode_lengths), theirs.episode_lengths)
    assert ours.episode_count == theirs.episode_count > 10
    np.testing.assert_allclose(ours.return_queue, theirs.return_queue, rtol=1e-12)
    assert list(ours.length_queue) == list(theirs.length_queue) and len(ours.time_queue) == 7


@pytest.mark.parametrize("output", OUTPUTS)
def test_normalised_observations_like_gymnasiums(output):
    """Gymnasium's knows NEXT_STEP alone, and keeps its statistics in single precision: 1e-4 of a deviation."""
    ours = wrappers.NormalizeObservation(make("NEXT_STEP", output))
    theirs = gymnasium.wrappers.vector.NormalizeObservation(make("NEXT_STEP"))
    assert ours.observation_space == theirs.observation_space
    for mine, other in zip(run(ours), run(theirs), strict=True):
        np.testing.assert_allclose(host(mine[0]), other[0], atol=1e-4)
        assert mine[0].dtype in (torch.float32, np.float32)
    np.testing.assert_allclose(host(ours.obs_rms.mean), theirs.obs_rms.mean, atol=1e-5)
    np.testing.assert_allclose(host(ours.obs_rms.var), theirs.obs_rms.var, rtol=1e-4)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_normalised_observations_by_hand(mode, output):
    """Mean and variance are those of all rows that came so far, final observations among them, each counted once."""
    ours, plain = wrappers.NormalizeObservation(make(mode, output)), make(mode)
    rows, finals, masks = [], 0, iter([])
    for mine, raw in zip(run(ours), run(plain), strict=True):
        begun = next(masks, slice(None)) if len(raw) == 2 else slice(None)
        rows.append(raw[0][begun])
        if "final_obs" in raw[-1]:
            mask = raw[-1]["_final_obs"]
            rows.append(raw[-1]["final_obs"][mask])
            finals += mask.sum()
        masks = iter([raw[2] | raw[3]] if len(raw) == 5 else [])
        seen = np.concatenate(rows).astype(np.float64)
        weight = len(seen) + 1e-4  # before anything was seen: mean 0, variance 1, a ten-thousandth of a row
        mean = seen.sum(0) / weight
        scale = np.sqrt((1e-4 + (seen**2).sum(0)) / weight - mean**2 + 1e-8)
        np.testing.assert_allclose(host(mine[0]), (raw[0] - mean) / scale, rtol=1e-4, atol=1e-5)
        if "final_obs" in raw[-1]:
            wanted = np.where(mask[:, None], (raw[-1]["final_obs"] - mean) / scale, 0)
            np.testing.assert_allclose(host(mine[-1]["final_obs"]), wanted, rtol=1e-4, atol=1e-5)
    assert (finals > 10) == (mode is AutoresetMode.SAME_STEP)


@pytest.mark.skipif(OLD_GYMNASIUM, reason="Gymnasium 1.2 adds the rewards of two episodes")
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
def test_scaled_rewards_like_gymnasiums(mode, output):
    """Of every step; Gymnasium's adds up in single precision: a hundred-thousandth."""
    ours = wrappers.NormalizeReward(make(mode, output), gamma=0.9)
    theirs = gymnasium.wrappers.vector.NormalizeReward(make(mode), gamma=0.9)
    for mine, other in zip(run(ours), run(theirs), strict=True):
        if len(mine) == 5:
            np.testing.assert_allclose(host(mine[1]), other[1], rtol=1e-5)
            assert mine[1].dtype in (torch.float32, np.float32)
    np.testing.assert_allclose(host(ours.return_rms.mean), theirs.return_rms.mean, rtol=1e-5)
    np.testing.assert_allclose(host(ours.return_rms.var), theirs.return_rms.var, rtol=1e-5)
    assert ours.return_rms.count == pytest.approx(theirs.return_rms.count, rel=1e-9)


@pytest.mark.parametrize("output", OUTPUTS)
def test_scaled_rewards_after_partial_resets(output):
    """Under DISABLED a reset begins the returns of those environments anew (Gymnasium's: of all). By hand."""
    ours, plain = wrappers.NormalizeReward(make("DISABLED", output), gamma=0.9), make("DISABLED")
    accumulated, seen, done = np.zeros(NUM_ENVS), [], np.ones(NUM_ENVS, bool)
    for mine, raw in zip(run(ours), run(plain), strict=True):
        if len(raw) == 2:
            accumulated = np.where(done, 0, accumulated)
            continue
        done = raw[2] | raw[3]
        accumulated = 0.9 * accumulated * ~raw[2] + raw[1]
        seen.append(accumulated)
        values, weight = np.concatenate(seen), NUM_ENVS * len(seen) + 1e-4
        variance = (1e-4 + (values**2).sum()) / weight - (values.sum() / weight) ** 2
        np.testing.assert_allclose(host(mine[1]), raw[1] / np.sqrt(variance + 1e-8), rtol=1e-5)


@pytest.mark.parametrize("padding", ["reset", "zero", "own"])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_stacks_like_gymnasiums(mode, output, padding):
    """Gymnasium's wrapper of one environment in each of SyncVectorEnv's: the same stacks, final ones too."""
    value = np.full(9, 0.5, np.float32) if padding == "own" else padding
    ours = wrappers.FrameStackObservation(make(mode, output, max_episode_steps=9), 3, padding_type=value)
    theirs = gymnasium.make_vec(
        "tumble/InvertedDoublePendulum-v0",
        NUM_ENVS,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        wrappers=[lambda env: gymnasium.wrappers.FrameStackObservation(env, 3, padding_type=value)],
        max_episode_steps=9,
        reset_noise_scale=0.15,
    )
    assert ours.observation_space == theirs.observation_space
    rng, finals = np.random.default_rng(0), 0
    np.testing.assert_array_equal(host(ours.reset(seed=4)[0]), theirs.reset(seed=4)[0])
    for _ in range(30):
        actions = rng.uniform(-1, 1, (NUM_ENVS, 1))
        mine, other = ours.step(actions), theirs.step(actions)
        np.testing.assert_array_equal(host(mine[0]), other[0])
        mask = other[2] | other[3]
        if "final_obs" in other[4]:
            np.testing.assert_array_equal(host(mine[4]["final_obs"])[mask], np.stack(other[4]["final_obs"][mask]))
            assert not host(mine[4]["final_obs"])[~mask].any()
            finals += mask.sum()
        if mode is AutoresetMode.DISABLED and mask.any():
            again = [envs.reset(options={"reset_mask": mask.copy()})[0] for envs in (ours, theirs)]
            np.testing.assert_array_equal(host(again[0]), again[1])
    assert (finals > 10) == (mode is AutoresetMode.SAME_STEP)


@pytest.mark.parametrize("name", ["NormalizeObservation", "NormalizeReward"])
def test_frozen_statistics_stay(name):
    """With `update_running_mean = False` they are used and not changed; with True, as at first, they go on."""
    envs = getattr(wrappers, name)(make("SAME_STEP", "torch"))
    moments = envs.obs_rms if name == "NormalizeObservation" else envs.return_rms
    list(run(envs))
    before = moments.state_dict()
    envs.update_running_mean = False
    list(run(envs))
    assert moments.count == before["count"]
    np.testing.assert_array_equal(host(moments.var), before["var"])
    assert moments.var.dtype == torch.float64
    envs.update_running_mean = True
    list(run(envs, 1))
    assert moments.count > before["count"] and (host(moments.var) != before["var"]).any()


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", EVERYTHING)
def test_saved_wrappers_go_on(name, mode, output):
    """Another wrapper around other environments, with the saved states, returns the same bits; it needs no reset."""
    envs, other = (getattr(wrappers, name)(make(mode, output), **EVERYTHING[name]) for _ in range(2))
    list(run(envs, 12))
    other.unwrapped.load_state_dict(envs.unwrapped.state_dict())
    other.load_state_dict(envs.state_dict())
    for one, two in zip(run(envs, 20, first=1), run(other, 20, first=1), strict=True):
        for mine, theirs in zip(one[:-1], two[:-1], strict=True):
            np.testing.assert_array_equal(host(mine), host(theirs))
        for key, mask in one[-1].get("episode", {}).items():
            if key != "t":
                np.testing.assert_array_equal(host(mask), host(two[-1]["episode"][key]))


@pytest.mark.parametrize("output", OUTPUTS)
def test_observations_of_several_parts(output):
    """Each part has its own stack and statistics; pictures are stacked, and not normalised."""
    envs = wrappers.FrameStackObservation(make("SAME_STEP", output, Pointer), 2, padding_type="zero")
    envs = wrappers.NormalizeObservation(envs)
    assert envs.single_observation_space["picture"] == gymnasium.spaces.Box(0, 255, (2, 10, 12, 3), np.uint8)
    assert sorted(envs.moments) == ["arm", "goal", "last_action"]
    finals = 0
    for observation, *_, info in run(envs, 12):
        shown = {name: host(part) for name, part in observation.items()}
        assert shown in envs.observation_space
        if "final_obs" in info:
            finals += 1
            assert {name: host(part) for name, part in info["final_obs"].items()} in envs.observation_space
    assert finals and shown["picture"].any() and envs.moments["arm"].count > 12 * NUM_ENVS


def test_stacks_are_the_callers():
    """Writing to what was returned disturbs nothing."""
    rude, quiet = (wrappers.FrameStackObservation(make("SAME_STEP", "torch"), 3) for _ in range(2))
    for one, two in zip(run(rude, 12), run(quiet, 12), strict=True):
        assert torch.equal(one[0], two[0])
        one[0].zero_()


def test_attributes_are_those_of_the_environments_inside():
    """`call`, `get_attr` and `set_attr`, through several wrappers; what a wrapper has itself is its own."""
    envs = tumble.make_vec("Hopper", 3)
    wrapped = wrappers.RecordEpisodeStatistics(wrappers.NormalizeReward(envs))
    wrapped.reset(seed=1)
    assert wrapped.call("healthy_reward") == wrapped.get_attr("healthy_reward") == (1.0, 1.0, 1.0)
    assert wrapped.get_attr("np_random_seed") == (1, 2, 3)
    wrapped.set_attr("healthy_reward", 3.0)
    assert envs.task.healthy_reward == 3.0
    *_, info = wrapped.step(np.zeros((3, 3), np.float32))
    assert info["reward_survive"].tolist() == [3.0, 3.0, 3.0]
    envs.close()


def test_wrong_arguments():
    """What Gymnasium's refuse, and environments that do not say how they reset."""
    envs = make("SAME_STEP")
    for wrapper in (wrappers.NormalizeObservation, wrappers.NormalizeReward):
        for epsilon in (0, -1e-8, -1.0, np.nan):
            with pytest.raises(InvalidBound, match=f"epsilon={epsilon}: it must be above zero"):
                wrapper(envs, epsilon=epsilon)
    for gamma in (-1.0, 1.01, 2, np.nan):
        with pytest.raises(InvalidBound, match=f"gamma={gamma}: it must be from 0 to 1"):
            wrappers.NormalizeReward(envs, gamma=gamma)
    with pytest.raises(TypeError, match=r"stack_size=1\.5: it must be a whole number"):
        wrappers.FrameStackObservation(envs, 1.5)
    with pytest.raises(ValueError, match="stack_size=0: it must be at least 1"):
        wrappers.FrameStackObservation(envs, 0)
    with pytest.raises(ValueError, match="padding_type='last': there is 'reset', 'zero'"):
        wrappers.FrameStackObservation(envs, 2, padding_type="last")
    with pytest.raises(ValueError, match="no observation of one environment"):
        wrappers.FrameStackObservation(envs, 2, padding_type=np.zeros(3))
    twice = wrappers.RecordEpisodeStatistics(wrappers.RecordEpisodeStatistics(envs))
    with pytest.raises(ValueError, match="give this wrapper another stats_key"):
        list(run(twice))
    envs.metadata = {}
    with pytest.raises(ValueError, match=r"metadata\['autoreset_mode'\] of .* is None"):
        wrappers.NormalizeReward(envs)


@pytest.mark.parametrize("wrapper", ["RecordEpisodeStatistics", "NormalizeObservation"])
def test_a_wrapper_that_is_dropped_closes_nothing(monkeypatch, wrapper):
    """Gymnasium 1.2 closes what Python collects, and what is inside of a wrapper; 1.4 does not."""
    closes = getattr(VectorEnv, "__del__", lambda envs: getattr(envs, "closed", True) or envs.close())
    monkeypatch.setattr(VectorEnv, "__del__", closes, raising=False)
    envs = tumble.make_vec(Pointer, NUM_ENVS)
    getattr(wrappers, wrapper)(envs).reset(seed=0)
    gc.collect()
    assert not envs.closed
    envs.reset(seed=0)
    solver = envs.solver
    del envs
    gc.collect()
    solver.step()
