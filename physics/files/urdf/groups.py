"""Groups of links that move as one body: fixed joints hold them together, and no link is to be kept as a body.

MuJoCo wants mass in everything that moves. A link without any that has one moving child is a frame between two joints:
it is *folded*, and its child gets the joints of both, one after the other, which is the same motion.
"""

from dataclasses import dataclass, field

import numpy as np

from .faults import UrdfReport
from .inertia import LEAST, ROUNDING, Mass, ball_moment, impossible, mass_of
from .robot import MOVING, WORLD, Joint, Link, Pose, Robot

WORLD_LINK = "world_link"
"""Name of the body that has the shapes of a root link named "world", which is MuJoCo's name for the world itself."""
_MOST_DOFS = 6
_LITTLE = 1e-6


@dataclass(eq=False)
class LinkGroup:
    """Links that move as one body.

    Attributes:
        name: of its first link, whose frame is the body's.
        pose: in the parent's frame, or in the world's.
        parent: the group that it moves in; None: the world.
        joints: the joints that move it, and their frames in the body's frame; () for a held group.
        members: its links, and their frames in the body's frame.
        floating: it moves freely.
        held: group that a fixed joint holds it to, if it is kept as a separate body; else None.
        mass: of all members that have some; None: no member has an <inertial>.
    """

    name: str
    pose: Pose
    parent: "LinkGroup | None" = None
    joints: list[tuple[Joint, Pose]] = field(default_factory=list)
    members: list[tuple[Link, Pose]] = field(default_factory=list)
    floating: bool = False
    held: "LinkGroup | None" = None
    mass: Mass | None = None

    @property
    def carrier(self) -> "LinkGroup":
        """The group whose joints move this one: itself, or the one that it is held to in the end."""
        group = self
        while group.held is not None:
            group = group.held
        return group

    @property
    def moves(self) -> bool:
        """True if it moves against the world."""
        group: LinkGroup | None = self
        while group is not None:
            if group.joints or group.floating:
                return True
            group = group.parent
        return False

    @property
    def solid(self) -> bool:
        """True if no link says that it has mass: it has that of the collision shapes of links without <inertial>."""
        if self.mass is not None and self.mass.mass > 0.0:
            return False
        shapes = [shape for link, _ in self.members if link.inertial is None for shape in link.collisions]
        return any(shape.kind != "plane" for shape in shapes)


@dataclass(frozen=True)
class Rules:
    """The options of `urdf_spec` about links: see there."""

    fixed: bool = False
    merge: bool = True
    keep: tuple[str, ...] = ()
    balance: bool = False
    least_mass: float = 0.0


def groups_of(robot: Robot, rules: Rules, report: UrdfReport) -> list[LinkGroup]:
    """Return the groups of a robot, parents before their children.

    Raises:
        UrdfError: a link has an inertia that no body has, or something moves that has no mass.
    """
    groups = _divide(robot, rules)
    if not groups:
        raise report.fault(robot.links[robot.root].line, f"the robot has one link, '{WORLD}', and nothing in it")
    for group in groups:
        for link, pose in group.members:
            if link.inertial is not None:
                mass = mass_of(link.inertial, rules.balance).seen_from(pose)
                group.mass = mass if group.mass is None else group.mass + mass
    root = groups[0]
    if not rules.fixed and robot.root != WORLD:
        root.floating = any(_has_mass(each) for each in groups if each.carrier is root)
        if not root.floating:
            report.note(robot.links[root.name].line, f"the root '{root.name}' has no mass: it is fixed to the world")
    groups = _fold(groups, report)
    for group in groups:
        if not group.moves:
            _note_wrong_links(group, rules, report)
        if group.carrier is group and (group.joints or group.floating):
            together = [each for each in groups if each.carrier is group]
            _require_mass(group, together, _carried(together, groups), rules, report)
    return groups


def _divide(robot: Robot, rules: Rules) -> list[LinkGroup]:
    below: dict[str, list[Joint]] = {}
    for joint in robot.joints.values():
        below.setdefault(joint.parent, []).append(joint)
    root = robot.links[robot.root]
    empty = robot.root == WORLD and not (root.visuals or root.collisions)
    first = None if empty else LinkGroup(WORLD_LINK if robot.root == WORLD else robot.root, Pose())
    groups = [] if first is None else [first]
    pending: list[tuple[str, LinkGroup | None, Pose, Pose]] = [(robot.root, first, Pose(), Pose())]
    while pending:
        name, group, inside, world = pending.pop()
        if group is not None:
            group.members.append((robot.links[name], inside))
        more = []
        for joint in below.get(name, []):
            there, place = inside @ joint.pose, world @ joint.pose
            if joint.kind == "fixed" and group is not None and rules.merge and joint.child not in rules.keep:
                more.append((joint.child, group, there, place))
                continue
            new = LinkGroup(joint.child, there, group)
            if joint.kind == "floating":
                new = LinkGroup(joint.child, place, floating=True)
            if joint.kind in MOVING:
                new.joints = [(joint, Pose())]
            else:
                new.held = group
            groups.append(new)
            more.append((joint.child, new, Pose(), place))
        pending += reversed(more)
    return groups


def _wrong_links(group: LinkGroup) -> list[tuple[Link, str]]:
    """Return the links of a group with an inertia that no body has, and why."""
    found = [(link, link.inertial) for link, _ in group.members if link.inertial is not None and link.inertial.mass > 0]
    return [(link, wrong) for link, inertial in found if (wrong := impossible(inertial.inertia))]


