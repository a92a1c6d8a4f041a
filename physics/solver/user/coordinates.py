"""Positions of dofs: numbers of qpos, and angles for the turns of free and ball joints."""

from typing import Any

import mujoco
import numpy as np
import torch

from ...base.joints import is_free, is_scalar
from ...base.rotations import quat_from_half_angles
from .state import SolverState


class DofCoordinates:
    """The positions of dofs.

    That of a slide or hinge is its coordinate; a free joint's first three are its place; the three turns of a free or
    ball joint are angles about the world's or the parent's x, then y, then z axis, in rad (`euler` of morphs, which is
    in degrees).

    Attributes:
        column: number of qpos that is the position of each dof, (nv,); -1: an angle of a quaternion.
        scalar: (nv,) True for dofs of hinges and slides.
    """

    def __init__(self, mj: mujoco.MjModel) -> None:
        joint = mj.dof_jntid
        offset = np.arange(mj.nv) - mj.jnt_dofadr[joint]
        kind, start = mj.jnt_type[joint], mj.jnt_qposadr[joint].astype(np.int64)
        self.scalar, before = is_scalar(kind), np.where(is_free(kind), 3, 0)
        self.column = np.where(~self.scalar & (offset >= before), -1, start + offset)
        self._quat, self._axis = start + before, offset - before

    def get(self, state: SolverState, dofs: np.ndarray, envs: Any) -> torch.Tensor:
        """Return positions of dofs (n, k), m or rad."""
        columns = self.column[dofs]
        if (columns >= 0).all():
            return state.get_columns("qpos", columns, envs)
        found = state.get_columns("qpos", np.maximum(columns, 0), envs)
        for quat in np.unique(self._quat[dofs[columns < 0]]).tolist():
            mine = (columns < 0) & (self._quat[dofs] == quat)
            angles = euler_of_quat(state.get_columns("qpos", np.arange(quat, quat + 4), envs))
            found[:, mine.nonzero()[0]] = angles[:, self._axis[dofs[mine]]]
        return found

    def entries(
        self, state: SolverState, dofs: np.ndarray, positions: torch.Tensor, envs: Any
    ) -> tuple[np.ndarray, torch.Tensor]:
        """Return the indices of qpos to write, and the values, for positions (n, k) of dofs; other angles stay."""
        columns = self.column[dofs]
        plain = columns >= 0
        if plain.all():
            return columns, positions
        places, rows = [columns[plain]], [positions[:, plain.nonzero()[0]]]
        for quat in np.unique(self._quat[dofs[~plain]]).tolist():
            mine = (~plain & (self._quat[dofs] == quat)).nonzero()[0]
            angles = euler_of_quat(state.get_columns("qpos", np.arange(quat, quat + 4), envs))
            angles[:, self._axis[dofs[mine]]] = positions[:, mine]
            places.append(np.arange(quat, quat + 4))
            rows.append(quat_of_euler(angles))
        return np.concatenate(places), torch.cat(rows, 1)


def euler_of_quat(quat: torch.Tensor) -> torch.Tensor:
    """Return angles (n, 3) about fixed axes x, y, z in turn, rad, of quaternions (n, 4), w first."""
    w, x, y, z = (quat / quat.norm(dim=-1, keepdim=True)).unbind(-1)
    about_x = torch.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    about_y = torch.asin((2 * (w * y - z * x)).clamp(-1, 1))
    about_z = torch.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return torch.stack((about_x, about_y, about_z), -1)


def quat_of_euler(angles: torch.Tensor) -> torch.Tensor:
    """Return quaternions (n, 4), w first, of angles (n, 3) about fixed axes x, y, z in turn, rad."""
    return quat_from_half_angles((angles / 2).cos().unbind(-1), (angles / 2).sin().unbind(-1))
