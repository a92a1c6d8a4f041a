"""Ground that is left between low ground, and bars on it: stepping stones, beams, stars."""

from typing import Any

import numpy as np

from .checks import number, positive, whole
from .grid import Grid, tops


def stepping_stones(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    stone_width: float = 0.5,
    stone_distance: float = 0.2,
    stone_height_max: float = 0.05,
    platform_width: float = 1.0,
    holes_depth: float = -1.0,
) -> np.ndarray:
    """Rows of square stones over low ground, each row shifted by another length.

    Args:
        rng: seed or generator of shifts and heights.
        stone_width: m.
        stone_distance: m, between stones.
        stone_height_max: heights are drawn between minus and plus this, m.
        platform_width: width of the flat ground in the middle, m.
        holes_depth: height of the low ground, m.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    width = grid.cells("stone_width", stone_width)
    period = width + grid.cells("stone_distance", stone_distance)
    band, in_band = np.divmod(np.arange(grid.rows), period)
    shift = draw.integers(0, period, band[-1] + 1)[band]
    stone, in_stone = np.divmod(np.arange(grid.cols)[None] + shift[:, None], period)
    heights = draw.uniform(-1.0, 1.0, (band[-1] + 1, stone.max() + 1))[band[:, None], stone]
    on_stone = (in_band < width)[:, None] & (in_stone < width)
    heights = heights * number("stone_height_max", stone_height_max, 0.0)
    cells = np.where(on_stone, heights, number("holes_depth", holes_depth))
    cells[grid.square("platform_width", platform_width)] = 0.0
    return tops(cells)


def beams(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    num_beams: int = 8,
    beam_width: float = 0.3,
    platform_width: float = 1.0,
    rim_width: float = 0.5,
    holes_depth: float = -1.0,
) -> np.ndarray:
    """Narrow beams over low ground, from the platform to a rim.

    Args:
        num_beams: their number, at equal angles, the first along x.
        beam_width: m.
        platform_width: m.
        rim_width: width of the flat ground at the border, m.
        holes_depth: height of the low ground, m.
    """
    grid = Grid(size, horizontal_scale)
    safe = _bars(grid, num_beams, beam_width, "beam_width") | grid.square("platform_width", platform_width)
    safe |= grid.cell_rings() < grid.cells("rim_width", rim_width)
    return tops(np.where(safe, 0.0, number("holes_depth", holes_depth)))


def star(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    num_bars: int = 8,
    bar_width: float = 0.3,
    bar_height: float = 0.15,
    platform_width: float = 1.0,
) -> np.ndarray:
    """Bars on flat ground that lead away from a platform of their height.

    Args:
        num_bars: their number, at equal angles, the first along x.
        bar_width: m.
        bar_height: m.
        platform_width: m.
    """
    grid = Grid(size, horizontal_scale)
    high = _bars(grid, num_bars, bar_width, "bar_width") | grid.square("platform_width", platform_width)
    return tops(np.where(high, number("bar_height", bar_height), 0.0))


def _bars(grid: Grid, count: int, width: float, name: str) -> np.ndarray:
    """Return True for cells within half a width of one of `count` lines from the centre, (rows, cols) bool."""
    half, found = positive(name, width) / 2, np.zeros((grid.rows, grid.cols), bool)
    for angle in 2.0 * np.pi * np.arange(whole("number of bars", count)) / count:
        along = np.cos(angle) * grid.cell_x + np.sin(angle) * grid.cell_y
        across = np.cos(angle) * grid.cell_y - np.sin(angle) * grid.cell_x
        found |= (abs(across) <= half + 1e-9) & (along >= 0.0)
    return found
