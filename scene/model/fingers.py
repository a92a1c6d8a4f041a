"""A warning of steps that are too long for fingers: held objects slip away."""

import warnings
from itertools import combinations

import mujoco
import numpy as np

from ..options import RigidOptions

_FREE, _SLIDE, _HINGE = (int(getattr(mujoco.mjtJoint, f"mjJNT_{name}")) for name in ("FREE", "SLIDE", "HINGE"))
_TOWARDS = 0.7
"""Least cosine between the motion of a finger and the way to the other one."""


def warn_of_long_steps(mj: mujoco.MjModel, rigid: RigidOptions, substeps: int) -> None:
    """Warn if a model has fingers and something to hold, and steps in which contacts are softer than asked.

    MuJoCo takes a time constant of contacts of no less than two steps; objects that are held with softer ones slip
    away.

    Args:
        mj: the compiled scene.
        rigid: its options.
        substeps: of a step of the scene.
    """
    softest = 2.0 * float(mj.opt.timestep)
    if softest <= rigid.constraint_timeconst * (1.0 + 1e-9):
        return
    held = [body for body in mj.jnt_bodyid[mj.jnt_type == _FREE] if (mj.body_parentid != body).all()]
    pair = opposed_fingers(mj)
    if pair is None or not held:
        return
    names = " and ".join(f"'{mj.body(body).name}'" for body in pair)
    enough = int(np.ceil(softest / rigid.constraint_timeconst * substeps - 1e-9))
    warnings.warn(
        f"{names} can grasp, and physics steps of {mj.opt.timestep:g} s are too long for it: contacts have a time "
        f"constant of {softest:g} s in place of constraint_timeconst={rigid.constraint_timeconst:g}, and let go; "
        f"give the scene SimOptions(substeps={enough})",
        stacklevel=3,
    )


def opposed_fingers(mj: mujoco.MjModel) -> tuple[int, int] | None:
    """Return two bodies that press against each other, as the fingers of a gripper; None without such bodies.

    They are ends of chains with shapes that touch, sit on one body, and move each to or from the other one, by slides
    or by hinges with limits. Hinges on a body that floats are legs.
    """
    data = mujoco.MjData(mj)
    mujoco.mj_kinematics(mj, data)
    touching, floating = (mj.geom_contype | mj.geom_conaffinity) != 0, mj.jnt_bodyid[mj.jnt_type == _FREE]
    ends: dict[int, list[int]] = {}
    for body in range(1, mj.nbody):
        joint, parent = int(mj.body_jntadr[body]), int(mj.body_parentid[body])
        moves = mj.body_jntnum[body] == 1 and (
            mj.jnt_type[joint] == _SLIDE
            or (mj.jnt_type[joint] == _HINGE and mj.jnt_limited[joint] and parent not in floating)
        )
        if parent and moves and (mj.body_parentid != body).all() and touching[mj.geom_bodyid == body].any():
            ends.setdefault(parent, []).append(body)
    for bodies in ends.values():
        for pair in combinations(bodies, 2):
            if all(_moves_to(mj, data, one, other) for one, other in (pair, pair[::-1])):
                return pair
    return None


def _moves_to(mj: mujoco.MjModel, data: mujoco.MjData, body: int, other: int) -> bool:
    """Return True if a body's joint moves its middle along the way to the middle of another body."""
    joint = int(mj.body_jntadr[body])
    touching = (mj.geom_contype | mj.geom_conaffinity) != 0
    middle, towards = (data.geom_xpos[touching & (mj.geom_bodyid == each)].mean(axis=0) for each in (body, other))
    axis, way = data.xaxis[joint], towards - middle
    motion = axis if mj.jnt_type[joint] == _SLIDE else np.cross(axis, middle - data.xanchor[joint])
    size = float(np.linalg.norm(motion) * np.linalg.norm(way))
    return size > 0.0 and abs(float(motion @ way)) > _TOWARDS * size
