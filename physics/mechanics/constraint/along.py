"""The values of a cost along a line, and their sums."""

from typing import Any

from taichi.lang.impl import expr_init

from ...base.math.lanes import LaneValue


class Along(LaneValue):
    """Twice the change of a cost from step 0 to another step of a line, and its two derivatives there."""

    def __init__(self, change: Any, slope: Any, curve: Any) -> None:
        self.change, self.slope, self.curve = expr_init(change), expr_init(slope), expr_init(curve)

    def parts(self) -> tuple:
        """The components."""
        return self.change, self.slope, self.curve

    def __add__(self, other: "Along") -> "Along":
        return Along(*(a + b for a, b in zip(self.parts(), other.parts(), strict=True)))

    def __mul__(self, scale: Any) -> "Along":
        return Along(*(part * scale for part in self.parts()))
