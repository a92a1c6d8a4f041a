"""Random ground and waves: uniform heights, midpoint displacement, Perlin noise, sines."""

from typing import Any

import numpy as np

from .checks import interval, number, positive, whole
from .grid import Grid
from .surface import sample


def random_uniform(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    noise_range: Any = (-0.05, 0.05),
    noise_step: float = 0.01,
    downsampled_scale: float | None = None,
) -> np.ndarray:
    """Heights drawn one by one, on points some way apart, with straight lines between them.

    Args:
        rng: seed or generator of the heights.
        noise_range: lowest and highest, m.
        noise_step: heights are the lowest and whole numbers of these above it, m.
        downsampled_scale: distance of the points drawn, m, at least a cell; None: a cell.

    Raises:
        ValueError: the range is the wrong way round, the step is not above zero, or the points are too close.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    low, high = interval("noise_range", noise_range)
    step = positive("noise_step", noise_step)
    apart = grid.horizontal_scale if downsampled_scale is None else positive("downsampled_scale", downsampled_scale)
    if apart < grid.horizontal_scale * (1 - 1e-9):
        raise ValueError(f"downsampled_scale={apart:g}: it must be at least horizontal_scale={grid.horizontal_scale:g}")
    counts = [max(round(length / apart), 1) + 1 for length in grid.size[::-1]]
    drawn = low + step * draw.integers(0, int((high - low) / step + 1e-9), counts, endpoint=True)
    return np.clip(sample(drawn, *grid.shape), low, high)  # only rounding leads out


def wave(
    size: Any, horizontal_scale: float = 0.1, rng: Any = 0, *, amplitude: float = 0.1, num_waves: int = 2
) -> np.ndarray:
    """The sum of a sine along x and a cosine along y, each of half the amplitude.

    Args:
        amplitude: heights lie between minus and plus this, m.
        num_waves: number of waves along each side.
    """
    grid = Grid(size, horizontal_scale)
    turns = [2.0 * np.pi * whole("num_waves", num_waves) / length for length in grid.size]
    return 0.5 * number("amplitude", amplitude) * (np.sin(turns[0] * grid.x) + np.cos(turns[1] * grid.y))


def fractal(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    amplitude: float = 0.2,
    persistence: float = 0.5,
    levels: int = 7,
) -> np.ndarray:
    """Midpoint displacement: points between points are moved up or down, by less at each level.

    The first points are the corners of a square of the longer side, at height 0.

    Args:
        rng: seed or generator of the displacements.
        amplitude: largest displacement at the first level, m.
        persistence: ratio of a level's largest displacement to the one before.
        levels: how often distances are halved.

    Raises:
        ValueError: a number is negative, or there are more than 13 levels.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    if whole("levels", levels) > 13:
        raise ValueError(f"levels={levels}: at most 13, which makes 8,193 points a side")
    heights = np.zeros((2, 2))
    for level in range(levels):
        largest = number("amplitude", amplitude, 0.0) * number("persistence", persistence, 0.0) ** level
        heights = _midpoints(heights) + largest * draw.uniform(-1.0, 1.0, (2 * len(heights) - 1,) * 2) * _new(heights)
    (across, along), longest = grid.size, max(grid.size)
    return sample(heights, *grid.shape, part=(along / longest, across / longest))


def perlin_noise(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    amplitude: float = 0.2,
    wavelength: float = 4.0,
    octaves: int = 4,
    persistence: float = 0.3,
    lacunarity: float = 2.0,
) -> np.ndarray:
    """Perlin's gradient noise, summed over octaves.

    Args:
        rng: seed or generator of the gradients.
        amplitude: heights lie between minus and plus this, m.
        wavelength: distance of the first octave's gradients, m.
        octaves: number of octaves.
        persistence: ratio of an octave's amplitude to the one before.
        lacunarity: ratio of an octave's frequency to the one before.
    """
    grid, draw = Grid(size, horizontal_scale), np.random.default_rng(rng)
    weights = number("persistence", persistence, 0.0) ** np.arange(whole("octaves", octaves))
    waves = positive("wavelength", wavelength) / positive("lacunarity", lacunarity) ** np.arange(octaves)
    if min(waves) < grid.horizontal_scale:
        raise ValueError(
            f"octaves={octaves}: the last has waves of {min(waves):.3g} m, shorter than horizontal_scale="
            f"{grid.horizontal_scale:g}; take fewer octaves or a longer wavelength"
        )
    noise = sum(weight * gradient_noise(grid, wave, draw) for weight, wave in zip(weights, waves, strict=True))
    return number("amplitude", amplitude) * noise / weights.sum()


def gradient_noise(grid: Grid, wavelength: float, draw: np.random.Generator) -> np.ndarray:
    """Return one octave of Perlin noise between -1 and 1, (rows + 1, cols + 1)."""
    u, v = (grid.x - grid.x[0, 0]) / wavelength, (grid.y - grid.y[0, 0]) / wavelength
    counts = (int(v.max()) + 2, int(u.max()) + 2)
    angle = draw.uniform(0.0, 2.0 * np.pi, counts)
    col, row = u.astype(int), v.astype(int)
    u, v = u - col, v - row
    values = [
        [np.cos(angle[row + down, col + right]) * (u - right) + np.sin(angle[row + down, col + right]) * (v - down)
         for right in (0, 1)]
        for down in (0, 1)
    ]  # fmt: skip
    ease_u, ease_v = (t**3 * (t * (t * 6 - 15) + 10) for t in (u, v))
    upper, lower = (left + ease_u * (right - left) for left, right in values)
    return np.sqrt(2.0) * (upper + ease_v * (lower - upper))  # a sum of four is at most sqrt(1/2)


def _midpoints(heights: np.ndarray) -> np.ndarray:
    """Return a lattice twice as fine, whose new points are the means of their neighbours."""
    finer = np.zeros(tuple(2 * count - 1 for count in heights.shape))
    finer[::2, ::2] = heights
    finer[1::2, ::2] = 0.5 * (heights[1:] + heights[:-1])
    finer[:, 1::2] = 0.5 * (finer[:, 2::2] + finer[:, :-2:2])
    return finer


def _new(heights: np.ndarray) -> np.ndarray:
    """Return 1 for the points that `_midpoints` adds, and 0 for the earlier points."""
    new = np.ones(tuple(2 * count - 1 for count in heights.shape))
    new[::2, ::2] = 0.0
    return new
