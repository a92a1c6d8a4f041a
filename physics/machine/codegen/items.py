"""Functions of kernels whose loop works on several items side by side, in the lanes of a register.

A kernel that is marked by `in_lanes` has `WIDTH` items at once where another process compiles it for a CPU
(`lockstep.py`), elsewhere one. Its code is the same: it is that of one item.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taichi as ti

from ..machine import default_lanes
from .lockstep_graph import LANE, LARGEST, RANK

WIDTH = min(8, default_lanes("32"))
"""The number of lanes: 16 gained nothing on AVX2, as lanes then more often take both ways of a branch."""
_MOST = 1 << 20
"""Numbers from which `in_turn` chooses are less, so that a real number of 24 bits has room for one and its turn."""
_width = 1


def in_lanes(wanted: Callable[..., bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function that makes a kernel: the kernel asks for lanes if `wanted` of its arguments."""

    def marked(make: Callable[..., Any]) -> Callable[..., Any]:
        vars(make)["in_lanes"] = wanted
        return make

    return marked


def asks_for_lanes(make: Callable[..., Any], arguments: Sequence[Any]) -> bool:
    """Return True if the kernel that a function makes of arguments asks for lanes."""
    return "in_lanes" in vars(make) and bool(vars(make)["in_lanes"](*arguments))


@contextmanager
def side_by_side(width: int) -> Iterator[None]:
    """Trace kernels with so many items side by side."""
    global _width
    _width = width
    try:
        yield
    finally:
        _width = 1


def lanes() -> int:
    """Return how many items the kernel that is being traced works on at once."""
    return _width


@ti.func
def lane(item):
    """Return the number of the lane, from 0; `item` is any number of the kernel."""
    number = 0
    if ti.static(lanes() > 1):
        number = ti.cast(ti.atan2(ti.cast(item, ti.f32), LANE), ti.i32)
    return number


@ti.func
def rank(item):
    """Return the number of active lanes before this one; `item` is any number of the kernel."""
    number = 0
    if ti.static(lanes() > 1):
        number = ti.cast(ti.atan2(ti.cast(item, ti.f32), RANK), ti.i32)
    return number


@ti.func
def in_turn(number, turn):
    """Return the largest number of the lanes at this place, which is the same for all, and whether it is also the own.

    So lanes with equal numbers can have their turn together: all that is read by this number is the same for them.
    `number` is at least -1, and `turn` counts from 0.
    """
    found, own = number, True
    if ti.static(lanes() > 1):
        value = ti.cast(number + _MOST * turn, ti.f32)
        largest = ti.atan2(value, LARGEST)
        found, own = ti.cast(largest, ti.i32) - _MOST * turn, largest == value
    return found, own
