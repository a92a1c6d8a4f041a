"""Rotations over the array API: quaternions (..., 4), w first, matrices (..., 3, 3) and vectors (..., 3).

Axes in front broadcast. All but `rotate` consists of + - * / and roots in a fixed order: numbers have the same bits in
every batch and library.
"""

import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .array_api import Array, is_tensor, namespace, sqrt

if TYPE_CHECKING:
    import torch

_FACTORS = (0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)
_SIGNS = (1, 1, 1, 1), (-1, 1, -1, 1), (-1, 1, 1, -1), (-1, -1, 1, 1)
"""Places and signs of the numbers of a second quaternion by which each number of a first is multiplied."""


def quat_mul(a: Array, b: Array) -> Array:
    """Return the rotation by b and then by a, (..., 4)."""
    if is_tensor(b):  # the same by few calls of torch
        places, signs = _factors(b.dtype, b.device)
        w, x, y, z = (a[..., None] * (b[..., places] * signs)).unbind(-2)
        return w + x + y + z
    (w, x, y, z), (s, i, j, k) = parts(a), parts(b)
    product = (
        w * s - x * i - y * j - z * k,
        w * i + x * s + y * k - z * j,
        w * j - x * k + y * s + z * i,
        w * k + x * j - y * i + z * s,
    )
    return _library(a).stack(product, axis=-1)


@cache
def _factors(dtype: "torch.dtype", device: "torch.device") -> tuple["torch.Tensor", "torch.Tensor"]:
    """Return `_FACTORS` and `_SIGNS` as tensors, which may be used outside of inference mode, too."""
    import torch

    with torch.inference_mode(False):
        return torch.tensor(_FACTORS, device=device), torch.tensor(_SIGNS, dtype=dtype, device=device)


def quat_conj(quat: Array) -> Array:
    """Return the rotation backwards, (..., 4)."""
    return _library(quat).concat((quat[..., :1], -quat[..., 1:]), axis=-1)


def cross(a: Array, b: Array) -> Array:
    """Return the cross product, (..., 3)."""
    (x, y, z), (i, j, k) = parts(a), parts(b)
    return _library(a).stack((y * k - z * j, z * i - x * k, x * j - y * i), axis=-1)


def quat_rotate(quat: Array, vector: Array) -> Array:
    """Return vectors of a body's frame in the world's, (..., 3)."""
    twice = 2 * cross(quat[..., 1:], vector)
    return vector + quat[..., :1] * twice + cross(quat[..., 1:], twice)


def quat_rotate_inverse(quat: Array, vector: Array) -> Array:
    """Return vectors of the world's frame in a body's, (..., 3)."""
    twice = 2 * cross(quat[..., 1:], vector)
    return vector - quat[..., :1] * twice + cross(quat[..., 1:], twice)


def rotate(quat: "torch.Tensor", vector: "torch.Tensor") -> "torch.Tensor":
    """Return what `quat_rotate` does by few calls of torch, whose own cross product may round otherwise."""
    import torch

    u = quat[..., 1:]
    t = 2.0 * torch.linalg.cross(u.expand_as(vector) if u.shape != vector.shape else u, vector)
    return vector + quat[..., :1] * t + torch.linalg.cross(u.expand_as(t), t)


def quat_to_rows(quat: Array) -> Array:
    """Return rotation matrices of unit quaternions, row by row, (..., 9), as MuJoCo's `xmat`."""
    w, x, y, z = parts(quat)
    ww, xx, yy, zz = parts(quat * quat)
    xy, xz, yz = x * (y + y), x * (z + z), y * (z + z)
    wx, wy, wz = parts((w + w)[..., None] * quat[..., 1:])
    more, less = ww + xx, ww - xx
    rows = (
        *(more - yy - zz, xy - wz, xz + wy),
        *(xy + wz, less + yy - zz, yz - wx),
        *(xz - wy, yz + wx, less - yy + zz),
    )
    return _library(quat).stack(rows, axis=-1)


def quat_to_matrix(quat: Array) -> Array:
    """Return rotation matrices of unit quaternions, (..., 3, 3)."""
    return _library(quat).reshape(quat_to_rows(quat), (*quat.shape[:-1], 3, 3))


def matrix_to_quat(mat: Array) -> Array:
    """Return unit quaternions of rotation matrices, (..., 4), whose largest number is positive."""
    m, xp = [[mat[..., i, j] for j in range(3)] for i in range(3)], _library(mat)
    # Four multiples of a quaternion, each by another of its numbers: that by the largest is accurate.
    rows = [[1 + (m[0][0] + m[1][1] + m[2][2]), m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        row = [m[k][j] - m[j][k]] * 4
        row[1 + i] = 1 + m[i][i] - m[j][j] - m[k][k]
        row[1 + j], row[1 + k] = m[i][j] + m[j][i], m[k][i] + m[i][k]
        rows.append(row)
    quat, largest = xp.stack(rows[0], axis=-1), rows[0][0]
    for k in range(1, 4):
        larger = rows[k][k] > largest
        quat = xp.where(larger[..., None], xp.stack(rows[k], axis=-1), quat)
        largest = xp.where(larger, rows[k][k], largest)
    return unit(quat)


def unit(x: Array) -> Array:
    """Return vectors (..., n) of length 1."""
    first, *others = parts(x * x)
    return x / sqrt(sum(others, first))[..., None]


def quat_from_half_angles(cosines: Sequence[Array], sines: Sequence[Array]) -> Array:
    """Return the rotation about the world's x, then y, then z axis, (..., 4), of cosines and sines of half angles."""
    (cx, cy, cz), (sx, sy, sz) = cosines, sines
    product = (
        cx * cy * cz + sx * sy * sz,
        sx * cy * cz - cx * sy * sz,
        cx * sy * cz + sx * cy * sz,
        cx * cy * sz - sx * sy * cz,
    )
    return _library(cx).stack(product, axis=-1)


def parts(x: Array) -> Sequence[Array]:
    """Return the numbers of vectors (..., n) as n arrays (...)."""
    return x.unbind(-1) if is_tensor(x) else [x[..., k] for k in range(x.shape[-1])]


def _library(x: Array) -> Any:
    """Return the namespace of an array; of a tensor torch itself, which is loaded already."""
    return sys.modules["torch"] if is_tensor(x) else namespace(x)
