"""Unit quaternions in lanes, w first. Formulas: Solà, Quaternion kinematics for the error-state Kalman filter, 2017."""

from typing import Any

import taichi as ti

from .elementary import with_limit
from .lanes import Lanes, LaneValue, let, traced
from .trigonometry import atan2, sincos
from .vector import Mat3, Vec3

MINIMUM = 1e-15  # MuJoCo's mjMINVAL: below this a length counts as zero


class Quat(LaneValue):
    """A quaternion w + xi + yj + zk."""

    def __init__(self, w: Any, x: Any, y: Any, z: Any) -> None:
        self.w, self.x, self.y, self.z = let(w), let(x), let(y), let(z)

    def parts(self) -> tuple:
        """Return the components w, x, y, z."""
        return self.w, self.x, self.y, self.z

    @property
    def vector(self) -> Vec3:
        """The imaginary part (x, y, z)."""
        return Vec3(self.x, self.y, self.z)

    def __mul__(self, o: "Quat") -> "Quat":
        return Quat(
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        )

    def conjugate(self) -> "Quat":
        """Return the conjugate, which is the inverse rotation."""
        return Quat(self.w, -self.x, -self.y, -self.z)

    def select(self, condition: Any, other: "Quat") -> "Quat":
        """Return `self` in the lanes where the comparison holds, and `other` in the others."""
        return Quat(*(ti.select(condition, mine, its) for mine, its in zip(self.parts(), other.parts(), strict=True)))

    def rotate(self, v: Vec3) -> Vec3:
        """Return the vector `v` rotated by this quaternion."""
        u = self.vector
        t = u.cross(v) * 2.0
        return v + t * self.w + u.cross(t)

    def normalized(self) -> "Quat":
        """Return the quaternion scaled to unit length; the identity if its length is zero."""
        n2 = let(self.w * self.w + self.x * self.x + self.y * self.y + self.z * self.z)
        s = let(1.0 / ti.sqrt(ti.max(n2, MINIMUM * MINIMUM)))
        w = ti.select(n2 < MINIMUM * MINIMUM, s * MINIMUM, self.w * s)
        return Quat(w, self.x * s, self.y * s, self.z * s)

    def matrix(self) -> Mat3:
        """Return the rotation matrix; its columns are the rotated axes."""
        w, x, y, z = self.parts()
        return Mat3(
            Vec3(w * w + x * x - y * y - z * z, 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
            Vec3(2.0 * (x * y - w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z + w * x)),
            Vec3(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z),
        )


@traced
def from_axis_angle(lanes: Lanes, axis: Vec3, angle: Any) -> Quat:
    """Return the rotation by `angle` (rad) about the unit vector `axis`."""
    s, c = sincos(lanes, angle * 0.5)
    return Quat(c, axis.x * s, axis.y * s, axis.z * s)


@traced
def from_rotation_vector(lanes: Lanes, vector: Vec3) -> Quat:
    """Return the rotation about `vector` by its length (rad)."""
    angle = let(vector.norm())
    rotation = from_axis_angle(lanes, vector * let(1.0 / ti.max(angle, MINIMUM)), angle)
    along = _with_limit(rotation.vector, angle < MINIMUM, vector * 0.5)
    return Quat(rotation.w, along.x, along.y, along.z)


@traced
def rotation_vector(lanes: Lanes, q: Quat) -> Vec3:
    """Return the logarithm of a unit quaternion: rotation axis times angle, the angle in (-pi, pi]."""
    v = q.vector
    sine = let(v.norm())
    angle = let(2.0 * atan2(lanes, sine, q.w))
    pi = 3.141592653589793
    short = let(ti.select(angle > pi, angle - 2.0 * pi, angle))
    return _with_limit(v * let(short / ti.max(sine, MINIMUM)), sine < MINIMUM, v * let(2.0 / q.w))


@traced
def _with_limit(value: Vec3, still: Any, limit: Vec3) -> Vec3:
    """Return `value`, with the derivative of `limit` where `still` holds."""
    return Vec3(*(with_limit(a, still, b) for a, b in zip(value.parts(), limit.parts(), strict=True)))


@traced
def integrate(lanes: Lanes, q: Quat, omega: Vec3, dt: Any) -> Quat:
    """Return q rotated for `dt` seconds at the angular velocity `omega` (rad/s, in the body's frame)."""
    speed = let(omega.norm())
    axis = omega * let(1.0 / ti.max(speed, MINIMUM))
    rotation = from_axis_angle(lanes, axis, let(speed * dt))
    along = _with_limit(rotation.vector, speed < MINIMUM, omega * (0.5 * dt))
    return q.normalized() * Quat(rotation.w, along.x, along.y, along.z)


@traced
def turn(lanes: Lanes, q: Quat, omega: Vec3, dt: Any) -> Quat:
    """Return `integrate(q)` - q without cancellation: it is small, so its digits can be kept in addition to q's.

    With the angle a = |omega| dt about the unit axis u, the result is q / |q| * (-2 sin^2(a/4), u sin(a/2)), plus the
    correction of q to unit length, q (1 / |q| - 1) = q (1 - |q|^2) / (|q| + |q|^2).
    """
    # q / |q| times (rotation - identity), from the sine and cosine of a quarter of the angle
    speed = let(omega.norm())
    sine, cosine = sincos(lanes, let(speed * dt * 0.25))
    axis = omega * let(1.0 / ti.max(speed, MINIMUM))
    along = _with_limit(axis * let(2.0 * sine * cosine), speed < MINIMUM, omega * (0.5 * dt))
    change = q.normalized() * Quat(-2.0 * sine * sine, along.x, along.y, along.z)
    # the correction of q to unit length; a q of length zero becomes the identity
    square = let(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z)
    lack = let((1.0 - square) / (ti.sqrt(ti.max(square, MINIMUM * MINIMUM)) + square))
    w = ti.select(square < MINIMUM * MINIMUM, lanes.real(1.0), q.w * lack)
    return Quat(change.w + w, change.x + q.x * lack, change.y + q.y * lack, change.z + q.z * lack)
