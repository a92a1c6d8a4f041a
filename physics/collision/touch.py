"""The result of a geometric test: where two shapes touch."""

from typing import Any

import taichi as ti
from taichi.lang.impl import expr_init

from ..math import Vec3
from ..math.lanes import LaneValue


class Touch(LaneValue):
    """Signed distance, point, normal and a direction that the first tangent shall follow (zero: any)."""

    def __init__(self, dist: Any, pos: Vec3, normal: Vec3, tangent: Vec3) -> None:
        self.dist, self.pos, self.normal, self.tangent = expr_init(dist), pos.copy(), normal.copy(), tangent.copy()

    def parts(self) -> tuple:
        """The components."""
        return self.dist, self.pos, self.normal, self.tangent

    def select(self, condition: Any, other: "Touch") -> "Touch":
        """`self` in the lanes where the comparison holds, `other` elsewhere."""
        return Touch(
            ti.select(condition, self.dist, other.dist),
            self.pos.select(condition, other.pos),
            self.normal.select(condition, other.normal),
            self.tangent.select(condition, other.tangent),
        )

    def along(self, tangent: Vec3) -> "Touch":
        """The same touch with a direction for its first tangent."""
        return Touch(self.dist, self.pos, self.normal, tangent)

    def moved(self, by: Vec3) -> "Touch":
        """The same touch elsewhere."""
        return Touch(self.dist, self.pos + by, self.normal, self.tangent)
