"""Groups of spheres in environments: their tables, built by torch for each picture."""

import torch

from ..shown import render_model as columns
from ..shown.appearance import SKIN_COLUMNS
from .cells import cells_over
from .group import ParticleGroup
from .spheres import CENTER, COLOUR, NUMBER, RADIUS
from .tables import GroupTables

ITEM_COLUMNS = 9
"""Columns of a sphere, as many as the corners of a triangle have."""


def spheres(
    group: ParticleGroup, colour: torch.Tensor, first: int, dtype: torch.dtype, device: torch.device
) -> GroupTables:
    """Return a group of spheres, whose particles count from a first number on; `colour` (3,) is in linear light."""
    there = group.there().to(device)
    centers = torch.where(there[..., None], group.centers.to(device, dtype), 0.0)
    radii = group.radii(torch.float32).to(device)
    middle, half = _box(centers, there, radii.max().to(dtype))
    local = torch.where(there[..., None], centers - middle, 0.0).to(torch.float32)
    cells = cells_over(local, there, radii.max())
    order, (n, count) = cells.order, there.shape
    items = local.new_zeros((n, count, ITEM_COLUMNS))
    items[..., CENTER : CENTER + 3] = local.gather(1, order[..., None].expand(-1, -1, 3))
    items[..., RADIUS], items[..., NUMBER] = radii[order], (first + order).to(torch.float32)
    items[..., COLOUR : COLOUR + 3] = colour
    if group.colors is not None:
        own = group.colors.to(device, torch.float32).clamp(0.0, 1.0).square().expand(n, -1, -1)  # `Look.to_linear`
        items[..., COLOUR : COLOUR + 3] = own.gather(1, order[..., None].expand(-1, -1, 3))
    skin = items.new_zeros((n, 0, SKIN_COLUMNS))
    return GroupTables(middle, shape_of(half), (0, 0, 0, count), cells.grid, items, cells.starts, skin, centers)


def _box(centers: torch.Tensor, there: torch.Tensor, largest: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the middle (n, 1, 3) of the box around spheres and half its sides; below 0 without any."""
    low = torch.where(there[..., None], centers, torch.inf).amin(dim=1, keepdim=True)
    high = torch.where(there[..., None], centers, -torch.inf).amax(dim=1, keepdim=True)
    some = low <= high
    return torch.where(some, 0.5 * (low + high), 0.0), torch.where(some, 0.5 * (high - low) + largest, -1.0)


def shape_of(half: torch.Tensor) -> torch.Tensor:
    """Return rows (n, 1, SHAPE_COLUMNS) of a group by half the sides (n, 1, 3) of its box, m."""
    half = half.to(torch.float32)
    shape = half.new_zeros((len(half), 1, columns.SHAPE_COLUMNS))
    shape[..., columns.SIZE : columns.SIZE + 3] = half
    bound = 1.00001 * half.norm(dim=-1)  # more than rounding takes away
    shape[..., columns.BOUND] = torch.where(half[..., 0] >= 0, bound, columns.NEVER)
    return shape
