"""Squares around a platform: gaps, pits, boxes, rails, rings.

A field has no holes: they are low ground.
"""

from typing import Any

import numpy as np

from .checks import number, positive
from .grid import Grid, tops


def gap(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    gap_width: float = 0.4,
    platform_width: float = 1.0,
    holes_depth: float = -1.0,
) -> np.ndarray:
    """A platform with a gap around it.

    Args:
        gap_width: m.
        platform_width: m.
        holes_depth: height of the gap's ground, m.
    """
    grid = Grid(size, horizontal_scale)
    around = _ring(grid, platform_width, gap_width, "gap_width")
    return tops(np.where(around, number("holes_depth", holes_depth), 0.0))


def pit(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    pit_depth: float = 0.3,
    platform_width: float = 3.0,
    double: bool = False,
    ledge_width: float = 0.5,
) -> np.ndarray:
    """A pit, whose ground is the platform.

    Args:
        pit_depth: m.
        platform_width: width of the pit's ground, m.
        double: whether there is a ledge around it at half the depth.
        ledge_width: m.
    """
    return _block(size, horizontal_scale, -number("pit_depth", pit_depth, 0.0), platform_width, double, ledge_width)


def box(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    box_height: float = 0.3,
    platform_width: float = 3.0,
    double: bool = False,
    ledge_width: float = 0.5,
) -> np.ndarray:
    """A box, whose top is the platform.

    Args:
        box_height: m.
        platform_width: width of the box's top, m.
        double: whether there is a step around it at half the height.
        ledge_width: width of that step, m.
    """
    return _block(size, horizontal_scale, number("box_height", box_height, 0.0), platform_width, double, ledge_width)


def rails(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    rail_height: float = 0.15,
    rail_thickness: float = 0.2,
    platform_width: float = 1.0,
) -> np.ndarray:
    """Two square rails: one around the platform, one halfway from there to the border.

    Args:
        rail_height: m.
        rail_thickness: width of a rail, m.
        platform_width: m.
    """
    grid = Grid(size, horizontal_scale)
    halfway = (grid.fitting("platform_width", platform_width) + min(grid.size)) / 2
    on_rail = [_ring(grid, width, rail_thickness, "rail_thickness") for width in (platform_width, halfway)]
    return tops(np.where(on_rail[0] | on_rail[1], number("rail_height", rail_height), 0.0))


def ring(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    ring_height: float = 0.2,
    ring_width: float = 0.5,
    platform_width: float = 2.0,
) -> np.ndarray:
    """A raised ring around the platform. It stands on the ground: nothing floats over a field.

    Args:
        ring_height: m.
        ring_width: m.
        platform_width: m.
    """
    grid = Grid(size, horizontal_scale)
    around = _ring(grid, platform_width, ring_width, "ring_width")
    return tops(np.where(around, number("ring_height", ring_height), 0.0))


def nested_rings(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    ring_height: float = 0.1,
    ring_width: float = 0.5,
    gap_width: float = 0.2,
    platform_width: float = 1.0,
    holes_depth: float = -1.0,
) -> np.ndarray:
    """Rings around the platform, each at another height, with a gap inside each.

    Args:
        rng: seed or generator of the heights.
        ring_height: heights are drawn between minus and plus this, m.
        ring_width: m.
        gap_width: m.
        platform_width: m; ground outside of the rings is flat, at height 0.
        holes_depth: height of the gaps' ground, m.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    width, hole = grid.cells("ring_width", ring_width), grid.cells("gap_width", gap_width)
    around = grid.rings_around("platform_width", platform_width)
    count = around // (width + hole)
    outward = around - 1 - grid.cell_rings()  # 0 next to the platform; below 0 on it
    which, place = outward // (width + hole), outward % (width + hole)
    heights = number("ring_height", ring_height, 0.0) * draw.uniform(-1.0, 1.0, count + 1)
    rings = np.where(place < hole, number("holes_depth", holes_depth), heights[np.clip(which, 0, count)])
    return tops(np.where((which >= 0) & (which < count), rings, 0.0))


def _ring(grid: Grid, inner_width: float, ring_width: float, name: str) -> np.ndarray:
    """Return True for the cells of a square ring around a centred square, (rows, cols) bool."""
    outer_width = inner_width + 2.0 * positive(name, ring_width)
    if outer_width > min(grid.size) + 1e-9:
        raise ValueError(
            f"{name}={ring_width:g}: with platform_width it needs {outer_width:.4g} m of ground, and "
            f"there are {min(grid.size):g} m"
        )
    inner = grid.square("platform_width", inner_width)
    return grid.square("platform_width", inner_width, around=grid.cells(name, ring_width)) & ~inner


def _block(
    size: Any, horizontal_scale: float, height: float, platform_width: float, double: bool, ledge_width: float
) -> np.ndarray:
    grid = Grid(size, horizontal_scale)
    cells = np.zeros((grid.rows, grid.cols))
    if double:
        cells[_ring(grid, platform_width, ledge_width, "ledge_width")] = height / 2
    cells[grid.square("platform_width", platform_width)] = height
    return tops(cells)
