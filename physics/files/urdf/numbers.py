"""Numbers in the attributes of URDF: each is finite and there are as many as there have to be, or the error says so."""

import re
from collections.abc import Sequence

import numpy as np

from ...base.rotations import quat_to_matrix
from .faults import UrdfReport
from .robot import FARTHEST, Pose
from .xml_tree import Element

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
        default: the numbers if there is no such attribute, or an empty one; None: there must be one.

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
    """Return a bound of a limit; None: there is none, or it is infinite, or so large that it bounds nothing."""
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
