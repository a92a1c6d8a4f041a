"""Rotations and poses in numpy and torch, batched over all dimensions but the last ones.

Quaternions (..., 4) have w first and length 1, matrices `R` are (..., 3, 3), poses `T` (..., 4, 4). A call returns
arrays of numpy for arrays and sequences, and tensors if it is given one, of the widest type among them; batches are
broadcast. Angles are rad unless `degrees` is True.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ...physics.base.rotations import quat_mul, quat_to_matrix, rotate
from ..poses import quat_of_mat

Array = Any
Tensor = torch.Tensor
_SMALL = 1e-12


def _either(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of tensors that also takes arrays of numpy and sequences, and returns arrays for them."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        like = _common([arg for arg in (*args, *options.values()) if isinstance(arg, Tensor)])
        tensors = [_tensor(arg, like) for arg in args]
        result = function(*tensors, **{name: _tensor(arg, like) for name, arg in options.items()})
        if like is not None:
            return result
        return tuple(part.numpy() for part in result) if isinstance(result, tuple) else result.numpy()

    return call


def _common(tensors: list[Tensor]) -> Tensor | None:
    """Return an empty tensor on the device of the first tensor, of the widest type; whole numbers become real ones."""
    if not tensors:
        return None
    dtype = functools.reduce(torch.promote_types, [tensor.dtype for tensor in tensors])
    return torch.empty(0, device=tensors[0].device, dtype=dtype if dtype.is_floating_point else None)


def _tensor(given: Any, like: Tensor | None) -> Any:
    if given is None or isinstance(given, bool):
        return given
    if isinstance(given, Tensor):
        return given if like is None else given.to(like.dtype)
    array = np.asarray(given)
    array = array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)
    tensor = torch.from_numpy(np.array(array))
    return tensor if like is None else tensor.to(like.device, like.dtype)


# quaternions


@_either
def normalize(x: Array, eps: float = _SMALL) -> Array:
    """Return vectors (..., n) of length 1; vectors shorter than `eps` are divided by it."""
    return x / x.norm(dim=-1, keepdim=True).clamp(min=float(eps))


@_either
def inv_quat(quat: Array) -> Array:
    """Return the rotation back (..., 4)."""
    return torch.cat([quat[..., :1], -quat[..., 1:]], dim=-1)


@_either
def transform_quat_by_quat(v: Array, u: Array) -> Array:
    """Return the rotation `v`, then `u` (..., 4): the product u v."""
    return quat_mul(*torch.broadcast_tensors(u, v))


@_either
def transform_by_quat(v: Array, quat: Array) -> Array:
    """Return vectors (..., 3), rotated."""
    shape = torch.broadcast_shapes(v.shape[:-1], quat.shape[:-1])
    return rotate(quat.expand(*shape, 4), v.expand(*shape, 3))


def inv_transform_by_quat(pos: Array, quat: Array) -> Array:
    """Return vectors (..., 3), rotated back."""
    return transform_by_quat(pos, inv_quat(quat))


@_either
def axis_angle_to_quat(angle: Array, axis: Array) -> Array:
    """Return the rotation (..., 4) by angles (...) about axes (..., 3) of any length."""
    half = angle[..., None] / 2
    return torch.cat([half.cos(), half.sin() * normalize(axis)], dim=-1)


@_either
def rotvec_to_quat(rotvec: Array) -> Array:
    """Return the rotation (..., 4) about vectors (..., 3), whose lengths are the angles."""
    angle = rotvec.norm(dim=-1, keepdim=True)
    share = torch.where(angle > 1e-8, (angle / 2).sin() / angle.clamp(min=1e-8), 0.5)
    return torch.cat([(angle / 2).cos(), share * rotvec], dim=-1)


@_either
def quat_to_rotvec(quat: Array) -> Array:
    """Return the vector (..., 3) along the axis, whose length is the angle, from 0 to pi."""
    quat = torch.where(quat[..., :1] < 0, -quat, quat)
    length = quat[..., 1:].norm(dim=-1, keepdim=True)
    angle = 2 * torch.atan2(length, quat[..., :1])
    return torch.where(length > 1e-8, angle / length.clamp(min=1e-8), 2.0) * quat[..., 1:]


@_either
def slerp(q0: Array, q1: Array, t: Array) -> Array:
    """Return the rotation (..., 4) at a share `t`, from 0 to 1, of the shorter way from one to another."""
    t = t[..., None] if t.ndim else t
    turn = quat_to_rotvec(transform_quat_by_quat(inv_quat(q0), q1))
    return transform_quat_by_quat(q0, rotvec_to_quat(t * turn))


def identity_quat() -> np.ndarray:
    """Return the rotation that turns nothing, (4,)."""
    return np.array([1.0, 0.0, 0.0, 0.0])


def zero_pos() -> np.ndarray:
    """Return the origin, (3,)."""
    return np.zeros(3)


# angles


@_either
def xyz_to_quat(xyz: Array, rpy: bool = False, degrees: bool = False) -> Array:
    """Return the rotation (..., 4) by three angles (..., 3).

    Args:
        xyz: angles about x, y and z.
        rpy: True: about the world's axes, in turn; False: about the turning body's axes, in turn.
        degrees: whether they are degrees.
    """
    half = (torch.deg2rad(xyz) if degrees else xyz) / 2
    about = [
        torch.stack([half[..., k].cos(), *(half[..., k].sin() * float(k == axis) for axis in range(3))], dim=-1)
        for k in range(3)
    ]
    first, second, third = about if not rpy else about[::-1]
    return quat_mul(first, quat_mul(second, third))


@_either
def quat_to_xyz(quat: Array, rpy: bool = False, degrees: bool = False) -> Array:
    """Return the three angles (..., 3) of `xyz_to_quat`: y from -90 to 90 degrees, and x is 0 where that is a bound."""
    mat = quat_to_matrix(quat)
    if rpy:
        mat = mat.transpose(-1, -2)
    sign = -1.0 if rpy else 1.0
    sine, along = mat[..., 0, 2], torch.hypot(mat[..., 0, 0], mat[..., 0, 1])
    x = torch.atan2(-mat[..., 1, 2], mat[..., 2, 2])
    z = torch.atan2(-mat[..., 0, 1], mat[..., 0, 0])
    level = along > (1e-6 if mat.dtype == torch.float64 else 1e-3)
    z = torch.where(level, z, torch.atan2(mat[..., 1, 0], mat[..., 1, 1]))
    angles = sign * torch.stack([torch.where(level, x, 0.0 * x), torch.atan2(sine, along), z], dim=-1)
    return torch.rad2deg(angles) if degrees else angles


def euler_to_quat(euler_xyz: Array) -> Array:
    """Return the rotation (..., 4) by angles (..., 3) about the world's x, then y, then z axis, in degrees."""
    return xyz_to_quat(euler_xyz, rpy=True, degrees=True)


