"""Fetch equals Gymnasium-Robotics': a state gives the same observation and reward, a step leads to the same state."""

import numpy as np
import pytest

import tumble

from . import originals
from .originals import Original, side_by_side

pytestmark = pytest.mark.skipif(not originals.available(), reason="Gymnasium-Robotics is not installed")

N, STEPS, EVERY = 6, 30, 3
TIGHT = {"tolerance": 1e-12, "iterations": 200}
TASK, PHYSICS = 1e-12, 1e-9  # the second is where constraint solvers may stop
SETTLED = 1e-6  # m, rad: the original settles before its solver is told to go to the end
COMPARED = {"FetchSlide": 9}
"""Numbers of the observation that are compared after a step: the puck, a cylinder, rocks on contacts of GJK and EPA."""
ROLLING, ROBOT = 5e-2, 15  # the bound for such a puck, and the coordinates of the robot before it
NAMES = ("FetchReach", "FetchPush", "FetchSlide", "FetchPickAndPlace")
SEEN = ("site_xpos", "site_xmat", "subtree_com", "cdof", "xpos", "xquat")


def evaluated(theirs: Original, solver, i: int) -> None:
    """Give the original the quantities of the last evaluation of environment i, which a step leaves behind."""
    nbody, nsite = theirs.model.nbody, theirs.model.nsite
    names = {theirs.model.site(k).name: k for k in range(nsite)}
    for quantity in SEEN:
        ours = solver.get(quantity)[i].numpy()
        field = getattr(theirs.data, quantity)
        if quantity.startswith("site"):
            for k in range(solver.model.mj.nsite):
                field[names[solver.model.mj.site(k).name]] = ours[k]
        else:
            field[:] = ours[:nbody] if quantity != "cdof" else ours


@pytest.mark.parametrize("reward", ["", "Dense"])
@pytest.mark.parametrize("name", NAMES)
def test_like_the_original(name, reward, double_precision):
    identity = f"gymnasium_robotics/{name}{reward}-v4"
    envs = tumble.make_vec(identity, N, output="numpy", autoreset_mode="DISABLED", model_options=TIGHT)
    first, _ = envs.reset(seed=5)
    unwrapped, rng = envs.unwrapped, np.random.default_rng(1)
    solver, theirs, locked = unwrapped.solver, Original(identity), name != "FetchPickAndPlace"
    observation, goal = first, first["desired_goal"].copy()
    near = slice(0, N // 2)  # goals around what is to reach them: both rewards
    goal[near] = first["achieved_goal"][near] + rng.normal(0, 0.03, (N // 2, 3))
    unwrapped.batch._memory.arrays["goal"][:] = goal
    task = unwrapped.batch.task
    np.testing.assert_allclose(theirs.env.initial_qpos, task.start_qpos, atol=SETTLED)
    np.testing.assert_allclose(theirs.env.initial_gripper_xpos, task.start_grip, atol=SETTLED)
    errors, physics, rewards = [], [], []
    for i in range(N):
        theirs.put(*(part.numpy()[i] for part in (solver.qpos, solver.qvel)), first["desired_goal"][i])
        errors.append(side_by_side(theirs.env._get_obs()) - side_by_side({k: v[i] for k, v in first.items()}))
    for step in range(STEPS):
        before = solver.qpos.numpy().copy(), solver.qvel.numpy().copy()
        kept = {quantity: solver.get(quantity).numpy().copy() for quantity in ("xpos", "xquat")}
        action = rng.uniform(-1.2, 1.2, (N, 4))
        if name != "FetchReach" and step < STEPS - 5:
            action[:, :3] = towards(observation, step)
        observation, reward_, terminated, truncated, info = envs.step(action)
        assert not (terminated.any() or truncated.any())
        after = solver.qpos.numpy(), solver.qvel.numpy()
        for i in range(N) if step % EVERY == 0 else ():
            ours = side_by_side({part: values[i] for part, values in observation.items()})
            theirs.put(after[0][i], after[1][i], goal[i])
            if not locked:
                evaluated(theirs, solver, i)
            seen = theirs.env._get_obs()
            worth = theirs.env.compute_reward(seen["achieved_goal"], theirs.env.goal, {})
            errors.append(ours - side_by_side(seen))
            errors.append(np.array([reward_[i] - worth]))
            theirs.put(before[0][i], before[1][i], goal[i])
            if not locked:  # the mocap body moves from the gripper's pose of the last evaluation
                for quantity, values in kept.items():
                    getattr(theirs.data, quantity)[:] = values[i, : theirs.model.nbody]
            seen, worth, facts = theirs.step(action[i])
            physics.append(relative(ours, side_by_side(seen))[: COMPARED.get(name)].max())
            for mine, their in ((after[0][i], theirs.data.qpos), (after[1][i], theirs.data.qvel)):
                physics.append(relative(mine, their)[: ROBOT if name in COMPARED else None].max())
            physics.append(abs(reward_[i] - worth))
            assert facts["is_success"] == info["is_success"][i]
            rewards.append(worth)
    envs.close()
    worst = max(np.abs(error).max() for error in errors), max(physics)
    print(
        f"{identity:45s} task {worst[0]:.1e}, physics {worst[1]:.1e}, rewards {min(rewards):.3f} to {max(rewards):.3f}"
    )
    assert len(set(rewards)) > 1
    assert worst[0] < TASK
    assert worst[1] < (ROLLING if name in COMPARED else PHYSICS)


def relative(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return the sizes of errors of numbers of size 1."""
    return np.abs((ours - theirs) / (1 + np.abs(theirs)))


def towards(observation: dict[str, np.ndarray], step: int) -> np.ndarray:
    """Return steps of the grip (N, 3) that bring it above the object, then down on it."""
    way = observation["observation"][:, 6:9] + np.array([0, 0, 0.05 if step < 8 else 0.0])
    return np.clip(way / 0.05, -1, 1)
