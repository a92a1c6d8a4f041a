"""Inverse kinematics of the arm's seven joints: share of solved poses, and time for 1,000 of them, against peers.

All sides get the same poses, of random configurations within the limits, begin at the arm's home, and may begin again
from random configurations until the pose is within 0.5 mm and 5e-3 rad. Peers take one pose after the other: damped
least squares in numpy on MuJoCo's kinematics, and mink (`pip install mink daqp`), if it is there.
"""

import importlib.util
import time
from collections.abc import Callable
from functools import partial

import mujoco
import numpy as np
import torch

from .. import assets
from ..physics import InverseKinematics, Model, Target
from ..physics.machine.runtime import init
from .results import BenchmarkResult, Table, Verdict
from .timing import take_turns

ARM, SITE = 7, "grip"
ATTEMPTS, STEPS, DAMPING, LONGEST = 50, 20, 0.01, 0.5
"""The settings of all sides: attempts, steps of each, damping, and the longest change (rad) of a step."""
POS_TOL, ROT_TOL = 5e-4, 5e-3
PROMISED = 5e-4, np.radians(0.3)
"""The accuracy (m, rad) to which a pose counts as solved, as MuJoCo judges it."""
SHARE, FACTOR = 0.99, 10.0
Solve = Callable[[np.ndarray], np.ndarray]
"""Poses (n, 7) to configurations (n, nq)."""


def run(targets: int, peer_targets: int, rounds: int, threads: int) -> BenchmarkResult:
    """Measure all sides.

    Args:
        targets: poses for Tumble.
        peer_targets: poses, the first of these, for peers.
        rounds: of which medians are taken.
        threads: threads of Tumble's second row.
    """
    model = Model.from_mjcf(str(assets.find("arm_pick.xml")))
    poses = random_poses(model, targets)
    sides: dict[str, tuple[Callable[[], Solve], int]] = {}
    for count in sorted({1, threads}):
        sides[f"Tumble, {count} thread{'s' * (count > 1)}"] = partial(tumble_side, model, count), targets
    sides["numpy on MuJoCo, 1 thread"] = partial(numpy_side, model.mj), min(peer_targets, targets)
    if importlib.util.find_spec("mink") is not None:
        sides["mink, 1 thread"] = partial(mink_side, model.mj), min(peer_targets, targets)
    solved: dict[str, float] = {}

    def timed(name: str) -> float:
        prepare, count = sides[name]
        solve = prepare()
        start = time.perf_counter()
        qpos = solve(poses[:count])
        seconds = time.perf_counter() - start
        solved[name] = share_solved(model.mj, qpos, poses[:count])
        return seconds / count * 1000

    samples = take_turns({name: partial(timed, name) for name in sides}, rounds)
    columns = {"side": "", "poses": ",.0f", "solved": ".2%", "ms for 1,000": ",.1f", "spread": ".0%"}
    title = f"Poses of an arm of {ARM} joints, from its home; solved within 0.5 mm and 0.3 degrees, as MuJoCo judges it"
    rows = [
        {"side": name, "poses": sides[name][1], "solved": solved[name], "ms for 1,000": 1000 * sample.median}
        | {"spread": sample.spread, "seconds": list(sample.seconds)}
        for name, sample in samples.items()
    ]
    alone = samples["Tumble, 1 thread"]
    verdicts = [Verdict("share of poses that are solved", solved["Tumble, 1 thread"], SHARE)]
    for name in [name for name in samples if not name.startswith("Tumble")]:
        verdicts.append(Verdict(f"times as fast as {name}", alone.times_faster_than(samples[name]).median, FACTOR))
    notes = [] if "mink, 1 thread" in sides else ["mink is not installed, and was left out"]
    return BenchmarkResult([Table(title, columns, rows)], verdicts, notes)


def random_poses(model: Model, count: int) -> np.ndarray:
    """Poses (n, 7) of the grip in random configurations within the limits."""
    asked = np.tile(model.mj.key_qpos[0], (count, 1))
    low, high = model.mj.jnt_range[:ARM].T
    asked[:, :ARM] = np.random.default_rng(0).uniform(low, high, (count, ARM))
    data, site, poses = mujoco.MjData(model.mj), model.mj.site(SITE).id, np.zeros((count, 7))
    for row, qpos in zip(poses, asked, strict=True):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model.mj, data)
        row[:3] = data.site_xpos[site]
        mujoco.mju_mat2Quat(row[3:], data.site_xmat[site])
    return poses


def share_solved(mj: mujoco.MjModel, qpos: np.ndarray, poses: np.ndarray) -> float:
    """Share of configurations (n, nq) that are within the limits, and have their poses (n, 7)."""
    data, good, (low, high) = mujoco.MjData(mj), 0, mj.jnt_range[:ARM].T
    for row, pose in zip(qpos, poses, strict=True):
        error = _error(mj, data, row, pose)
        inside = ((row[:ARM] >= low - 1e-6) & (row[:ARM] <= high + 1e-6)).all()
        good += bool(inside and np.linalg.norm(error[:3]) <= PROMISED[0] and np.linalg.norm(error[3:]) <= PROMISED[1])
    return good / len(qpos)


