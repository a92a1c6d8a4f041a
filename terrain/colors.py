"""Colours of fields: by height, or one for each sub-terrain."""

import numpy as np

SCHEMES = ("height", "random", "none")
LADDER = np.array([[96, 128, 146], [128, 170, 158], [186, 196, 152], [232, 206, 148], [228, 160, 116]], float)
"""From the lowest ground to the highest."""


def colors_of(scheme: str, heights: np.ndarray, counts: tuple[int, int], frame: int, seed: int) -> np.ndarray | None:
    """Return the colour of each point, (nrow, ncol, 3) uint8, or None.

    Args:
        scheme: one of `SCHEMES`.
        heights: of the whole field, m.
        counts: rows and columns of sub-terrains.
        frame: points of border on each side.
        seed: of random colours.
    """
    if scheme == "none":
        return None
    if scheme == "height":
        return by_height(heights)
    own = np.random.default_rng([seed, *counts]).integers(70, 230, (*counts, 3))
    cells = [count - 2 * frame - 1 for count in heights.shape]
    places = [
        (np.arange(count) - frame) * n // max(inner, 1)
        for count, n, inner in zip(heights.shape, counts, cells, strict=True)
    ]
    outside = [(place < 0) | (place >= n) for place, n in zip(places, counts, strict=True)]
    row, col = (place.clip(0, n - 1) for place, n in zip(places, counts, strict=True))
    colors = own[row[:, None], col[None]]
    colors[outside[0][:, None] | outside[1][None]] = 128
    return colors.astype(np.uint8)


def by_height(heights: np.ndarray) -> np.ndarray:
    """Return colours on `LADDER`, (nrow, ncol, 3) uint8; the lowest hundredth of the ground has one colour."""
    low, high = np.percentile(heights, [1.0, 99.9])
    share = ((heights - low) / max(high - low, 1e-9)).clip(0.0, 1.0) * (len(LADDER) - 1)
    at = [np.interp(share, np.arange(len(LADDER)), LADDER[:, channel]) for channel in range(3)]
    return np.stack(at, -1).round().astype(np.uint8)
