"""Pictures of ground without a renderer, as the docs have them."""

import numpy as np

from .colors import by_height
from .kinds import SubTerrain
from .presets import ALL_TERRAINS
from .surface import on_triangles

LIGHT = np.array([-0.55, -0.35, 0.76])
"""Towards the light, a unit vector in the picture's own frame: right, away, up."""
BACKGROUND = np.array([255.0, 255.0, 255.0])
SIDES = np.array([120.0, 112.0, 104.0])
"""The colour of the sides of the block of ground."""


def relief(
    heights: np.ndarray, size: tuple[float, float], width: int = 360, azimuth: float = 30.0, elevation: float = 35.0
) -> np.ndarray:
    """Draw a block of ground from aside and above, without perspective, lit from the left.

    Each column of pixels looks along one line over the ground: a pixel shows the first point on that line that is high
    enough to reach it.

    Args:
        heights: (nrow, ncol), m.
        size: lengths along x and y, m.
        width: of the picture, pixels.
        azimuth: how far the field is turned, degrees.
        elevation: how steeply it is seen, degrees.

    Returns:
        (height, width, 3) uint8.
    """
    turn, tilt = np.radians(azimuth), np.radians(elevation)
    reach = np.array([[np.cos(turn), np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ size / 2  # right, away
    across, away = np.linspace(-reach[0], reach[0], 2 * width), np.linspace(-reach[1], reach[1], 4 * width)[:, None]
    x, y = np.cos(turn) * across + np.sin(turn) * away, np.cos(turn) * away - np.sin(turn) * across
    inside = (abs(x) <= size[0] / 2) & (abs(y) <= size[1] / 2)
    u, v = (x / size[0] + 0.5) * (heights.shape[1] - 1), (y / size[1] + 0.5) * (heights.shape[0] - 1)
    z = on_triangles(heights, u, v)
    colors = _lit(by_height(z), z, away[1, 0] - away[0, 0], across[1] - across[0])
    base = heights.min() - 0.04 * max(size)
    up = np.where(inside, np.sin(tilt) * away + np.cos(tilt) * z, -np.inf)
    feet = np.where(inside, np.sin(tilt) * away + np.cos(tilt) * base, np.inf)
    highest = np.maximum.accumulate(up)
    step = across[1] - across[0]
    rows = np.arange(up.max() + step, feet.min() - step, -step)
    rows = rows[: len(rows) // 2 * 2]
    picture = np.empty((len(rows), 2 * width, 3))
    for col in range(2 * width):
        seen = np.searchsorted(highest[:, col], rows)
        first = int(inside[:, col].argmax())
        pixels = colors[seen.clip(None, len(away) - 1), col]
        pixels[(seen == first) & (rows < up[first, col])] = SIDES * (0.8 if x[first, col] < 0.49 * size[0] else 1.0)
        pixels[(seen == len(away)) | (rows < feet[first, col])] = BACKGROUND
        picture[:, col] = pixels
    return picture.reshape(len(rows) // 2, 2, width, 2, 3).mean((1, 3)).round().astype(np.uint8)


def _lit(colors: np.ndarray, z: np.ndarray, step_away: float, step_across: float) -> np.ndarray:
    """Return colours (n, m, 3) of ground of the heights z (n, m) as the light makes them."""
    slope_away, slope_across = np.gradient(z, step_away, step_across)
    bright = LIGHT[2] - LIGHT[0] * slope_across - LIGHT[1] * slope_away
    bright = (bright / np.sqrt(1.0 + slope_away**2 + slope_across**2)).clip(0.0, 1.0)
    return colors * (0.3 + 0.8 * bright)[..., None].clip(0.0, 1.0)


def sample_of(name: str, difficulty: float = 0.7) -> np.ndarray:
    """Return ground of a kind as its picture shows it, 8 x 8 m."""
    part = ALL_TERRAINS.sub_terrains.get(name, name)
    part = SubTerrain(part) if isinstance(part, str) else part
    return part.heights((8.0, 8.0), 0.05, 0, difficulty).clip(-1.0, None)
