"""Scenes with meshes: a bin of hulls, an arm that pushes a cube about a table, a quadruped on a floor of boxes."""

import mujoco
import numpy as np

BOX, MESH = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_MESH
HINGE = mujoco.mjtJoint.mjJNT_HINGE
CORNERS = (20, 30, 45, 60)
"""Numbers of corners of the hulls in the bin, which are points of an ellipsoid."""
ARM = ((0.333, 2), (0.316, 1), (0.2, 2), (0.384, 1), (0.2, 2), (0.2, 1), (0.15, 2))
"""Lengths of the arm's links in metres, and the axes that their hinges turn about, as of a common research arm."""
READY = (0.0, 0.5, 0.0, 1.6, 0.0, 0.9, 0.0)
"""rad: the hand stands behind the cube."""
LEG = ((0, 0.0, 0.0), (1, 0.08, 0.7), (1, -0.2, -1.4))
"""The hinges of a leg: axis, metres from the one before (to the side, then down), rad in the reference pose."""


def _empty(timestep: float) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.option.timestep = timestep
    spec.compiler.degree = False
    return spec


def _points(spec: mujoco.MjSpec, name: str, size: tuple[float, ...], count: int, seed: int) -> None:
    """A mesh: the hull of points on an ellipsoid."""
    points = np.random.default_rng(seed).standard_normal((count, 3))
    points *= np.array(size) / np.linalg.norm(points, axis=1)[:, None]
    spec.add_mesh(name=name, uservert=points.ravel())


def _prism(spec: mujoco.MjSpec, name: str, radius: float, length: float, sides: int = 16) -> None:
    """A mesh: a link's casing along z, three rings of corners, the middle one wider."""
    turn = np.arange(sides) * 2 * np.pi / sides
    rings = [(0.85, 0.0), (1.0, 0.5), (0.85, 1.0)]
    points = [(r * radius * np.cos(a), r * radius * np.sin(a), z * length) for r, z in rings for a in turn]
    spec.add_mesh(name=name, uservert=np.ravel(points))


def add_hulls(spec: mujoco.MjSpec, count: int) -> list[str]:
    """So many names of meshes, by turns of few and of many corners."""
    for k, corners in enumerate(CORNERS):
        _points(spec, f"hull{k}", (0.1, 0.085, 0.07), corners, k)
    return [f"hull{i % len(CORNERS)}" for i in range(count)]


def _hinge(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    name: str,
    axis: int,
    angle: float,
    swing: float,
    kp: float,
    damping: float,
) -> None:
    """A hinge at `angle` in the reference pose, and a position actuator that takes it as far as `swing` about it."""
    direction = np.eye(3)[axis]
    mujoco.mju_axisAngle2Quat(quat := np.zeros(4), direction, angle)
    body.quat = quat
    body.add_joint(name=name, type=HINGE, axis=direction, damping=damping, armature=0.01, ref=angle)
    actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_position(kp=kp)
    actuator.ctrllimited, actuator.ctrlrange = 1, [angle - swing, angle + swing]


def arm(timestep: float) -> mujoco.MjSpec:
    """Seven hinges with position actuators; every link but the next ones may touch every other, the table, the cube."""
    spec = _empty(timestep)
    body = spec.worldbody
    height = 0.0
    for i, (length, axis) in enumerate(ARM):
        body = body.add_body(name=f"link{i}", pos=[0, 0, height])
        _hinge(spec, body, f"joint{i}", axis, READY[i], 0.25, 300, 60)
        _prism(spec, f"casing{i}", 0.06 - 0.004 * i, length)
        body.add_geom(type=MESH, meshname=f"casing{i}", density=800)
        height = length
    spec.worldbody.add_geom(type=BOX, size=[0.4, 0.6, 0.02], pos=[0.65, 0, 0.1])
    for side in (-1, 1):  # a rim keeps the cube on it
        spec.worldbody.add_geom(type=BOX, size=[0.4, 0.02, 0.08], pos=[0.65, 0.3 * side, 0.2])
        spec.worldbody.add_geom(type=BOX, size=[0.02, 0.3, 0.08], pos=[0.65 + 0.25 * side, 0, 0.2])
    cube = spec.worldbody.add_body(name="cube", pos=[0.7, 0, 0.17])
    cube.add_freejoint()
    cube.add_geom(type=BOX, size=[0.05, 0.05, 0.05], mass=1)
    return spec


def quadruped(timestep: float) -> mujoco.MjSpec:
    """Twelve hinges with position actuators, boxes for trunk and legs, hulls for feet; the floor is 15 x 15 boxes."""
    spec = _empty(timestep)
    heights = np.random.default_rng(0).uniform(-0.02, 0.02, (15, 15))
    for (i, j), height in np.ndenumerate(heights):
        place = [0.2 * (i - 7), 0.2 * (j - 7), height - 0.05]
        floor = spec.worldbody.add_geom(type=BOX, size=[0.1, 0.1, 0.05], pos=place)
        floor.contype, floor.conaffinity = 2, 0
    _points(spec, "foot", (0.03, 0.025, 0.025), 24, 9)
    trunk = spec.worldbody.add_body(name="trunk", pos=[0, 0, 0.36])
    trunk.add_freejoint()
    trunk.add_geom(type=BOX, size=[0.2, 0.06, 0.05], mass=6, conaffinity=2)
    for leg in range(4):
        front, left = 1 - 2 * (leg // 2), 1 - 2 * (leg % 2)
        body = trunk.add_body(pos=[0.19 * front, 0.05 * left, 0])
        for part, (axis, pos, angle) in enumerate(LEG):
            if part:
                body = body.add_body(pos=[0, pos * left, 0] if part == 1 else [0, 0, pos])
            _hinge(spec, body, f"leg{leg}-{part}", axis, angle, 0.3, 100, 2)
            size, at = ([0.03, 0.03, 0.03], [0, 0, 0]) if part == 0 else ([0.015, 0.015, 0.09], [0, 0, -0.1])
            body.add_geom(type=BOX, size=size, pos=at, mass=0.4, conaffinity=2)
        body.add_geom(type=MESH, meshname="foot", pos=[0, 0, -0.2], mass=0.05, conaffinity=2)
    return spec
