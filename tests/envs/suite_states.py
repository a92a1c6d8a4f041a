"""States of the control suite's tasks in which rewards are neither 0 nor 1 throughout, by domain."""

import mujoco
import numpy as np


def near_the_goal(task, qpos: np.ndarray, qvel: np.ndarray, mocap: np.ndarray, rng) -> None:
    """Move states (n, nq), (n, nv) of a bound task, whose mocap bodies are at (n, nmocap, 3), to where rewards vary."""
    move = _MOVES.get(type(task).__name__)
    if move is not None:
        move(task, qpos, qvel, mocap, rng)


def _column(task, joint: str) -> int:
    return int(task.model.joint(joint).qposadr[0])


def _standing(task, qpos, qvel, mocap, rng) -> None:
    """Stand at the reference, a little turned, and move ahead."""
    qpos[:] = task.model.qpos0
    qpos[:, 3:7] += rng.normal(0, 0.05, (len(qpos), 4))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1)[:, None]
    qpos[:, 2] += rng.uniform(0, 0.1, len(qpos))
    qvel[:] = rng.normal(0, 0.1, qvel.shape)
    qvel[:, 0] = rng.uniform(0, 2 * (task.move_speed or 1.0), len(qpos))


def _on_all_fours(task, qpos, qvel, mocap, rng) -> None:
    _standing(task, qpos, qvel, mocap, rng)
    qpos[:, 2] = 0.6
    qpos[:, :2] += rng.normal(0, 4, (len(qpos), 2))


def _at_the_rim(task, qpos, qvel, mocap, rng) -> None:
    _standing(task, qpos, qvel, mocap, rng)
    qpos[:, 0], qpos[:, 2] = rng.uniform(8, 31, len(qpos)), 6


def _cmu_or_not(task, qpos, qvel, mocap, rng) -> None:
    _standing(task, qpos, qvel, mocap, rng)
    data = mujoco.MjData(task.model)
    mujoco.mj_kinematics(task.model, data)
    upright = data.xmat[task.torso].reshape(9)[task.up] > 0.9
    if not upright:  # the reference lies on its back
        qpos[:, 3:7] = np.sqrt([0.5, 0.5, 0, 0])
        qpos[:, 2] = 1.1


def _hopping(task, qpos, qvel, mocap, rng) -> None:
    qpos[:] = task.model.qpos0 + rng.normal(0, 0.1, qpos.shape)
    qvel[:, 0] = rng.uniform(0, 4, len(qpos))


def _swimming(task, qpos, qvel, mocap, rng) -> None:
    qpos[:] = 0
    qpos[:, :2] = mocap[:, 0, :2] + [0, 0.11] + rng.normal(0, 0.2, (len(qpos), 2))


def _turned(task, qpos, qvel, mocap, rng) -> None:
    """Turn the spinner's tip near its target."""
    way = mocap[:, 0] - task.hinge
    qpos[:, 2] = -np.arctan2(way[:, 0], way[:, 2]) + rng.normal(0, 0.4, len(qpos))


def _swim_upright(task, qpos, qvel, mocap, rng) -> None:
    qpos[:, 3:7] = np.array([1, 0, 0, 0]) + rng.normal(0, 0.3, (len(qpos), 4))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1)[:, None]


def _brought(task, qpos, qvel, mocap, rng) -> None:
    """Put the prop near its target."""
    goal = mocap[:, int(task.model.body(task.goal).mocapid[0])]
    for axis, k in (("x", 0), ("z", 2)):
        qpos[:, _column(task, f"{task.prop}_{axis}")] = goal[:, k] + rng.normal(0, 0.012, len(qpos))


def _stacked(task, qpos, qvel, mocap, rng) -> None:
    for axis, k in (("x", 0), ("z", 2)):
        qpos[:, _column(task, f"box0_{axis}")] = mocap[:, 0, k] + rng.normal(0, 0.02, len(qpos))


def _upright_poles(task, qpos, qvel, mocap, rng) -> None:
    spread = np.geomspace(0.02, 1, len(qpos))[:, None]
    qpos[:], qvel[:] = spread * rng.normal(0, 1, qpos.shape), spread * rng.normal(0, 3, qvel.shape)


def _centred(task, qpos, qvel, mocap, rng) -> None:
    qpos[:], qvel[:] = rng.normal(0, 0.012, qpos.shape), rng.normal(0, 0.01, qvel.shape)


def _walking(task, qpos, qvel, mocap, rng) -> None:
    planar = "rootx" in [task.model.joint(k).name for k in range(task.model.njnt)]
    assert planar
    qvel[:, int(task.model.joint("rootx").dofadr[0])] = rng.uniform(0, 12, len(qpos))
    qpos[:, _column(task, "rootz")] += rng.normal(0, 0.1, len(qpos))


def _in_cup(task, qpos, qvel, mocap, rng) -> None:
    qpos[:, 2:] = qpos[:, :2] + np.array([0, 0.35]) + rng.uniform(-0.02, 0.03, (len(qpos), 2))


def _spinning(task, qpos, qvel, mocap, rng) -> None:
    qpos[:] = rng.normal([0.1, -0.2, 0.0], [0.1, 0.1, 2.0], qpos.shape)
    qvel[:, 2] = rng.uniform(-18, -12, len(qpos))


def _reaching(task, qpos, qvel, mocap, rng) -> None:
    many = rng.uniform(-2.7, 2.7, (100_000, 2))
    both = many.sum(1)
    tip = 0.12 * np.stack((np.cos(many[:, 0]) + np.cos(both), np.sin(many[:, 0]) + np.sin(both)), 1)
    for i, target in enumerate(mocap[:, 0, :2]):
        qpos[i] = many[np.argsort(np.linalg.norm(tip - target, axis=1))[i * 300]]


def _mouth_first(task, qpos, qvel, mocap, rng) -> None:
    qpos[:, 3:7] = [1, 0, 0, 0]
    qpos[:, :3] = mocap[:, 0] - np.array([0, 0.0745, 0]) + rng.normal(0, 0.05, (len(qpos), 3))
    qvel[:] = rng.normal(0, 0.1, qvel.shape)


_MOVES = {
    "AcrobotSwingUp": _upright_poles,
    "BallInCup": _in_cup,
    "CartPoleBalance": _upright_poles,
    "CartPoleSwingUp": _upright_poles,
    "CheetahRun": _walking,
    "DogFetch": _standing,
    "FingerSpin": _spinning,
    "FingerTurn": _turned,
    "FishSwim": _mouth_first,
    "FishUpright": _swim_upright,
    "ManipulatorBring": _brought,
    "PendulumSwingUp": _upright_poles,
    "PointMass": _centred,
    "QuadrupedEscape": _at_the_rim,
    "QuadrupedFetch": _on_all_fours,
    "QuadrupedMove": _on_all_fours,
    "ReacherHard": _reaching,
    "StackerStack": _stacked,
    "SuiteDog": _standing,
    "SuiteHopper": _hopping,
    "SuiteHumanoid": _cmu_or_not,
    "SuiteSwimmer": _swimming,
    "WalkerWalk": _walking,
    "WalkerRun": _walking,
}
