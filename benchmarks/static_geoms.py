"""The time of a step as a function of the number of static geoms: a quadruped on a terrain of boxes, and on a plane.

Every environment stands elsewhere on the terrain, so that no two of them have the same boxes under their feet.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import mujoco
import numpy as np

from ..physics import Model, RigidSolver
from ..physics.model.broad_phase import GRID, LIST
from ..physics.process.runtime import init
from .models import SETTINGS, random_controls
from .physics import MujocoSide, mujoco_states, tumble_side
from .results import Result, Table, Verdict
from .timing import take_turns

TIMESTEP = 0.004
BOX, CYLINDER, CAPSULE, SPHERE, PLANE = (
    getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in ("BOX", "CYLINDER", "CAPSULE", "SPHERE", "PLANE")
)
LEG = ((0, (0, 0, 0), 0.0), (1, (0, 0.0955, 0), 0.8), (1, (0, 0, -0.213), -1.5))
"""The hinges of a leg: axis, metres from the one before, rad in the reference pose."""
WIDTH, HEIGHT, EDGE = 0.45, 0.05, 0.6
"""Metres: sides of a box, how far its top is above or below 0 at most, and from the border how far robots stand."""
SETTLING = 150
"""Physics steps from above the terrain to the states that are compared."""
MOST_OF_A_LIST = 1000
"""Boxes: with more, all pairs are not timed."""
COLUMNS = {"static geoms": "d", "us": ".2f", "over plane": ".2f", "contacts": ".2f", "list us": ".2f"}
COLUMNS |= {"MuJoCo us": ".1f", "MuJoCo/us": ".1f"}


def run(geoms: Sequence[int], num_envs: int, steps: int, rounds: int) -> Result:
    """Compare, on one thread.

    Args:
        geoms: numbers of boxes.
        num_envs: environments on both sides.
        steps: physics steps of one timed stretch.
        rounds: of which medians are taken.
    """
    init(precision="32", threads=1)
    title = (
        f"A quadruped on static boxes and on a plane: us a step and environment, {num_envs} environments, one thread, "
        "float32 against MuJoCo's float64"
    )
    result = Result([Table(title, COLUMNS)])
    for count in geoms:
        result.tables[0].rows.append(row := compare(count, num_envs, steps, rounds))
        result.verdicts.append(
            Verdict(f"{count} boxes: time over that on a plane", row["over plane"], 1.5, at_least=False)
        )
    return result


def compare(count: int, num_envs: int, steps: int, rounds: int) -> dict[str, Any]:
    """Return a row of the table."""
    specs = {"plane": on_plane(), GRID: on_boxes(count)} | ({LIST: on_boxes(count)} if count <= MOST_OF_A_LIST else {})
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


def on_boxes(count: int) -> mujoco.MjSpec:
    """Return a quadruped on a square of boxes of random heights."""
    spec, side, rng = mujoco.MjSpec(), int(np.ceil(np.sqrt(count))), np.random.default_rng(0)
    for k, height in enumerate(rng.uniform(-HEIGHT, HEIGHT, count)):
        place = WIDTH * (np.array([k % side, k // side]) - 0.5 * side)
        spec.worldbody.add_geom(type=BOX, size=[WIDTH / 2, WIDTH / 2, 0.2], pos=[*place, height - 0.2], conaffinity=0)
    return with_quadruped(spec)


def on_plane() -> mujoco.MjSpec:
    """Return a quadruped on a plane."""
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=PLANE, size=[50, 50, 1], conaffinity=0)
    return with_quadruped(spec)


def with_quadruped(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Add a robot of 15 kg of primitives: twelve hinges with position actuators, spheres for feet."""
    spec.option.timestep, spec.compiler.degree = TIMESTEP, False
    own = {"contype": 0, "conaffinity": 1}
    trunk = spec.worldbody.add_body(name="trunk", pos=[0, 0, 0.34])
    trunk.add_freejoint()
    trunk.add_geom(type=BOX, size=[0.19, 0.047, 0.057], mass=6.9, **own)
    for leg in range(4):
        front, left = 1 - 2 * (leg // 2), 1 - 2 * (leg % 2)
        body = trunk.add_body(pos=[0.1934 * front, 0.0465 * left, 0])
        for part, (axis, place, angle) in enumerate(LEG):
            if part:
                body = body.add_body(pos=[place[0], place[1] * left, place[2]])
            _hinge(spec, body, f"leg{leg}-{part}", axis, angle)
            if part == 0:
                body.add_geom(type=CYLINDER, size=[0.046, 0.02, 0], quat=[1, 1, 0, 0], mass=0.678, **own)
            elif part == 1:
                body.add_geom(type=CAPSULE, size=[0.02, 0, 0], fromto=[0, 0, 0, 0, 0, -0.213], mass=1.15, **own)
        body.add_geom(type=CAPSULE, size=[0.012, 0, 0], fromto=[0, 0, -0.02, 0, 0, -0.19], mass=0.154, **own)
        body.add_geom(type=SPHERE, size=[0.022, 0, 0], pos=[0, 0, -0.213], mass=0.04, **own)
    return spec


def _hinge(spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, axis: int, angle: float) -> None:
    """Add a hinge at `angle` in the reference pose, and a position actuator that takes it to 0.3 rad about it."""
    direction = np.eye(3)[axis]
    mujoco.mju_axisAngle2Quat(quat := np.zeros(4), direction, angle)
    body.quat = quat
    body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=direction, damping=0.5, armature=0.01, ref=angle)
    actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_position(kp=60)
    actuator.ctrllimited, actuator.ctrlrange = 1, [angle - 0.3, angle + 0.3]
