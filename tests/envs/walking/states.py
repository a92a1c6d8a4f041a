"""Random states of walking tasks without a solver: derived quantities come from MuJoCo."""

from typing import NamedTuple

import mujoco
import numpy as np
import torch

from tumble.envs import Last, Task, TaskState
from tumble.envs.arrays import ArrayKind
from tumble.envs.registry import make_task
from tumble.envs.task.noise import Noise
from tumble.physics.base.draws import hashed_key

DOUBLE = ArrayKind.of(torch.float64, "cpu")


def noise(n: int, seed: int = 0) -> Noise:
    """The random numbers of n episodes."""
    return Noise(lambda: hashed_key(np.arange(n) + 1000 * seed, np.zeros(n, np.int64)))


def bound(name: str, **options) -> Task:
    """A task in double precision, bound to its model."""
    task = make_task(name, options)
    return task.bound(task.load_model().mj, DOUBLE)


class Random(NamedTuple):
    """Random states, with MuJoCo's data of each and the actions that led to them."""

    state: TaskState
    data: list[mujoco.MjData]
    action: np.ndarray


def evaluated(task: Task, qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray, memory, seed: int = 0) -> Random:
    """MuJoCo's view of some states."""
    data = []
    for row in range(len(qpos)):
        one = mujoco.MjData(task.model)
        one.qpos[:], one.qvel[:], one.ctrl[:] = qpos[row], qvel[row], ctrl[row]
        mujoco.mj_forward(task.model, one)
        data.append(one)
    fields = {name: np.array([getattr(one, name) for one in data]) for name in task.reads}
    state = TaskState(np.concatenate((qpos, qvel), 1), qpos, qvel, fields, {}, memory, noise(len(qpos), seed))
    return Random(state, data, np.zeros((len(qpos), task.model.nu)))


def random_states(task: Task, n: int, seed: int = 0, fall: float = 0.3) -> Random:
    """Robots near the ground, tilted by some `fall` rad, with random joints, velocities, commands and feet's pasts."""
    rng, model = np.random.default_rng(seed), task.model
    start = task.reset_after(nothing_before(n), noise(n, seed))
    qpos, nu = np.array(start.qpos), model.nu
    ground = task.terrain().height_at(qpos[:, :2]) if hasattr(task, "terrain") else 0.0
    qpos[:, 2] = ground + model.key("home").qpos[2] + rng.uniform(-0.08, 0.02, n)
    tilt = rng.normal(size=(n, 3)) * fall / 2
    for row in range(n):
        turn, turned = np.array([1.0, *tilt[row]]), np.zeros(4)
        mujoco.mju_mulQuat(turned, qpos[row, 3:7], turn / np.linalg.norm(turn))
        qpos[row, 3:7] = turned
    qpos[:, 7:] += rng.uniform(-0.4, 0.4, (n, nu))
    qvel = rng.normal(size=(n, model.nv))
    found = evaluated(task, qpos, qvel, qpos[:, 7:] + rng.uniform(-0.3, 0.3, (n, nu)), dict(start.memory), seed)
    feet = found.state.fields["site_xpos"][:, [model.site(name).id for name in task.feet]]
    memory = {
        **start.memory,
        "action": rng.uniform(-1, 1, (n, nu)),
        "feet": feet + rng.normal(size=feet.shape) * 0.02,
        "air_time": rng.uniform(0, 0.6, feet.shape[:2]),
        "contact": rng.uniform(size=feet.shape[:2]) < 0.5,
    }
    memory["air_time"][memory["contact"]] = 0
    if task.phases:
        memory["phase"] = rng.uniform(0, 1, (n, 1))
    memory["command"][: n // 4] = 0.0
    return Random(found.state._replace(memory=memory), found.data, rng.uniform(-1, 1, (n, nu)))


def nothing_before(n: int) -> Last:
    """Nothing: new environments."""
    steps, empty = np.zeros(n, np.int64), np.zeros((n, 0))
    return Last(np.arange(n), n, np.ones(n, bool), steps, empty, empty, {})
