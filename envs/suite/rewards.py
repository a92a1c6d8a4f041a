"""The control suite's reward function: how near a number is to an interval, from 1 inside to 0 far away."""

import math
from collections.abc import Callable

from ..arrays import Array, clip, exp, namespace, sin_cos


def tolerance(
    x: Array,
    bounds: tuple[float, float] = (0.0, 0.0),
    margin: float = 0.0,
    sigmoid: str = "gaussian",
    value_at_margin: float = 0.1,
) -> Array:
    """Return 1 where x lies within the bounds, and less the farther it lies outside.

    `dm_control.utils.rewards.tolerance` for arrays of any library, with the same bits in a batch of any size.

    Args:
        x: numbers (...).
        bounds: the least and the largest number that are worth 1; they may be infinite.
        margin: how far outside the value has fallen to `value_at_margin`; 0: it is 0 everywhere outside.
        sigmoid: how it falls: gaussian, hyperbolic, long_tail, reciprocal, tanh_squared, which never reach 0; or
            cosine, linear, quadratic, which do.
        value_at_margin: above 0 and below 1; cosine, linear and quadratic may have 0.

    Returns:
        Numbers from 0 to 1, (...).

    Raises:
        ValueError: the bounds are in the wrong order, the margin is negative, there is no such sigmoid, or the value at
            the margin is not in its range.
    """
    low, high = map(float, bounds)  # numpy's numbers would not keep the precision of x
    margin, value = float(margin), float(value_at_margin)
    if not low <= high:
        raise ValueError(f"tolerance: bounds={low, high} must be (low, high) with low <= high")
    if not margin >= 0:
        raise ValueError(f"tolerance: margin={margin} must not be negative")
    if sigmoid not in SIGMOIDS:
        raise ValueError(f"tolerance: no sigmoid {sigmoid!r}; there are {', '.join(SIGMOIDS)}")
    if margin == 0:
        xp = namespace(x)
        return xp.astype((low <= x) & (x <= high), x.dtype)
    if not (0 < value < 1 or (value == 0 and sigmoid in _REACH_ZERO)):
        least = "at least 0" if sigmoid in _REACH_ZERO else "above 0"
        raise ValueError(f"tolerance: value_at_margin={value} of a {sigmoid} must be {least} and below 1")
    return SIGMOIDS[sigmoid](_outside(x, low, high) / margin, value)


def _outside(x: Array, low: float, high: float) -> Array:
    """Return how far numbers lie outside of an interval, 0 inside; NaN stays NaN."""
    if high == math.inf:
        return clip(low - x, 0.0, math.inf)
    if low == -math.inf:
        return clip(x - high, 0.0, math.inf)
    if low == high == 0:
        return abs(x)
    return clip(namespace(x).maximum(low - x, x - high), 0.0, math.inf)


def _gaussian(x: Array, value: float) -> Array:
    return exp(math.log(value) * (x * x))


def _hyperbolic(x: Array, value: float) -> Array:
    rising = exp(math.acosh(1 / value) * x)
    return 2 / (rising + 1 / rising)


def _long_tail(x: Array, value: float) -> Array:
    return 1 / ((1 / value - 1) * (x * x) + 1)


def _reciprocal(x: Array, value: float) -> Array:
    return 1 / ((1 / value - 1) * x + 1)


def _tanh_squared(x: Array, value: float) -> Array:
    falling = exp((-2 * math.atanh(math.sqrt(1 - value))) * x)
    return 4 * falling / (1 + falling) ** 2


def _cosine(x: Array, value: float) -> Array:
    _, cosine = sin_cos(clip(math.acos(2 * value - 1) * x, 0.0, math.pi))
    return (1 + cosine) / 2


def _linear(x: Array, value: float) -> Array:
    return clip(1 - (1 - value) * x, 0.0, 1.0)


def _quadratic(x: Array, value: float) -> Array:
    return clip(1 - (1 - value) * (x * x), 0.0, 1.0)


SIGMOIDS: dict[str, Callable[[Array, float], Array]] = {
    "gaussian": _gaussian,
    "hyperbolic": _hyperbolic,
    "long_tail": _long_tail,
    "reciprocal": _reciprocal,
    "tanh_squared": _tanh_squared,
    "cosine": _cosine,
    "linear": _linear,
    "quadratic": _quadratic,
}
"""Functions of a distance (...) >= 0 in margins and of the value at 1, which fall from 1 at 0."""

_REACH_ZERO = ("cosine", "linear", "quadratic")