def tumble_side(model: Model, threads: int) -> Solve:
    """All poses in one call, on some threads; the kernel is loaded beforehand."""
    init(threads=threads)
    torch.set_num_threads(threads)
    of, home = InverseKinematics(model, Target(site=SITE), dofs_idx=range(ARM)), model.mj.key_qpos[0]

    def solve(poses: np.ndarray) -> np.ndarray:
        return of.solve(poses[:, :3], poses[:, 3:], init_qpos=home, seed=0).qpos.double().numpy()

    solve(np.tile([0.5, 0.0, 0.3, 0.0, 1.0, 0.0, 0.0], (8, 1)))
    return solve


def numpy_side(mj: mujoco.MjModel) -> Solve:
    """Damped least squares with random restarts, one pose after the other."""
    data, rng, jac = mujoco.MjData(mj), np.random.default_rng(1), np.zeros((6, mj.nv))
    site, (low, high) = mj.site(SITE).id, mj.jnt_range[:ARM].T

    def one(pose: np.ndarray) -> np.ndarray:
        qpos, best, least = mj.key_qpos[0].copy(), mj.key_qpos[0].copy(), np.inf
        for _ in range(ATTEMPTS):
            for _ in range(STEPS + 1):
                error = _error(mj, data, qpos, pose)
                square = error @ error
                if square < least:
                    least, best = square, qpos.copy()
                if np.linalg.norm(error[:3]) <= POS_TOL and np.linalg.norm(error[3:]) <= ROT_TOL:
                    return qpos
                mujoco.mj_jacSite(mj, data, jac[:3], jac[3:], site)
                j = jac[:, :ARM]
                step = j.T @ np.linalg.solve(j @ j.T + (DAMPING**2 + 0.03 * square) * np.eye(6), error)
                step *= min(1.0, LONGEST / np.abs(step).max())
                qpos[:ARM] = np.clip(qpos[:ARM] + step, low, high)
            qpos[:ARM] = rng.uniform(low, high)
        return best

    return lambda poses: np.array([one(pose) for pose in poses])


def mink_side(mj: mujoco.MjModel) -> Solve:
    """The same with mink's steps: a quadratic programme with the limits of the joints, by daqp."""
    import mink

    arm = np.arange(ARM, mj.nv)
    configuration = mink.Configuration(mj)
    task = mink.FrameTask(frame_name=SITE, frame_type="site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-3)
    limits = [mink.ConfigurationLimit(mj)]
    frozen = [mink.DofFreezingTask(mj, dof_indices=arm.tolist())]
    rng, (low, high) = np.random.default_rng(1), mj.jnt_range[:ARM].T

    def one(pose: np.ndarray) -> np.ndarray:
        turn = mink.SO3(pose[3:] / np.linalg.norm(pose[3:]))
        task.set_target(mink.SE3.from_rotation_and_translation(turn, pose[:3]))
        qpos, best, least = mj.key_qpos[0].copy(), mj.key_qpos[0].copy(), np.inf
        for _ in range(ATTEMPTS):
            configuration.update(qpos)
            for _ in range(STEPS + 1):
                error = task.compute_error(configuration)
                if error @ error < least:
                    least, best = error @ error, configuration.q.copy()
                if np.linalg.norm(error[:3]) <= POS_TOL and np.linalg.norm(error[3:]) <= ROT_TOL:
                    return configuration.q.copy()
                try:
                    velocity = mink.solve_ik(
                        configuration, [task], 1.0, "daqp", DAMPING**2, limits=limits, constraints=frozen
                    )
                except mink.NoSolutionFound:
                    break
                configuration.integrate_inplace(velocity, 1.0)
            qpos[:ARM] = rng.uniform(low, high)
        return best

    return lambda poses: np.array([one(pose) for pose in poses])


def _error(mj: mujoco.MjModel, data: mujoco.MjData, qpos: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Position (m) and rotation vector (rad) that are left to a pose (7,), in the world."""
    data.qpos[:] = qpos
    mujoco.mj_kinematics(mj, data)
    mujoco.mj_comPos(mj, data)
    site, quat, back, turn, error = mj.site(SITE).id, np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(6)
    error[:3] = pose[:3] - data.site_xpos[site]
    mujoco.mju_mat2Quat(quat, data.site_xmat[site])
    mujoco.mju_negQuat(back, quat)
    mujoco.mju_mulQuat(turn, pose[3:], back)
    mujoco.mju_quat2Vel(error[3:], turn, 1.0)
    return error
