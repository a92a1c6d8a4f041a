"""The Shadow hand's tasks equal Gymnasium-Robotics': observations, rewards for any goals, and the physics of a step."""

import numpy as np
import pytest

from tumble.envs.robotics.hand import right_angles

from . import originals
from .originals import Original, side_by_side
from .parity import PHYSICS, TASK, Pair, relative

pytestmark = pytest.mark.skipif(not originals.available(), reason="Gymnasium-Robotics is not installed")

STEPS, EVERY = 100, 9
CURVED = 1e-3  # the bound for the egg, an ellipsoid, whose contacts are those of GJK and EPA, which end at 1e-6 m
FIRST = 1e-6  # N: the first readings of the sensors are MuJoCo's, whose solver need not go to the end
SLOW = pytest.mark.slow  # what is wrong with all is seen in others
NAMES = (
    "HandReach-v3",
    "HandReachDense-v3",
    "HandManipulateBlock_ContinuousTouchSensors-v1",
    "HandManipulateBlockRotateZDense-v1",
    "HandManipulateEgg_BooleanTouchSensorsDense-v1",
    "HandManipulatePenDense-v1",
    pytest.param("HandManipulatePenRotate-v1", marks=SLOW),
    pytest.param("HandManipulateBlockRotateParallel_BooleanTouchSensors-v1", marks=SLOW),
    pytest.param("HandManipulateBlockDense-v1", marks=SLOW),
    pytest.param("HandManipulateEggRotate-v1", marks=SLOW),
)


def aim(theirs, memory):
    """Give the original the goal."""
    theirs.env.goal = memory["goal"].copy()


def with_target(qpos, qvel):
    """Add the coordinates of the original's target, which falls beside the hand."""
    if len(qpos) == 24:
        return qpos, qvel
    return np.concatenate([qpos, [1, 0.87, 0.2, 1, 0, 0, 0]]), np.concatenate([qvel, np.zeros(6)])


def nearby(goal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return goals around others, some of which are reached."""
    near = goal + rng.normal(size=goal.shape) * np.geomspace(1e-3, 3e-2, len(goal))[:, None]
    if goal.shape[-1] == 7:
        near[..., 3:] /= np.linalg.norm(near[..., 3:], axis=-1, keepdims=True)
    return near


@pytest.mark.parametrize("name", NAMES)
def test_like_the_original(name, double_precision):
    pair = Pair(f"gymnasium_robotics/{name}", aim, widen=with_target)
    env = pair.theirs.env
    for i in range(pair.num_envs):
        pair.put(i, pair.state(), {}, pair.memory)
        errors = relative(side_by_side(pair.seen, i), side_by_side(env._get_obs()))
        assert errors[:61].max() < TASK and errors.max() < FIRST
    pair.memory["goal"][:] = nearby(pair.seen["achieved_goal"], pair.rng)
    for step in range(STEPS):
        action = 0.3 * pair.rng.normal(size=(pair.num_envs, 20))
        pair.step(action, step % EVERY == 0)
        if step % EVERY == EVERY - 1:
            pair.memory["goal"][:] = nearby(pair.seen["achieved_goal"], pair.rng)
    found = pair.found()
    assert name == "HandReach-v3" or len(set(found.rewards)) > 1
    assert found.task < TASK
    assert found.physics < (CURVED if "Egg" in name else PHYSICS)


@pytest.mark.parametrize("name", ["HandManipulatePenDense-v1", "HandManipulatePen-v1", "HandReach-v3"])
def test_rewards_for_any_goals(name, double_precision):
    """The original takes one pen at a time: of a batch it would change other numbers than the last angles."""
    pair = Pair(f"gymnasium_robotics/{name}", aim, widen=with_target)
    achieved = pair.seen["achieved_goal"]
    others = np.stack([nearby(achieved, pair.rng) for _ in range(4)])
    found = pair.envs.unwrapped.compute_reward(np.broadcast_to(achieved, others.shape), others, {})
    for k, goals in enumerate(others):
        for i, goal in enumerate(goals):
            theirs = float(pair.theirs.env.compute_reward(achieved[i].copy(), goal.copy(), {}))
            assert abs(found[k, i] - theirs) < 1e-9  # an angle near 0 has half of its cosine's digits
    assert len(set(found.ravel())) > 1
    pair.envs.close()


def test_right_angles():
    theirs = np.array(Original("gymnasium_robotics/HandManipulateBlock-v1").env.parallel_quats)
    ours = right_angles()
    assert len(ours) == 24
    assert np.abs(ours[:, None] - theirs[None]).max(2).min(0).max() < TASK


def test_starts_are_on_the_palm_and_goals_as_asked_for(double_precision):
    pair = Pair("gymnasium_robotics/HandManipulateBlockRotateParallel-v1", aim, widen=with_target)
    seen, _ = pair.envs.reset(seed=1)
    assert seen["achieved_goal"][:, 2].min() > 0.04
    np.testing.assert_array_equal(seen["achieved_goal"][:, :3], seen["desired_goal"][:, :3])
    np.testing.assert_allclose(np.linalg.norm(seen["desired_goal"][:, 3:], axis=1), 1)
    shown = pair.solver.get("mocap_pos")[:, 0].numpy() - [0.15, 0, 0]
    np.testing.assert_allclose(shown, seen["desired_goal"][:, :3])
    pair.envs.close()
