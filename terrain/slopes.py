"""Ground of planes: flat, slopes, pyramids, tilted tiles."""

from typing import Any

import numpy as np

from .checks import number
from .grid import Grid


def flat(size: Any, horizontal_scale: float = 0.1, rng: Any = 0) -> np.ndarray:
    """Flat ground, at height 0."""
    return np.zeros(Grid(size, horizontal_scale).shape)


def slope(size: Any, horizontal_scale: float = 0.1, rng: Any = 0, *, slope: float = 0.2) -> np.ndarray:
    """A slope that rises along x from height 0.

    Args:
        slope: tangent of its angle; below 0 it falls.
    """
    grid = Grid(size, horizontal_scale)
    return np.broadcast_to(number("slope", slope) * (grid.x - grid.x[0, 0]), grid.shape).copy()


def pyramid_slope(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    slope: float = 0.2,
    platform_width: float = 1.0,
    inverted: bool = False,
) -> np.ndarray:
    """Four slopes that rise from the border to a platform.

    Args:
        slope: tangent of their angle.
        platform_width: width of the flat top, m.
        inverted: whether they fall, to a flat bottom.
    """
    grid = Grid(size, horizontal_scale)
    steps = np.minimum(grid.point_rings(), grid.rings_around("platform_width", platform_width))
    return (-1 if inverted else 1) * number("slope", slope) * grid.horizontal_scale * steps


def tilted_grid(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    grid_width: float = 0.8,
    tilt: float = 10.0,
    platform_width: float = 1.0,
) -> np.ndarray:
    """Square tiles, each tilted about its middle, around a flat platform.

    Args:
        rng: seed or generator of the directions and angles.
        grid_width: width of a tile, m.
        tilt: largest angle, degrees; each tile draws one up to this.
        platform_width: width of the flat ground in the middle, m.

    Raises:
        ValueError: the angle is not in [0, 90).
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    if not 0.0 <= number("tilt", tilt) < 90.0:
        raise ValueError(f"tilt={tilt:g}: it must be an angle from 0 to below 90 degrees")
    width = grid.cells("grid_width", grid_width)
    counts = [-(-count // width) for count in (grid.rows, grid.cols)]
    angle, heading = draw.uniform(0.0, np.radians(tilt), counts), draw.uniform(0.0, 2.0 * np.pi, counts)
    row, col = np.arange(grid.rows)[:, None], np.arange(grid.cols)[None]
    rise = np.tan(angle)[row // width, col // width]
    along_x, along_y = (rise * turn(heading)[row // width, col // width] for turn in (np.cos, np.sin))
    along_x, along_y = (np.where(grid.square("platform_width", platform_width), 0.0, v) for v in (along_x, along_y))
    heights = np.full(grid.shape, -np.inf)
    for down in (0, 1):  # each cell's plane at its four corners; a point keeps the highest
        for right in (0, 1):
            x, y = ((place % width + corner - width / 2) for place, corner in ((col, right), (row, down)))
            corner = heights[down : down + grid.rows, right : right + grid.cols]
            np.maximum(corner, grid.horizontal_scale * (along_x * x + along_y * y), out=corner)
    return heights
