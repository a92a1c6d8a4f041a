"""Members of the groups of state tensors that change from step to step, or by environment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

from ...base.rotations import quat_mul
from ...model.model import Model
from ..readout.anchors import anchor_of
from ..readout.contacts import Contacts
from .joints import JointControl

Tensor = torch.Tensor


class StateNumbers(Protocol):
    """The numbers that members read."""

    model: Model
    joints: JointControl

    def get(self, name: str) -> Tensor:
        """Return a quantity by MuJoCo's name, or numbers of the model, (num_envs, items, ...)."""
        ...

    def fixed(self, numbers: Any) -> Tensor:
        """Return numbers of the model that all environments share, on the device."""
        ...

    def positions(self) -> Tensor:
        """Return positions of dofs (num_envs, nv), m or rad."""
        ...

    def contacts(self) -> Contacts:
        """Return contacts at the present state."""
        ...

    def bounds(self) -> Tensor:
        """Return bounds of geoms (num_envs, ngeom, 2, 3), m."""
        ...

    def asleep(self) -> Tensor:
        """Return which trees sleep (num_envs, ntree)."""
        ...


@dataclass(frozen=True)
class Member:
    """A member of a group.

    Attributes:
        shape: of its tensor, in words: items, environments, components.
        unit: of its numbers.
        doc: the member's meaning.
        read: returns them with the environments first, or without environments if they are static.
        static: whether all environments share them, so that the tensor has no dimension for these.
    """

    shape: str
    unit: str
    doc: str
    read: Callable[[StateNumbers], Tensor]
    static: bool = False


def of(kind: str, *parts: Any) -> str:
    """Return a shape in words: `of("links", 3)` is (links, environments, 3)."""
    return f"({', '.join(map(str, (kind, 'environments', *parts)))})"


def _links(name: str, first: int = 0, end: int | None = None) -> Callable[[StateNumbers], Tensor]:
    return lambda s: s.get(name)[:, 1:, first:end]


def _link_mask(values: Tensor, s: StateNumbers, trees: np.ndarray) -> Tensor:
    there = s.fixed(np.maximum(trees, 0))
    return values[:, there] & s.fixed(trees >= 0) if values.shape[1] else values.new_zeros((len(values), len(trees)))


