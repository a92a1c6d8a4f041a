"""Sums that keep what rounding takes off them (Knuth, The Art of Computer Programming, volume 2, section 4.2.2)."""

from typing import Any

from .lanes import let, traced


@traced
def two_sum(a: Any, b: Any) -> tuple:
    """(s, e): s is a + b as rounded, and s + e is a + b exactly, whichever of the two is larger."""
    s = let(a + b)
    of_b = let(s - a)
    return s, let((a - (s - of_b)) + (b - of_b))
