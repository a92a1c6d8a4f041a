"""The suite's tasks equal dm_control's: a state gives the same observation and reward, a step the same state.

States come from random episodes and from around what is rewarded. After a step of ours dm_control's physics is put into
the state that it led to, and asked for observation and reward there: that compares the tasks alone. Then it takes the
step itself from the state before, which compares the physics too.
"""

import numpy as np
import pytest
import torch

import tumble

from . import control_suite

pytestmark = pytest.mark.skipif(not control_suite.available(), reason="dm_control is not installed")

N, STEPS, EVERY = 12, 30, 3
TIGHT = {"tolerance": 1e-12, "iterations": 200}
TASK, PHYSICS = 1e-12, 1e-9  # errors of a number of size 1; the second is where constraint solvers may stop
TOUCH = {"FingerSpin": slice(7, 9)}
"""Parts of observations that follow from the forces of a step, not from the state that it led to."""


def near_the_goal(name: str, qpos: np.ndarray, qvel: np.ndarray, targets: np.ndarray | None, rng) -> None:
    """Move states (n, nq), (n, nv) to where rewards are neither 0 nor 1 throughout."""
    n = len(qpos)
    if name in ("CartPoleBalance", "CartPoleSwingUp", "PendulumSwingUp", "AcrobotSwingUp"):
        spread = np.geomspace(0.05, 1, n)[:, None]
        qpos[:], qvel[:] = spread * rng.normal(0, 1, qpos.shape), spread * rng.normal(0, 3, qvel.shape)
    elif name == "FingerSpin":
        qpos[:] = rng.normal([0.1, -0.2, 0.0], [0.1, 0.1, 2.0], qpos.shape)
        qvel[:, 2] = rng.uniform(-18, -12, n)
    elif name == "BallInCup":
        qpos[:, 2:] = qpos[:, :2] + np.array([0, 0.35]) + rng.uniform(-0.02, 0.03, (n, 2))
    elif name == "PointMass":
        qpos[:], qvel[:] = rng.normal(0, 0.012, qpos.shape), rng.normal(0, 0.01, qvel.shape)
    elif name == "ReacherHard":
        many = rng.uniform(-2.7, 2.7, (100_000, 2))
        both = many.sum(1)
        tip = 0.12 * np.stack((np.cos(many[:, 0]) + np.cos(both), np.sin(many[:, 0]) + np.sin(both)), 1)
        for i in range(n):
            order = np.argsort(np.linalg.norm(tip - targets[i], axis=1))
            qpos[i] = many[order[i * 300]]
    elif name == "FishSwim":
        qpos[:, 3:7] = [1, 0, 0, 0]
        qpos[:, :3] = targets - np.array([0, 0.0745, 0]) + rng.normal(0, 0.05, (n, 3))
        qvel[:] = rng.normal(0, 0.1, qvel.shape)
    else:
        qvel[:, 1 if name.startswith("Walker") else 0] = rng.uniform(0, 12, n)
        qpos[:, 2 if name == "CheetahRun" else 0] += rng.normal(0, 0.1, n)


@pytest.mark.parametrize("name", control_suite.THEIRS)
def test_like_dm_control(name, double_precision):
    envs = tumble.make_vec(name, N, output="numpy", autoreset_mode="DISABLED", model_options=TIGHT)
    envs.reset(seed=5)
    solver, rng = envs.unwrapped.solver, np.random.default_rng(1)
    targets = envs.unwrapped.batch._memory.arrays.get("target")
    qpos, qvel = solver.qpos.numpy(), solver.qvel.numpy()
    half = slice(0, N // 2)
    near_the_goal(name, qpos[half], qvel[half], None if targets is None else targets[half], rng)
    solver.set_state(torch.as_tensor(qpos), torch.as_tensor(qvel))
    theirs = control_suite.Reference(name)
    rewards, task_errors, physics_errors, touches = [], [], [], []
    state_alone = np.ones(envs.single_observation_space.shape[0], bool)
    state_alone[TOUCH.get(name, slice(0, 0))] = False
    for step in range(STEPS):
        before = solver.qpos.numpy(), solver.qvel.numpy()
        action = rng.uniform(-1.2, 1.2, (N, solver.model.mj.nu)).astype(np.float32)
        observation, reward, terminated, _, _ = envs.step(action)
        assert not terminated.any()
        if step % EVERY:
            continue
        after = solver.qpos.numpy(), solver.qvel.numpy()
        for i in range(N):
            target = None if targets is None else targets[i]
            theirs.put(after[0][i], after[1][i], target)
            seen, worth = theirs.see(action[i])
            task_errors.append((*(observation[i] - seen)[state_alone], reward[i] - worth))
            theirs.put(before[0][i], before[1][i], target)
            seen, worth, ended = theirs.step(action[i])
            physics_errors.append((*((observation[i] - seen) / (1 + abs(seen))), reward[i] - worth))
            assert not ended
            rewards.append(worth)
            touches.append(seen[~state_alone])
    envs.close()
    worst = np.abs(task_errors).max(), np.abs(physics_errors).max()
    print(f"{name:18s} task {worst[0]:.1e}, physics {worst[1]:.1e}, rewards {min(rewards):.3f} to {max(rewards):.3f}")
    assert min(rewards) < 0.3 and max(rewards) > 0.3
    assert name not in TOUCH or np.mean(np.array(touches).max(1) > 0.1) > 0.05
    assert worst[0] < TASK
    assert worst[1] < PHYSICS
