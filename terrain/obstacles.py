"""Things that stand on the ground: rectangles, tiles, boxes, cylinders, pyramids."""

from typing import Any

import numpy as np

from .checks import interval, number, positive, whole
from .grid import Grid, tops


def discrete_obstacles(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    obstacle_height: float = 0.1,
    obstacle_height_mode: str = "choice",
    obstacle_width_range: Any = (0.25, 0.75),
    num_obstacles: int = 40,
    platform_width: float = 1.0,
) -> np.ndarray:
    """Rectangles at random places, higher or lower than the ground. Where two overlap, the later one counts.

    Args:
        rng: seed or generator of places, widths and heights.
        obstacle_height: m.
        obstacle_height_mode: "fixed": all have this height; "choice": plus or minus it, or half of it.
        obstacle_width_range: shortest and longest sides, m.
        num_obstacles: number of rectangles.
        platform_width: width of the flat ground in the middle, m.

    Raises:
        ValueError: an unknown mode, or sides longer than the ground.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    if obstacle_height_mode not in ("choice", "fixed"):
        raise ValueError(f"obstacle_height_mode={obstacle_height_mode!r}: it must be 'choice' or 'fixed'")
    shares = np.array([1.0] if obstacle_height_mode == "fixed" else [-1.0, -0.5, 0.5, 1.0])
    low, high = interval("obstacle_width_range", obstacle_width_range, least=0.0)
    grid.fitting("obstacle_width_range", high)
    cells, height = np.zeros((grid.rows, grid.cols)), number("obstacle_height", obstacle_height)
    for _ in range(whole("num_obstacles", num_obstacles, least=0)):
        sides = [min(grid.cells("obstacle_width_range", draw.uniform(low, high)), n) for n in cells.shape]
        row, col = (draw.integers(0, n - side, endpoint=True) for n, side in zip(cells.shape, sides, strict=True))
        cells[row : row + sides[0], col : col + sides[1]] = height * draw.choice(shares)
    cells[grid.square("platform_width", platform_width)] = 0.0
    return tops(cells)


def random_grid(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    grid_width: float = 0.45,
    grid_height: float = 0.1,
    platform_width: float = 1.0,
    holes: bool = False,
    holes_depth: float = -1.0,
) -> np.ndarray:
    """Square tiles, each at another height, with a flat rim where no whole tile fits.

    Args:
        rng: seed or generator of the heights.
        grid_width: width of a tile, m.
        grid_height: heights are drawn between minus and plus this, m.
        platform_width: width of the flat ground in the middle, m.
        holes: whether tiles that are neither in a row nor in a column with the platform are holes.
        holes_depth: height of their ground, m.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    width = min(grid.cells("grid_width", grid_width), grid.rows, grid.cols)
    counts = [count // width for count in (grid.rows, grid.cols)]
    first = [(count - tiles * width) // 2 for count, tiles in zip((grid.rows, grid.cols), counts, strict=True)]
    tiles = draw.uniform(-1.0, 1.0, counts) * number("grid_height", grid_height, 0.0)
    cells, platform = np.zeros((grid.rows, grid.cols)), grid.square("platform_width", platform_width)
    inner = tuple(slice(start, start + n * width) for start, n in zip(first, counts, strict=True))
    cells[inner] = tiles.repeat(width, 0).repeat(width, 1)
    if holes:
        corners = ~grid.cross("platform_width", platform_width)
        cells[inner][corners[inner]] = number("holes_depth", holes_depth)
    cells[platform] = 0.0
    return tops(cells)


def repeated_boxes(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    num_objects: int = 40,
    height_range: Any = (0.05, 0.15),
    width_range: Any = (0.3, 0.6),
    platform_width: float = 1.0,
) -> np.ndarray:
    """Boxes with random places, directions, sides and heights on flat ground. A point has the highest there.

    Args:
        rng: seed or generator.
        num_objects: number of boxes.
        height_range: lowest and highest, m.
        width_range: shortest and longest sides, m.
        platform_width: width of the flat ground in the middle, m.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    cells = np.zeros((grid.rows, grid.cols))
    widths = interval("width_range", width_range, least=0.0)
    for x, y, height in _scattered(grid, draw, num_objects, height_range):
        heading, sides = draw.uniform(0.0, np.pi), draw.uniform(*widths, 2)
        along, across = np.cos(heading) * x + np.sin(heading) * y, np.cos(heading) * y - np.sin(heading) * x
        inside = (abs(along) <= sides[0] / 2) & (abs(across) <= sides[1] / 2)
        np.maximum(cells, height, out=cells, where=inside)
    return _around_platform(grid, cells, platform_width)


def repeated_cylinders(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    num_objects: int = 40,
    height_range: Any = (0.05, 0.15),
    radius: float = 0.25,
    platform_width: float = 1.0,
) -> np.ndarray:
    """Upright cylinders at random places on flat ground.

    Args:
        rng: seed or generator.
        num_objects: number of cylinders.
        height_range: lowest and highest, m.
        radius: m.
        platform_width: width of the flat ground in the middle, m.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    cells, radius = np.zeros((grid.rows, grid.cols)), positive("radius", radius)
    for x, y, height in _scattered(grid, draw, num_objects, height_range):
        np.maximum(cells, height, out=cells, where=x**2 + y**2 <= radius**2)
    return _around_platform(grid, cells, platform_width)


def repeated_pyramids(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    num_objects: int = 40,
    height_range: Any = (0.05, 0.15),
    width: float = 0.8,
    platform_width: float = 1.0,
) -> np.ndarray:
    """Pyramids with a point on top at random places on flat ground.

    Args:
        rng: seed or generator.
        num_objects: number of pyramids.
        height_range: lowest and highest, m.
        width: of their square bases, m.
        platform_width: width of the flat ground in the middle, m.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    heights, width = np.zeros(grid.shape), positive("width", width)
    for col, row, height in _places(grid, draw, num_objects, height_range):
        away = np.maximum(abs(grid.x - grid.x[0, col]), abs(grid.y - grid.y[row, 0]))
        np.maximum(heights, height * (1.0 - 2.0 * away / width), out=heights)
    heights[tops(grid.square("platform_width", platform_width)) > 0.0] = 0.0
    return heights


def _places(grid: Grid, draw: np.random.Generator, num_objects: int, height_range: Any) -> Any:
    """Yield columns and rows of points, and heights, m."""
    low, high = interval("height_range", height_range, least=0.0)
    for _ in range(whole("num_objects", num_objects, least=0)):
        yield draw.integers(grid.cols + 1), draw.integers(grid.rows + 1), draw.uniform(low, high)


def _scattered(grid: Grid, draw: np.random.Generator, num_objects: int, height_range: Any) -> Any:
    """Yield where cells lie from the middle of an object, x (1, cols) and y (rows, 1), and its height, m."""
    for col, row, height in _places(grid, draw, num_objects, height_range):
        yield grid.cell_x - grid.x[0, col], grid.cell_y - grid.y[row, 0], height


def _around_platform(grid: Grid, cells: np.ndarray, platform_width: float) -> np.ndarray:
    cells[grid.square("platform_width", platform_width)] = 0.0
    return tops(cells)
