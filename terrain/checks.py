"""Checks of lengths, ranges and counts. Every error is one sentence that names the argument and says what to do."""

import difflib
import math
import operator
from collections.abc import Iterable
from typing import Any

MOST_POINTS = 100_000_000
"""The most points of one field: 800 MB of heights."""


def number(name: str, value: Any, least: float = -math.inf) -> float:
    """Return a finite number, at least `least`.

    Raises:
        ValueError: the value is invalid.
    """
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{name}={value!r}: it must be a finite number")
    if found < least:
        raise ValueError(f"{name}={value!r}: it must be at least {least:g}")
    return found


def positive(name: str, value: Any) -> float:
    """Return a finite number above zero.

    Raises:
        ValueError: the value is invalid.
    """
    found = number(name, value)
    if found <= 0.0:
        raise ValueError(f"{name}={value!r}: it must be above zero")
    return found


def whole(name: str, value: Any, least: int = 1) -> int:
    """Return a whole number, at least `least`.

    Raises:
        ValueError: the value is invalid.
    """
    try:
        found = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r}: it must be a whole number") from None
    if found < least:
        raise ValueError(f"{name}={found}: it must be at least {least}")
    return found


def pair(name: str, values: Any) -> tuple[float, float]:
    """Return two finite numbers, in any order.

    Raises:
        ValueError: they are not two.
    """
    try:
        first, second = values
    except (TypeError, ValueError):
        raise ValueError(f"{name}={values!r}: it must be two numbers, as in (0.05, 0.2)") from None
    return number(name, first), number(name, second)


def interval(name: str, values: Any, least: float = -math.inf) -> tuple[float, float]:
    """Return two finite numbers, the lower first, both at least `least`.

    Raises:
        ValueError: they are not two, are the wrong way round, or too low.
    """
    low, high = pair(name, values)
    if low > high:
        raise ValueError(f"{name}={values!r}: the lower number must come first, as in ({high:g}, {low:g})")
    if low < least:
        raise ValueError(f"{name}={values!r}: both must be at least {least:g}")
    return low, high


def require_room(name: str, rows: int, cols: int) -> None:
    """Refuse a field that has too few points, or more than memory should hold.

    Raises:
        ValueError: it has fewer than two rows or columns, or more than `MOST_POINTS` points.
    """
    if rows < 2 or cols < 2:
        raise ValueError(f"{name}: a field of {rows} x {cols} points has no cell; it needs two rows and two columns")
    if rows * cols > MOST_POINTS:
        raise ValueError(
            f"{name}: a field of {rows:,} x {cols:,} points is more than {MOST_POINTS:,}; make the ground smaller or "
            "horizontal_scale larger"
        )


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known names that look like this one as a hint, or all of them."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else f"there is {', '.join(known)}"
