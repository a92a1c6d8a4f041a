"""Three tasks under three autoreset modes, step by step against Gymnasium's SyncVectorEnv.

Both start every episode in the same state. Short time limits and touchy terminations mix, and some environments are
reset by hand at odd times, so that the episodes are staggered.
"""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

import tumble
from tumble.envs.gym.vector_env import parse_autoreset_mode

from .reference import TIGHT, assert_same_info, make_sync

NUM_ENVS, STEPS = 6, 90
CASES = {
    "Hopper": (17, {}),
    "Ant": (9, {"healthy_z_range": (0.6, 0.8)}),
    "InvertedDoublePendulum": (5, {"reset_noise_scale": 0.15}),
}


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", CASES)
def test_step_by_step_like_sync_vector_env(name, mode, double_precision):
    """Observations, rewards, flags and infos of every step and every reset are SyncVectorEnv's."""
    limit, options = CASES[name]
    theirs = make_sync(name, NUM_ENVS, limit, mode, options)
    ours = tumble.make_vec(
        name,
        NUM_ENVS,
        autoreset_mode=mode,
        max_episode_steps=limit,
        output="numpy",
        model_options=TIGHT,
        **options,
    )
    rng = np.random.default_rng(1)
    ends = np.zeros(2, int)
    compare_resets(ours.reset(seed=7), theirs.reset(seed=7))
    for step in range(STEPS):
        action = rng.uniform(-1, 1, ours.action_space.shape) * ours.single_action_space.high
        mine, other = ours.step(action), theirs.step(action)
        for got, wanted in zip(mine[:4], other[:4], strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6, err_msg=f"step {step}")
        assert_same_info(mine[4], other[4])
        ends += other[2].sum(), other[3].sum()
        mask = np.zeros(NUM_ENVS, bool)
        if mode is AutoresetMode.DISABLED:
            mask = other[2] | other[3]
        if step % 8 == 3:
            mask = mask | (rng.random(NUM_ENVS) < 0.3)
        if mask.any():
            seed = 100 + step if step % 16 == 3 else None
            mine = ours.reset(seed=seed, options={"reset_mask": mask.copy()})
            compare_resets(mine, theirs.reset(seed=seed, options={"reset_mask": mask.copy()}))
    assert (ends > 3).all(), "both kinds of ends must have happened"
    ours.close()
    theirs.close()


def compare_resets(ours: tuple, theirs: tuple) -> None:
    """Compare what two resets returned."""
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6, atol=1e-6)
    assert_same_info(ours[1], theirs[1])


@pytest.fixture
def hoppers():
    """Make four hoppers that are truncated after 3 steps, unless told otherwise."""
    made = []

    def make(mode: str, **options: Any):
        made.append(tumble.make_vec("Hopper", 4, autoreset_mode=mode, **({"max_episode_steps": 3} | options)))
        return made[-1]

    yield make
    for envs in made:
        envs.close()


def test_same_step_is_the_default():
    """`metadata` says so with a member of AutoresetMode."""
    envs = tumble.make_vec("Hopper", 2)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    envs.close()


@pytest.mark.parametrize("mode", [*AutoresetMode, "NEXT_STEP", "NextStep"])
def test_modes_go_by_member_name_and_value(mode):
    """What Gymnasium accepts, and the names as well."""
    assert parse_autoreset_mode(mode) in AutoresetMode
    with pytest.raises(ValueError, match="there is NEXT_STEP, SAME_STEP, DISABLED"):
        parse_autoreset_mode("later")


def test_disabled_refuses_finished_environments(hoppers):
    """The error names them; after a partial reset the others go on."""
    envs = hoppers("DISABLED")
    envs.reset(seed=0)
    actions = torch.zeros(4, 3)
    for _ in range(2):
        envs.step(actions)
    envs.reset(options={"reset_mask": torch.tensor([False, True, False, False])})
    *_, truncated, _ = envs.step(actions)
    assert truncated.tolist() == [True, False, True, True]
    before = envs.unwrapped.solver.qpos
    with pytest.raises(ResetNeeded, match=r"environments \[0, 2, 3\] have finished"):
        envs.step(actions)
    assert torch.equal(envs.unwrapped.solver.qpos, before)
    envs.reset(options={"reset_mask": truncated})
    *_, truncated, _ = envs.step(actions)
    assert not truncated.any()


def test_next_step_ignores_the_action_of_an_environment_that_is_reset(hoppers):
    """NaN there is no error, and changes nothing."""
    results = []
    for filler in (0.0, float("nan")):
        envs = hoppers("NEXT_STEP")
        envs.reset(seed=0)
        actions = torch.zeros(4, 3)
        for _ in range(2):
            envs.step(actions)
        envs.reset(options={"reset_mask": np.array([False, True, False, False])})
        envs.step(actions)
        actions = torch.full((4, 3), filler)
        actions[1] = 0.5
        results.append(envs.step(actions))
    assert torch.equal(results[0][0], results[1][0])
    assert results[0][1].tolist()[0] == 0 and results[0][1].tolist()[1] != 0
    with pytest.raises(ValueError, match="environment 1"):
        envs.step(torch.where(torch.arange(4)[:, None] == 1, float("nan"), torch.zeros(4, 3)))


