"""From elements to a `Robot`: names, kinds, numbers and limits are checked.

Numbers are finite and there are as many as there have to be, or the error says so.
"""

import re
from collections.abc import Sequence

import numpy as np

from ...base.rotations import quat_to_matrix
from .faults import UrdfError, UrdfReport, nearest
from .robot import FARTHEST, TYPES, Inertial, Joint, Link, Mimic, Pose, Robot, Shape, ShapeMaterial
from .xml_tree import Element

_SIZES = {
    "box": (("size", 3),),
    "capsule": (("radius", 1), ("length", 1)),
    "cylinder": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
}
"""Attributes of shapes, in the order of `Shape.size`, and how many numbers each has."""
GREY = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's colour of a geom that says none."""
_NO_LIMITS = ((0.0, -1.0), (1.0, -1.0))
"""Lower and upper limits by which Bullet's files say that a joint has none."""


def read_robot(root: Element, report: UrdfReport) -> Robot:
    """Return the robot that a <robot> element describes.

    Raises:
        UrdfError: with the line of the first fault.
    """
    robot = Robot(root.attributes.get("name", ""), root.line)
    compiler = next((each for found in root.all("mujoco") for each in found.all("compiler")), None)
    if compiler is not None:
        said = compiler.attributes
        robot.meshdir = said.get("meshdir", "")
        robot.strippath = said.get("strippath") == "true"
        robot.balance = said.get("balanceinertia") == "true"
    looks = _Looks(root, report)
    for element in root.all("link"):
        link = _link(element, looks, report)
        if link.name in robot.links:
            raise report.fault(element.line, f"a link '{link.name}' is already in line {robot.links[link.name].line}")
        robot.links[link.name] = link
    if not robot.links:
        raise report.fault(root.line, "<robot> has no <link>")
    for element in root.all("joint"):
        joint = _joint(element, robot, report)
        if joint.name in robot.joints:
            line = robot.joints[joint.name].line
            raise report.fault(element.line, f"a joint '{joint.name}' is already in line {line}")
        robot.joints[joint.name] = joint
    return robot


def _name(element: Element, report: UrdfReport, name: str = "name") -> str:
    text = element.attributes.get(name, "")
    if not text.strip():
        raise report.fault(element.line, f"<{element.tag}> has no attribute '{name}'")
    return text


class _Looks:
    """The materials of a file: the robot's by their name, wherever they are defined."""

    def __init__(self, root: Element, report: UrdfReport) -> None:
        self.report, self.named = report, dict[str, ShapeMaterial]()
        inside = [found for link in root.all("link") for shape in link.children for found in shape.all("material")]
        for element in [*root.all("material"), *inside]:
            look = self._defined(element)
            if look is not None:
                self.named.setdefault(element.attributes.get("name", ""), look)

    def _defined(self, element: Element) -> ShapeMaterial | None:
        """Return the look that a <material> has in itself."""
        color, texture = element.first("color"), element.first("texture")
        file = texture.attributes.get("filename") if texture is not None else None
        if color is None and not file:
            return None
        return ShapeMaterial(self._rgba(color) if color is not None else None, file, element.line)

    def _rgba(self, color: Element) -> tuple[float, ...]:
        try:
            if len(color.attributes.get("rgba", "").split()) == 3:
                rgba = np.append(numbers(self.report, color, "rgba", 3), 1.0)
            else:
                rgba = numbers(self.report, color, "rgba", 4)
        except UrdfError as error:
            self.report.note(error.line, f"{error.sentence}; the colour is grey")
            return GREY
        if (rgba < 0.0).any() or (rgba > 1.0).any():
            self.report.note(color.line, f"rgba '{color.attributes['rgba']}' is not from 0 to 1, and is cut to that")
        return tuple(float(x) for x in rgba.clip(0.0, 1.0))

    def of(self, shape: Element) -> ShapeMaterial | None:
        """Return the look of a shape: its own, or the named one."""
        element = shape.first("material")
        if element is None:
            return None
        own, name = self._defined(element), element.attributes.get("name", "")
        if own is None and name and name not in self.named:
            hint = nearest(name, self.named)
            self.report.note(element.line, f"no material '{name}' is defined{hint}")
        return own or self.named.get(name)


def _link(element: Element, looks: _Looks, report: UrdfReport) -> Link:
    link = Link(_name(element, report), element.line)
    inertials = element.all("inertial")
    if len(inertials) > 1:
        report.note(inertials[1].line, f"link '{link.name}' has a second <inertial>, which is not read")
    if inertials and inertials[0].first("mass") is None:
        report.note(inertials[0].line, f"the <inertial> of link '{link.name}' has no <mass>, and is not read")
    elif inertials:
        link.inertial = _inertial(inertials[0], link.name, report)
    for each in element.all("visual"):
        try:
            link.visuals.append(_shape(each, looks, report))
        except UrdfError as error:
            report.note(error.line, f"{error.sentence}; this <visual> of link '{link.name}' is left out")
    link.collisions = [_shape(each, looks, report) for each in element.all("collision")]
    contact = element.first("contact")
    friction = contact.first("lateral_friction") if contact is not None else None
    if friction is not None:
        link.friction = _not_negative(report, friction, "value", 0.0)
    return link


