"""Rotations of many bodies in numpy: axes of quaternions, and principal axes of inertia."""

import numpy as np

_TOLERANCE = 1e-6
"""Share of the largest moment by which a matrix may miss its symmetry or the triangle inequality: single precision."""


def axes_of_quats(quats: np.ndarray) -> np.ndarray:
    """Return rotation matrices (..., 3, 3) of quaternions (..., 4), w first; columns are the turned axes."""
    w, x, y, z = np.moveaxis(quats, -1, 0)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quats_of_axes(axes: np.ndarray) -> np.ndarray:
    """Return quaternions (..., 4), w first, of rotation matrices (..., 3, 3)."""
    a = axes
    trace = a[..., 0, 0] + a[..., 1, 1] + a[..., 2, 2]
    # four ways to the same quaternion, each divided by another of its numbers: the largest is safe
    candidates = np.stack(
        [
            np.stack([1 + trace, *(a[..., j, k] - a[..., k, j] for j, k in ((2, 1), (0, 2), (1, 0)))], -1),
            *(np.stack(_about(a, i), -1) for i in range(3)),
        ],
        -2,
    )
    largest = np.argmax(np.stack([candidates[..., i, i] for i in range(4)], -1), -1)
    found = np.take_along_axis(candidates, largest[..., None, None], -2)[..., 0, :]
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def _about(a: np.ndarray, i: int) -> list[np.ndarray]:
    """Return a multiple (w, x, y, z) of the quaternion that has the number of axis i on its diagonal."""
    j, k = (i + 1) % 3, (i + 2) % 3
    vector: list[np.ndarray] = [a[..., 0, 0]] * 3
    vector[i] = 1 + a[..., i, i] - a[..., j, j] - a[..., k, k]
    vector[j], vector[k] = a[..., i, j] + a[..., j, i], a[..., i, k] + a[..., k, i]
    return [a[..., k, j] - a[..., j, k], *vector]


def principal_axes(owner: str, inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return principal moments (..., 3), the largest first, and orientations of their axes (..., 4), w first.

    Raises:
        ValueError: a matrix (..., 3, 3) is not symmetric and positive, or one of its moments is above the sum of the
            others.
    """
    if not np.isfinite(inertia).all():
        raise ValueError(f"{owner}: it must be finite")
    size = np.abs(inertia).max((-1, -2), keepdims=True)
    if (np.abs(inertia - np.swapaxes(inertia, -1, -2)) > _TOLERANCE * size).any():
        raise ValueError(f"{owner}: a matrix is not symmetric")
    moments, axes = np.linalg.eigh((inertia + np.swapaxes(inertia, -1, -2)) / 2)
    moments, axes = moments[..., ::-1], axes[..., ::-1]
    if (moments[..., 2] <= 0).any():
        raise ValueError(f"{owner}: a matrix is not positive: its principal moments must be above 0")
    if (moments[..., 0] > (moments[..., 1] + moments[..., 2]) * (1 + _TOLERANCE)).any():
        raise ValueError(f"{owner}: a principal moment is above the sum of the others, as no body's is")
    axes = axes * np.where(np.linalg.det(axes) < 0, -1.0, 1.0)[..., None, None]
    return moments, quats_of_axes(axes)
