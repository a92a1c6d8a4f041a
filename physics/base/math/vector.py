"""Vectors of length 3 and 3x3 matrices in lanes."""

from typing import Any

import taichi as ti

from .lanes import Lanes, LaneValue, let, traced


class Vec3(LaneValue):
    """A vector (x, y, z)."""

    def __init__(self, x: Any, y: Any, z: Any) -> None:
        self.x, self.y, self.z = let(x), let(y), let(z)

    def parts(self) -> tuple:
        """Return the components x, y, z."""
        return self.x, self.y, self.z

    def __add__(self, other: "Vec3") -> "Vec3":
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: "Vec3") -> "Vec3":
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, scale: Any) -> "Vec3":
        return Vec3(self.x * scale, self.y * scale, self.z * scale)

    def __neg__(self) -> "Vec3":
        return Vec3(-self.x, -self.y, -self.z)

    def dot(self, other: "Vec3") -> Any:
        """Return the scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: "Vec3") -> "Vec3":
        """Return the vector product."""
        return Vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def component(self, k: Any) -> Any:
        """Return component k, 0 to 2; k may be known only at run time."""
        return let(ti.select(k == 0, self.x, ti.select(k == 1, self.y, self.z)))

    def norm(self) -> Any:
        """Return the Euclidean length."""
        return ti.sqrt(self.dot(self))

    def select(self, condition: Any, other: "Vec3") -> "Vec3":
        """Return `self` in the lanes where the comparison holds, and `other` in the others."""
        return Vec3(
            ti.select(condition, self.x, other.x),
            ti.select(condition, self.y, other.y),
            ti.select(condition, self.z, other.z),
        )


@traced
def zero_vector(lanes: Lanes) -> Vec3:
    """The null vector."""
    zero = lanes.real(0.0)
    return Vec3(zero, zero, zero)


class Sym3(LaneValue):
    """A symmetric 3x3 matrix (xx, yy, zz, xy, xz, yz)."""

    def __init__(self, xx: Any, yy: Any, zz: Any, xy: Any, xz: Any, yz: Any) -> None:
        self.xx, self.yy, self.zz = let(xx), let(yy), let(zz)
        self.xy, self.xz, self.yz = let(xy), let(xz), let(yz)

    def parts(self) -> tuple:
        """Return the six components."""
        return self.xx, self.yy, self.zz, self.xy, self.xz, self.yz

    def __add__(self, other: "Sym3") -> "Sym3":
        return Sym3(*(a + b for a, b in zip(self.parts(), other.parts(), strict=True)))

    def times(self, v: Vec3) -> Vec3:
        """Return the product with a vector."""
        return Vec3(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )


class Mat3(LaneValue):
    """A 3x3 matrix by its columns; for a rotation they are the axes of the rotated frame."""

    def __init__(self, x: Vec3, y: Vec3, z: Vec3) -> None:
        self.x, self.y, self.z = x.copy(), y.copy(), z.copy()

    def parts(self) -> tuple:
        """Return the columns x, y, z."""
        return self.x, self.y, self.z

    def column(self, k: Any) -> Vec3:
        """Return column k, 0 to 2; k may be known only at run time."""
        return self.x.select(k == 0, self.y.select(k == 1, self.z))

    def rows(self) -> tuple:
        """Return the nine numbers row by row, in MuJoCo's order."""
        x, y, z = self.x, self.y, self.z
        return x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z

    def times(self, v: Vec3) -> Vec3:
        """Return the product with a vector."""
        return self.x * v.x + self.y * v.y + self.z * v.z

    def transpose_times(self, v: Vec3) -> Vec3:
        """Return the transpose's product with a vector: world coordinates become coordinates of this frame."""
        return Vec3(self.x.dot(v), self.y.dot(v), self.z.dot(v))

    def scaled_square(self, s: Vec3) -> Sym3:
        """Return R diag(s) R^T: a tensor that is diagonal in this frame, in world coordinates."""
        a, b, c = self.x, self.y, self.z
        return Sym3(
            s.x * a.x * a.x + s.y * b.x * b.x + s.z * c.x * c.x,
            s.x * a.y * a.y + s.y * b.y * b.y + s.z * c.y * c.y,
            s.x * a.z * a.z + s.y * b.z * b.z + s.z * c.z * c.z,
            s.x * a.x * a.y + s.y * b.x * b.y + s.z * c.x * c.y,
            s.x * a.x * a.z + s.y * b.x * b.z + s.z * c.x * c.z,
            s.x * a.y * a.z + s.y * b.y * b.z + s.z * c.y * c.z,
        )