def test_final_observations_are_dense_and_masked(hoppers):
    """`final_obs` is one tensor; its rows without a final observation are zero."""
    envs = hoppers("SAME_STEP")
    envs.reset(seed=0)
    envs.step(torch.zeros(4, 3))
    envs.reset(options={"reset_mask": np.array([False, True, False, False])})
    envs.step(torch.zeros(4, 3))
    observation, *_, info = envs.step(torch.zeros(4, 3))
    assert info["_final_obs"].tolist() == [True, False, True, True]
    assert info["final_obs"].shape == observation.shape
    assert not info["final_obs"][1].any()
    assert (info["final_obs"][0] != observation[0]).any()


def test_all_false_mask_resets_nobody(hoppers):
    """It returns the last observations and an empty info; options stay as they were."""
    envs = hoppers("DISABLED")
    observation, _ = envs.reset(seed=0)
    options = {"reset_mask": torch.zeros(4, dtype=torch.bool)}
    again, info = envs.reset(options=options)
    assert torch.equal(observation, again) and info == {}
    assert set(options) == {"reset_mask"}


@pytest.mark.parametrize(
    ("mask", "error", "words"),
    [
        ([True] * 4, TypeError, "torch tensor or numpy array, got list"),
        (np.ones(3, bool), ValueError, r"shape \(4,\), got \(3,\)"),
        (np.ones(4), TypeError, "of bool, got float64"),
        (torch.ones(4, dtype=torch.int32), TypeError, "of bool, got torch.int32"),
    ],
)
def test_wrong_masks_are_refused(hoppers, mask, error, words):
    """With what they must be."""
    envs = hoppers("DISABLED")
    envs.reset(seed=0)
    with pytest.raises(error, match=words):
        envs.reset(options={"reset_mask": mask})


def test_elapsed_steps_bring_the_first_time_limit_nearer(hoppers):
    """Only in the episodes that begin at once, and only where a mask lets them begin."""
    envs = hoppers("SAME_STEP", max_episode_steps=4)
    still = torch.zeros(4, 3)
    envs.reset(seed=0, options={"elapsed_steps": [0, 1, 2, 3]})
    cut = [envs.step(still)[3].tolist() for _ in range(8)]
    for env in range(4):
        assert [row[env] for row in cut] == [(k + env) % 4 == 3 for k in range(8)]
    mask = torch.tensor([True, False, False, False])
    envs.reset(options={"reset_mask": mask, "elapsed_steps": torch.full((4,), 3)})
    assert envs.step(still)[3].tolist() == [True, False, False, True]


@pytest.mark.parametrize("limit", [1000, None])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_elapsed_steps_of_any_integer_type(hoppers, dtype, limit):
    """A limit that the type itself could not hold is no obstacle."""
    hoppers("DISABLED", max_episode_steps=limit).reset(options={"elapsed_steps": np.full(4, 250, dtype)})


@pytest.mark.parametrize(
    ("steps", "error", "words"),
    [
        ([0.0] * 4, TypeError, "must be integers, got torch.float32"),
        ([0] * 3, ValueError, r"shape \(4,\), got \(3,\)"),
        ([0, 3, 1, 0], ValueError, "environment 1 is 3; .* below max_episode_steps, 3"),
        (np.array([0, 0, -1, 0]), ValueError, "environment 2 is -1; it must be at least 0"),
    ],
)
def test_wrong_elapsed_steps_are_refused(hoppers, steps, error, words):
    """With what they must be."""
    with pytest.raises(error, match=words):
        hoppers("DISABLED").reset(options={"elapsed_steps": steps})


def test_reset_comes_first(hoppers):
    """Neither a step nor a partial reset before the first reset of all."""
    envs = hoppers("DISABLED")
    with pytest.raises(ResetNeeded, match="before the first step"):
        envs.step(torch.zeros(4, 3))
    with pytest.raises(ResetNeeded, match="first reset must be of all"):
        envs.reset(options={"reset_mask": np.array([True, False, False, False])})


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_returned_tensors_are_the_callers(hoppers, mode):
    """Later steps do not write to them, and writing to them does not disturb later steps."""
    quiet, rude = hoppers(mode), hoppers(mode)
    kept = []
    for envs in (quiet, rude):
        result = envs.reset(seed=0)
        for step in range(6):
            everything = _tensors(result)
            if envs is quiet:
                kept.append((everything, [tensor.clone() for tensor in everything]))
            else:
                assert all(torch.equal(a, b) for a, b in zip(everything, kept[step][0], strict=True))
                for tensor in everything:
                    tensor.zero_()
            result = envs.step(torch.full((4, 3), 0.3))
            if mode == "DISABLED" and step == 2:
                result = envs.reset()
    for now, then in kept:
        assert all(torch.equal(a, b) for a, b in zip(now, then, strict=True))


def _tensors(value: Any) -> list[torch.Tensor]:
    """All tensors in a result."""
    if isinstance(value, torch.Tensor):
        return [value]
    inner = value.values() if isinstance(value, dict) else value
    return [tensor for part in inner for tensor in _tensors(part)]
