"""Terms of Meta-World's rewards: tolerances with a margin for each environment, and products of them."""

import math

from ..arrays import Array, clip, log, namespace, row_norm
from ..suite.rewards import SIGMOIDS

AT_MARGIN = 0.1  # the value of a tolerance one margin away from its interval


def tolerance(x: Array, low: float, high: float, margin: Array | float, sigmoid: str = "long_tail") -> Array:
    """Return 1 where x lies in [low, high], and less the farther it lies outside.

    As `tumble.envs.tolerance`, but with a margin for each environment.

    Args:
        x: numbers (n,).
        low: the least number that is worth 1.
        high: the largest.
        margin: how far outside the value has fallen to 0.1, (n,) or one number; 0: it is 0 everywhere outside.
        sigmoid: how it falls: "long_tail" or "gaussian".

    Returns:
        (n,), from 0 to 1.
    """
    xp = namespace(x)
    outside = clip(xp.maximum(low - x, x - high), 0.0, math.inf)
    if isinstance(margin, float):
        return SIGMOIDS[sigmoid](outside / margin, AT_MARGIN)
    usable = xp.where(margin > 0, margin, 1.0)
    value = SIGMOIDS[sigmoid](outside / usable, AT_MARGIN)
    return xp.where((margin > 0) | (outside == 0), value, 0.0)


def near(x: Array, radius: float, margin: Array | float, sigmoid: str = "long_tail") -> Array:
    """Return 1 where a distance x (n,) is at most the radius, and less the larger it is: `tolerance` from 0."""
    return tolerance(x, 0.0, radius, margin, sigmoid)


def both(a: Array, b: Array) -> Array:
    """Return the Hamacher product of two numbers from 0 to 1, (n,): large only where both are."""
    product = a * b
    total = a + b - product
    xp = namespace(total)
    return xp.where(total > 0, product / xp.where(total > 0, total, 1.0), 0.0)


def distance(a: Array, b: Array, scale: Array | None = None) -> Array:
    """Return the distance between points (n, k), whose axes may count more or less: `scale` (k,)."""
    return row_norm(a - b) if scale is None else row_norm((a - b) * scale)


def flag(mask: Array, like: Array) -> Array:
    """Return 1.0 where a mask (n,) is True, else 0.0, in the precision of an array."""
    return namespace(like).astype(mask, like.dtype)


def shut(effort: Array, most: float = 1.0) -> Array:
    """Return how hard an action closes the gripper, from 0 to 1 where it reaches `most`, (n,)."""
    return clip(effort, 0.0, most) / most


def funnel(radius: Array, hole: Array | float, slope: float, height: float) -> Array:
    """Return the height of a funnel around an object, (n,) m: 0 within the `hole`, then rising as a logarithm.

    A hand that comes from the side is to stay above it.
    """
    xp = namespace(radius)
    outside = radius > hole
    return xp.where(outside, slope * log(xp.where(outside, radius - hole, 1.0)) + height, 0.0)


def above(height: Array, floor: Array, margin: Array | float) -> Array:
    """Return 1 where a height (n,) is above a floor (n,) m, and less the farther it is below."""
    xp = namespace(height)
    return xp.where(height >= floor, 1.0, tolerance(clip(floor - height, 0.0, math.inf), 0.0, 0.01, margin))
