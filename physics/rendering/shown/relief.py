"""The share of the sky that hollows of a height field see, which makes its relief visible where no shadow falls."""

import numpy as np

from ..rays.field_tables import COLUMNS, ELEVATION, FIRST_HEIGHT, PER_X, PER_Y, ROWS, FieldTables

_NEAR = (1, 3, 9)  # cells: half the sides of the squares whose mean height a vertex is compared with
_DARKER = 1.2  # how strongly a hollow as steep as its square is wide loses light, at each of them


def openness(fields: FieldTables) -> np.ndarray:
    """Share of the sky's light at every vertex of all fields, (h,) float32, as `FieldTables.heights` has them."""
    found = np.ones(len(fields.heights), np.float32)
    for row in range(len(fields.fields)):
        first, nrow, ncol = (int(fields.shapes[row, column]) for column in (FIRST_HEIGHT, ROWS, COLUMNS))
        own = slice(first, first + nrow * ncol)
        heights = fields.heights[own].reshape(nrow, ncol) * np.float32(fields.measures[row, ELEVATION])
        per_metre = np.sqrt(fields.measures[row, PER_X] * fields.measures[row, PER_Y])
        found[own] = _openness(heights, float(per_metre)).reshape(-1)
    return found


def _openness(heights: np.ndarray, per_metre: float) -> np.ndarray:
    dimmed = np.ones_like(heights)
    for near in _NEAR:
        above = _mean_around(heights, near) - heights
        dimmed += np.float32(_DARKER * per_metre / near) * np.maximum(above, 0.0)
    return 1.0 / dimmed


def _mean_around(heights: np.ndarray, near: int) -> np.ndarray:
    """Mean over rectangles about the vertices, up to 2 near + 1 a side: as many as the border leaves on both sides."""
    for axis in (0, 1):
        count = heights.shape[axis]
        place = np.arange(count)
        reach = np.minimum(near, np.minimum(place, place[::-1]))
        first, last = place - reach, place + reach + 1
        sums = np.insert(np.cumsum(heights, axis=axis, dtype=np.float64), 0, 0.0, axis=axis)
        wide = np.expand_dims(last - first, 1 - axis)
        heights = ((np.take(sums, last, axis) - np.take(sums, first, axis)) / wide).astype(np.float32)
    return heights
