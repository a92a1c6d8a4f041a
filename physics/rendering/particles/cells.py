"""Cells over the spheres of every environment, built by torch for each picture.

A grid of equal cells lies over the centers of an environment's spheres, which are sorted by cell: x fastest, then y and
z. Cells are two of the largest radii wide, or wider where more than `MOST_CELLS` for each sphere would be needed. An
environment's grid depends only on its spheres.
"""

from typing import NamedTuple

import torch

from .spheres import COUNTS, GRID_COLUMNS, GRID_ROWS, IN_ROW, LARGEST, LOW, WIDTH

MOST_CELLS = 2
"""Cells for each sphere at most."""
FEWEST = 64
"""Cells that any grid may have."""
_FINER, _STEPS = 4, 160  # widths of cells are tried in steps of 2^(1/4), up to 2^40 diameters


class Cells(NamedTuple):
    """The grids of n environments over k spheres each."""

    order: torch.Tensor  # (n, k): spheres by cell; those that are not there are last
    starts: torch.Tensor  # (n, rows, IN_ROW) int32: the place in the order where each cell starts, and the last ends
    grid: torch.Tensor  # (n, GRID_ROWS, GRID_COLUMNS) float32


def most_cells(count: int) -> int:
    """Return the number of cells that a grid over so many spheres has at most."""
    return max(FEWEST, MOST_CELLS * count)


def cells_over(place: torch.Tensor, there: torch.Tensor, largest: torch.Tensor) -> Cells:
    """Arrange spheres in cells.

    Args:
        place: centers (n, k, 3) float32 m.
        there: (n, k) bool.
        largest: radius, m, one number on the device.
    """
    n, count, _ = place.shape
    most, some = most_cells(count), there.any(dim=1)[:, None]
    low = torch.where(there[..., None], place, torch.inf).amin(dim=1)
    high = torch.where(there[..., None], place, -torch.inf).amax(dim=1)
    low, side = torch.where(some, low, 0.0), torch.where(some, high - low, 0.0)
    factors = torch.tensor([2.0 ** (j / _FINER) for j in range(_STEPS)], dtype=torch.float32)
    widths = 2.0 * largest * factors.to(place)
    counts = torch.floor(side[:, None] / widths[:, None]) + 1.0
    fits = (counts.prod(dim=-1) <= most).to(torch.uint8).argmax(dim=-1)
    width = widths[fits]
    counts = counts.gather(1, fits[:, None, None].expand(-1, -1, 3))[:, 0]
    cell = torch.floor((place - low[:, None]) / width[:, None, None])
    x, y, z = torch.minimum(cell.clamp(min=0.0), counts[:, None] - 1.0).to(torch.int32).unbind(-1)
    across, along, _ = counts.to(torch.int32)[:, None].unbind(-1)
    key = torch.where(there, (z * along + y) * across + x, most)
    order = torch.sort(key, dim=1, stable=True).indices
    found = torch.zeros((n, -(-(most + 2) // IN_ROW) * IN_ROW), dtype=torch.int32, device=place.device)
    found.scatter_add_(1, key.long() + 1, torch.ones_like(key))
    starts = found.cumsum(dim=1, dtype=torch.int32)
    grid = place.new_zeros((n, GRID_ROWS, GRID_COLUMNS))
    grid[:, 0, LOW : LOW + 3], grid[:, 0, WIDTH], grid[:, 0, LARGEST] = low, width, largest
    grid[:, 1, COUNTS : COUNTS + 3] = counts
    return Cells(order, starts.unflatten(1, (-1, IN_ROW)), grid)
