"""Principal axes of the inertia of many bodies."""

import numpy as np

from ...physics.base.rotations import matrix_to_quat

_TOLERANCE = 1e-6
"""Share of the largest moment by which a matrix may miss its symmetry or the triangle inequality: single precision."""


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
    return moments, matrix_to_quat(axes)
