"""Overlays, which are drawn beside geoms: sites, tendons, contacts and their forces, frames. `Show` says which.

A kind of overlay is an `OverlayPart` (one function that makes it): some rows of the tables, whose kind and colour stay,
and a function that finds place and size of each of them in every environment. Overlays throw no shadows and are in no
mirror.
Sizes and colours are as in MuJoCo's viewer (`vis.scale`, `vis.rgba`).

Paths of spatial tendons are points on the way from site to site, and around spheres and cylinders. A path takes the
shorter way around a geom; as in MuJoCo's viewer it is drawn straight between the points where it meets and leaves it. A
geom with a side site inside of it is not gone around here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import torch

from ...base.rotations import quat_to_matrix
from ...base.shapes import CAPSULE, CYLINDER, ELLIPSOID
from ...files.geometry.visual import HIGHEST_VISIBLE_GROUP

MOST_CONTACTS = 64
"""Contacts of an environment that are drawn at most."""
CONTACTS = "contacts"
"""In `OverlayPart.reads`: the solver's `contacts`."""
FRAMES = ("world", "body", "geom", "site")
_THIN, _THICK = 0.005, 0.025
"""Radii of the axes of the world and of others as shares of a given length, as in Genesis (its mesh.py)."""
_AXES = torch.tensor(
    [[[0.0, 0, 1], [0, 1, 0], [1, 0, 0]], [[1.0, 0, 0], [0, 0, 1], [0, 1, 0]], [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]]
)
"""Rotations whose z axis is x, y, z."""


