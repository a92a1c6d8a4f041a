"""A state that stops being finite ends that environment's episode, is told once, and disturbs nobody else."""

import contextlib
import warnings

import gymnasium
import numpy as np
import pytest
import torch

import tumble
from tumble.envs.faults import CONTACTS_FULL, NON_FINITE, FaultReporter

POISONS = (float("nan"), float("inf"), -float("inf"), 1e30)
PARTS = ("qpos", "qvel", "ctrl")
NUM_ENVS, STEPS = 256, 200


def poison(envs, rows: torch.Tensor, value: float, part: str) -> None:
    """Put a bad number into the state or the controls of some environments, at a coordinate that differs by row."""
    solver = envs.unwrapped.solver
    values = {name: getattr(solver, name) for name in PARTS}
    values[part][rows, torch.arange(len(rows)) % values[part].shape[1]] = value
    if part == "ctrl":
        solver.ctrl = values["ctrl"]
    else:
        solver.set_state(qpos=values["qpos"][rows], qvel=values["qvel"][rows], envs_idx=rows)


@pytest.mark.parametrize("name", ["Hopper", "Ant"])
@pytest.mark.filterwarnings("ignore:environment:RuntimeWarning")
def test_the_others_do_not_notice(name):
    """256 environments, poisoned at random: the healthy keep every bit, the faulty are flagged and start afresh."""
    clean, sick = (tumble.make_vec(name, NUM_ENVS) for _ in range(2))
    rng = np.random.default_rng(0)
    clean.reset(seed=0)
    sick.reset(seed=0)
    touched = torch.zeros(NUM_ENVS, dtype=torch.bool)
    for step in range(STEPS):
        actions = torch.from_numpy(rng.uniform(-1, 1, clean.action_space.shape)).float()
        poisoned = step % 7 == 5
        value, part = POISONS[step // 7 % len(POISONS)], PARTS[step // 7 % len(PARTS)]
        if poisoned:
            rows = torch.from_numpy(rng.choice(NUM_ENVS // 2, 4, replace=False))
            touched[rows] = True
            poison(sick, rows, value, part)
            for envs in (clean, sick):
                envs.unwrapped.solver.step()
        wanted, got = clean.step(actions), sick.step(actions)
        for one, other in zip(wanted[:4], got[:4], strict=True):
            assert torch.equal(one[~touched], other[~touched])
        assert all(torch.isfinite(tensor).all() for tensor in got[:2])
        # Infinite controls are clipped to the motors' range and harm nobody; everything else is a fault.
        if poisoned and (part != "ctrl" or np.isnan(value)):
            assert got[2][rows].all(), "a poisoned environment is terminated"
            for info in (got[4], got[4]["final_info"]):
                assert (info["fault"][rows] & NON_FINITE).all() and info["_fault"][rows].all()
    assert not touched[NUM_ENVS // 2 :].any()
    clean.close()
    sick.close()


@pytest.mark.filterwarnings("ignore:environment:RuntimeWarning")
def test_a_faulty_environment_is_as_new_after_its_reset():
    """Its next episode has the bits of the second episode of an environment that never was ill."""
    envs, healthy = tumble.make_vec("Ant", 3), tumble.make_vec("Ant", 3)
    envs.reset(seed=4)
    envs.step(torch.zeros(3, 8))
    poison(envs, torch.tensor([1]), float("nan"), "qvel")
    observation, _, terminated, *_ = envs.step(torch.zeros(3, 8))
    assert terminated.tolist() == [False, True, False]
    healthy.reset(seed=4)
    wanted, _ = healthy.reset()
    assert torch.equal(observation[1], wanted[1])
    actions = torch.rand(3, 8, generator=torch.Generator().manual_seed(0))
    for _ in range(50):
        one, other = envs.step(actions), healthy.step(actions)
        assert torch.equal(one[0][1], other[0][1]) and torch.equal(one[1][1], other[1][1])


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_one_warning_with_environment_step_and_remedy(mode):
    """The first fault warns; later ones are in the info alone."""
    envs = tumble.make_vec("Hopper", 3, autoreset_mode=mode)
    envs.reset(seed=0, options={"elapsed_steps": [7, 7, 7]})  # a head start is not a step of the episode
    envs.step(torch.zeros(3, 3))
    poison(envs, torch.tensor([2]), float("nan"), "qpos")
    with pytest.warns(
        RuntimeWarning, match=r"environment 2, step 2 of its episode: .*finite.* Remedy: .*timestep"
    ) as seen:
        *_, info = envs.step(torch.zeros(3, 3))
    assert len(seen) == 1 and seen[0].filename == __file__
    assert info["fault"].tolist() == [0, 0, NON_FINITE]
    assert info["_fault"].tolist() == [False, False, True]
    if mode != "SAME_STEP":
        envs.reset()
    poison(envs, torch.tensor([0]), float("nan"), "qpos")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        *_, info = envs.step(torch.zeros(3, 3))
    assert info["fault"].tolist() == [NON_FINITE, 0, 0]
    envs.close()


@pytest.mark.parametrize("under", [contextlib.nullcontext, torch.inference_mode])
def test_the_warning_shows_the_users_line_through_whatever_is_between(under):
    """Wrappers, inference mode."""
    envs = tumble.wrappers.RecordEpisodeStatistics(tumble.make_vec("InvertedPendulum", 2))
    with under():
        envs.reset(seed=0)
        poison(envs, torch.tensor([1]), float("nan"), "qvel")
        with pytest.warns(RuntimeWarning, match="environment 1, step 1") as seen:
            envs.step(torch.zeros(2, 1))
    assert seen[0].filename == __file__
    envs.close()


def test_single_environment():
    """It stands still, stays terminated and finite until it is reset."""
    env = gymnasium.make("tumble/Ant-v0").unwrapped
    env.reset(seed=0)
    poison(env, torch.tensor([0]), float("inf"), "qvel")
    with pytest.warns(RuntimeWarning, match=r"environment 0, step 1 of its episode") as seen:
        observation, reward, terminated, truncated, info = env.step(np.zeros(8, np.float32))
    assert seen[0].filename == __file__
    assert terminated and not truncated and info["fault"] == NON_FINITE
    assert np.isfinite(observation).all() and np.isfinite(reward)
    assert env.step(np.zeros(8, np.float32))[2]
    fresh, _ = env.reset(seed=0)
    assert "fault" not in env.step(np.zeros(8, np.float32))[4]
    np.testing.assert_array_equal(fresh, env.reset(seed=0)[0])
    env.close()


def test_each_kind_is_told_once():
    """A full contact buffer has a story of its own."""
    reporter = FaultReporter()
    with pytest.warns(RuntimeWarning) as seen:
        reporter.report([(3, CONTACTS_FULL, 7), (4, CONTACTS_FULL | NON_FINITE, 8), (5, NON_FINITE, 9)])
    assert [str(w.message).split(":")[0] for w in seen] == [
        "environment 3, step 7 of its episode",
        "environment 4, step 8 of its episode",
    ]
    assert "contact" in str(seen[0].message)
