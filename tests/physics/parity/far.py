"""Measure how far from the origin single precision holds, and write docs/reference/far.md.

python -m tests.physics.parity.far --write docs/reference/far.md
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
import torch

import tumble
from tumble.physics import Model, RigidSolver

DISTANCES = (0.0, 10.0, 100.0, 1000.0, 5000.0, 20000.0)
"""m."""
STEPS, EVERY = 200, 10
"""Steps of 2 ms after the start, and how many lie between two comparisons."""
SETTLED = 500
"""Steps that MuJoCo takes at the origin before the scene is moved."""
ENVS = 16
LEVEL, ASCENDING = (0.6, 0.8, 0.0), (0.48, 0.64, 0.6)
"""Unit vectors along which scenes are moved: over a level floor, or upwards as well."""

_BOX = '<body pos="0 0 {z}"><freejoint/><geom type="box" size="0.1 0.08 0.06"/></body>'
_MESH = '<asset><mesh name="stone" vertex="{}"/></asset>'
_STONE = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.08, 0.08) for z in (-0.06, 0.06))
_LEGS = "".join(
    f'<body pos="{x} {y} 0"><joint name="hip{k}" axis="{-y} {x} 0" range="-40 40"/>'
    f'<geom type="capsule" fromto="0 0 0 {2 * x} {2 * y} -0.15" size="0.03"/></body>'
    for k, (x, y) in enumerate(((0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)))
)
_QUADRUPED = (
    '<body pos="0 0 0.2"><freejoint/><geom type="box" size="0.12 0.12 0.04"/>' + _LEGS + "</body>",
    "<actuator>" + "".join(f'<position joint="hip{k}" kp="20" kv="1"/>' for k in range(4)) + "</actuator>",
)


class Scene(NamedTuple):
    """A scene that is moved away from the origin.

    Attributes:
        way: the unit vector along which it is moved.
        world: what is in its world, MJCF.
        other: what is beside its world, MJCF.
        solref: of all contacts.
    """

    way: tuple[float, float, float]
    world: str
    other: str = ""
    solref: str = "0.02 1"

    def model(self, distance: float) -> mujoco.MjModel:
        """Compile the scene at a distance from the origin, m."""
        place = " ".join(repr(distance * part) for part in self.way)
        return mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="0.002" tolerance="1e-12" iterations="100"/>'
            f'<default><geom solref="{self.solref}" friction="1 0.005 0.0001"/></default>{self.other}'
            f'<worldbody><frame pos="{place}">{self.world}</frame></worldbody></mujoco>'
        )


_SLOPE = '<geom type="plane" size="0 0 1" euler="0 20 0"/><body pos="0 0 0.1" euler="0 20 0"><freejoint/>' + (
    '<geom type="box" size="0.1 0.08 0.06"/></body>'
)
SCENES = {
    "quadruped, level floor": Scene(LEVEL, '<geom type="plane" size="0 0 1"/>' + _QUADRUPED[0], _QUADRUPED[1]),
    "box, level floor": Scene(LEVEL, '<geom type="plane" size="0 0 1"/>' + _BOX.format(z=0.06)),
    "box, slope of 20 degrees": Scene(ASCENDING, _SLOPE),
    "box on a fixed box": Scene(
        ASCENDING, '<geom type="box" size="0.5 0.5 0.1" pos="0 0 -0.1"/>' + _BOX.format(z=0.06)
    ),
    "three boxes, one on the other": Scene(
        ASCENDING, '<geom type="plane" size="0 0 1"/>' + "".join(_BOX.format(z=0.06 + 0.12 * k) for k in range(3))
    ),
    "mesh on a fixed mesh": Scene(
        ASCENDING,
        '<geom type="mesh" mesh="stone" pos="0 0 -0.06"/>'
        '<body pos="0 0 0.06"><freejoint/><geom type="mesh" mesh="stone"/></body>',
        _MESH.format(_STONE),
    ),
    "box, slope of 20 degrees, stiff contact": Scene(ASCENDING, _SLOPE, solref="0.004 1"),
}


class Far(NamedTuple):
    """The largest errors of one scene at one distance, over all environments and steps.

    Attributes:
        place: of the position of a body, m.
        angle: of its orientation, rad.
        depth: of the deepest contact's distance, m.
        other: the part of the comparisons in which the number of contacts differs.
    """

    place: float
    angle: float
    depth: float
    other: float


def measure(scene: Scene, distance: float, steps: int = STEPS, envs: int = ENVS) -> Far:
    """Step a scene in single precision and in MuJoCo, from the same states that single precision can represent."""
    mjm = scene.model(distance)
    qpos, qvel = starts(scene, distance, envs)
    solver = RigidSolver(Model.from_mjmodel(mjm), envs)
    solver.set_state(torch.from_numpy(qpos), torch.from_numpy(qvel))
    datas = [mujoco.MjData(mjm) for _ in range(envs)]
    for data, position, velocity in zip(datas, qpos, qvel, strict=True):
        data.qpos[:], data.qvel[:] = position, velocity
    found = []
    for _ in range(0, steps, EVERY):
        solver.step(EVERY)
        solver.forward()
        for data in datas:
            mujoco.mj_step(mjm, data, EVERY)
            mujoco.mj_forward(mjm, data)
        found.append(compare(solver, datas))
    worst = np.max(found, axis=0)
    return Far(*worst[:3], float(np.mean(found, axis=0)[3]))


def starts(scene: Scene, distance: float, envs: int) -> tuple[np.ndarray, np.ndarray]:
    """Settled states of a scene, moved away by a distance (m): qpos and qvel of float32, a row an environment."""
    rng, home = np.random.default_rng(0), scene.model(0.0)
    data, states = mujoco.MjData(home), []
    free = home.jnt_qposadr[home.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)]
    for _ in range(envs):
        mujoco.mj_resetData(home, data)
        data.qvel[:] = 0.1 * rng.standard_normal(home.nv)
        mujoco.mj_step(home, data, SETTLED)
        qpos = np.array(data.qpos)
        for first in free:
            qpos[first : first + 3] += distance * np.array(scene.way)
        states.append((qpos, np.array(data.qvel) + 0.02 * rng.standard_normal(home.nv)))
    qpos, qvel = (np.array(part, np.float32) for part in zip(*states, strict=True))
    return qpos, qvel


def compare(solver: RigidSolver, datas: list[mujoco.MjData]) -> tuple[float, float, float, float]:
    """Return the largest errors of places, angles and depths, and the part of environments with other contacts."""
    envs = len(datas)
    xpos, xquat = (
        solver.get(name).cpu().double().numpy().reshape(envs, -1, width) for name, width in (("xpos", 3), ("xquat", 4))
    )
    contacts = solver.contacts
    mask, dist = (part.cpu().numpy() for part in (contacts.mask, contacts.dist.double()))
    place = angle = 0.0
    for pos, quat, data in zip(xpos, xquat, datas, strict=True):
        place = max(place, np.abs(pos - data.xpos).max())
        alike = quat * np.sign((quat * data.xquat).sum(axis=1, keepdims=True))
        angle = max(angle, 2 * np.linalg.norm(alike - data.xquat, axis=1).max())
    ours = np.where(mask > 0, dist, np.inf).min(axis=1, initial=np.inf)
    theirs = np.array([data.contact.dist.min(initial=np.inf) for data in datas])
    both = np.isfinite(ours) & np.isfinite(theirs)
    depth = np.abs(ours - theirs, where=both, out=np.zeros(envs)).max()
    other = np.mean((mask > 0).sum(axis=1) != [data.ncon for data in datas])
    return float(place), float(angle), float(depth), float(other)


INTRODUCTION = """# Far from the origin