Placed = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Positions (n, k, 3), rotations (n, k, 3, 3) and sizes (n, k, 3) as MuJoCo has them; a size below 0: not there."""


@dataclass(frozen=True, eq=False)
class OverlayPart:
    """One kind of overlay.

    Attributes:
        kind: (k,) mjtGeom of its rows.
        rgba: (k, 4) their colours.
        reads: fields of a solver, by MuJoCo's names, from which `place` works.
        place: a function of these.
    """

    kind: np.ndarray
    rgba: np.ndarray
    reads: tuple[str, ...]
    place: Callable[[Mapping[str, Any]], Placed]


def along(begin: torch.Tensor, end: torch.Tensor, radius: torch.Tensor) -> Placed:
    """Place rods (n, k) from one point to another (n, k, 3), by their radii (n, k); below 0: not there."""
    way = end - begin
    length = way.norm(dim=-1, keepdim=True).clamp(min=1e-9)
    z = way / length
    far = torch.where(z[..., :1].abs() < 0.9, z.new_tensor([1.0, 0, 0]), z.new_tensor([0.0, 1, 0]))
    x = torch.nn.functional.normalize(torch.linalg.cross(far, z), dim=-1)
    size = torch.stack([radius.to(begin), 0.5 * length[..., 0], torch.zeros_like(length[..., 0])], dim=-1)
    return (begin + end) / 2, torch.stack([x, torch.linalg.cross(z, x), z], dim=-1), size


@dataclass(frozen=True, eq=False)
class Overlays:
    """All rows of some parts, one after the other."""

    parts: tuple[OverlayPart, ...]

    @property
    def kind(self) -> np.ndarray:
        """Kinds (k,)."""
        return np.concatenate([np.zeros(0, np.int64), *(part.kind for part in self.parts)])

    @property
    def rgba(self) -> np.ndarray:
        """Colours (k, 4)."""
        return np.concatenate([np.zeros((0, 4)), *(part.rgba for part in self.parts)])

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields that they all need."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.reads))

    def place(self, fields: Mapping[str, Any]) -> Placed | None:
        """Return the places of all rows; None without rows."""
        placed = [part.place(fields) for part in self.parts if len(part.kind)]
        if not placed:
            return None
        position, rotation, size = (torch.cat(parts, dim=1) for parts in zip(*placed, strict=True))
        return position, rotation, size


@dataclass(frozen=True, kw_only=True)
class Show:
    """A choice of the drawn parts of a model: which groups of geoms, and which overlays.

    Raises:
        ValueError: at use, for unknown frames and impossible lengths.
    """

    geom_groups: tuple[int, ...] = tuple(range(HIGHEST_VISIBLE_GROUP + 1))  # collision shapes are often in group 3
    sites: bool = False  # in groups 0 to 2
    tendons: bool = False  # spatial ones
    contacts: bool = False  # a disc at each contact point, at most 64 of an environment
    contact_forces: bool = False  # an arrow at each of them
    # axes x, y, z in red, green, blue: of the "world", every "body", "geom" or "site"; or lengths (m) by these names
    frames: str | Mapping[str, float] | None = None
    contact_geoms: Sequence[int] | None = None  # only contacts and forces of these geoms
    force_scale: float | None = None  # m of an arrow for each newton; None: MuJoCo's `vis.map.force`

    def overlays(self, mj: mujoco.MjModel) -> Overlays:
        """Return the overlays of a model."""
        lengths = dict(self.frames) if isinstance(self.frames, Mapping) else {self.frames: None} if self.frames else {}
        for of, length in lengths.items():
            if of not in FRAMES:
                raise ValueError(f"Show.frames={self.frames!r}: there are frames of {', '.join(FRAMES)}, or None")
            if length is not None and not 0 < length < np.inf:
                raise ValueError(f"Show.frames={self.frames!r}: lengths are positive numbers of metres")
        if self.force_scale is not None and not 0 < self.force_scale < np.inf:
            raise ValueError(
                f"Show.force_scale={self.force_scale!r}: it is a positive number of metres for each newton"
            )
        parts = []
        if self.sites:
            parts.append(_sites(mj))
        if self.tendons:
            parts.append(tendon_part(mj))
        if self.contacts:
            parts.append(_contacts(mj, self.contact_geoms))
        if self.contact_forces:
            parts.append(_contact_forces(mj, self.contact_geoms, self.force_scale))
        parts += [_frames(mj, of, length) for of, length in lengths.items()]
        return Overlays(tuple(parts))


def _sites(mj: mujoco.MjModel) -> OverlayPart:
    shown = [
        s
        for s in range(mj.nsite)
        if np.clip(mj.site_group[s], 0, 5) <= HIGHEST_VISIBLE_GROUP and mj.site_rgba[s, 3] > 0
    ]
    rgba = [mj.mat_rgba[m] if (m := mj.site_matid[s]) >= 0 else mj.site_rgba[s] for s in shown]

    def place(fields: Mapping[str, Any]) -> Placed:
        position, rotation = fields["site_xpos"][:, shown], fields["site_xmat"][:, shown]
        size = position.new_tensor(np.array([mj.site_size[s] for s in shown]).reshape(-1, 3))
        return position, rotation.reshape(*position.shape[:2], 3, 3), size.expand(position.shape)

    kind = np.array([mj.site_type[s] for s in shown], np.int64)
    return OverlayPart(kind, np.array(rgba).reshape(-1, 4), ("site_xpos", "site_xmat") if shown else (), place)


def _frames(mj: mujoco.MjModel, of: str, length: float | None) -> OverlayPart:
    names = {
        "world": (),
        "body": ("xpos", "xquat"),
        "geom": ("geom_xpos", "geom_xmat"),
        "site": ("site_xpos", "site_xmat"),
    }
    count = {"world": 1, "body": mj.nbody - 1, "geom": mj.ngeom, "site": mj.nsite}[of]
    half, width = (0.5 * mj.vis.scale.framelength * mj.stat.meansize, 0.5 * mj.vis.scale.framewidth * mj.stat.meansize)
    if length is not None:
        half, width = 0.5 * length, length * (_THIN if of == "world" else _THICK)

    def place(fields: Mapping[str, Any]) -> Placed:
        if of == "world":
            like = fields["like"]
            origin, turn = like.new_zeros(len(like), 1, 3), torch.eye(3).to(like).expand(len(like), 1, 3, 3)
        else:
            first = 1 if of == "body" else 0
            origin = fields[names[of][0]][:, first:]
            turn = fields[names[of][1]][:, first:]
            turn = quat_to_matrix(turn) if of == "body" else turn.reshape(*origin.shape[:2], 3, 3)
        turns = turn[:, :, None] @ _AXES.to(turn)
        position = origin[:, :, None] + half * turns[..., 2]
        size = position.new_tensor([width, half, 0.0]).expand(position.shape)
        return position.flatten(1, 2), turns.flatten(1, 2), size.flatten(1, 2)

    colours = np.tile([[0.9, 0.1, 0.1, 1], [0.1, 0.8, 0.1, 1], [0.15, 0.25, 0.95, 1]], (count, 1))
    return OverlayPart(np.full(3 * count, CYLINDER), colours, names[of] if count else (), place)


def _drawn_contacts(contacts: Any, geoms: Sequence[int] | None) -> tuple[torch.Tensor, ...]:
    """The first MOST_CONTACTS contacts: whether there is one, position, frame, distance, force in the world, geoms."""
    mask = contacts.mask
    if geoms is not None:
        wanted = torch.as_tensor(list(geoms), dtype=contacts.geom.dtype, device=contacts.geom.device)
        mask = mask & torch.isin(contacts.geom, wanted).any(dim=-1)
    order = (~mask).to(torch.int8).argsort(dim=1, stable=True)[:, :MOST_CONTACTS]
    rows = torch.arange(len(order), device=order.device)[:, None]
    there, frame = mask[rows, order], contacts.frame[rows, order]
    force = (contacts.force[rows, order][..., :3, None] * frame).sum(dim=-2)
    found = there, contacts.pos[rows, order], frame, contacts.dist[rows, order], force, contacts.geom[rows, order]
    missing = MOST_CONTACTS - order.shape[1]
    return tuple(torch.nn.functional.pad(x, (0, 0) * (x.dim() - 2) + (0, missing)) for x in found)


def _contacts(mj: mujoco.MjModel, geoms: Sequence[int] | None) -> OverlayPart:
    scale, unit = mj.vis.scale, mj.stat.meansize

    def place(fields: Mapping[str, Any]) -> Placed:
        there, position, frame, dist, _, _ = _drawn_contacts(fields[CONTACTS], geoms)
        turn = frame[..., [1, 2, 0], :].transpose(-1, -2)  # the normal is its z axis
        radius = torch.where(there, scale.contactwidth * unit, -1.0).to(position)
        height = (-0.5 * dist).clamp(min=scale.contactheight * unit)
        return position, turn, torch.stack([radius, height, torch.zeros_like(height)], dim=-1)

    rgba = np.tile(mj.vis.rgba.contactpoint, (MOST_CONTACTS, 1))
    return OverlayPart(np.full(MOST_CONTACTS, CYLINDER), rgba, (CONTACTS,), place)


def _contact_forces(mj: mujoco.MjModel, geoms: Sequence[int] | None, scale: float | None) -> OverlayPart:
    """Arrows, each a rod and a drop at its end, towards the body with the higher number, as MuJoCo draws them."""
    width = mj.vis.scale.forcewidth * mj.stat.meansize
    newton = mj.vis.map.force / mj.stat.meanmass if scale is None else scale
    body = torch.as_tensor(np.array(mj.geom_bodyid), dtype=torch.long)

    def place(fields: Mapping[str, Any]) -> Placed:
        there, position, _, _, force, geom = _drawn_contacts(fields[CONTACTS], geoms)
        first, second = body.to(geom.device)[geom.long()].unbind(-1)
        way = newton * torch.where((first > second)[..., None], -force, force)
        there = there & (way.norm(dim=-1) > 1e-6 * width)
        shaft = along(position, position + way, torch.where(there, 0.5 * width, -1.0))
        tip = along(position + way, position + way * (1 + 4 * width / way.norm(dim=-1, keepdim=True).clamp(min=1e-9)),
                    torch.where(there, 1.1 * width, -1.0))  # fmt: skip
        tip[2][..., 2], tip[2][..., 1] = tip[2][..., 1], tip[2][..., 0]
        position, rotation, size = (torch.cat(both, dim=1) for both in zip(shaft, tip, strict=True))
        return position, rotation, size

    rgba = np.tile(mj.vis.rgba.contactforce, (2 * MOST_CONTACTS, 1))
    return OverlayPart(np.repeat([CYLINDER, ELLIPSOID], MOST_CONTACTS), rgba, (CONTACTS,), place)


_SITE, _SPHERE, _CYLINDER = (
    int(kind) for kind in (mujoco.mjtWrap.mjWRAP_SITE, mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER)
)


def links_of(mj: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """The ways from one site to the next: tendon, site, geom (-1: none), site; and the kinds of wrapping."""
    links, kinds = [], []
    for t in range(mj.ntendon):
        wraps = range(mj.tendon_adr[t], mj.tendon_adr[t] + mj.tendon_num[t])
        last, around = -1, (-1, 0)
        for w in wraps:
            kind, which = int(mj.wrap_type[w]), int(mj.wrap_objid[w])
            if kind == _SITE:
                if last >= 0:
                    links.append((t, last, around[0], which))
                    kinds.append(around[1])
                last, around = which, (-1, 0)
            elif kind in (_SPHERE, _CYLINDER):
                around = which, kind
            else:
                last = -1  # a pulley parts the path
    return np.array(links, np.int64).reshape(-1, 4), np.array(kinds, np.int64)


def tendon_part(mj: mujoco.MjModel) -> OverlayPart:
    """The overlay of the spatial tendons: three rods for each link, two of which are there if it is bent."""
    links, kinds = links_of(mj)
    tendon, rgba = links[:, 0], []
    for t in tendon:
        material = mj.tendon_matid[t]
        rgba.append(mj.mat_rgba[material] if material >= 0 else mj.tendon_rgba[t])
    width = np.array(mj.tendon_width[tendon], np.float64)

    def place(fields: Mapping[str, Any]) -> Placed:
        points, bent = path_points(mj, links, kinds, fields)
        thick = points.new_tensor(width).expand(bent.shape)
        none = torch.full_like(thick, -1.0)
        rods = [
            along(points[:, :, 0], points[:, :, 1], thick),
            along(points[:, :, 1], points[:, :, 2], torch.where(bent, 0.5 * thick, none)),
            along(points[:, :, 2], points[:, :, 3], torch.where(bent, thick, none)),
        ]
        position, rotation, size = (torch.cat(three, dim=1) for three in zip(*rods, strict=True))
        return position, rotation, size

    reads = ("site_xpos", "geom_xpos", "geom_xmat") if len(links) else ()
    return OverlayPart(np.full(3 * len(links), CAPSULE), np.tile(np.array(rgba).reshape(-1, 4), (3, 1)), reads, place)


def path_points(
    mj: mujoco.MjModel, links: np.ndarray, kinds: np.ndarray, fields: Mapping[str, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Points (n, links, 4, 3) where each link begins, meets its geom, leaves it and ends; True (n, links) if it bends.

    The middle ones of a straight link are its end.
    """
    begin, end = fields["site_xpos"][:, links[:, 1]], fields["site_xpos"][:, links[:, 3]]
    geom = np.maximum(links[:, 2], 0)
    centre = fields["geom_xpos"][:, geom]
    turn = fields["geom_xmat"][:, geom].reshape(*centre.shape, 3)
    radius = begin.new_tensor(np.array(mj.geom_size[geom, 0] if mj.ngeom else np.zeros(len(geom))))
    a, b = ((p - centre)[..., None, :] @ turn for p in (begin, end))
    a, b = a[..., 0, :], b[..., 0, :]  # in the geom's frame
    is_tube = torch.as_tensor(kinds == _CYLINDER, device=begin.device)[:, None]
    flat = torch.where(is_tube, begin.new_tensor([1.0, 1.0, 0.0]), begin.new_tensor([1.0, 1.0, 1.0]))
    on_a, on_b, bent = _around(a * flat, b * flat, radius)
    # along a tube the path climbs evenly
    parts = [(a * flat - on_a).norm(dim=-1), _arc(on_a, on_b, radius), (b * flat - on_b).norm(dim=-1)]
    whole = sum(parts).clamp(min=1e-12)
    climb = torch.where(is_tube, (b - a) * begin.new_tensor([0.0, 0.0, 1.0]), 0.0)
    low = torch.where(is_tube, a * begin.new_tensor([0.0, 0.0, 1.0]), 0.0)
    on_a = on_a + low + climb * (parts[0] / whole)[..., None]
    on_b = on_b + low + climb * ((parts[0] + parts[1]) / whole)[..., None]
    bent = bent & torch.as_tensor(kinds > 0, device=begin.device)
    middle = [torch.where(bent[..., None], centre + (turn @ p[..., None])[..., 0], end) for p in (on_a, on_b)]
    return torch.stack([begin, *middle, end], dim=2), bent


