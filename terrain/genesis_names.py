"""Kinds by the names, parameters and defaults that isaacgym and Genesis have for them, all in metres."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from . import noise, obstacles, slopes, staircases, stones

GENESIS_KINDS: dict[str, Callable[..., np.ndarray]] = {}
"""Their kinds by name, which `SubTerrain` takes too."""


def _kind(own: Callable[..., np.ndarray]) -> Callable[[Callable[..., dict[str, Any]]], Callable[..., np.ndarray]]:
    """Return a decorator of a function that returns the arguments of our kind for theirs."""

    def decorate(arguments: Callable[..., dict[str, Any]]) -> Callable[..., np.ndarray]:
        @functools.wraps(arguments)
        def make(size: Any, horizontal_scale: float = 0.25, rng: Any = 0, **given: Any) -> np.ndarray:
            return own(size, horizontal_scale, rng, **arguments(**given))

        first = list(inspect.signature(make, follow_wrapped=False).parameters.values())[:3]
        theirs = [p.replace(kind=p.KEYWORD_ONLY) for p in inspect.signature(arguments).parameters.values()]
        setattr(make, "__signature__", inspect.Signature([*first, *theirs]))  # noqa: B010  # mypy refuses an assignment
        GENESIS_KINDS[arguments.__name__] = make
        return make

    return decorate


@_kind(slopes.flat)
def flat_terrain() -> dict[str, Any]:
    """`flat`."""
    return {}


@_kind(noise.fractal)
def fractal_terrain(levels: int = 8, scale: float = 5.0) -> dict[str, Any]:
    """`fractal`: the first displacement is at most half of `scale`."""
    return {"amplitude": scale / 2, "levels": levels}


@_kind(noise.random_uniform)
def random_uniform_terrain(
    min_height: float = -0.1, max_height: float = 0.1, step: float = 0.1, downsampled_scale: float = 0.5
) -> dict[str, Any]:
    """`random_uniform`."""
    heights = (min_height, max_height)
    return {"noise_range": heights, "noise_step": step, "downsampled_scale": downsampled_scale}


@_kind(slopes.slope)
def sloped_terrain(slope: float = -0.5) -> dict[str, Any]:
    """`slope`."""
    return {"slope": slope}


@_kind(slopes.pyramid_slope)
def pyramid_sloped_terrain(slope: float = -0.1, platform_size: float = 1.0) -> dict[str, Any]:
    """`pyramid_slope`; a negative slope falls."""
    return {"slope": slope, "platform_width": platform_size}


@_kind(obstacles.discrete_obstacles)
def discrete_obstacles_terrain(
    max_height: float = 0.05,
    min_size: float = 1.0,
    max_size: float = 5.0,
    num_rects: int = 20,
    platform_size: float = 1.0,
) -> dict[str, Any]:
    """`discrete_obstacles`."""
    widths = {"obstacle_width_range": (min_size, max_size), "platform_width": platform_size}
    return {"obstacle_height": max_height, "num_obstacles": num_rects, **widths}


@_kind(noise.wave)
def wave_terrain(num_waves: int = 2, amplitude: float = 0.1) -> dict[str, Any]:
    """`wave`."""
    return {"amplitude": amplitude, "num_waves": num_waves}


@_kind(staircases.stairs)
def stairs_terrain(step_width: float = 0.75, step_height: float = -0.1) -> dict[str, Any]:
    """`stairs`; a negative height falls."""
    return {"step_height": step_height, "step_width": step_width}


@_kind(staircases.pyramid_stairs)
def pyramid_stairs_terrain(
    step_width: float = 0.75, step_height: float = -0.1, platform_size: float = 1.0
) -> dict[str, Any]:
    """`pyramid_stairs`; a negative height falls."""
    return {"step_height": step_height, "step_width": step_width, "platform_width": platform_size}


@_kind(stones.stepping_stones)
def stepping_stones_terrain(
    stone_size: float = 1.0,
    stone_distance: float = 0.25,
    max_height: float = 0.2,
    platform_size: float = 0.0,
    depth: float = -10.0,
) -> dict[str, Any]:
    """`stepping_stones`."""
    widths = {"stone_width": stone_size, "stone_distance": stone_distance, "platform_width": platform_size}
    return {**widths, "stone_height_max": max_height, "holes_depth": depth}
