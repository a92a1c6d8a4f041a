"""Debug objects in pictures: rays of a camera meet their capsules and boxes, and the nearest is laid over."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import torch

from .debug import DebugObject

_LIGHT = (0.3, 0.4, 0.87)
_SLICES = 8
"""A capsule that tapers is drawn as so many that do not."""
Hit = tuple[torch.Tensor, torch.Tensor]
"""Lengths along rays (n,), inf for a miss, and normals (n, 3)."""


def lay_over(
    rgb: torch.Tensor, depth: torch.Tensor, position: torch.Tensor, rays: torch.Tensor, objects: Sequence[DebugObject]
) -> torch.Tensor:
    """Return a picture with the objects in it. Of objects behind one another the nearest is drawn.

    Args:
        rgb: (h, w, 3) uint8.
        depth: (h, w), of the scene, in lengths of `rays`.
        position: of the camera, (3,) m.
        rays: (h, w, 3), world frame, of any lengths.
        objects: what is drawn.
    """
    device = rgb.device
    lengths = rays.reshape(-1, 3).float().norm(dim=-1)
    along = rays.reshape(-1, 3).float() / lengths[:, None]
    nearest = depth.reshape(-1).float() * lengths
    over = along.new_zeros(len(along), 4)
    light = along.new_tensor(_LIGHT)
    for each in objects:
        for center, reach, shape, rgba in _shapes(each):
            middle = torch.as_tensor(center - position.cpu().numpy(), dtype=torch.float32, device=device)
            seen = torch.nonzero(torch.linalg.cross(middle.expand_as(along), along).norm(dim=-1) <= reach)[:, 0]
            if not len(seen):
                continue
            t, normal = shape.meet(middle, along[seen])
            hit = t < nearest[seen]
            seen, t, normal = seen[hit], t[hit], normal[hit]
            nearest[seen] = t
            shade = 0.55 + 0.45 * (normal @ light).clamp(min=0.0)
            color = along.new_tensor(rgba.tolist())
            over[seen] = torch.cat([color[:3] * shade[:, None], color[3:].expand(len(seen), 1)], dim=1)
    share = over[:, 3:]
    picture = rgb.reshape(-1, 3).float() * (1.0 - share) + 255.0 * over[:, :3] * share
    return picture.round().clamp(0, 255).to(torch.uint8).reshape(rgb.shape)


class _Capsule:
    """A capsule about a middle: half its axis (3,) m, and its radius."""

    def __init__(self, half: np.ndarray, radius: float) -> None:
        self.half, self.radius = half, radius

    def meet(self, middle: torch.Tensor, along: torch.Tensor) -> Hit:
        """Return where rays (n, 3) of length 1 from the origin meet it."""
        axis = torch.as_tensor(self.half, dtype=along.dtype, device=along.device)
        length = float(axis.norm())
        t = along.new_full((len(along),), torch.inf)
        if length > 1e-9:
            unit = axis / length
            flat = along - (along @ unit)[:, None] * unit
            away = middle - (middle @ unit) * unit
            a, b = flat.square().sum(-1).clamp(min=1e-12), flat @ away
            under = b * b - a * (away.square().sum() - self.radius**2)
            first = (b - under.clamp(min=0.0).sqrt()) / a
            place = (first[:, None] * along - middle) @ unit
            t = torch.where((under > 0) & (place.abs() <= length) & (first > 0), first, t)
        for end in (middle - axis, middle + axis):
            b = along @ end
            under = b * b - (end.square().sum() - self.radius**2)
            first = b - under.clamp(min=0.0).sqrt()
            t = torch.where((under > 0) & (first > 0) & (first < t), first, t)
        point = torch.where(t < torch.inf, t, 0.0)[:, None] * along - middle
        share = ((point @ axis) / max(length * length, 1e-18)).clamp(-1.0, 1.0)
        normal = point - share[:, None] * axis
        return t, normal / normal.norm(dim=-1, keepdim=True).clamp(min=1e-12)


class _Box:
    """A box about a middle: half its edges (3,) m, and its axes, columns (3, 3)."""

    def __init__(self, half: np.ndarray, axes: np.ndarray) -> None:
        self.half, self.axes = half, axes

    def meet(self, middle: torch.Tensor, along: torch.Tensor) -> Hit:
        """Return where rays (n, 3) of length 1 from the origin meet it."""
        axes = torch.as_tensor(self.axes, dtype=along.dtype, device=along.device)
        half = torch.as_tensor(self.half, dtype=along.dtype, device=along.device)
        step, start = along @ axes, -(middle @ axes)
        step = torch.where(step.abs() < 1e-9, 1e-9, step)
        enter, leave = (-start - half * step.sign()) / step, (-start + half * step.sign()) / step
        t, side = enter.max(dim=-1)
        normal = -step.sign().gather(1, side[:, None]) * axes.T[side]
        return torch.where((t <= leave.min(dim=-1).values) & (t > 0), t, torch.inf), normal


def _shapes(each: DebugObject) -> Iterator[tuple[np.ndarray, float, _Capsule | _Box, np.ndarray]]:
    """Yield the middle (3,), the reach about it, the shape and the colour of all parts of an object."""
    turn, shift = each.pose[:3, :3], each.pose[:3, 3]
    for start, end, radius, rgba in zip(each.start, each.end, each.radius, each.rgba, strict=True):
        count = 1 if radius[0] == radius[1] else _SLICES
        edges = np.linspace(0.0, 1.0, count + 1)
        for low, high in pairwise(edges):
            size = float(radius[0] + (radius[1] - radius[0]) * (low + high) / 2)
            first, last = (turn @ (start + share * (end - start)) + shift for share in (low, high))
            half = (last - first) / 2
            yield (first + last) / 2, float(np.linalg.norm(half)) + size, _Capsule(half, size), rgba
    for (low, high), rgba in zip(each.boxes, each.box_rgba, strict=True):
        half = (high - low) / 2
        yield turn @ ((low + high) / 2) + shift, float(np.linalg.norm(half)), _Box(half, turn), rgba
