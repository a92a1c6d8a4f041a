"""Rotations and poses: quaternions with w first, angles about fixed axes x, y, z in turn."""

import numpy as np
import torch
from numpy.typing import ArrayLike

from ..physics.base.rotations import matrix_to_quat, quat_from_half_angles


def quat_of_euler(degrees: ArrayLike) -> np.ndarray:
    """Return the quaternion (4,) of turns about the world's x, then y, then z axis, in degrees."""
    half = np.radians(np.asarray(degrees, float)) / 2
    quat: np.ndarray = quat_from_half_angles(np.cos(half), np.sin(half))
    return quat


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
    array = np.asarray(quat, float)
    return array / np.linalg.norm(array)


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


def quat_of_mat(mat: torch.Tensor) -> torch.Tensor:
    """Return quaternions (..., 4), w first and not negative, of rotations (..., 3, 3)."""
    quat = matrix_to_quat(mat)
    return torch.where(quat[..., :1] < 0, -quat, quat)
