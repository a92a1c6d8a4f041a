"""The surface of a field: two triangles a cell, as MuJoCo has them.

The diagonal of cell (r, c) goes from point (r, c) to point (r + 1, c + 1).
"""

from typing import Any

import numpy as np

from .checks import require_room


def require_heights(name: str, heights: Any) -> np.ndarray:
    """Return heights as a new float64 array.

    Raises:
        ValueError: they are no two-dimensional array of finite numbers with a cell.
    """
    try:
        found = np.array(heights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: heights must be an array of numbers of shape (nrow, ncol)") from None
    if found.ndim != 2:
        raise ValueError(f"{name}: heights must have the shape (nrow, ncol), not {found.shape}")
    require_room(name, *found.shape)
    wrong = ~np.isfinite(found)
    if wrong.any():
        row, col = np.argwhere(wrong)[0]
        raise ValueError(f"{name}[{row}, {col}] is {found[row, col]}: every height must be a finite number of metres")
    return found


def on_triangles(heights: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return heights on the triangles.

    Args:
        heights: (nrow, ncol), m.
        u: places along columns, in cells from the first, of any shape; places outside are clamped.
        v: places along rows, in the same shape.
    """
    nrow, ncol = heights.shape
    u, v = np.clip(u, 0.0, ncol - 1), np.clip(v, 0.0, nrow - 1)
    col, row = np.minimum(u.astype(int), ncol - 2), np.minimum(v.astype(int), nrow - 2)
    u, v = u - col, v - row
    first, last = heights[row, col], heights[row + 1, col + 1]
    below = first + u * (heights[row, col + 1] - first) + v * (last - heights[row, col + 1])
    above = first + v * (heights[row + 1, col] - first) + u * (last - heights[row + 1, col])
    return np.where(u >= v, below, above)


def sample(heights: np.ndarray, nrow: int, ncol: int, part: tuple[float, float] = (1.0, 1.0)) -> np.ndarray:
    """Return a field at other points, (nrow, ncol), by bilinear interpolation.

    Args:
        heights: (any, any), m.
        nrow: number of points along y.
        ncol: number of points along x.
        part: the shares of the field along y and x that the points cover, from its first point.
    """
    v = np.linspace(0.0, part[0] * (heights.shape[0] - 1), nrow)
    u = np.linspace(0.0, part[1] * (heights.shape[1] - 1), ncol)
    row, col = np.minimum(v.astype(int), heights.shape[0] - 2), np.minimum(u.astype(int), heights.shape[1] - 2)
    v, u = (v - row)[:, None], (u - col)[None]
    rows = heights[row] + v * (heights[row + 1] - heights[row])
    return rows[:, col] + u * (rows[:, col + 1] - rows[:, col])
