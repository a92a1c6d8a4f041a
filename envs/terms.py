"""Terms that several tasks share: observations, costs, starts. Formulas are those of Gymnasium's v5 tasks."""

import numpy as np

from .arrays import Array, total
from .noise import Noise


def control_cost(action: Array, weight: float) -> Array:
    """Cost of large actions, weight x sum of squares: (n, nu) -> (n,)."""
    return weight * total(action * action)


def strictly_inside(x: Array, bounds: tuple[Array, Array] | tuple[float, float]) -> Array:
    """Whether low < x < high, elementwise."""
    low, high = bounds
    inside = x > low
    inside &= x < high
    return inside


def uniform_start(noise: Noise, start: np.ndarray, scale: float, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw positions within ±scale of `start` (nq,) and velocities within ±scale of rest."""
    return start + noise.uniform(-scale, scale, start.size), noise.uniform(-scale, scale, nv)


def normal_start(noise: Noise, start: np.ndarray, scale: float, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw positions within ±scale of `start` (nq,) and normal velocities of standard deviation `scale`."""
    return start + noise.uniform(-scale, scale, start.size), scale * noise.normal(nv)
