"""Sums with their rounding error (Knuth, The Art of Computer Programming, volume 2, section 4.2.2)."""

from typing import Any

from .lanes import let, traced


@traced
def two_sum(a: Any, b: Any) -> tuple:
    """Return (s, e) where s is a + b rounded and s + e equals a + b exactly, whichever of the two is larger."""
    s = let(a + b)
    of_b = let(s - a)
    return s, let((a - (s - of_b)) + (b - of_b))