def _at_origin(s: StateNumbers, name: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return angular and linear parts at the links' origins of a motion about the trees' centres of mass."""
    turn, move = s.get(name)[:, 1:].split(3, -1)
    root = s.model.mj.body_rootid[1:]
    arm = s.get("xpos")[:, 1:] - s.get("subtree_com")[:, root]
    return turn, move + torch.linalg.cross(turn, arm), arm


def _acceleration(s: StateNumbers) -> Tensor:
    _, free, _ = _at_origin(s, "cacc")
    spin, speed, _ = _at_origin(s, "cvel")
    return free + torch.linalg.cross(spin, speed) + s.get("gravity")[:, None]


def _contact_force(s: StateNumbers) -> Tensor:
    found, mj = s.contacts(), s.model.mj
    push = _world_force(found)
    total = push.new_zeros((len(push), int(mj.nbody), 3))
    body = s.fixed(mj.geom_bodyid)[found.geom]
    for side, sign in ((0, -1.0), (1, 1.0)):
        total.scatter_add_(1, body[..., side, None].expand(-1, -1, 3), sign * push)
    return total[:, 1:]


def _world_force(found: Contacts) -> Tensor:
    """Return the forces of contacts on their second geoms, in the world's axes, (n, m, 3)."""
    return (found.frame * found.force[..., :3, None]).sum(-2) * found.mask[..., None]


def _shift(name: str) -> Callable[[StateNumbers], Tensor]:
    return lambda s: (s.get(name) - s.fixed(getattr(s.model.mj, name)))[:, 1:]


LINKS = {
    "pos": Member(of("links", 3), "m", "position of the link's frame", _links("xpos")),
    "quat": Member(of("links", 4), "1", "orientation of the link's frame, w first", _links("xquat")),
    "vel": Member(of("links", 3), "m/s", "velocity of the frame's origin", lambda s: _at_origin(s, "cvel")[1]),
    "ang": Member(of("links", 3), "rad/s", "angular velocity, in the world's axes", _links("cvel", 0, 3)),
    "acc": Member(of("links", 3), "m/s^2", "acceleration of the frame's origin", _acceleration),
    "acc_ang": Member(of("links", 3), "rad/s^2", "angular acceleration, in the world's axes", _links("cacc", 0, 3)),
    "i_pos": Member(of("links", 3), "m", "centre of mass", _links("xipos")),
    "i_quat": Member(
        of("links", 4),
        "1",
        "orientation of the principal axes of inertia",
        lambda s: quat_mul(s.get("xquat"), s.get("body_iquat"))[:, 1:],
    ),
    "root_COM": Member(
        of("links", 3),
        "m",
        "centre of mass of the link's whole tree",
        lambda s: s.get("subtree_com")[:, s.model.mj.body_rootid[1:]],
    ),
    "mass_sum": Member(
        of("links"), "kg", "mass of the link and all below it", lambda s: s.get("body_subtreemass")[:, 1:]
    ),
    "mass_shift": Member(of("links"), "kg", "mass beyond the file's", _shift("body_mass")),
    "i_pos_shift": Member(
        of("links", 3), "m", "centre of mass from the file's, in the link's frame", _shift("body_ipos")
    ),
    "cinr": Member(of("links", 10), "kg m^2, kg m, kg", "inertia about the tree's centre of mass", _links("cinert")),
    "crb": Member(of("links", 10), "kg m^2, kg m, kg", "inertia of the link and all below it, there", _links("crb")),
    "cd_ang": Member(of("links", 3), "rad/s", "spatial velocity there: rotation", _links("cvel", 0, 3)),
    "cd_vel": Member(of("links", 3), "m/s", "spatial velocity there: translation", _links("cvel", 3)),
    "cacc_ang": Member(of("links", 3), "rad/s^2", "spatial acceleration there: rotation", _links("cacc", 0, 3)),
    "cacc_lin": Member(of("links", 3), "m/s^2", "spatial acceleration there, less gravity", _links("cacc", 3)),
    "cfrc_ang": Member(of("links", 3), "N m", "torque of the parent on the link, there", _links("cfrc_int", 0, 3)),
    "cfrc_vel": Member(of("links", 3), "N", "force of the parent on the link", _links("cfrc_int", 3)),
    "cfrc_applied_ang": Member(
        of("links", 3), "N m", "torque that users apply", lambda s: s.get("xfrc_applied")[:, 1:, 3:]
    ),
    "cfrc_applied_vel": Member(
        of("links", 3), "N", "force that users apply", lambda s: s.get("xfrc_applied")[:, 1:, :3]
    ),
    "contact_force": Member(of("links", 3), "N", "sum of contact forces, in the world's axes", _contact_force),
    "hibernated": Member(
        of("links"),
        "1",
        "True if the link sleeps",
        lambda s: _link_mask(s.asleep(), s, s.model.mj.body_treeid[1:]),
    ),
}


def _anchors(s: StateNumbers) -> Tensor:
    found = [anchor_of(s.model.mj, joint, s.get, s.get) for joint in range(s.model.mj.njnt)]
    return torch.stack(found, 1) if found else s.get("xpos")[:, :0]


JOINTS = {
    "xanchor": Member(of("joints", 3), "m", "anchor, where the joint's motion begins", _anchors),
    "xaxis": Member(of("joints", 3), "1", "axis", lambda s: s.get("xaxis")),
}


def _target(mode: int) -> Callable[[StateNumbers], Tensor]:
    def read(s: StateNumbers) -> Tensor:
        asked = s.joints.get_targets()
        target = asked["velocity"] if mode == 2 else torch.zeros_like(asked["target"])
        speed_alone = asked["mode"] == mode
        with_place = (asked["mode"] == 3) if mode == 2 else torch.zeros_like(speed_alone)
        return torch.where(speed_alone, asked["target"], torch.where(with_place, target, torch.zeros_like(target)))

    return read


DOFS = {
    "pos": Member(
        of("dofs"), "m or rad", "position: a coordinate, or an angle about a fixed axis", lambda s: s.positions()
    ),
    "vel": Member(of("dofs"), "m/s or rad/s", "velocity", lambda s: s.get("qvel")),
    "acc": Member(of("dofs"), "m/s^2 or rad/s^2", "acceleration", lambda s: s.get("qacc")),
    "acc_smooth": Member(
        of("dofs"), "m/s^2 or rad/s^2", "acceleration without constraints", lambda s: s.get("qacc_smooth")
    ),
    "force": Member(
        of("dofs"), "N or N m", "sum of all forces", lambda s: s.get("qfrc_smooth") + s.get("qfrc_constraint")
    ),
    "qf_smooth": Member(of("dofs"), "N or N m", "sum of all but constraints'", lambda s: s.get("qfrc_smooth")),
    "qf_bias": Member(of("dofs"), "N or N m", "Coriolis, centrifugal, gravity", lambda s: s.get("qfrc_bias")),
    "qf_passive": Member(of("dofs"), "N or N m", "springs, dampers", lambda s: s.get("qfrc_passive")),
    "qf_actuator": Member(of("dofs"), "N or N m", "controls and actuators", lambda s: s.get("qfrc_actuator")),
    "qf_applied": Member(
        of("dofs"), "N or N m", "the user's forces on dofs and links", lambda s: s.get("qfrc_external")
    ),
    "qf_constraint": Member(of("dofs"), "N or N m", "contacts, limits, equalities", lambda s: s.get("qfrc_constraint")),
    "cdof_ang": Member(of("dofs", 3), "rad", "motion subspace: rotation", lambda s: s.get("cdof")[..., :3]),
    "cdof_vel": Member(of("dofs", 3), "m", "motion subspace: translation", lambda s: s.get("cdof")[..., 3:]),
    "ctrl_mode": Member(
        of("dofs"), "1", "0 none, 1 force, 2 velocity, 3 position", lambda s: s.joints.get_targets()["mode"]
    ),
    "ctrl_force": Member(of("dofs"), "N or N m", "force asked for", _target(1)),
    "ctrl_vel": Member(of("dofs"), "m/s or rad/s", "velocity asked for", _target(2)),
    "ctrl_pos": Member(of("dofs"), "m or rad", "position asked for", _target(3)),
    "hibernated": Member(
        of("dofs"), "1", "True if the dof sleeps", lambda s: _link_mask(s.asleep(), s, s.model.mj.dof_treeid)
    ),
}


def _geom_quat(s: StateNumbers) -> Tensor:
    return quat_mul(s.get("xquat")[:, s.model.mj.geom_bodyid], s.get("geom_quat"))


GEOMS = {
    "pos": Member(of("geoms", 3), "m", "position", lambda s: s.get("geom_xpos")),
    "quat": Member(of("geoms", 4), "1", "orientation, w first", _geom_quat),
    "aabb_min": Member(of("geoms", 3), "m", "lower corner of the bounds", lambda s: s.bounds()[:, :, 0]),
    "aabb_max": Member(of("geoms", 3), "m", "upper corner of the bounds", lambda s: s.bounds()[:, :, 1]),
}
VGEOMS = {
    "pos": Member(
        of("vgeoms", 3), "m", "position", lambda s: s.get("geom_xpos")[:, s.model.geometry.vgeoms.geom.copy()]
    ),
    "quat": Member(
        of("vgeoms", 4), "1", "orientation", lambda s: _geom_quat(s)[:, s.model.geometry.vgeoms.geom.copy()]
    ),
}


def _link_of(side: int) -> Callable[[StateNumbers], Tensor]:
    return lambda s: s.fixed(s.model.mj.geom_bodyid - 1)[s.contacts().geom[..., side]]


CONTACTS = {
    "geom_a": Member(of("slots"), "1", "first geom", lambda s: s.contacts().geom[..., 0]),
    "geom_b": Member(of("slots"), "1", "second geom", lambda s: s.contacts().geom[..., 1]),
    "link_a": Member(of("slots"), "1", "link of the first geom, -1: the world", _link_of(0)),
    "link_b": Member(of("slots"), "1", "link of the second geom, -1: the world", _link_of(1)),
    "pos": Member(of("slots", 3), "m", "midway between the surfaces", lambda s: s.contacts().pos),
    "normal": Member(of("slots", 3), "1", "from the first geom to the second", lambda s: s.contacts().frame[:, :, 0]),
    "penetration": Member(of("slots"), "m", "depth, negative at a distance", lambda s: -s.contacts().dist),
    "friction": Member(
        of("slots", 5), "1, m", "two sliding, a spinning, two rolling coefficients", lambda s: s.contacts().friction
    ),
    "force": Member(
        of("slots", 3), "N", "on the second geom, in the world's axes", lambda s: _world_force(s.contacts())
    ),
    "valid": Member(
        of("slots"), "1", "True if the slot is a contact; others mean nothing", lambda s: s.contacts().mask
    ),
}
CONSTRAINTS = {
    "qf_constraint": Member(
        of("dofs"), "N or N m", "forces of all constraints on dofs", lambda s: s.get("qfrc_constraint")
    ),
    "n_contacts": Member(of("1"), "1", "number of contacts", lambda s: s.contacts().mask.sum(1, keepdim=True)),
    "n_iterations": Member(of("1"), "1", "iterations of the solver", lambda s: s.get("solver_niter")),
    "active": Member(of("equalities"), "1", "True if the equality holds", lambda s: s.get("eq_active") > 0.5),
}

STATE: dict[str, dict[str, Member]] = {
    "links_state": LINKS,
    "joints_state": JOINTS,
    "dofs_state": DOFS,
    "geoms_state": GEOMS,
    "vgeoms_state": VGEOMS,
    "contacts_state": CONTACTS,
    "constraints_state": CONSTRAINTS,
}
"""Members by group and name."""
