"""Distributions that managers draw from, with fixed bits in every batch."""

from typing import Any

import numpy as np

from ..arrays import Array, exp, namespace
from ..task.noise import Noise

DISTRIBUTIONS = ("uniform", "log_uniform", "normal")
_FARTHEST = 8.6  # standard deviations: a normal draw of `Noise` comes of 53 bits, sqrt(2 * 53 * log(2))


def draw(noise: Noise, distribution: str, low: np.ndarray, high: np.ndarray) -> Array:
    """Draw numbers (num_envs, k) float64.

    Args:
        noise: of the environments.
        distribution: "uniform" from `low` to `high`; "log_uniform" between them, evenly in the logarithm; "normal" with
            the mean `low` and the standard deviation `high`.
        low: (k,).
        high: (k,).
    """
    shape = noise.normal(len(low)) if distribution == "normal" else noise.uniform(0, 1, len(low))
    logarithmic = distribution == "log_uniform"
    if logarithmic:
        low, high = np.log(low), np.log(high)
    width = high if distribution == "normal" else high - low
    xp = namespace(shape)
    low, width = (xp.asarray(numbers, dtype=xp.float64, device=shape.device) for numbers in (low, width))
    numbers = low + width * shape
    return exp(numbers) if logarithmic else numbers


def extremes(distribution: str, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest numbers that `draw` can give, (k,) each."""
    return (low - _FARTHEST * high, low + _FARTHEST * high) if distribution == "normal" else (low, high)


def require_distribution(owner: str, distribution: Any, low: np.ndarray, high: np.ndarray) -> None:
    """Refuse a distribution that is none, or that has no such numbers.

    Raises:
        ValueError: what it is, and what is needed.
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"{owner}: distribution={distribution!r}: there are {', '.join(DISTRIBUTIONS)}")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError(f"{owner}: low={low.tolist()}, high={high.tolist()}: they must be finite")
    if distribution == "normal":
        if (high < 0).any():
            raise ValueError(
                f"{owner}: high={high.tolist()} is the standard deviation of a normal distribution: above 0"
            )
        return
    if (low > high).any():
        raise ValueError(f"{owner}: low={low.tolist()} is above high={high.tolist()}: exchange them")
    if distribution == "log_uniform" and (low <= 0).any():
        raise ValueError(f"{owner}: low={low.tolist()}: log_uniform needs numbers above 0; take uniform, or raise low")
