"""The smooth surface of a liquid's particles: triangles of each environment.

At the nodes of a grid, the mean place of the particles near a node is found, and the surface is where that is a radius
away (Y. Zhu and R. Bridson, Animating sand as a fluid, SIGGRAPH 2005): still water is flat, and a drop is round. Sums
are of whole numbers, so that their order changes no bit. The grid stands in the world, not with the particles.
"""

from functools import cache

import numpy as np
import torch

from ..rays.mesh_tree import ROUNDING
from ..shown.appearance import COORDINATES, NORMALS, SKIN_COLUMNS
from .cubes import triangles_of
from .group import ParticleGroup
from .placing import ITEM_COLUMNS, shape_of
from .tables import GroupTables
from .trees import IN_LEAF, boxes_over, depth_of, order_of

REACH = 3.0  # radii up to which a particle counts at a node
MOST_NODES = 2**24
_WHOLE = 2.0**32  # a weight of 1 as a whole number
_SMOOTHINGS = 2  # of the field
_NUMBERS = 2**24  # of particles
_PAIRS = 2**20  # of a particle and a node that are computed at once


def surface(group: ParticleGroup, cell: float, first: int, dtype: torch.dtype, device: torch.device) -> GroupTables:
    """Return the surface of a group, whose particles count from a first number on; `cell` is in m.

    Raises:
        ValueError: the grid of an environment would have too many nodes.
    """
    there = group.there().to(device)
    centers = torch.where(there[..., None], group.centers.to(device, dtype), 0.0)
    radius = float(group.radii(torch.float64).mean())
    made = [_of_environment(own[mask], mask, cell, radius) for own, mask in zip(centers, there, strict=True)]
    n, count = len(made), max(1, *(len(one[1]) for one in made), 0)
    middle = torch.stack([one[0] for one in made])[:, None].to(dtype)
    half = torch.full((n, 1, 3), -1.0, device=device)
    items = torch.zeros((n, -(-count // IN_LEAF) * IN_LEAF, ITEM_COLUMNS), device=device)
    skin = torch.zeros((n, items.shape[1], SKIN_COLUMNS), device=device)
    low, high = torch.full_like(items[..., :3], torch.inf), torch.full_like(items[..., :3], -torch.inf)
    for env, (_, corners, normals, owner) in enumerate(made):
        if not len(corners):
            continue
        order = order_of(corners.mean(dim=1)[None], torch.ones_like(owner, dtype=torch.bool)[None])[0]
        corners, rows = corners[order], slice(0, len(order))
        items[env, rows], skin[env, rows, NORMALS : NORMALS + 9] = corners.flatten(1), normals[order].flatten(1)
        skin[env, rows, COORDINATES] = (first + owner[order]).to(torch.float32)
        low[env, rows], high[env, rows] = corners.amin(dim=1), corners.amax(dim=1)
        half[env] = corners.abs().amax(dim=(0, 1)) * (1.0 + ROUNDING)
    tree = 0, depth_of(items.shape[1]), 0, IN_LEAF << depth_of(items.shape[1])
    cells = torch.zeros((n, 0, IN_LEAF), dtype=torch.int32, device=device)
    return GroupTables(middle, shape_of(half), tree, boxes_over(low, high), items, cells, skin, centers)


def _of_environment(
    places: torch.Tensor, there: torch.Tensor, cell: float, radius: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the triangles around particles (k, 3) of an environment, which has them where `there` (n,) says so.

    These are the middle (3,) of the box around them, in m; corners (t, 3, 3) from there, and outward unit vectors
    (t, 3, 3), in single precision; and which of the n particles is near a triangle, (t,).
    """
    empty = torch.zeros((0, 3, 3), device=places.device)
    middle = torch.zeros(3, dtype=torch.float64, device=places.device)
    if not len(places):
        return middle, empty, empty, empty[:, 0, 0].long()
    places = places.to(torch.float64)
    reach = max(REACH * radius, radius + 2.0 * cell)  # so that all nodes of cells with a surface are reached
    margin = int(np.ceil(reach / cell)) + 2
    first = torch.floor(places.amin(dim=0) / cell).long() - margin
    shape = torch.floor(places.amax(dim=0) / cell).long() + margin + 2 - first
    size = tuple(shape.tolist())
    if np.prod(size, dtype=np.float64) > MOST_NODES:
        raise ValueError(
            f"ParticleGroup: a surface in cells of {cell:g} m has a grid of {' x '.join(map(str, size))} nodes: it can "
            f"have {MOST_NODES:,}; give a larger `cell`"
        )
    field, owner = _field(places / cell - first, size, reach / cell, radius / cell)
    corners, normals, nodes = triangles_of(field)
    if not len(corners):
        return middle, empty, empty, empty[:, 0, 0].long()
    world = (corners + first) * cell
    middle = 0.5 * (world.amin(dim=(0, 1)) + world.amax(dim=(0, 1)))
    normals = torch.nn.functional.normalize(normals, dim=-1)
    number = torch.nonzero(there)[:, 0][owner.reshape(-1)[nodes]]
    return middle, (world - middle).to(torch.float32), normals.to(torch.float32), number


def _field(
    places: torch.Tensor, size: tuple[int, ...], reach: float, radius: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the distance of each node (x, y, z) from the surface, below 0 inside, and the nearest particle's number.

    Lengths are cells; places (k, 3) are from the first node.
    """
    strides = torch.tensor([size[1] * size[2], size[2], 1], device=places.device)
    sums = torch.zeros((4, int(np.prod(size))), dtype=torch.int64, device=places.device)
    nearest = torch.zeros_like(sums[0])
    base, number = torch.floor(places).long(), torch.arange(len(places), device=places.device)
    steps = torch.as_tensor(_steps(reach), device=places.device)
    for some in steps.split(max(1, _PAIRS // len(places))):
        nodes = base[:, None] + some
        away = (places[:, None] - nodes) / reach
        weight = (1.0 - (away * away).sum(dim=-1)).clamp(min=0.0) ** 3
        at = (nodes * strides).sum(dim=-1).flatten()
        for row, part in zip(sums, (*away.unbind(-1), 1.0), strict=True):
            row.scatter_add_(0, at, torch.round(_WHOLE * part * weight).long().flatten())
        rank = torch.round(_WHOLE * weight).long() * _NUMBERS + number[:, None]
        nearest.scatter_reduce_(0, at, rank.flatten(), "amax")
    mean = reach * sums[:3].to(torch.float64) / sums[3].clamp(min=1).to(torch.float64)
    distance = torch.where(sums[3] > 0, (mean * mean).sum(dim=0).sqrt() - radius, radius).clamp(max=radius)
    field = distance.reshape(size)
    for axis in [*range(3)] * _SMOOTHINGS:
        inner = field.narrow(axis, 1, size[axis] - 2)
        sides = field.narrow(axis, 0, size[axis] - 2) + field.narrow(axis, 2, size[axis] - 2)
        field = torch.full_like(field, radius)
        field.narrow(axis, 1, size[axis] - 2).copy_(0.5 * inner + 0.25 * sides)
    return field, (nearest % _NUMBERS).reshape(size)


@cache
def _steps(reach: float) -> np.ndarray:
    """Return the steps (s, 3) from the lower corner of a cell to the nodes that are nearer than `reach` cells to it."""
    out = int(np.ceil(reach))
    every = np.stack(np.meshgrid(*[np.arange(-out, out + 2)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    away = np.maximum(np.abs(every - 0.5) - 0.5, 0.0)
    return every[np.linalg.norm(away, axis=-1) < reach]
