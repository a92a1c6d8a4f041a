"""The links and joints of an entity by name, in the order in which the compiled model will have them.

They are known as soon as the entity is added; the numbers of the whole scene follow when it is built.
"""

from dataclasses import dataclass
from functools import cached_property

import mujoco

WIDTHS = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}
"""Coordinates and dofs of a joint, by MuJoCo's mjtJoint: free, ball, slide, hinge."""


@dataclass(frozen=True)
class JointOutline:
    """A joint of an entity.

    Attributes:
        name: without the entity's.
        type: MuJoCo's mjtJoint.
        link: local index of the link that it moves.
        q_start, dof_start: where its coordinates and dofs begin, local.
    """

    name: str
    type: int
    link: int
    q_start: int
    dof_start: int

    @property
    def n_qs(self) -> int:
        """Number of coordinates."""
        return WIDTHS[self.type][0]

    @property
    def n_dofs(self) -> int:
        """Number of dofs."""
        return WIDTHS[self.type][1]


@dataclass(frozen=True)
class Outline:
    """The links and joints of an entity.

    Attributes:
        links: names of the links.
        parents: local index of the parent of each, -1: the world.
        joints: of all links, in their order.
    """

    links: tuple[str, ...]
    parents: tuple[int, ...]
    joints: tuple[JointOutline, ...]

    @cached_property
    def n_qs(self) -> int:
        """Number of coordinates."""
        return sum(joint.n_qs for joint in self.joints)

    @cached_property
    def n_dofs(self) -> int:
        """Number of dofs."""
        return sum(joint.n_dofs for joint in self.joints)

    @property
    def is_free(self) -> bool:
        """True if the first link is free to move."""
        return any(joint.link == 0 and joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in self.joints)

    @classmethod
    def of(cls, spec: mujoco.MjSpec) -> "Outline":
        """Return the outline of an entity's spec. Bodies and joints without a name get one."""
        bodies = _depth_first(spec.worldbody)
        _name_all(bodies, "link")
        _name_all([joint for body in bodies for joint in body.joints], "joint")
        links = tuple(body.name for body in bodies)
        parents = tuple(links.index(body.parent.name) if body.parent.name in links else -1 for body in bodies)
        joints, q, dof = [], 0, 0
        for link, body in enumerate(bodies):
            for joint in body.joints:
                joints.append(JointOutline(joint.name, int(joint.type), link, q, dof))
                q, dof = q + joints[-1].n_qs, dof + joints[-1].n_dofs
        return cls(links, parents, tuple(joints))


def _depth_first(body: mujoco.MjsBody) -> list[mujoco.MjsBody]:
    """Return all bodies below one, parents before children: MuJoCo's order."""
    return [found for child in body.bodies for found in (child, *_depth_first(child))]


def _name_all(elements: list, base: str) -> None:
    """Give names to elements that have none."""
    taken = {element.name for element in elements}
    for number, element in enumerate(elements):
        if not element.name:
            name = f"{base}_{number}"
            while name in taken:
                name += "_"
            element.name = name
            taken.add(name)
