"""The paths of spatial tendons, for pictures: points on the way from site to site, and around spheres and cylinders.

A path takes the shorter way around a geom; as in MuJoCo's viewer it is drawn straight between the points where it
meets and leaves it. A geom with a side site inside of it is not gone around here.
"""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import torch

from ...base.shapes import CAPSULE
from .overlay_part import OverlayPart, Placed, along

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
