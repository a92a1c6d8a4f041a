"""Rotations of n environments: quaternions (n, 4), w first, and vectors (n, 3), as MuJoCo has them.

Everything is of + - * /, roots and comparisons, so that an environment has the same bits in every batch, and in single
precision in every library.
Shapes may have further axes in front, (..., 4) and (..., 3), which broadcast.
"""

import math

from ...physics.base.array_api import Array, namespace, sqrt
from ...physics.base.rotations import (
    cross,
    quat_conj,
    quat_from_half_angles,
    quat_mul,
    quat_rotate,
    quat_rotate_inverse,
)
from ..arrays import row_sum, sin_cos

__all__ = [
    "atan2",
    "cross",
    "from_heading",
    "projected_gravity",
    "quat_angle",
    "quat_conj",
    "quat_from_euler",
    "quat_from_yaw",
    "quat_mul",
    "quat_rotate",
    "quat_rotate_inverse",
    "sqrt",
    "to_heading",
    "to_local",
    "up_of",
    "wrap_to_pi",
    "yaw_of",
]

# The arc tangent for |x| <= tan(pi/8), x + x z P(z) / Q(z) with z = x^2: the rational function of Cephes.
_P = (-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
      -1.228866684490136173410e2, -6.485021904942025371773e1)  # fmt: skip
_Q = (1.0, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
      4.853903996359136964868e2, 1.945506571482613964425e2)  # fmt: skip


def atan2(y: Array, x: Array) -> Array:
    """Return the angle of the vectors (x, y), in (-pi, pi] rad, good to a few roundings; 0 for (0, 0)."""
    xp = namespace(y)
    far, near = xp.maximum(abs(x), abs(y)), xp.minimum(abs(x), abs(y))
    ratio = near / xp.where(far > 0, far, xp.ones_like(far))
    steep = ratio > math.tan(math.pi / 8)
    small = xp.where(steep, (ratio - 1) / (ratio + 1), ratio)
    square = small * small
    numerator, denominator = square * 0 + _P[0], square * 0 + _Q[0]
    for p, q in zip(_P[1:], _Q[1:-1], strict=True):
        numerator, denominator = numerator * square + p, denominator * square + q
    angle = small + small * square * (numerator / (denominator * square + _Q[-1]))
    angle = xp.where(steep, angle + math.pi / 4, angle)
    angle = xp.where(abs(y) > abs(x), math.pi / 2 - angle, angle)
    angle = xp.where(x < 0, math.pi - angle, angle)
    return xp.where(y < 0, -angle, angle)


def wrap_to_pi(angle: Array) -> Array:
    """Bring angles to [-pi, pi] rad by whole turns."""
    return angle - 2 * math.pi * namespace(angle).round(angle / (2 * math.pi))


def quat_from_euler(roll: Array, pitch: Array, yaw: Array) -> Array:
    """Return the rotation by roll about x, then pitch about y, then yaw about z, all of the world's; (..., 4)."""
    sines, cosines = zip(*(sin_cos(0.5 * angle) for angle in (roll, pitch, yaw)), strict=True)
    return quat_from_half_angles(cosines, sines)


def quat_from_yaw(yaw: Array) -> Array:
    """Return rotations about the vertical by angles (...), rad: (..., 4)."""
    sine, cosine = sin_cos(0.5 * yaw)
    return namespace(yaw).stack((cosine, 0 * sine, 0 * sine, sine), axis=-1)


def quat_angle(a: Array, b: Array) -> Array:
    """Return the angle between two orientations, (...), 0 to pi rad."""
    between = quat_mul(quat_conj(a), b)
    return 2 * atan2(sqrt(row_sum(between[..., 1:] * between[..., 1:])), abs(between[..., 0]))


def yaw_of(quat: Array) -> Array:
    """Return the direction of a body's x axis in the horizontal plane, (...), rad from the world's x axis."""
    w, x, y, z = (quat[..., k] for k in range(4))
    return atan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z)


def up_of(quat: Array) -> Array:
    """Return the world's z axis in a body's frame, (..., 3); its third number is 1 where the body stands upright."""
    w, x, y, z = (quat[..., k] for k in range(4))
    return namespace(quat).stack((2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z), axis=-1)


def projected_gravity(quat: Array) -> Array:
    """Return the direction of gravity in a body's frame, (..., 3); (0, 0, -1) where the body stands upright."""
    return -up_of(quat)


def to_local(vector: Array, matrix: Array) -> Array:
    """Return vectors (n, 3) of the world's frame in frames whose rotation matrices (n, 9) are given row by row."""
    parts = [row_sum(vector * matrix[:, axis::3])[:, None] for axis in range(3)]
    return namespace(vector).concat(parts, axis=1)


def _heading(quat: Array) -> tuple[Array, Array]:
    """Return cosine and sine of the heading, (..., 1); 1 and 0 for a body whose x axis is vertical."""
    w, x, y, z = (quat[..., k : k + 1] for k in range(4))
    ahead, aside = w * w + x * x - y * y - z * z, 2 * (w * z + x * y)
    xp = namespace(quat)
    length = sqrt(ahead * ahead + aside * aside)
    known = length > 0
    length = xp.where(known, length, xp.ones_like(length))
    return xp.where(known, ahead / length, xp.ones_like(ahead)), aside / length


def to_heading(quat: Array, vector: Array) -> Array:
    """Return vectors of the world's frame in the frame of a body's heading, which turns only about the vertical."""
    cosine, sine = _heading(quat)
    x, y, z = (vector[..., k : k + 1] for k in range(3))
    return namespace(vector).concat((cosine * x + sine * y, cosine * y - sine * x, z), axis=-1)


def from_heading(quat: Array, vector: Array) -> Array:
    """Return vectors of the frame of a body's heading in the world's frame, (..., 3)."""
    cosine, sine = _heading(quat)
    x, y, z = (vector[..., k : k + 1] for k in range(3))
    return namespace(vector).concat((cosine * x - sine * y, sine * x + cosine * y, z), axis=-1)
