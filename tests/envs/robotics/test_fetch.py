"""Fetch equals Gymnasium-Robotics': a state gives the same observation and reward, a step leads to the same state."""

import numpy as np
import pytest

from . import originals
from .originals import side_by_side
from .parity import PHYSICS, TASK, Pair, relative

pytestmark = pytest.mark.skipif(not originals.available(), reason="Gymnasium-Robotics is not installed")

STEPS, EVERY = 100, 9
SETTLED = 1e-6  # m, rad: the original settles before its solver is told to go to the end
NAMES = ("FetchReach", "FetchPush", "FetchSlide", "FetchPickAndPlace")
ROLLING = 1e-3  # of the puck, which rocks on four of sixteen corners; rounding decides on which
PUCK = slice(0, 9)  # numbers of the observation that are compared then


def aim(theirs, memory):
    """Give the original the goal."""
    theirs.env.goal = memory["goal"].copy()


@pytest.mark.parametrize("reward", ["", "Dense"])
@pytest.mark.parametrize("name", NAMES)
def test_like_the_original(name, reward, double_precision):
    lasting = ("xpos", "xquat") if name == "FetchPickAndPlace" else ()
    pair = Pair(f"gymnasium_robotics/{name}{reward}-v4", aim, lasting)
    env, task = pair.theirs.env, pair.task
    np.testing.assert_allclose(env.initial_qpos, task.start_qpos, atol=SETTLED)
    np.testing.assert_allclose(env.initial_gripper_xpos, task.start_grip, atol=SETTLED)
    for i in range(pair.num_envs):
        pair.put(i, pair.state(), {}, pair.memory)
        assert relative(side_by_side(pair.seen, i), side_by_side(env._get_obs())).max() < TASK
    near = pair.seen["achieved_goal"] + pair.rng.normal(0, 0.03, (pair.num_envs, 3))
    pair.memory["goal"][::2] = near[::2]  # both rewards
    for step in range(STEPS):
        action = pair.rng.uniform(-1.2, 1.2, (pair.num_envs, 4))
        if name != "FetchReach" and step < STEPS - 20:
            action[:, :3] = towards(pair.seen, step)
        pair.step(action, step % EVERY == 0, PUCK if name == "FetchSlide" else slice(None))
    found = pair.found()
    assert len(set(found.rewards)) > 1
    assert found.task < TASK
    assert found.physics < (ROLLING if name == "FetchSlide" else PHYSICS)


def towards(observation: dict[str, np.ndarray], step: int) -> np.ndarray:
    """Return steps of the grip (n, 3) that bring it above the object, then down on it."""
    way = observation["observation"][:, 6:9] + np.array([0, 0, 0.05 if step < 8 else 0.0])
    return np.clip(way / 0.05, -1, 1)