def _inertial(element: Element, link: str, report: UrdfReport) -> Inertial:
    mass, inertia = element.first("mass"), element.first("inertia")
    assert mass is not None
    value = number(report, mass, "value")
    if value < 0.0:
        raise report.fault(mass.line, f"link '{link}' has a mass of {value:g} kg")
    matrix = np.zeros((3, 3))
    if inertia is not None:
        for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
            name = "i" + "xyz"[i] + "xyz"[j]
            if i == j and name not in inertia.attributes:
                raise report.fault(inertia.line, f"the <inertia> of link '{link}' has no attribute '{name}'")
            matrix[i, j] = matrix[j, i] = number(report, inertia, name, None if i == j else 0.0)
    elif value > 0.0:
        report.note(element.line, f"the <inertial> of link '{link}' has no <inertia>: its mass is in one point")
    return Inertial(value, pose_of(report, element), matrix, (inertia or element).line)


def _shape(element: Element, looks: _Looks, report: UrdfReport) -> Shape:
    geometry = element.first("geometry")
    if geometry is None:
        raise report.fault(element.line, f"<{element.tag}> has no <geometry>")
    kinds = (*_SIZES, "mesh", "plane")
    found = next((child for child in geometry.children if child.tag in kinds), None)
    if found is None:
        inside = ", ".join(f"<{child.tag}>" for child in geometry.children) or "nothing"
        hint = nearest(geometry.children[0].tag, kinds) if geometry.children else ""
        raise report.fault(geometry.line, f"<geometry> has {inside}, and one of {', '.join(kinds)} is needed{hint}")
    shape = Shape(found.tag, np.zeros(0), pose_of(report, element), found.line, element.attributes.get("name", ""))
    shape.look = looks.of(element)
    if found.tag == "mesh":
        shape.file = _name(found, report, "filename").strip()
        shape.size = numbers(report, found, "scale", _scales(found), (1.0, 1.0, 1.0)) * np.ones(3)
    elif found.tag == "plane":
        shape.size = numbers(report, found, "normal", 3, (0.0, 0.0, 1.0))
        if not np.linalg.norm(shape.size) > 1e-9:
            raise report.fault(found.line, "the normal of a <plane> is 0")
    else:
        shape.size = np.concatenate([numbers(report, found, name, count) for name, count in _SIZES[found.tag]])
        if (shape.size < 0.0).any():
            raise report.fault(found.line, f"<{found.tag}> has a negative size")
    return shape


def _scales(mesh: Element) -> int:
    """Return how many numbers a mesh's scale has to have: three, or one for all."""
    return 1 if len(mesh.attributes.get("scale", "").split()) == 1 else 3


def _joint(element: Element, robot: Robot, report: UrdfReport) -> Joint:
    name, kind = _name(element, report), element.attributes.get("type", "")
    if kind not in TYPES:
        hint = nearest(kind, TYPES)
        raise report.fault(element.line, f"joint '{name}' has the type '{kind}'; there are {', '.join(TYPES)}{hint}")
    ends = []
    for tag in ("parent", "child"):
        end = element.first(tag)
        if end is None:
            raise report.fault(element.line, f"joint '{name}' has no <{tag}>")
        link = _name(end, report, "link")
        if link not in robot.links:
            hint = nearest(link, robot.links)
            raise report.fault(end.line, f"joint '{name}' has the {tag} '{link}', and there is no such link{hint}")
        ends.append(link)
    if ends[0] == ends[1]:
        raise report.fault(element.line, f"joint '{name}' joins link '{ends[0]}' to itself")
    joint = Joint(name, kind, ends[0], ends[1], element.line, pose_of(report, element))
    if kind not in ("fixed", "floating", "spherical"):
        joint.axis = _axis(element, name, report)
    dynamics = element.first("dynamics")
    if dynamics is not None and kind != "fixed":
        joint.damping = _not_negative(report, dynamics, "damping", 0.0)
        joint.friction = _not_negative(report, dynamics, "friction", 0.0)
    if kind not in ("fixed", "floating"):
        _read_limits(joint, element, report)
    joint.mimic = _mimic(element, joint, report)
    return joint


def _axis(element: Element, name: str, report: UrdfReport) -> np.ndarray:
    axis = element.first("axis")
    vector = np.array([1.0, 0.0, 0.0]) if axis is None else numbers(report, axis, "xyz", 3, (1.0, 0.0, 0.0))
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise report.fault(axis.line if axis else element.line, f"the axis of joint '{name}' is 0")
    return vector / length


