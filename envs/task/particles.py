"""Readings of matter for tasks: functions of particles (n, particles, ...), with the same bits in every batch.

Arrays may be of any library; `tumble.soft.mpm.readings` has the like for tensors, with particles that do
not exist.
"""

from collections.abc import Sequence

from ..arrays import Array, namespace, row_sum
from ..managers.frames import sqrt


def centroid(pos: Array) -> Array:
    """Return the mean of positions (n, particles, 3), (n, 3) m."""
    return row_sum(namespace(pos).permute_dims(pos, (0, 2, 1))) / pos.shape[1]


def spread(pos: Array) -> Array:
    """Return the standard deviations of positions (n, particles, 3) along x, y and z, (n, 3) m."""
    offset = pos - centroid(pos)[:, None, :]
    return sqrt(centroid(offset * offset))


def share(mask: Array, like: Array) -> Array:
    """Return the share of particles for which a mask (n, particles) is True, (n,), in the precision of an array."""
    xp = namespace(mask)
    return xp.astype(xp.sum(xp.astype(mask, xp.int64), axis=1), like.dtype) / mask.shape[1]


def in_cup(local: Array, radius: float, bottom: float, depth: float) -> Array:
    """Return which particles (n, particles, 3), in the frame of a cup, are between its walls, (n, particles) bool."""
    x, y, z = local[..., 0], local[..., 1], local[..., 2]
    return (x * x + y * y <= radius * radius) & (z >= bottom) & (z <= bottom + depth)


def height_map(
    pos: Array, low: Sequence[float], high: Sequence[float], cells: tuple[int, int], empty: float = 0.0
) -> Array:
    """Return the highest particle in each column of a grid, (n, nx, ny) m.

    Args:
        pos: positions, (n, particles, 3) m.
        low: lower corner of the grid in x and y, m.
        high: its upper corner.
        cells: numbers of columns along x and y.
        empty: height of a column without particles, m, below all others.
    """
    xp, rows = namespace(pos), []
    columns = [xp.floor((pos[..., axis] - low[axis]) * (cells[axis] / (high[axis] - low[axis]))) for axis in range(2)]
    nothing = 0 * pos[..., 2] + empty
    for i in range(cells[0]):
        slab = xp.where(columns[0] == i, pos[..., 2], nothing)
        rows.append([xp.max(xp.where(columns[1] == j, slab, nothing), axis=1) for j in range(cells[1])])
    return xp.stack([xp.stack(row, axis=1) for row in rows], axis=1)
