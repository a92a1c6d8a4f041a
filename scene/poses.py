"""Rotations and poses: quaternions with w first, angles about fixed axes x, y, z in turn."""

import numpy as np
import torch
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


def look_at(pos: ArrayLike, lookat: ArrayLike, up: ArrayLike) -> np.ndarray:
    """Return the pose (4, 4) of a camera that stands at a point and looks at another, with a direction (3,) upwards.

    Raises:
        ValueError: the points are the same.
    """
    place, aim = np.asarray(pos, float), np.asarray(lookat, float)
    back = place - aim
    if not np.linalg.norm(back) > 0.0:
        raise ValueError(f"a camera cannot look at the point {tuple(aim.tolist())}, where it stands")
    back = back / np.linalg.norm(back)
    right = np.cross(np.asarray(up, float), back)
    if np.linalg.norm(right) < 1e-9:  # it looks straight up or down
        right = np.cross([0.0, 1.0, 0.0] if abs(back[1]) < 0.9 else [1.0, 0.0, 0.0], back)
    right = right / np.linalg.norm(right)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = np.stack([right, np.cross(back, right), back], axis=1), place
    return pose


def mat_of_quat(quat: torch.Tensor) -> torch.Tensor:
    """Return rotations (..., 3, 3) of quaternions (..., 4) of length 1."""
    w, x, y, z = quat.unbind(-1)
    rows = [
        *(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        *(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        *(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    ]
    return torch.stack(rows, dim=-1).reshape(*quat.shape[:-1], 3, 3)


def quat_of_mat(mat: torch.Tensor) -> torch.Tensor:
    """Return quaternions (..., 4), w first and not negative, of rotations (..., 3, 3)."""
    diagonal = torch.diagonal(mat, dim1=-2, dim2=-1)
    signs = torch.tensor([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]).to(mat)
    size = (1.0 + diagonal @ signs.T).clamp(min=0.0).sqrt() / 2  # of w, x, y, z
    largest = size.argmax(-1, keepdim=True)
    skew = [mat[..., 2, 1] - mat[..., 1, 2], mat[..., 0, 2] - mat[..., 2, 0], mat[..., 1, 0] - mat[..., 0, 1]]
    pairs = [mat[..., 0, 1] + mat[..., 1, 0], mat[..., 0, 2] + mat[..., 2, 0], mat[..., 1, 2] + mat[..., 2, 1]]
    square = 4.0 * size.square()
    table = torch.stack(
        [
            torch.stack([square[..., 0], *skew], -1),
            torch.stack([skew[0], square[..., 1], pairs[0], pairs[1]], -1),
            torch.stack([skew[1], pairs[0], square[..., 2], pairs[2]], -1),
            torch.stack([skew[2], pairs[1], pairs[2], square[..., 3]], -1),
        ],
        dim=-2,
    )
    chosen = torch.gather(table, -2, largest[..., None].expand(*largest.shape, 4))[..., 0, :]
    quat = chosen / chosen.norm(dim=-1, keepdim=True)
    return torch.where(quat[..., :1] < 0, -quat, quat)
