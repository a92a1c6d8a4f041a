"""Scenes on uneven ground: a quadruped of primitives and a humanoid on a rough field, each environment elsewhere.

Masses, lengths and ranges of the quadruped are Unitree's published values for the Go2 (its URDF).
"""

import mujoco
import numpy as np

from .. import assets
from ..physics import RigidSolver
from .models import random_controls

CELL, ROUGH = 0.1, 0.08
"""Metres: sides of the cells of a field, and the range of its heights."""
MARGIN = 2.0  # metres from the border in which no environment starts
GEOM, HINGE = mujoco.mjtGeom, mujoco.mjtJoint.mjJNT_HINGE
LEG = (("hip", [1, 0, 0], 0.0, 0.8), ("thigh", [0, 1, 0], 0.8, 1.2), ("calf", [0, 1, 0], -1.5, 0.6))
"""Joints of a leg: name, axis, angle at which it stands, and half its range (rad)."""
STAND = 0.33  # metres: the height of the trunk over its feet


def rough_ground(spec: mujoco.MjSpec, cells: int) -> None:
    """Add a square field of so many cells a side: random heights at every third vertex, linear between them."""
    knots = np.random.default_rng(0).uniform(0, 1, (cells // 3 + 2, cells // 3 + 2))
    place = np.arange(cells + 1) / 3
    rows = np.array([np.interp(place, np.arange(len(knots)), row) for row in knots])
    heights = np.array([np.interp(place, np.arange(len(knots)), column) for column in rows.T]).T
    side = 0.5 * CELL * cells
    spec.add_hfield(
        name="ground",
        nrow=cells + 1,
        ncol=cells + 1,
        size=[side, side, ROUGH, 0.1],
        userdata=heights.astype(np.float32).ravel(),
    )
    geom = spec.worldbody.add_geom(name="ground", type=GEOM.mjGEOM_HFIELD, hfieldname="ground")
    geom.contype = geom.conaffinity = 3


def quadruped_of_primitives(spec: mujoco.MjSpec) -> None:
    """Add a robot of boxes, cylinders and spheres with twelve position actuators, standing at the origin."""
    trunk = spec.worldbody.add_body(name="trunk", pos=[0, 0, STAND])
    trunk.add_freejoint()
    trunk.add_geom(type=GEOM.mjGEOM_BOX, size=[0.188, 0.047, 0.057], mass=6.921)
    for leg in range(4):
        front, left = 1 - 2 * (leg // 2), 1 - 2 * (leg % 2)
        body = trunk
        places = ([0.1934 * front, 0.0465 * left, 0], [0, 0.0955 * left, 0], [0, 0, -0.213])
        for (name, axis, angle, swing), place in zip(LEG, places, strict=True):
            body = body.add_body(name=f"{name}{leg}", pos=place)
            half = np.sin(angle / 2)
            body.quat = [np.cos(angle / 2), *(half * np.array(axis))]
            joint = body.add_joint(name=f"{name}{leg}", type=HINGE, axis=axis, damping=0.1, armature=0.005, ref=angle)
            joint.range, joint.limited = [angle - swing, angle + swing], 1
            actuator = spec.add_actuator(name=f"{name}{leg}", target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.set_to_position(kp=60, kv=1)
            actuator.forcelimited, actuator.forcerange = 1, [-23.7, 23.7]
            actuator.ctrllimited, actuator.ctrlrange = 1, [angle - 0.3, angle + 0.3]
            if name == "hip":
                hip = body.add_geom(type=GEOM.mjGEOM_CYLINDER, size=[0.046, 0.02, 0], mass=0.678)
                hip.pos, hip.quat = [0, 0.08 * left, 0], [np.sqrt(0.5), np.sqrt(0.5), 0, 0]
            elif name == "thigh":
                body.add_geom(type=GEOM.mjGEOM_BOX, size=[0.017, 0.012, 0.1065], pos=[0, 0, -0.1065], mass=1.152)
            else:
                body.add_geom(type=GEOM.mjGEOM_CYLINDER, size=[0.012, 0.09, 0], pos=[0, 0, -0.1], mass=0.154)
                body.add_geom(type=GEOM.mjGEOM_SPHERE, size=[0.022, 0, 0], pos=[0, 0, -0.213], mass=0.04)
    for geom in spec.geoms:
        if geom.parent != spec.worldbody:
            geom.contype, geom.conaffinity = 1, 0


def quadruped_on_ground(timestep: float, cells: int) -> mujoco.MjSpec:
    """Return the quadruped on a rough field."""
    spec = mujoco.MjSpec()
    spec.option.timestep = timestep
    rough_ground(spec, cells)
    quadruped_of_primitives(spec)
    return spec


def humanoid_on_ground(cells: int) -> mujoco.MjSpec:
    """Return the humanoid of the task on a rough field instead of its floor."""
    spec = mujoco.MjSpec.from_file(str(assets.find("humanoid.xml")))
    spec.delete(spec.geom("floor"))
    rough_ground(spec, cells)
    return spec


def scatter_over_ground(solver: RigidSolver, steps: int) -> None:
    """Start every environment at another place of the field, and let random actions scatter them."""
    mj, rng = solver.model.mj, np.random.default_rng(0)
    wide = mj.hfield_size[0, 0] - MARGIN
    qpos = np.tile(mj.qpos0, (solver.num_envs, 1))
    qpos[:, :2] += rng.uniform(-wide, wide, (solver.num_envs, 2))
    qpos[:, 2] += ROUGH
    solver.set_state(qpos=qpos)
    for control in random_controls(solver.model, solver.num_envs, steps, seed=0):
        solver.ctrl = control
        solver.step()
