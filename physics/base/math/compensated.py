"""Sums with their rounding error (Knuth, The Art of Computer Programming, volume 2, section 4.2.2)."""

from typing import Any

import taichi as ti

from .func import func
from .lanes import let, traced


@traced
def two_sum(a: Any, b: Any) -> tuple:
    """Return (s, e) where s is a + b rounded and s + e equals a + b exactly, whichever of the two is larger."""
    s = let(a + b)
    of_b = let(s - a)
    return s, let((a - (s - of_b)) + (b - of_b))


@func
def move(lanes, end, start, rest, i: ti.i32, change, last: ti.i32):
    """Set end[i] = start[i] + rest[i] + change; return the rounding error, which rest[i] keeps if `last` is 1.

    In double precision there is none, and `rest` is not read.
    """
    error = lanes.real(0.0)
    if ti.static(lanes.double):
        end[i] = start[i] + change
    else:
        end[i], error = two_sum(start[i], rest[i] + change)
        if last == 1:
            rest[i] = error
    return error