def _around(a: torch.Tensor, b: torch.Tensor, radius: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Points where the shorter way from a to b (..., 3) meets and leaves a circle about 0, and whether it has to."""
    far_a, far_b = a.norm(dim=-1).clamp(min=1e-9), b.norm(dim=-1).clamp(min=1e-9)
    first = a / far_a[..., None]
    aside = b - (b * first).sum(-1, keepdim=True) * first
    second = torch.nn.functional.normalize(aside, dim=-1)
    between = torch.atan2(aside.norm(dim=-1), (b * first).sum(-1))
    from_a = torch.acos((radius / far_a).clamp(max=1.0))
    from_b = between - torch.acos((radius / far_b).clamp(max=1.0))
    bent = (from_a < from_b) & (far_a > radius) & (far_b > radius)

    def on_circle(angle: torch.Tensor) -> torch.Tensor:
        return radius[..., None] * (angle.cos()[..., None] * first + angle.sin()[..., None] * second)

    return on_circle(from_a), on_circle(from_b), bent


def _arc(a: torch.Tensor, b: torch.Tensor, radius: torch.Tensor) -> torch.Tensor:
    """Length (m) of the arc between two points of a circle."""
    half = ((a - b).norm(dim=-1) / (2 * radius.clamp(min=1e-12))).clamp(max=1.0)
    return 2 * radius * torch.asin(half)
