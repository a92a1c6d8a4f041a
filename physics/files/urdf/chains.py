"""The tree of links, which has one root, joints that follow others without going round in circles, and their start."""

import math
from collections.abc import Mapping

from .faults import UrdfReport, nearest
from .robot import FARTHEST, WORLD, Joint, Mimic, Robot


def find_root(robot: Robot, report: UrdfReport) -> None:
    """Set the root of a robot.

    Raises:
        UrdfError: a link has two parents, links are in a circle, or there are several roots.
    """
    parents: dict[str, Joint] = {}
    for joint in robot.joints.values():
        other = parents.setdefault(joint.child, joint)
        if other is not joint:
            raise report.fault(
                joint.line,
                f"link '{joint.child}' has two parents: '{other.parent}' by joint '{other.name}' in line {other.line}, "
                f"and '{joint.parent}' by joint '{joint.name}'; URDF has no loops",
            )
    roots = [name for name in robot.links if name not in parents]
    if len(roots) > 1:
        named = ", ".join(f"'{name}' (line {robot.links[name].line})" for name in roots[:6])
        more = f" and {len(roots) - 6} more" if len(roots) > 6 else ""
        raise report.fault(0, f"{len(roots)} links have no parent, and a robot has one root: {named}{more}")
    reached = set(roots)
    children: dict[str, list[str]] = {}
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint.child)
    pending = list(roots)
    while pending:
        pending += children.get(pending.pop(), [])
        reached |= {*pending}
    lost = [name for name in robot.links if name not in reached]
    if lost:
        raise report.fault(robot.links[lost[0]].line, f"links are in a circle: {_circle(lost[0], parents)}")
    robot.root = roots[0]
    if WORLD in robot.links and robot.root != WORLD:
        raise report.fault(robot.links[WORLD].line, f"a link '{WORLD}' is the world, and cannot have a parent")


def _circle(start: str, parents: dict[str, Joint]) -> str:
    """Return the names in the circle that the ancestors of a link run into."""
    path = [start]
    while parents[path[-1]].parent not in path:
        path.append(parents[path[-1]].parent)
    first = path.index(parents[path[-1]].parent)
    circle = [*path[first:], path[first]]
    return " -> ".join(reversed(circle)) if len(circle) < 12 else f"{len(circle) - 1} of them, '{start}' among them"


def drivers(robot: Robot, report: UrdfReport) -> dict[str, Mimic]:
    """Return for each joint that follows another what it follows in the end: a joint that follows none.

    Offsets and multipliers along a chain are multiplied out.

    Raises:
        UrdfError: a joint follows itself, one that does not exist, or one that does not move.
    """
    found: dict[str, Mimic] = {}
    for joint in robot.joints.values():
        if joint.mimic is None:
            continue
        seen, last, multiplier, offset = [joint.name], joint, 1.0, 0.0
        while last.mimic is not None:
            mimic = last.mimic
            if mimic.joint not in robot.joints:
                hint = nearest(mimic.joint, robot.joints)
                raise report.fault(
                    mimic.line, f"joint '{last.name}' follows '{mimic.joint}', and there is no such joint{hint}"
                )
            if mimic.joint in seen:
                circle = " -> ".join([*seen[seen.index(mimic.joint) :], mimic.joint])
                raise report.fault(mimic.line, f"joints follow each other in a circle: {circle}")
            offset, multiplier = offset + multiplier * mimic.offset, multiplier * mimic.multiplier
            last = robot.joints[mimic.joint]
            seen.append(last.name)
        if last.kind not in ("revolute", "continuous", "prismatic"):
            raise report.fault(
                joint.mimic.line,
                f"joint '{joint.name}' follows '{last.name}', which is {last.kind} and has no position of one number",
            )
        found[joint.name] = Mimic(last.name, multiplier, offset, joint.mimic.line)
    return found


def reference(robot: Robot, followers: Mapping[str, Mimic], report: UrdfReport) -> dict[str, float]:
    """Return where hinges and slides begin (rad or m), by name, for those that do not begin at 0.

    A joint begins at 0 if its limits, and those of the joints that follow it, include 0; else in the middle of what
    they leave, or at the end of it that is finite. Joints that follow others begin where these put them.
    """
    found: dict[str, float] = {}
    for joint in robot.joints.values():
        if joint.name in followers:
            continue
        mine = {name: mimic for name, mimic in followers.items() if mimic.joint == joint.name}
        start = _start(joint, [(robot.joints[name], mimic) for name, mimic in mine.items()], report)
        found[joint.name] = start
        found |= {name: mimic.offset + mimic.multiplier * start for name, mimic in mine.items()}
    return {name: start for name, start in found.items() if start != 0.0}


def _start(joint: Joint, followers: list[tuple[Joint, Mimic]], report: UrdfReport) -> float:
    """Return where a joint begins that follows none."""
    own = low, high = joint.limits or (-math.inf, math.inf)
    for other, mimic in followers:
        if other.limits is not None and mimic.multiplier != 0.0:
            ends = sorted((end - mimic.offset) / mimic.multiplier for end in other.limits)
            low, high = max(low, ends[0]), min(high, ends[1])
    if low > high:
        names = ", ".join(f"'{other.name}'" for other, _ in followers)
        report.note(joint.line, f"joint '{joint.name}' has no position within its limits and those of {names}")
        low, high = own
    if low <= 0.0 <= high:
        return 0.0
    if abs(low) < FARTHEST and abs(high) < FARTHEST:
        return (low + high) / 2
    return low if low > 0.0 else high
