"""A robot of another size: lengths times s, masses times s^3, moments of inertia times s^5, as the density stays.

Torques, forces, damping and friction stay as the file says: they are the motors'.
"""

from dataclasses import replace

import numpy as np

from .robot import Joint, Mimic, Pose, Robot, Shape


def scaled(robot: Robot, scale: float) -> Robot:
    """Return a robot whose lengths are `scale` times those of the file's; the robot given is changed."""
    if scale == 1.0:
        return robot
    for link in robot.links.values():
        for shape in [*link.visuals, *link.collisions]:
            _scale_shape(shape, scale)
        if link.inertial is not None:
            link.inertial = replace(
                link.inertial,
                mass=link.inertial.mass * scale**3,
                pose=_scaled(link.inertial.pose, scale),
                inertia=link.inertial.inertia * scale**5,
            )
    for joint in robot.joints.values():
        _scale_joint(joint, scale, robot)
    return robot


def _scaled(pose: Pose, scale: float) -> Pose:
    return Pose(pose.rotation, pose.position * scale)


def _scale_shape(shape: Shape, scale: float) -> None:
    shape.pose = _scaled(shape.pose, scale)
    if shape.kind != "plane":
        shape.size = np.asarray(shape.size) * scale


def _scale_joint(joint: Joint, scale: float, robot: Robot) -> None:
    """Scale places and, of slides, positions and speeds; of joints that follow others, as both of them are scaled."""
    joint.pose = _scaled(joint.pose, scale)
    own = _of_position(joint, scale)
    if joint.limits is not None:
        joint.limits = (joint.limits[0] * own, joint.limits[1] * own)
    joint.velocity *= own
    if joint.mimic is not None:
        other = robot.joints.get(joint.mimic.joint)
        ratio = own / (_of_position(other, scale) if other is not None else 1.0)
        mimic = joint.mimic
        joint.mimic = Mimic(mimic.joint, mimic.multiplier * ratio, mimic.offset * own, mimic.line)


def _of_position(joint: Joint, scale: float) -> float:
    return scale if joint.kind == "prismatic" else 1.0
