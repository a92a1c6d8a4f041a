"""The time of a step as a function of the number of static geoms: robots on a terrain of boxes, and on a plane.

Every environment stands elsewhere on the terrain, so that no two of them have the same boxes under their feet.
"""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import mujoco
import numpy as np

from .. import assets
from ..physics import Model, RigidSolver
from ..physics.machine.runtime import init
from ..physics.mechanics.collision.broad.broad_phase import GRID, LIST
from .ground_scenes import quadruped_of_primitives
from .models import SETTINGS, random_controls
from .physics import MujocoSide, mujoco_states, tumble_side
from .results import BenchmarkResult, Table, Verdict
from .timing import take_turns

TIMESTEP = 0.004
GEOM = mujoco.mjtGeom
WIDTH, HEIGHT, EDGE = 0.45, 0.05, 0.6
"""Metres: sides of a box, how far its top is above or below 0 at most, and from the border how far robots stand."""
SETTLING = 150
"""Physics steps from above the terrain to the states that are compared."""
OVER_PLANE = 1.5
"""The most that a step on boxes should take, in steps on a plane."""
MOST_OF_A_LIST = 1000
"""Boxes: with more, all pairs are not timed."""
COLUMNS = {"robot": "", "static geoms": "d", "us": ".2f", "over plane": ".2f", "contacts": ".2f", "list us": ".2f"}
COLUMNS |= {"MuJoCo us": ".1f", "MuJoCo/us": ".1f"}


def run(models: Sequence[str], geoms: Sequence[int], num_envs: int, steps: int, rounds: int) -> BenchmarkResult:
    """Compare, on one thread.

    Args:
        models: names of `ROBOTS`.
        geoms: numbers of boxes.
        num_envs: environments on both sides.
        steps: physics steps of one timed stretch.
        rounds: of which medians are taken.
    """
    init(precision="32", threads=1)
    title = (
        f"Robots on static boxes and on a plane: us a step and environment, {num_envs} environments, one thread, "
        "float32 against MuJoCo's float64"
    )
    result = BenchmarkResult([Table(title, COLUMNS)])
    for robot, count in product(models, geoms):
        result.tables[0].rows.append(row := compare(robot, count, num_envs, steps, rounds))
        words = f"{robot} on {count} boxes: time over that on a plane"
        result.verdicts.append(Verdict(words, row["over plane"], OVER_PLANE, at_least=False))
    return result


def compare(robot: str, count: int, num_envs: int, steps: int, rounds: int) -> dict[str, Any]:
    """Return a row of the table."""
    specs = {"plane": on_plane(robot), GRID: on_boxes(robot, count)}
    if count <= MOST_OF_A_LIST:
        specs[LIST] = on_boxes(robot, count)
    solvers, sides = {}, {}
    for name, spec in specs.items():
        model = Model.from_mjspec(spec, broad_phase=LIST if name == "plane" else name, **SETTINGS)
        solvers[name] = solver = RigidSolver(model, num_envs)
        scatter(solver, count)
        controls = random_controls(model, num_envs, steps, seed=1).transpose(0, 1).contiguous()
        sides[name] = tumble_side(solver, solver.state_dict(), 1, partial(solver.rollout, controls))
    grid = solvers[GRID]
    states, warm = mujoco_states(grid), grid.qacc_warmstart.double().numpy()
    contacts = float(grid.contacts.mask.sum()) / num_envs
    sides["MuJoCo"] = MujocoSide(grid.model, states, warm, controls.double().numpy(), 1)
    samples = take_turns(sides, rounds)
    each = {name: sample.median * 1e6 / (steps * num_envs) for name, sample in samples.items()}
    return {
        "robot": robot,
        "static geoms": count,
        "us": each[GRID],
        "over plane": each[GRID] / each["plane"],
        "contacts": contacts,
        "list us": each.get(LIST),
        "MuJoCo us": each["MuJoCo"],
        "MuJoCo/us": each["MuJoCo"] / each[GRID],
        "seconds": {name: sample.seconds for name, sample in samples.items()},
    }


def scatter(solver: RigidSolver, count: int) -> None:
    """Put every robot elsewhere on a square of so many boxes, turned at random, and let it settle."""
    mj, n, rng = solver.model.mj, solver.num_envs, np.random.default_rng(0)
    far = max(0.5 * WIDTH * np.ceil(np.sqrt(count)) - EDGE, 0.0)
    qpos, angle = np.tile(mj.qpos0, (n, 1)), rng.uniform(-np.pi, np.pi, n)
    qpos[:, :2] += rng.uniform(-far, far, (n, 2))
    qpos[:, 2] += HEIGHT
    qpos[:, 3], qpos[:, 6] = np.cos(angle / 2), np.sin(angle / 2)
    solver.set_state(qpos=qpos, qvel=np.zeros((n, mj.nv)))
    solver.ctrl = random_controls(solver.model, n, 1, seed=2)[0]
    solver.step(SETTLING)


def on_boxes(robot: str, count: int) -> mujoco.MjSpec:
    """Return a robot on a square of boxes of random heights."""
    spec, side, rng = ROBOTS[robot](), int(np.ceil(np.sqrt(count))), np.random.default_rng(0)
    for k, height in enumerate(rng.uniform(-HEIGHT, HEIGHT, count)):
        place = WIDTH * (np.array([k % side, k // side]) - 0.5 * side)
        box = spec.worldbody.add_geom(
            type=GEOM.mjGEOM_BOX, size=[WIDTH / 2, WIDTH / 2, 0.2], pos=[*place, height - 0.2]
        )
        box.contype = box.conaffinity = 3
    return spec


def on_plane(robot: str) -> mujoco.MjSpec:
    """Return a robot on a plane."""
    spec = ROBOTS[robot]()
    plane = spec.worldbody.add_geom(type=GEOM.mjGEOM_PLANE, size=[50, 50, 1])
    plane.contype = plane.conaffinity = 3
    return spec


def _quadruped() -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.option.timestep = TIMESTEP
    quadruped_of_primitives(spec)
    return spec


def _humanoid() -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_file(str(assets.find("humanoid.xml")))
    spec.delete(spec.geom("floor"))
    return spec


ROBOTS = {"quadruped": _quadruped, "humanoid": _humanoid}