Generated by `python -m tests.physics.parity.far --write docs/reference/far.md`; do not edit.

Single precision knows a coordinate to a sixteen-millionth of its distance from the origin: 60 micrometres at 1 km. What
depends on distances inside a mechanism is computed relative to its root and loses nothing. Contacts with what stands
still in the world, and between bodies of different trees, are as exact as the coordinates along their normals: on a
level floor the height counts, which stays small however far a robot walks; on slopes, on terrain and above the ground
all coordinates count. Bodies at rest here are 0.1 mm deep. From 100 m on, a corner that just touches has its contact
some steps earlier or later than in MuJoCo, and the body turns by some 1e-4 rad: that is the step in the first table.

The tables have the largest errors of {envs} environments over {steps} steps of 2 ms, against MuJoCo in double precision
from the same states, by the distance of the scene from the origin. Errors of places hold what a coordinate is rounded
by. The scenes on a level floor are moved over it; the others upwards as well, by 0.6 m a metre.

"""
ADVICE = """
If that is too much for a task, move the scene back: take the same vector off the positions of all free bodies and of
what stands still; or run in double precision, `tumble.init(precision="64")`. Environments need no places of their own:
each has its own world, and all can be at the origin.
"""


def page(rows: dict[str, dict[float, Far]]) -> str:
    """The text of docs/reference/far.md."""
    lines = [INTRODUCTION.format(envs=ENVS, steps=STEPS).rstrip("\n"), ""]
    for title, unit, name in (("Orientation", "rad", "angle"), ("Depth", "m", "depth"), ("Place", "m", "place")):
        heads = "".join(f" {distance:g} m |" for distance in DISTANCES)
        lines += [f"## {title}, {unit}", "", f"| scene |{heads}", "|---|" + "---|" * len(DISTANCES)]
        for scene, found in rows.items():
            lines.append(f"| {scene} |" + "".join(f" {getattr(found[d], name):.0e} |" for d in DISTANCES))
        lines.append("")
    other = [
        f"{scene}, {d:g} m: {100 * far.other:.0f} %"
        for scene, found in rows.items()
        for d, far in found.items()
        if far.other >= 0.005
    ]
    if other:
        lines += ["The number of contacts differs in some of the comparisons: " + "; ".join(other) + ".", ""]
    return "\n".join(lines).rstrip("\n") + "\n" + ADVICE


def main() -> int:
    """Measure all scenes at all distances and write the page, or print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="where the page goes; else it is printed")
    given = parser.parse_args()
    tumble.init(precision="32", lanes=4)
    rows: dict[str, dict[float, Far]] = {}
    for name, scene in SCENES.items():
        rows[name] = {distance: measure(scene, distance) for distance in DISTANCES}
        print(name, *(f"{d:g} m: {far}" for d, far in rows[name].items()), sep="\n  ", file=sys.stderr, flush=True)
    text = page(rows)
    if given.write is None:
        print(text)
    else:
        given.write.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
