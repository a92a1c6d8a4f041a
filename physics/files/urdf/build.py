"""Bodies, joints, sites and geoms of an MjSpec from the groups of a robot."""

from collections.abc import Iterable, Mapping

import mujoco
import numpy as np

from ...base.joints import BY_NAME
from ...base.rotations import matrix_to_quat
from ..geometry.names import type_name
from .faults import UrdfReport
from .groups import LinkGroup
from .inertia import principal
from .meshes import Meshes
from .robot import Joint, Link, Pose, Shape

VISUAL_GROUP, COLLISION_GROUP = 2, 3
"""Groups of drawn geoms, and of collision geoms on bodies where something else is drawn."""
SITE_GROUP = 4
PLANAR = ("_TX", "_TY", "_RZ")
"""Endings of the names of the three joints of a planar joint, as MuJoCo has them."""
_KINDS = {type_name(kind): kind for kind in mujoco.mjtGeom.__members__.values()}
"""Numbers of geom types by MJCF's names, which are URDF's."""
_TRUE, _FALSE = mujoco.mjtLimited.mjLIMITED_TRUE, mujoco.mjtLimited.mjLIMITED_FALSE


class Builder:
    """Writes groups into a spec.

    Args:
        spec: an empty one.
        meshes: that the geoms use.
        report: for faults and notes.
        armature: of every dof except free joints', kg m^2 or kg.
        density: of collision shapes of bodies without an <inertial>, kg/m^3.
        start: where hinges and slides begin, by name, rad or m; 0 for others.
    """

    def __init__(
        self,
        spec: mujoco.MjSpec,
        meshes: Meshes,
        report: UrdfReport,
        armature: float,
        density: float,
        start: Mapping[str, float],
    ) -> None:
        self.spec, self.meshes, self.report = spec, meshes, report
        self.armature, self.density, self.start = armature, density, start
        self.bodies: dict[LinkGroup, mujoco.MjsBody] = {}
        self._names: set[str] = set()

    def add(self, groups: Iterable[LinkGroup]) -> None:
        """Add the bodies of groups, which come after the groups that they move in."""
        groups = list(groups)
        for group in groups:
            self._add_body(group)
        self._exclude_base(groups)

    def show(self) -> None:
        """Draw the collision shapes of bodies without visual shapes; called after files have been read."""
        for body in self.bodies.values():
            if not any(geom.group == VISUAL_GROUP for geom in body.geoms):
                for geom in body.geoms:
                    geom.group = 0

    def _add_body(self, group: LinkGroup) -> None:
        parent = self.spec.worldbody if group.parent is None else self.bodies[group.parent]
        joints, pose = self._at_start(group)
        body = parent.add_body(name=group.name, pos=pose.position, quat=matrix_to_quat(pose.rotation))
        self.bodies[group] = body
        if group.floating:
            named = group.joints[0][0].name if group.joints else f"{group.name}_free_joint"
            body.add_freejoint(name=named)
        else:
            for joint, frame in joints:
                self._add_joints(body, joint, frame)
        if group.mass is not None and not group.solid:
            moments, axes = principal(group.mass.inertia)
            body.explicitinertial = True
            body.mass, body.ipos = group.mass.mass, group.mass.center
            body.inertia, body.iquat = moments, matrix_to_quat(axes)
        for link, pose in group.members:
            if link.name != group.name and link is not group.members[0][0]:
                self._add_site(body, link, pose)
            for shape in link.visuals:
                self._add_geom(body, group, link, pose, shape, VISUAL_GROUP)
            for shape in link.collisions:
                self._add_geom(body, group, link, pose, shape, COLLISION_GROUP)

    def _at_start(self, group: LinkGroup) -> tuple[list[tuple[Joint, Pose]], Pose]:
        """Return the joints of a group and their frames in that of the body, and the body's pose, where joints begin.

        MuJoCo's joints are at their `ref` where the body has its pose.
        """
        joints, moved = list[tuple[Joint, Pose]](), Pose()
        for joint, pose in reversed(group.joints):
            joints.append((joint, moved.inverse() @ pose))
            if joint.name in self.start:
                moved = _motion(joint, pose, self.start[joint.name]) @ moved
        return joints[::-1], group.pose @ moved

    def _add_joints(self, body: mujoco.MjsBody, joint: Joint, pose: Pose) -> None:
        """Add the joint, or joints, by which a URDF joint moves a body; `pose` is its frame in that of the body."""
        axis = pose.rotation @ joint.axis
        if joint.kind == "planar":
            turn, matrix = np.zeros(4), np.zeros(9)
            mujoco.mju_quatZ2Vec(turn, joint.axis)
            mujoco.mju_quat2Mat(matrix, turn)
            first = pose.rotation @ matrix.reshape(3, 3)[:, 0]
            axes = [("slide", first), ("slide", np.cross(axis, first)), ("hinge", axis)]
            pairs = [(joint.name + end, *kind) for end, kind in zip(PLANAR, axes, strict=True)]
        else:
            kind = {"prismatic": "slide", "spherical": "ball"}.get(joint.kind, "hinge")
            pairs = [(joint.name, kind, axis)]
        for name, kind, direction in pairs:
            made = body.add_joint(name=name, type=BY_NAME[kind], pos=pose.position, axis=direction)
            made.damping[0], made.frictionloss, made.armature = joint.damping, joint.friction, self.armature
            made.ref = self.start.get(name, 0.0)
            made.limited = _FALSE if joint.limits is None else _TRUE
            made.range = joint.limits or (0.0, 0.0)
            made.actfrclimited = _TRUE if joint.effort else _FALSE
            made.actfrcrange = (-joint.effort, joint.effort)
            made.userdata = [joint.velocity]

    def _add_site(self, body: mujoco.MjsBody, link: Link, pose: Pose) -> None:
        """Keep the frame of a link that has become part of a body."""
        body.add_site(name=link.name, pos=pose.position, quat=matrix_to_quat(pose.rotation), group=SITE_GROUP)

    def _add_geom(
        self, body: mujoco.MjsBody, group: LinkGroup, link: Link, pose: Pose, shape: Shape, layer: int
    ) -> None:
        if (shape.size == 0.0).any() and shape.kind != "plane":
            size = "a scale" if shape.kind == "mesh" else "the size"
            self.report.note(shape.line, f"a <{shape.kind}> of link '{link.name}' has {size} 0, and is left out")
            return
        place = pose @ shape.pose
        if shape.kind == "plane":
            if group.moves:
                sentence = f"link '{link.name}' moves, and a <plane> has to stand still"
                if layer == VISUAL_GROUP:
                    self.report.note(shape.line, f"{sentence}; this one, which is only seen, is left out")
                    return
                raise self.report.fault(shape.line, sentence)
            place = place @ Pose(_turn_z_to(shape.size))
        geom = body.add_geom(name=self._name(link, shape, layer), type=_KINDS[shape.kind], pos=place.position)
        geom.quat, geom.group = matrix_to_quat(place.rotation), layer
        if shape.kind == "mesh":
            geom.meshname = self.meshes.use(shape, whole=layer != VISUAL_GROUP and group.solid)
        elif shape.kind == "plane":
            geom.size = (0.0, 0.0, 1.0)
        else:
            geom.size = _half_sizes(shape)
        if layer == VISUAL_GROUP:
            geom.contype = geom.conaffinity = 0
            geom.density = 0.0
        else:
            geom.density = self.density if group.solid and link.inertial is None else 0.0
            if link.friction is not None:
                geom.friction[0] = link.friction
        self.meshes.paint(geom, shape)

    def _name(self, link: Link, shape: Shape, layer: int) -> str:
        """Return a name for a geom that no other has."""
        base = shape.name or f"{link.name}_{'visual' if layer == VISUAL_GROUP else 'collision'}"
        name, count = base, 1
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name

    def _exclude_base(self, groups: list[LinkGroup]) -> None:
        """Exclude contacts of links with a static parent; MuJoCo excludes other parents."""
        solid = [group for group in groups if any(link.collisions for link, _ in group.members)]
        still = [group for group in solid if not group.moves]
        for group in solid:
            carrier = group.carrier
            if carrier.joints and carrier.parent is not None and not carrier.parent.moves:
                for base in still:
                    self.spec.add_exclude(bodyname1=base.name, bodyname2=group.name)


def _motion(joint: Joint, pose: Pose, position: float) -> Pose:
    """Return how a hinge or slide with the frame `pose` has moved its body at a position (rad or m)."""
    if joint.kind == "prismatic":
        return Pose(position=pose.rotation @ joint.axis * position)
    turn, matrix = np.zeros(4), np.zeros(9)
    mujoco.mju_axisAngle2Quat(turn, joint.axis, position)
    mujoco.mju_quat2Mat(matrix, turn)
    return pose @ Pose(matrix.reshape(3, 3)) @ pose.inverse()


def _half_sizes(shape: Shape) -> np.ndarray:
    """Return MuJoCo's sizes of a shape: half sides; radius and half length."""
    if shape.kind == "box":
        return shape.size / 2
    sizes = np.zeros(3)
    sizes[: len(shape.size)] = shape.size * [1.0, 0.5][: len(shape.size)]
    return sizes


def _turn_z_to(normal: np.ndarray) -> np.ndarray:
    """Return a rotation (3, 3) that turns z to a direction."""
    z = normal / np.linalg.norm(normal)
    x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
