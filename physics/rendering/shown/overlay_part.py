"""One kind of overlay in a picture, and what they are made of: rods, and frames of bodies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

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
