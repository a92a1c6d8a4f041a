"""Observations of matter: functions of positions (envs, n, 3) and of which particles exist (envs, n), on their device.

Each environment's result has the same bits whatever others there are: sums are taken in the order of the particles, by
halves. Particles that do not exist count nowhere.
"""

from collections.abc import Sequence

import numpy as np
import torch

Tensor = torch.Tensor


def height_map(
    pos: Tensor, active: Tensor, lower: Sequence[float], upper: Sequence[float], cells: Sequence[int]
) -> Tensor:
    """Return the highest place of a particle in each column of a grid, (envs, nx, ny) m.

    Args:
        pos: positions, (envs, n, 3) m.
        active: which particles exist, (envs, n) bool.
        lower: the lower corner of the grid in x and y, (2,) m; of more numbers the first two count.
        upper: the upper corner.
        cells: numbers of columns along x and y, (2,).

    Returns:
        Heights, -inf where a column is empty.

    Raises:
        ValueError: there is no room between the corners, or no column.
    """
    low, high = (torch.as_tensor(x, dtype=pos.dtype, device=pos.device)[:2] for x in (lower, upper))
    nx, ny = (int(count) for count in cells)
    if not (high > low).all() or nx < 1 or ny < 1:
        raise ValueError(
            f"height_map: expected lower below upper, and a column at least; got {lower}, {upper}, {cells}"
        )
    counts = torch.tensor([nx, ny], dtype=pos.dtype, device=pos.device)
    column = torch.floor((pos[..., :2] - low) / (high - low) * counts)
    counted = active & ((column >= 0) & (column < counts)).all(dim=-1)
    index = torch.where(counted, column[..., 0] * ny + column[..., 1], 0).long()
    heights = torch.where(counted, pos[..., 2], -torch.inf)
    empty = torch.full((len(pos), nx * ny), -torch.inf, dtype=pos.dtype, device=pos.device)
    return empty.scatter_reduce(1, index, heights, "amax").view(-1, nx, ny)


def key_particles(positions: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of particles that lie far from each other, (count,): key points of a thing.

    The first is that nearest to the middle of all; each further one is the farthest from those before it (Gonzalez,
    1985), the first of several.

    Args:
        positions: (n, 3) m, such as at the begin.
        count: how many.

    Raises:
        ValueError: there are not so many particles.
    """
    places = np.asarray(positions, np.float64)
    if not 1 <= count <= len(places):
        raise ValueError(f"key_particles: count={count}: expected a number from 1 to {len(places)}, the particles")
    found = [int(np.square(places - places.mean(axis=0)).sum(axis=1).argmin())]
    nearest = np.square(places - places[found[0]]).sum(axis=1)
    for _ in range(count - 1):
        found.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, np.square(places - places[found[-1]]).sum(axis=1))
    return np.array(found)


def centroid(pos: Tensor, active: Tensor) -> Tensor:
    """Return the mean of the positions, (envs, 3) m; not a number where no particle exists."""
    weight = active.to(pos.dtype)[..., None]
    return _total(torch.where(active[..., None], pos, 0.0)) / _total(weight)


def spread(pos: Tensor, active: Tensor) -> Tensor:
    """Return the standard deviations of the positions along x, y, z, (envs, 3) m; not a number without particles."""
    offset = torch.where(active[..., None], pos - centroid(pos, active)[:, None], 0.0)
    return (_total(offset * offset) / _total(active.to(pos.dtype)[..., None])).sqrt()


def inside(pos: Tensor, active: Tensor, lower: Sequence[float], upper: Sequence[float]) -> Tensor:
    """Return which particles are in a box between two corners (3,) m, (envs, n) bool."""
    low, high = (torch.as_tensor(x, dtype=pos.dtype, device=pos.device) for x in (lower, upper))
    return active & ((pos >= low) & (pos <= high)).all(dim=-1)


def count_inside(pos: Tensor, active: Tensor, lower: Sequence[float], upper: Sequence[float]) -> Tensor:
    """Return the number of particles in a box between two corners (3,) m, (envs,) int64."""
    return inside(pos, active, lower, upper).sum(dim=1)


def share_inside(pos: Tensor, active: Tensor, lower: Sequence[float], upper: Sequence[float]) -> Tensor:
    """Return the share of the existing particles that are in a box, (envs,), 0 where none exists."""
    return count_inside(pos, active, lower, upper).to(pos.dtype) / active.sum(dim=1).clamp(min=1)


def _total(x: Tensor) -> Tensor:
    """Return the sums (envs, k) of numbers (envs, n, k), by halves: the order depends only on n."""
    while x.shape[1] > 1:
        half = x.shape[1] // 2
        rest = x[:, 2 * half :]
        x = torch.cat([x[:, :half] + x[:, half : 2 * half], rest], dim=1)
    return x[:, 0]
