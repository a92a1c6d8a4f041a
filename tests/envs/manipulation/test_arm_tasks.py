"""The arm's tasks can be done, and are observed and rewarded as published: one solver for each task."""

from functools import partial

import numpy as np
import pytest

import tumble

from . import published, scripted

# Observations are those of single precision; the distances inside of tanh are differences of metres.
ROUNDING = {"rtol": 1e-5, "atol": 2e-5}
N = 8  # environments: a script acts in the first half, and a drunken one in the other
TASKS = {
    "ArmReach": (scripted.reach, published.reach, 20, {}),
    "ArmPush": (scripted.push, published.push, 75, {}),
    "ArmPickCube": (scripted.pick, published.pick, 75, {}),
    "ArmStackCubes": (scripted.stack, published.stack, 50, {}),
    "ArmStackThree": (scripted.stack, partial(published.stack, cubes=3), 100, {"num_cubes": 3}),
    "ArmOpenDrawer": (scripted.pull, published.drawer, 40, {}),
    "ArmPegInHole": (scripted.insert, published.peg, 30, {}),
}
SLOW = ("ArmStackThree", "ArmPegInHole")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in TASKS])
def test_a_script_succeeds_and_is_paid_as_published(name):
    script, formula, steps, options = TASKS[name]
    task = name.replace("Three", "Cubes")
    envs = tumble.make_vec(task, N, output="numpy", max_episode_steps=10_000, **options)
    observations, _ = envs.reset(seed=3)
    rng, ever = np.random.default_rng(0), np.zeros(N, bool)
    for k in range(steps):
        action = script(observations)
        drunken = action + rng.normal(scale=0.7, size=action.shape)
        action[N // 2 :] = np.clip(drunken, -1, 1)[N // 2 :]
        observations, rewards, terminated, truncated, info = envs.step(action.astype(np.float32))
        assert not terminated.any() and not truncated.any()
        ever |= info["success"]
        if k % 3 and k < steps - 3:
            continue
        seen, terms, success = formula(published.seen(envs), action)
        np.testing.assert_allclose(observations, np.concatenate(seen, axis=1), **ROUNDING)
        np.testing.assert_array_equal(info["success"], success)
        for term, value in terms.items():
            np.testing.assert_allclose(info[f"reward_{term}"], value, **ROUNDING, err_msg=term)
        np.testing.assert_allclose(rewards, sum(terms.values()), **ROUNDING)
    assert ever[: N // 2].all() and info["success"][: N // 2].all(), "done, and still so at the end"
    if name == "ArmPickCube":
        a_grasp_holds(envs, observations)
    envs.close()


def a_grasp_holds(envs, observations) -> None:
    """A cube at rest does not slip in five seconds, and swings of the arm do not throw it."""
    action = np.zeros((N, 4), np.float32)
    action[:, 3] = scripted.CLOSE
    for k in range(100 + 40):
        if k == 10:
            offset = observations[:4, 26:29]
        if k == 99:
            np.testing.assert_allclose(observations[:4, 26:29], offset, atol=3e-4)  # m
        action[:, 1] = 0.5 * np.sin(0.4 * k) if k >= 100 else 0
        observations, *_, info = envs.step(action)
    assert info["holding"][:4].all() and (observations[:4, 21] > 0.05).all()


def test_towers_have_two_or_three_cubes():
    with pytest.raises(ValueError, match="num_cubes is 4"):
        tumble.make_vec("ArmStackCubes", 1, num_cubes=4)