def euler_to_R(euler_xyz: Array) -> Array:
    """Return `euler_to_quat` as a matrix."""
    return quat_to_R(euler_to_quat(euler_xyz))


# matrices


@_either
def quat_to_R(quat: Array) -> Array:
    """Return the rotation as a matrix."""
    return quat_to_matrix(quat)


@_either
def R_to_quat(R: Array) -> Array:
    """Return the rotation as a quaternion, with w not below 0."""
    return quat_of_mat(R)


def R_to_xyz(R: Array, rpy: bool = False, degrees: bool = False) -> Array:
    """Return the three angles of `quat_to_xyz`."""
    return quat_to_xyz(R_to_quat(R), rpy, degrees)


def rotvec_to_R(rotvec: Array) -> Array:
    """Return `rotvec_to_quat` as a matrix."""
    return quat_to_R(rotvec_to_quat(rotvec))


def R_to_rotvec(R: Array) -> Array:
    """Return `quat_to_rotvec` of a matrix."""
    return quat_to_rotvec(R_to_quat(R))


def axis_angle_to_R(axis: Array, theta: Array) -> Array:
    """Return the rotation by angles (...) about axes (..., 3) as a matrix."""
    return quat_to_R(axis_angle_to_quat(theta, axis))


@_either
def z_up_to_R(z: Array, up: Array = None) -> Array:
    """Return the axes of a frame, as columns, with z along (..., 3), and y as near to `up` (..., 3) as can be."""
    z = normalize(z)
    up = torch.tensor([0.0, 0.0, 1.0]).to(z) if up is None else up
    x = torch.linalg.cross(up.expand_as(z), z)
    other = torch.tensor([0.0, 1.0, 0.0]).to(z).expand_as(z)
    x = torch.where(x.norm(dim=-1, keepdim=True) > 1e-6, x, torch.linalg.cross(other, z))
    x = normalize(x)
    return torch.stack([x, torch.linalg.cross(z, x), z], dim=-1)