def _read_limits(joint: Joint, element: Element, report: UrdfReport) -> None:
    limit = element.first("limit")
    ranged = joint.kind in ("revolute", "prismatic")
    if limit is None:
        if ranged:
            report.note(joint.line, f"joint '{joint.name}' is {joint.kind} and has no <limit>: it has no limits")
        return
    joint.effort = abs(bound(report, limit, "effort") or 0.0)
    joint.velocity = abs(bound(report, limit, "velocity") or 0.0)
    lower, upper = bound(report, limit, "lower"), bound(report, limit, "upper")
    if not ranged:
        if joint.kind == "continuous" and (lower or 0.0, upper or 0.0) not in ((0.0, 0.0), *_NO_LIMITS):
            report.note(limit.line, f"joint '{joint.name}' is continuous: its lower and upper limits are not read")
        return
    infinite = [name in limit.attributes and end is None for name, end in (("lower", lower), ("upper", upper))]
    if all(infinite):
        return
    low = -FARTHEST if infinite[0] else lower or 0.0
    high = FARTHEST if infinite[1] else upper or 0.0
    if (low, high) in _NO_LIMITS or low == high == 0.0:
        report.note(limit.line, f"joint '{joint.name}' has the limits {low:g} and {high:g}, read as none")
    elif low > high:
        raise report.fault(
            limit.line, f"joint '{joint.name}' has its lower limit {low:g} above its upper limit {high:g}"
        )
    elif low == high:
        raise report.fault(
            limit.line, f"joint '{joint.name}' cannot move: both of its limits are {low:g}; make it fixed"
        )
    else:
        joint.limits = (low, high)


def _mimic(element: Element, joint: Joint, report: UrdfReport) -> Mimic | None:
    mimic = element.first("mimic")
    if mimic is None:
        return None
    if joint.kind not in ("revolute", "continuous", "prismatic"):
        report.note(mimic.line, f"joint '{joint.name}' is {joint.kind}, and its <mimic> is not read")
        return None
    multiplier, offset = number(report, mimic, "multiplier", 1.0), number(report, mimic, "offset", 0.0)
    return Mimic(_name(mimic, report, "joint"), multiplier, offset, mimic.line)


def _not_negative(report: UrdfReport, element: Element, name: str, default: float) -> float:
    value = number(report, element, name, default)
    if value < 0.0:
        raise report.fault(element.line, f"<{element.tag} {name}='{value:g}'> is negative")
    return value


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


def numbers(
    report: UrdfReport, element: Element, name: str, count: int, default: Sequence[float] | None = None
) -> np.ndarray:
    """Return the numbers (count,) of an attribute.

    Args:
        report: for faults.
        element: that has the attribute.
        name: of the attribute.
        count: how many there have to be.
        default: the numbers if the attribute is missing or empty; None: it is required.

    Raises:
        UrdfError: the attribute is missing, has another count of numbers, or something that is no finite number.
    """
    text = element.attributes.get(name)
    words = (text or "").split()
    if not words and default is not None:
        if text is not None:
            report.note(element.line, f"<{element.tag}> has an empty '{name}'; {' '.join(f'{x:g}' for x in default)}")
        return np.array(default, float)
    if text is None:
        raise report.fault(element.line, f"<{element.tag}> has no attribute '{name}'")
    for word in words:
        if not _NUMBER.fullmatch(word) or not abs(float(word)) <= FARTHEST:
            reason = "a number without bounds" if _NUMBER.fullmatch(word) else "not a finite number"
            raise report.fault(element.line, f"<{element.tag} {name}='{_short(text)}'>: '{_short(word)}' is {reason}")
    if len(words) != count:
        found = f"{len(words)} number{'s' * (len(words) != 1)}"
        raise report.fault(element.line, f"<{element.tag} {name}='{_short(text)}'> has {found}, and {count} are needed")
    return np.array([float(word) for word in words])


def number(report: UrdfReport, element: Element, name: str, default: float | None = None) -> float:
    """Return the only number of an attribute; see `numbers`."""
    return float(numbers(report, element, name, 1, None if default is None else [default])[0])


def bound(report: UrdfReport, element: Element, name: str) -> float | None:
    """Return a bound of a limit; None if it is missing, infinite, or so large that it bounds nothing."""
    text = element.attributes.get(name, "").strip()
    if not text or _INFINITE.fullmatch(text) or (_NUMBER.fullmatch(text) and abs(float(text)) > FARTHEST):
        return None
    return number(report, element, name)


def pose_of(report: UrdfReport, element: Element) -> Pose:
    """Return the pose that an <origin> inside an element says; without one, that of the element's parent."""
    origin = element.first("origin")
    if origin is None:
        return Pose()
    position = numbers(report, origin, "xyz", 3, (0.0, 0.0, 0.0))
    if "quat_xyzw" in origin.attributes:
        x, y, z, w = numbers(report, origin, "quat_xyzw", 4)
        length = np.linalg.norm([x, y, z, w])
        if length < 1e-6:
            raise report.fault(origin.line, "quat_xyzw is 0, which is no rotation")
        return Pose(quat_to_matrix(np.array([w, x, y, z]) / length), position)
    return Pose(rotation_of_rpy(*numbers(report, origin, "rpy", 3, (0.0, 0.0, 0.0))), position)


def rotation_of_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the rotation (3, 3) by roll about x, then pitch about y, then yaw about z, of axes that stay (rad)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _short(text: str) -> str:
    return " ".join(text.split())[:40]
