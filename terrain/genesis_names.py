"""Kinds by the names, parameters and defaults that isaacgym and Genesis have for them, all in metres."""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import noise, obstacles, slopes, staircases, stones


def flat_terrain(size: Any, horizontal_scale: float = 0.25, rng: Any = 0) -> np.ndarray:
    """`flat`."""
    return slopes.flat(size, horizontal_scale)


def fractal_terrain(
    size: Any, horizontal_scale: float = 0.25, rng: Any = 0, *, levels: int = 8, scale: float = 5.0
) -> np.ndarray:
    """`fractal`: the first displacement is at most half of `scale`."""
    return noise.fractal(size, horizontal_scale, rng, amplitude=scale / 2, levels=levels)


def random_uniform_terrain(
    size: Any,
    horizontal_scale: float = 0.25,
    rng: Any = 0,
    *,
    min_height: float = -0.1,
    max_height: float = 0.1,
    step: float = 0.1,
    downsampled_scale: float = 0.5,
) -> np.ndarray:
    """`random_uniform`."""
    return noise.random_uniform(
        size,
        horizontal_scale,
        rng,
        noise_range=(min_height, max_height),
        noise_step=step,
        downsampled_scale=downsampled_scale,
    )


def sloped_terrain(size: Any, horizontal_scale: float = 0.25, rng: Any = 0, *, slope: float = -0.5) -> np.ndarray:
    """`slope`."""
    return slopes.slope(size, horizontal_scale, slope=slope)


def pyramid_sloped_terrain(
    size: Any, horizontal_scale: float = 0.25, rng: Any = 0, *, slope: float = -0.1, platform_size: float = 1.0
) -> np.ndarray:
    """`pyramid_slope`; a negative slope falls."""
    return slopes.pyramid_slope(size, horizontal_scale, slope=slope, platform_width=platform_size)


def discrete_obstacles_terrain(
    size: Any,
    horizontal_scale: float = 0.25,
    rng: Any = 0,
    *,
    max_height: float = 0.05,
    min_size: float = 1.0,
    max_size: float = 5.0,
    num_rects: int = 20,
    platform_size: float = 1.0,
) -> np.ndarray:
    """`discrete_obstacles`."""
    return obstacles.discrete_obstacles(
        size,
        horizontal_scale,
        rng,
        obstacle_height=max_height,
        obstacle_width_range=(min_size, max_size),
        num_obstacles=num_rects,
        platform_width=platform_size,
    )


def wave_terrain(
    size: Any, horizontal_scale: float = 0.25, rng: Any = 0, *, num_waves: int = 2, amplitude: float = 0.1
) -> np.ndarray:
    """`wave`."""
    return noise.wave(size, horizontal_scale, amplitude=amplitude, num_waves=num_waves)


def stairs_terrain(
    size: Any, horizontal_scale: float = 0.25, rng: Any = 0, *, step_width: float = 0.75, step_height: float = -0.1
) -> np.ndarray:
    """`stairs`; a negative height falls."""
    return staircases.stairs(size, horizontal_scale, step_height=step_height, step_width=step_width)


def pyramid_stairs_terrain(
    size: Any,
    horizontal_scale: float = 0.25,
    rng: Any = 0,
    *,
    step_width: float = 0.75,
    step_height: float = -0.1,
    platform_size: float = 1.0,
) -> np.ndarray:
    """`pyramid_stairs`; a negative height falls."""
    return staircases.pyramid_stairs(
        size, horizontal_scale, step_height=step_height, step_width=step_width, platform_width=platform_size
    )


def stepping_stones_terrain(
    size: Any,
    horizontal_scale: float = 0.25,
    rng: Any = 0,
    *,
    stone_size: float = 1.0,
    stone_distance: float = 0.25,
    max_height: float = 0.2,
    platform_size: float = 0.0,
    depth: float = -10.0,
) -> np.ndarray:
    """`stepping_stones`."""
    return stones.stepping_stones(
        size,
        horizontal_scale,
        rng,
        stone_width=stone_size,
        stone_distance=stone_distance,
        stone_height_max=max_height,
        platform_width=platform_size,
        holes_depth=depth,
    )


GENESIS_KINDS: dict[str, Callable[..., np.ndarray]] = {
    function.__name__: function
    for function in (
        *(flat_terrain, fractal_terrain, random_uniform_terrain, sloped_terrain, pyramid_sloped_terrain),
        *(discrete_obstacles_terrain, wave_terrain, stairs_terrain, pyramid_stairs_terrain, stepping_stones_terrain),
    )
}
"""Their kinds by name, which `SubTerrain` takes too."""