@_either
def transform_by_R(pos: Array, R: Array) -> Array:
    """Return points (..., 3) of the batch, or (..., n, 3) with n points of each, rotated."""
    rows = pos[..., None, :] if pos.ndim < R.ndim else pos
    turned = rows @ R.transpose(-1, -2)
    return turned[..., 0, :] if pos.ndim < R.ndim else turned


# poses


@_either
def trans_R_to_T(trans: Array = None, R: Array = None) -> Array:
    """Return the pose of a place (..., 3) and a rotation; None: no translation or no rotation."""
    like = trans if R is None else R
    trans = torch.zeros(3).to(like) if trans is None else trans
    R = torch.eye(3).to(like) if R is None else R
    batch = torch.broadcast_shapes(trans.shape[:-1], R.shape[:-2])
    pose = torch.zeros(*batch, 4, 4).to(like)
    pose[..., :3, :3], pose[..., :3, 3], pose[..., 3, 3] = R, trans, 1.0
    return pose


def trans_quat_to_T(trans: Array = None, quat: Array = None) -> Array:
    """Return the pose of a place (..., 3) and a rotation (..., 4); None: no translation or no rotation."""
    return trans_R_to_T(trans, None if quat is None else quat_to_R(quat))


def trans_to_T(trans: Array) -> Array:
    """Return the pose of a place (..., 3) that is not rotated."""
    return trans_R_to_T(trans, None)


@_either
def inv_T(T: Array) -> Array:
    """Return the pose back."""
    back = T[..., :3, :3].transpose(-1, -2)
    return trans_R_to_T(-(back @ T[..., :3, 3:])[..., 0], back)


def transform_by_T(pos: Array, T: Array) -> Array:
    """Return points (..., 3) of the batch, or (..., n, 3) with n of each, in the frame in which a pose is given."""
    place = T[..., None, :3, 3] if np.ndim(pos) == np.ndim(T) else T[..., :3, 3]
    return transform_by_R(pos, T[..., :3, :3]) + place


@_either
def transform_by_trans_quat(pos: Array, trans: Array, quat: Array) -> Array:
    """Return points (..., 3), rotated, then moved."""
    return transform_by_quat(pos, quat) + trans


@_either
def inv_transform_by_trans_quat(pos: Array, trans: Array, quat: Array) -> Array:
    """Return points (..., 3), moved and rotated back."""
    return inv_transform_by_quat(pos - trans, quat)


@_either
def transform_pos_quat_by_trans_quat(pos: Array, quat: Array, t_trans: Array, t_quat: Array) -> tuple[Array, Array]:
    """Return place and rotation after a rotation and a move."""
    return t_trans + transform_by_quat(pos, t_quat), transform_quat_by_quat(quat, t_quat)


@_either
def inv_transform_pos_quat_by_trans_quat(pos: Array, quat: Array, t_trans: Array, t_quat: Array) -> tuple[Array, Array]:
    """Return place and rotation before a rotation and a move."""
    back = inv_quat(t_quat)
    return transform_by_quat(pos - t_trans, back), transform_quat_by_quat(quat, back)


def pos_lookat_up_to_T(pos: Array, lookat: Array, up: Array) -> Array:
    """Return the pose of a camera: x right, y up, looking along -z."""
    return trans_R_to_T(pos, z_up_to_R(_minus(pos, lookat), up))


@_either
def _minus(first: Array, second: Array) -> Array:
    return first - second
