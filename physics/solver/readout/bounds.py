"""Bounds and vertices of geoms in the world, for all environments, from the poses of geoms and MuJoCo's sizes.

An environment's result depends only on its own numbers: there are sums over axes and extremes over vertices, no
products of matrices over environments.
"""

from collections.abc import Sequence

import numpy as np
import torch

from ...base.shapes import PLANE, of_kinds
from ...files.geometry.store import MESH_TYPES, GeometryStore

Tensor = torch.Tensor
EXTENTS = of_kinds("extents")
_AT_ONCE = 1 << 22
"""Numbers of a temporary tensor: 16 MB in single precision."""
_ALONG = 1.0 - 1e-6
"""Cosine from which a plane's normal counts as an axis of the world: its slope is below a milliradian and a half."""


def world_bounds(store: GeometryStore, geoms: Sequence[int], pos: Tensor, mat: Tensor, size: Tensor) -> Tensor:
    """Lower and upper corners (n, k, 2, 3) of the smallest boxes along the world's axes around geoms.

    A plane is the half-space below it: its box has no end but on top, and there only if it is level with an axis.
    A height field has the bounding box of its local box.

    Args:
        store: the geometry.
        geoms: k ids.
        pos: (n, k, 3) m, of these geoms.
        mat: (n, k, 3, 3) rotations.
        size: (n, k, 3) or (1, k, 3): MuJoCo's geom_size.
    """
    half = torch.empty_like(pos)
    middle = pos.clone()
    kinds = store.type[list(geoms)]
    for kind in np.unique(kinds):
        rows = torch.as_tensor(np.flatnonzero(kinds == kind), device=pos.device)
        turn, own = mat[:, rows], size[:, rows]
        if kind in MESH_TYPES:
            for row in rows.tolist():
                middle[:, row], half[:, row] = _mesh_box(store.outline[int(geoms[row])], pos[:, row], mat[:, row])
        elif int(kind) in EXTENTS:
            half[:, rows] = EXTENTS[int(kind)](turn, own)
        else:  # a height field: from its base to its top
            radius_x, radius_y, top, base = store.data[[int(geoms[r]) for r in rows.tolist()], :4].T
            box = _like(pos, np.stack([radius_x, radius_y, (top + base) / 2], axis=1))
            middle[:, rows] += turn[..., 2] * _like(pos, (top - base) / 2)[:, None]
            half[:, rows] = (turn.abs() * box[:, None, :]).sum(-1)
    lower, upper = middle - half, middle + half
    for row in np.flatnonzero(kinds == PLANE):
        _cut_half_space(lower[:, row], upper[:, row], pos[:, row], mat[:, row, :, 2])
    return torch.stack((lower, upper), dim=2)


def world_vertices(points: Tensor, pos: Tensor, mat: Tensor) -> Tensor:
    """Points (m, 3) or (n, m, 3) of a geom in the world: (n, m, 3), from its poses (n, 3) and (n, 3, 3)."""
    points = points if points.ndim == 3 else points[None]
    turned = sum(mat[:, None, :, k] * points[..., k : k + 1] for k in range(3))
    return pos[:, None] + turned


def _like(tensor: Tensor, values: np.ndarray) -> Tensor:
    return torch.tensor(values, dtype=tensor.dtype, device=tensor.device)  # a copy: the store's cannot be written to


def _mesh_box(points: np.ndarray, pos: Tensor, mat: Tensor) -> tuple[Tensor, Tensor]:
    """Middle and half extents (n, 3) of the box around points (m, 3); a part of the environments at a time."""
    where = _like(pos, points)
    step = max(1, _AT_ONCE // (3 * max(1, len(points))))
    lower, upper = torch.empty_like(pos), torch.empty_like(pos)
    for at in range(0, len(pos), step):
        turned = world_vertices(where, torch.zeros_like(pos[at : at + step]), mat[at : at + step])
        lower[at : at + step], upper[at : at + step] = turned.amin(1), turned.amax(1)
    return pos + (lower + upper) / 2, (upper - lower) / 2


def _cut_half_space(lower: Tensor, upper: Tensor, pos: Tensor, normal: Tensor) -> None:
    """End the box (n, 3) of a half-space at its plane where the normal (n, 3) is an axis of the world."""
    upper[:] = torch.where(normal > _ALONG, pos, upper)
    lower[:] = torch.where(normal < -_ALONG, pos, lower)
