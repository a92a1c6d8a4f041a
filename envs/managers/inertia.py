"""Inertias that some body could have: those whose pseudo-inertia is positive definite.

The pseudo-inertia of a body is the 4 x 4 matrix J of the second moments of its mass, of 1, x, y and z. A mass
distribution exists exactly if J is positive definite, which J' = U J U' stays under any map U of space. U is here an
upper triangular one, as in the log-Cholesky parameters of C. Rucker and P. M. Wensing, "Smooth Parameterization of
Rigid-Body Inertia", IEEE RA-L 7(2), 2022: ten numbers without bounds.
"""

from typing import NamedTuple

import numpy as np

from ...physics.base.rotations import cross, matrix_to_quat, quat_to_matrix
from ..arrays import exp, row_sum

NUMBERS = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")
"""The ten numbers: density times exp(2 alpha); stretches exp(d) along x, y, z; shears; the centre of mass moves, m."""


class Inertia(NamedTuple):
    """Mass and inertia of bodies, as MuJoCo has them."""

    mass: np.ndarray  # (..., ) kg
    ipos: np.ndarray  # (..., 3) m, centre of mass in the body's frame
    inertia: np.ndarray  # (..., 3) kg m^2, principal moments about it
    iquat: np.ndarray  # (..., 4), their axes in the body's frame


def mapped(own: Inertia, numbers: np.ndarray) -> Inertia:
    """Return the inertia of bodies whose mass was stretched, sheared and moved, about their centres of mass.

    Args:
        own: of the bodies before.
        numbers: (..., 10), in the order of `NUMBERS`, along the axes of the body's frame.
    """
    scales = exp(numbers[..., :4] * np.array([2.0, 1.0, 1.0, 1.0]))
    heavier, moved = scales[..., 0], numbers[..., 7:]
    if not numbers[..., 1:7].any():  # neither stretched nor sheared: the axes stay
        return Inertia(own.mass * heavier, own.ipos + moved, own.inertia * heavier[..., None], own.iquat)
    stretch = np.zeros((*numbers.shape[:-1], 3, 3))
    for k in range(3):
        stretch[..., k, k] = scales[..., 1 + k]
    stretch[..., 0, 1], stretch[..., 1, 2], stretch[..., 0, 2] = np.moveaxis(numbers[..., 4:7], -1, 0)
    # Second moments about the centre of mass, S = tr(I) / 2 - I, in the body's axes: a square R R'.
    moments = np.maximum(0.5 * row_sum(own.inertia)[..., None] - own.inertia, 0.0)  # a flat body's is a rounding
    root = _product(stretch, quat_to_matrix(own.iquat) * np.sqrt(moments)[..., None, :])
    second = heavier[..., None, None] * _product(root, np.swapaxes(root, -1, -2))
    found, axes = np.linalg.eigh(second)
    right_handed = row_sum(cross(axes[..., 0], axes[..., 1]) * axes[..., 2]) > 0
    axes = np.where(right_handed[..., None, None], axes, -axes)
    found = np.maximum(found, 0.0)
    inertia = row_sum(found)[..., None] - found
    return Inertia(own.mass * heavier, own.ipos + moved, inertia, matrix_to_quat(axes))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return products of matrices (..., 3, 3), with sums in a fixed order."""
    return row_sum(a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :])
