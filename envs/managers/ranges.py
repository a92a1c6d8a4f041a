"""Ranges that users give to managers: pairs (low, high) of numbers, and of seconds."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

Range = tuple[float, float]
FOREVER = 1e9  # s, longer than any training; as a number of steps it is a whole number, which infinity is not


def require_ranges(owner: str, ranges: Mapping[str, Any]) -> None:
    """Raise unless each value is a range.

    Args:
        owner: of the error.
        ranges: the values that a user passed, by the arguments' names.

    Raises:
        ValueError: it is no pair of finite numbers, or the first is above the second.
    """
    for what, pair in ranges.items():
        if not (_is_pair(pair) and pair[0] <= pair[1] and all(map(math.isfinite, pair))):
            raise ValueError(
                f"{owner}: {what}={pair!r}: it must be a pair (low, high) of finite numbers, low at most high"
            )


def require_times(owner: str, ranges: Mapping[str, Any], endless: bool = False) -> None:
    """Raise unless each value is a range of seconds.

    Args:
        owner: of the error.
        ranges: the values that a user passed, by the arguments' names.
        endless: whether seconds may be infinite.

    Raises:
        ValueError: it is no pair of numbers above 0, the first is above the second, or a number is infinite.
    """
    for what, pair in ranges.items():
        finite = tuple(min(time, FOREVER) for time in pair) if endless and _is_pair(pair) else pair
        if _is_pair(pair) and math.inf in finite:
            raise ValueError(f"{owner}: {what}={pair!r}: seconds must be finite; leave the term out if it is never due")
        require_ranges(owner, {what: finite})
        if not pair[0] > 0:
            raise ValueError(f"{owner}: {what}={pair!r}: seconds must be above 0")


def require_bounds(owner: str, what: str, pair: Any) -> None:
    """Raise unless the value is a pair of bounds, which may be infinite.

    Raises:
        ValueError: it is no pair of numbers, or the first is above the second.
    """
    if not (_is_pair(pair) and pair[0] <= pair[1]):
        raise ValueError(f"{owner}: {what}={pair!r}: it must be a pair (low, high), low at most high")


def endless(seconds: Range) -> Range:
    """Return a range of seconds in which the infinite ones are finite, for draws."""
    low, high = (min(time, FOREVER) for time in seconds)
    return low, high


def _is_pair(given: Any) -> bool:
    """Return True for a sequence of two numbers."""
    return isinstance(given, Sequence | np.ndarray) and len(given) == 2 and all(isinstance(x, Real) for x in given)
