"""Rotations in numpy: quaternions with w first, angles about fixed axes x, y, z in turn."""

import numpy as np
from numpy.typing import ArrayLike


def quat_of_euler(degrees: ArrayLike) -> np.ndarray:
    """Return the quaternion (4,) of turns about the world's x, then y, then z axis, in degrees."""
    x, y, z = np.radians(np.asarray(degrees, float)) / 2
    about = [np.array([np.cos(half), *(np.sin(half) * np.eye(3)[axis])]) for axis, half in enumerate((x, y, z))]
    return quat_mul(about[2], quat_mul(about[1], about[0]))


def quat_mul(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """Return the product (4,) of quaternions: the turn `second`, then `first`."""
    (w, x, y, z), (a, b, c, d) = np.asarray(first, float), np.asarray(second, float)
    return np.array(
        [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        ]
    )


def quat_of_z(direction: ArrayLike) -> np.ndarray:
    """Return a quaternion (4,) that turns the z axis into a direction (3,), by the shortest way."""
    along = np.asarray(direction, float)
    along = along / np.linalg.norm(along)
    if along[2] < -1.0 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    quat = np.array([1.0 + along[2], -along[1], along[0], 0.0])
    return quat / np.linalg.norm(quat)


def unit_quat(quat: ArrayLike) -> np.ndarray:
    """Return a quaternion (4,) of length 1."""
    found = np.asarray(quat, float)
    return found / np.linalg.norm(found)
