"""Inertias that some body could have: those whose pseudo-inertia is positive definite.

The pseudo-inertia of a body is the 4 x 4 matrix J of the second moments of its mass, of 1, x, y and z. A mass
distribution exists exactly if J is positive definite, which J' = U J U' stays under any map U of space. U is here an
upper triangular one, as in the log-Cholesky parameters of C. Rucker and P. M. Wensing, "Smooth Parameterization of
Rigid-Body Inertia", IEEE RA-L 7(2), 2022: ten numbers without bounds.
"""

from typing import NamedTuple

import numpy as np

from ..arrays import exp, row_norm, row_sum
from .frames import cross

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
    root = _product(stretch, _matrices(own.iquat) * np.sqrt(moments)[..., None, :])
    second = heavier[..., None, None] * _product(root, np.swapaxes(root, -1, -2))
    found, axes = np.linalg.eigh(second)
    right_handed = row_sum(cross(axes[..., 0], axes[..., 1]) * axes[..., 2]) > 0
    axes = np.where(right_handed[..., None, None], axes, -axes)
    found = np.maximum(found, 0.0)
    inertia = row_sum(found)[..., None] - found
    return Inertia(own.mass * heavier, own.ipos + moved, inertia, _quaternions(axes))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return products of matrices (..., 3, 3), with sums in a fixed order."""
    return row_sum(a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :])


def _matrices(quat: np.ndarray) -> np.ndarray:
    """Return rotation matrices (..., 3, 3) of quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(quat, -1, 0)
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _quaternions(mat: np.ndarray) -> np.ndarray:
    """Return quaternions (..., 4) of rotation matrices (..., 3, 3), each by its largest component."""
    m = mat
    diagonal = np.diagonal(m, axis1=-2, axis2=-1)
    trace = row_sum(diagonal)
    squares = np.concatenate(((1 + trace)[..., None], 1 - trace[..., None] + 2 * diagonal), axis=-1)  # 4 q^2
    differ = np.stack((m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]), axis=-1)
    products = np.zeros((*m.shape[:-2], 4, 4))  # 4 q q'
    for k in range(4):
        products[..., k, k] = squares[..., k]
    for k in range(3):
        products[..., 0, k + 1] = products[..., k + 1, 0] = differ[..., k]
        j = (k + 1) % 3
        products[..., k + 1, j + 1] = products[..., j + 1, k + 1] = m[..., k, j] + m[..., j, k]
    largest = squares.argmax(-1)
    quat = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    return quat / row_norm(quat)[..., None]
