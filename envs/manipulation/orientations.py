"""Orientations of objects: drawn evenly from all there are, and as numbers that networks learn from."""

from ..arrays import Array, namespace, row_norm
from ..task.noise import Noise


def random_quats(noise: Noise) -> Array:
    """Draw rotations evenly from all of SO(3), (n, 4), w first: four normal numbers, normalized."""
    drawn = noise.normal(4)
    return drawn / row_norm(drawn)[:, None]


def quat_rows(quat: Array) -> Array:
    """Return the first two rows of the rotation matrices of unit quaternions (n, 4) side by side, (n, 6).

    Unlike the quaternion's own numbers they are continuous in the rotation, and both of its signs have the same ones.
    """
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
