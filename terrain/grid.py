"""Points and cells of a piece of ground, and how ground that is flat in each cell becomes heights of points.

A field has heights only at points, and is made of triangles between them. A wall is thus one cell wide. Kinds with
walls say how high each cell is, and each point gets the height of the highest cell around it: the higher side has its
full size, and the wall below its edge takes a cell from the lower side.
"""

from typing import Any

import numpy as np

from .checks import number, pair, positive, require_room


class Grid:
    """The points and cells of a piece of ground of this size.

    Attributes:
        size: lengths along x and y, metres.
        horizontal_scale: length of a cell, metres.
        rows: number of cells along y.
        cols: number of cells along x.
        shape: numbers of points along y and x, (rows + 1, cols + 1).
    """

    def __init__(self, size: Any, horizontal_scale: float = 0.1) -> None:
        """Count the cells.

        Raises:
            ValueError: a length is no whole number of cells, or the field has no cell or too many.
        """
        self.horizontal_scale = scale = positive("horizontal_scale", horizontal_scale)
        self.size = (positive("size", pair("size", size)[0]), positive("size", pair("size", size)[1]))
        require_room("size", *(round(length / scale) + 1 for length in self.size[::-1]))
        self.cols, self.rows = (exact_cells("size", length, scale) for length in self.size)
        self.shape = (self.rows + 1, self.cols + 1)

    @property
    def x(self) -> np.ndarray:
        """The points' x, (1, cols + 1), metres from the centre."""
        return _centred(self.cols + 1, self.horizontal_scale)[None]

    @property
    def y(self) -> np.ndarray:
        """The points' y, (rows + 1, 1), metres from the centre."""
        return _centred(self.rows + 1, self.horizontal_scale)[:, None]

    @property
    def cell_x(self) -> np.ndarray:
        """The x of cells' centres, (1, cols), metres from the centre."""
        return _centred(self.cols, self.horizontal_scale)[None]

    @property
    def cell_y(self) -> np.ndarray:
        """The y of cells' centres, (rows, 1), metres from the centre."""
        return _centred(self.rows, self.horizontal_scale)[:, None]

    def cells(self, name: str, length: float) -> int:
        """Return the number of cells that comes nearest to a length, at least one.

        Raises:
            ValueError: the length is not above zero.
        """
        return max(round(positive(name, length) / self.horizontal_scale), 1)

    def point_rings(self) -> np.ndarray:
        """Return how many cells each point lies from the border, (rows + 1, cols + 1)."""
        return _rings(*self.shape)

    def cell_rings(self) -> np.ndarray:
        """Return how many cells lie between each cell and the border, (rows, cols)."""
        return _rings(self.rows, self.cols)

    def square(self, name: str, width: float, around: int = 0) -> np.ndarray:
        """Return True for the cells of a centred square, (rows, cols) bool. A width of 0 has none.

        Its width is the whole number of cells nearest to `width` that can be centred, and `around` more on each side.

        Raises:
            ValueError: the width is negative, or more than the ground's.
        """
        width = self.fitting(name, width)
        return self._middle(self.cols, width, around)[None] & self._middle(self.rows, width, around)[:, None]

    def cross(self, name: str, width: float) -> np.ndarray:
        """Return True for the cells in a row or column with that square, (rows, cols) bool."""
        width = self.fitting(name, width)
        return self._middle(self.cols, width)[None] | self._middle(self.rows, width)[:, None]

    def fitting(self, name: str, width: float) -> float:
        """Return a width that the ground has.

        Raises:
            ValueError: it is negative, or more than the ground's.
        """
        width = number(name, width, least=0.0)
        if width > min(self.size) + 1e-9:
            raise ValueError(f"{name}={width:g}: it must fit on the ground, which is {min(self.size):g} m wide")
        return width

    def rings_around(self, name: str, width: float) -> int:
        """Return how many whole rings of cells lie around a centred square of this width.

        Raises:
            ValueError: the width is negative, or more than the ground's.
        """
        narrow = min(self.rows, self.cols)
        return (narrow - _centred_cells(narrow, self.fitting(name, width) / self.horizontal_scale)) // 2

    def _middle(self, count: int, width: float, around: int = 0) -> np.ndarray:
        inner = _centred_cells(count, width / self.horizontal_scale)
        least, place = (count - inner) // 2 - around, np.arange(count)
        return (place >= least) & (place < count - least) & (inner + around > 0)


def tops(cells: np.ndarray) -> np.ndarray:
    """Return the heights of points from the cells': of the highest cell around each.

    Args:
        cells: (rows, cols), metres.

    Returns:
        (rows + 1, cols + 1), metres.
    """
    padded = np.pad(np.asarray(cells, float), 1, constant_values=-np.inf)
    across = np.maximum(padded[:, 1:], padded[:, :-1])
    return np.maximum(across[1:], across[:-1])


def exact_cells(name: str, length: float, scale: float) -> int:
    """Return the number of cells in a length.

    Raises:
        ValueError: it is no whole number.
    """
    count = round(length / scale)
    if abs(count * scale - length) > 1e-6 * scale * max(count, 1):
        below = int(length / scale) * scale
        raise ValueError(
            f"{name}={length:g} is no whole number of cells of horizontal_scale={scale:g}: "
            f"take {below:.6g} or {below + scale:.6g}"
        )
    return count


def _centred(count: int, scale: float) -> np.ndarray:
    return (np.arange(count) - (count - 1) / 2) * scale


def _centred_cells(count: int, cells: float) -> int:
    """Return the whole number nearest to `cells` that is odd or even as `count` is, at most `count`."""
    odd = count % 2
    nearest = 2 * round((cells - odd) / 2) + odd
    return min(max(nearest, 2 - odd), count) if cells > 0.0 else 0


def _rings(rows: int, cols: int) -> np.ndarray:
    row, col = np.arange(rows)[:, None], np.arange(cols)[None]
    return np.minimum(np.minimum(row, rows - 1 - row), np.minimum(col, cols - 1 - col))
