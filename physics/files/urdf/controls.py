"""Followers and actuators: mimic joints as equalities of joints, and an actuator for each joint that is to have one."""

from collections.abc import Mapping

import mujoco

from .build import PLANAR
from .faults import UrdfReport, nearest
from .robot import Joint, Mimic, Robot

KINDS = ("motor", "position", "velocity")
Actuators = str | Mapping[str, str] | None
"""One kind for all joints, or kinds by the name of the joint."""


def check_actuators(actuators: Actuators) -> None:
    """Refuse a kind of actuator that there is not.

    Raises:
        ValueError: with the nearest kind.
    """
    kinds = actuators.values() if isinstance(actuators, Mapping) else [] if actuators is None else [actuators]
    for kind in kinds:
        if kind not in KINDS:
            hint = nearest(str(kind), KINDS)
            raise ValueError(f"actuators={kind!r}: expected None, {', '.join(map(repr, KINDS))}, or a mapping{hint}")


def add_followers(spec: mujoco.MjSpec, followers: Mapping[str, Mimic]) -> None:
    """Add for each joint that follows another the equality position = offset + multiplier * that of the other.

    MuJoCo's equality is of the differences to the reference, which obeys the offset already.
    """
    for name, mimic in followers.items():
        equality = spec.add_equality(name=f"{name}_mimic", type=mujoco.mjtEq.mjEQ_JOINT)
        equality.objtype = mujoco.mjtObj.mjOBJ_JOINT
        equality.name1, equality.name2 = name, mimic.joint
        equality.data[:5] = (0.0, mimic.multiplier, 0.0, 0.0, 0.0)


def add_actuators(
    spec: mujoco.MjSpec,
    robot: Robot,
    followers: Mapping[str, Mimic],
    actuators: Actuators,
    gains: tuple[float, float],
    report: UrdfReport,
) -> None:
    """Add an actuator for each joint that drives itself, of the joint's name.

    Args:
        spec: with the joints.
        robot: whose joints they are.
        followers: joints that get none.
        actuators: what was asked for.
        gains: kp (N m/rad or N/m) and kv (N m s/rad or N s/m) of position and velocity servos.
        report: names the file.

    Raises:
        ValueError: a joint that a mapping names does not exist, or has no position of one number.
    """
    driven = [joint for joint in robot.joints.values() if joint.kind not in ("fixed", "floating", "spherical")]
    if actuators is None:
        return
    if isinstance(actuators, Mapping):
        known = {joint.name for joint in driven}
        for name in actuators:
            if name not in known:
                word = "is no joint that can be driven" if name in robot.joints else "is no joint"
                raise ValueError(f"{report.label}: actuators: '{name}' {word}{nearest(name, known)}")
        wanted = [(joint, actuators[joint.name]) for joint in driven if joint.name in actuators]
    else:
        wanted = [(joint, actuators) for joint in driven if joint.name not in followers]
    for joint, kind in wanted:
        ends = PLANAR if joint.kind == "planar" else ("",)
        for end in ends:
            _add_actuator(spec, joint, joint.name + end, kind, gains)


def _add_actuator(spec: mujoco.MjSpec, joint: Joint, name: str, kind: str, gains: tuple[float, float]) -> None:
    """Add one actuator: its force within the joint's effort, its control within what the joint can do."""
    actuator = spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
    bounds: tuple[float, float] | None
    if kind == "motor":
        actuator.set_to_motor()
        bounds = (-joint.effort, joint.effort) if joint.effort else None
    elif kind == "position":
        actuator.set_to_position(kp=gains[0], kv=gains[1])
        bounds = joint.limits
    else:
        actuator.set_to_velocity(kv=gains[1])
        bounds = (-joint.velocity, joint.velocity) if joint.velocity else None
    limited = mujoco.mjtLimited
    actuator.ctrllimited = limited.mjLIMITED_TRUE if bounds else limited.mjLIMITED_FALSE
    actuator.ctrlrange = bounds or (0.0, 0.0)
    actuator.forcelimited = limited.mjLIMITED_TRUE if joint.effort else limited.mjLIMITED_FALSE
    actuator.forcerange = (-joint.effort, joint.effort)
