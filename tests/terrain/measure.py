"""Measurements on ground, from heights alone."""

import numpy as np


def along_x(heights: np.ndarray) -> np.ndarray:
    """The middle row."""
    return heights[heights.shape[0] // 2]


def runs(values: np.ndarray) -> list[tuple[float, int]]:
    """Each stretch of equal numbers, as the number and how many there are."""
    starts = np.flatnonzero(np.append(True, np.diff(values) != 0))
    return [(float(values[i]), int(j - i)) for i, j in zip(starts, np.append(starts[1:], len(values)), strict=True)]


def is_symmetric(heights: np.ndarray) -> bool:
    """Return True if a square looks the same from all four sides, and in a mirror."""
    return all(np.allclose(heights, other, atol=1e-12) for other in (heights.T, heights[::-1], heights[:, ::-1]))


def middle(heights: np.ndarray, points: int) -> np.ndarray:
    """The points within `points` of the middle, along both axes."""
    row, col = (count // 2 for count in heights.shape)
    return heights[row - points : row + points + 1, col - points : col + points + 1]
