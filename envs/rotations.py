"""Rotations of n bodies at once: quaternions (n, 4), w first, as MuJoCo has them, and vectors (n, 3).

All is written in sums and products of components, so that bits depend neither on the batch size nor on the place in it.
"""

from .arrays import Array, namespace, row_norm, row_sum
from .noise import Noise

# Taylor's series of the arcus tangent, 1, -1/3, 1/5, ...: to x^25, which below tan(pi / 16) = 0.199 leaves 1e-20.
_ARCUS = [(-1) ** k / (2 * k + 1) for k in range(13)]


def quat_multiply(a: Array, b: Array) -> Array:
    """Return the product ab, (n, 4): the rotation b first, then a."""
    aw, ax, ay, az = (a[:, k] for k in range(4))
    bw, bx, by, bz = (b[:, k] for k in range(4))
    parts = (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )
    return namespace(a).stack(parts, axis=1)


def quat_conjugate(quat: Array) -> Array:
    """Return the inverse of unit quaternions, (n, 4)."""
    return namespace(quat).concat((quat[:, :1], -quat[:, 1:]), axis=1)


def quat_rotate(quat: Array, vector: Array) -> Array:
    """Turn vectors from the body's frame into the world's, (n, 3)."""
    w, u = quat[:, :1], quat[:, 1:]
    twice = 2 * cross(u, vector)
    return vector + w * twice + cross(u, twice)


def quat_rotate_inverse(quat: Array, vector: Array) -> Array:
    """Turn vectors from the world's frame into the body's, (n, 3)."""
    w, u = quat[:, :1], quat[:, 1:]
    twice = 2 * cross(u, vector)
    return vector - w * twice + cross(u, twice)


def cross(a: Array, b: Array) -> Array:
    """Return the cross products of vectors, (n, 3)."""
    (ax, ay, az), (bx, by, bz) = ([x[:, k] for k in range(3)] for x in (a, b))
    return namespace(a).stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=1)


def quat_angle(quat: Array) -> Array:
    """Return the angles of rotations, (n,) rad from 0 to pi, of unit quaternions of either sign.

    The half angle's tangent is |xyz| / |w|; halving the angle thrice more brings the series to small numbers.
    """
    xp = namespace(quat)
    length = row_norm(quat[:, 1:])
    tangent = length / (abs(quat[:, 0]) + xp.sqrt(quat[:, 0] * quat[:, 0] + length * length))
    for _ in range(2):
        tangent = tangent / (1 + xp.sqrt(1 + tangent * tangent))
    square, series = tangent * tangent, 0 * tangent
    for coefficient in reversed(_ARCUS):
        series = series * square + coefficient
    return 16 * tangent * series


def quat_rows(quat: Array) -> Array:
    """Return the first two rows of the rotation matrices of unit quaternions side by side, (n, 6)."""
    w, x, y, z = (quat[:, k] for k in range(4))
    rows = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
    )
    return namespace(quat).stack(rows, axis=1)


def random_quats(noise: Noise) -> Array:
    """Draw rotations evenly from all of SO(3), (n, 4): four normal numbers, normalized."""
    drawn = noise.normal(4)
    return drawn / namespace(drawn).sqrt(row_sum(drawn * drawn))[:, None]