def _note_wrong_links(group: LinkGroup, rules: Rules, report: UrdfReport) -> None:
    """Note inertias that no body has and that are no error: balanced, parts of a sum that is possible, or still."""
    for link, wrong in _wrong_links(group):
        line = link.inertial.line if link.inertial is not None else link.line
        if rules.balance:
            report.note(line, f"link '{link.name}' is balanced: {wrong}")
        else:
            report.note(line, f"link '{link.name}', which is part of body '{group.name}': {wrong}")


def _has_mass(group: LinkGroup) -> bool:
    return group.solid or (group.mass is not None and group.mass.mass >= LEAST)


def _fold(groups: list[LinkGroup], report: UrdfReport) -> list[LinkGroup]:
    """Take out groups without mass that have one moving child, which gets their joints."""
    kept = []
    held = {each.held for each in groups if each.held is not None}
    for group in groups:
        children = [each for each in groups if each.parent is group]
        if group.joints and not group.floating and not _has_mass(group) and group not in held and len(children) == 1:
            (child,) = children
            joints = [(joint, child.pose.inverse() @ pose) for joint, pose in group.joints]
            dofs = sum(MOVING[joint.kind] for joint, _ in [*joints, *child.joints])
            shapes = any(link.visuals or link.collisions for link, _ in group.members)
            turns = any(joint.kind == "spherical" for joint, _ in [*joints, *child.joints])
            if dofs <= _MOST_DOFS and not turns and not shapes and child.joints:
                child.pose, child.parent = group.pose @ child.pose, group.parent
                child.joints = [*joints, *child.joints]
                names = ", ".join(f"'{link.name}'" for link, _ in group.members)
                report.note(
                    group.members[0][0].line, f"{names} without mass: body '{child.name}' has the joint instead"
                )
                continue
        kept.append(group)
    return kept


def _require_mass(
    group: LinkGroup, together: list[LinkGroup], carried: float, rules: Rules, report: UrdfReport
) -> None:
    """Refuse a moving group without mass, or with an inertia that no body has.

    A body with a mass and no inertia at all, which the file leaves open, gets that of a ball of water.

    Args:
        group: that moves.
        together: all groups that move as one with it, and itself.
        carried: mass (kg) that joints carry on it.
        rules: the user's options.
        report: for faults and notes.
    """
    for each in together:
        if each.mass is not None and np.linalg.eigvalsh(each.mass.inertia)[0] < LEAST < np.abs(each.mass.inertia).max():
            line = each.members[0][0].line
            report.note(line, f"'{each.name}' has no inertia about one axis: it gets {ROUNDING:g} of the largest there")
        wrong = impossible(each.mass.inertia) if each.mass is not None and each.mass.mass >= LEAST else ""
        if wrong:
            links = _wrong_links(each) or [(each.members[0][0], wrong)]
            link, wrong = links[0]
            line = link.inertial.line if link.inertial is not None else link.line
            text = f"link '{link.name}' has an inertia that no body has: {wrong}"
            raise report.fault(line, f"{text}; correct it, or pass balance_inertia=True")
        _note_wrong_links(each, rules, report)
    if any(each.solid for each in together):
        return
    heavy = [each for each in together if each.mass is not None and each.mass.mass >= LEAST]
    link = group.members[0][0]
    if not heavy:
        _give_mass(group, together, carried, rules, report)
        return
    line = link.inertial.line if link.inertial is not None else link.line
    first = heavy[0].mass
    if first is not None and all(each.mass is None or np.abs(each.mass.inertia).max() < LEAST for each in heavy):
        heavy[0].mass = _ball(first.mass, first.center)
        report.note(line, f"link '{group.name}' has {first.mass:g} kg and no inertia: it gets that of a ball of water")


def _give_mass(group: LinkGroup, together: list[LinkGroup], carried: float, rules: Rules, report: UrdfReport) -> None:
    """Give mass to a moving group without mass: the least that the user asked for, or a share of its load.

    A millionth of the mass (kg) that other joints carry on it changes the motion by as much.
    """
    link = group.members[0][0]
    if rules.least_mass > 0.0:
        mass, reason = rules.least_mass, "no mass"
    elif carried > 0.0:
        mass, reason = _LITTLE * carried, "no mass, and carries some"
    else:
        by = f"moves by joint '{group.joints[0][0].name}'" if group.joints else "floats"
        raise report.fault(
            link.line,
            f"link '{group.name}' {by}, and neither it nor a link fixed to it has a mass; give it an <inertial>, or "
            "pass least_mass=1e-3 (kg)",
        )
    report.note(link.line, f"link '{group.name}' has {reason}: it gets {mass:.3g} kg")
    group.mass = _ball(mass, np.zeros(3))


def _carried(together: list[LinkGroup], groups: list[LinkGroup]) -> float:
    """Return the mass (kg), as far as the file says it, of all groups that joints carry on some."""
    carried, inside = 0.0, {*together}
    for each in groups:  # parents come before their children
        if each.parent in inside and each not in together:
            inside.add(each)
            carried += each.mass.mass if each.mass is not None else 0.0
    return carried


def _ball(mass: float, center: np.ndarray) -> Mass:
    """Return the mass of a ball of water."""
    return Mass(mass, center, np.eye(3) * max(ball_moment(mass), 10 * LEAST))
