"""The result of a geometric test of two shapes: one contact."""

from typing import Any

import taichi as ti

from ...base.math import Vec3
from ...base.math.lanes import LaneValue, let


class ContactPoint(LaneValue):
    """Signed distance (m), position (m), normal, and a direction that the first tangent follows (zero: any)."""

    def __init__(self, dist: Any, pos: Vec3, normal: Vec3, tangent: Vec3) -> None:
        self.dist, self.pos, self.normal, self.tangent = let(dist), pos.copy(), normal.copy(), tangent.copy()

    def parts(self) -> tuple:
        """Return the components."""
        return self.dist, self.pos, self.normal, self.tangent

    def select(self, condition: Any, other: "ContactPoint") -> "ContactPoint":
        """Return `self` in the lanes where the comparison holds, and `other` in the others."""
        return ContactPoint(
            ti.select(condition, self.dist, other.dist),
            self.pos.select(condition, other.pos),
            self.normal.select(condition, other.normal),
            self.tangent.select(condition, other.tangent),
        )

    def with_tangent(self, tangent: Vec3) -> "ContactPoint":
        """Return the same contact with `tangent` as the direction of its first tangent."""
        return ContactPoint(self.dist, self.pos, self.normal, tangent)

    def translated(self, by: Vec3) -> "ContactPoint":
        """Return the same contact with its position moved by `by` (m)."""
        return ContactPoint(self.dist, self.pos + by, self.normal, self.tangent)
