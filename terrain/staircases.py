"""Stairs: straight, around a pyramid, with steps of different heights, with open slots."""

from typing import Any

import numpy as np

from .checks import interval, number
from .grid import Grid, tops


def stairs(
    size: Any, horizontal_scale: float = 0.1, rng: Any = 0, *, step_height: float = 0.1, step_width: float = 0.3
) -> np.ndarray:
    """Stairs that rise along x; the first tread is at height 0.

    Args:
        step_height: height of a step, m; below 0 they fall.
        step_width: width of a tread, m.
    """
    grid = Grid(size, horizontal_scale)
    step = np.arange(grid.cols) // grid.cells("step_width", step_width)
    return tops(np.broadcast_to(step * number("step_height", step_height), (grid.rows, grid.cols)))


def pyramid_stairs(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    step_height: float = 0.1,
    step_width: float = 0.3,
    platform_width: float = 1.0,
    inverted: bool = False,
    holes: bool = False,
    holes_depth: float = -1.0,
) -> np.ndarray:
    """Stairs that rise from all four sides to a platform. The outermost tread is at height 0.

    Args:
        step_height: height of a step, m.
        step_width: width of a tread, m.
        platform_width: least width of the platform, m; the remainder of a tread makes it wider.
        inverted: whether they fall, to a platform at the bottom.
        holes: whether there are only four flights, as wide as the platform, and low ground at the corners.
        holes_depth: height of that ground, m.
    """
    grid = Grid(size, horizontal_scale)
    step, count = _steps(grid, step_width, platform_width)
    heights = np.arange(count + 1) * number("step_height", step_height) * (-1 if inverted else 1)
    cells = heights[step]
    if holes:
        flights = grid.cross("platform_width", platform_width)
        cells[~flights & (step > 0) & (step < count)] = number("holes_depth", holes_depth)
    return tops(cells)


def random_stairs(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    step_height_range: Any = (0.02, 0.15),
    step_width: float = 0.3,
    platform_width: float = 1.0,
    inverted: bool = False,
) -> np.ndarray:
    """Pyramid stairs, each step of which has another height.

    Args:
        rng: seed or generator of the heights.
        step_height_range: lowest and highest step, m.
        step_width: width of a tread, m.
        platform_width: least width of the platform, m.
        inverted: whether they fall.
    """
    grid = Grid(size, horizontal_scale)
    step, count = _steps(grid, step_width, platform_width)
    rises = np.random.default_rng(rng).uniform(*interval("step_height_range", step_height_range), count)
    return tops((-1 if inverted else 1) * np.append(0.0, np.cumsum(rises))[step])


def open_stairs(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    step_height: float = 0.1,
    step_width: float = 0.5,
    slot_width: float = 0.2,
    platform_width: float = 1.0,
    inverted: bool = False,
    holes_depth: float = -1.0,
) -> np.ndarray:
    """Pyramid stairs with a slot between each tread and the next.

    Args:
        step_height: height of a step, m.
        step_width: width of a tread with its slot, m.
        slot_width: width of a slot, m; it must leave some of the tread.
        platform_width: least width of the platform, m.
        inverted: whether the stairs fall.
        holes_depth: height of the slots' ground, m.

    Raises:
        ValueError: the slot is as wide as the step.
    """
    grid = Grid(size, horizontal_scale)
    step, count = _steps(grid, step_width, platform_width)
    width, slot = grid.cells("step_width", step_width), grid.cells("slot_width", slot_width)
    if slot >= width:
        raise ValueError(f"slot_width={slot_width:g}: it must be less than step_width={step_width:g} by a cell")
    cells = (-1 if inverted else 1) * number("step_height", step_height) * step
    place = grid.cell_rings() % width
    return tops(np.where((step < count) & (place >= width - slot), number("holes_depth", holes_depth), cells))


def _steps(grid: Grid, step_width: float, platform_width: float) -> tuple[np.ndarray, int]:
    """Return which step each cell is on, (rows, cols), and the platform's."""
    width = grid.cells("step_width", step_width)
    count = grid.rings_around("platform_width", platform_width) // width
    return np.minimum(grid.cell_rings() // width, count), count
