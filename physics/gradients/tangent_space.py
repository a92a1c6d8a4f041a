"""The tangent space of qpos: conversions of gradients between coordinates (nq) and velocities (nv)."""

import mujoco
import numpy as np
import torch

from ..base.joints import COORDINATES, DOFS, QUATERNION, is_scalar


class TangentSpace:
    """Conversions for the joints of a model.

    A change of coordinates dq and one in the tangent space w have dq = E(q) w: for a quaternion q, dq = q w / 2.

    Args:
        mjm: the model.
    """

    def __init__(self, mjm: mujoco.MjModel) -> None:
        kinds, first, dofs = mjm.jnt_type, mjm.jnt_qposadr, mjm.jnt_dofadr
        self._nq, self._nv = int(mjm.nq), int(mjm.nv)
        turning = [j for j in range(mjm.njnt) if not is_scalar(kinds[j])]
        self._quat = np.array([first[j] + QUATERNION[kinds[j]] for j in turning], int)
        self._turn = np.array([dofs[j] + QUATERNION[kinds[j]] for j in turning], int)
        plain = [
            (first[j] + c, dofs[j] + c)
            for j in range(mjm.njnt)
            for c in range(QUATERNION.get(int(kinds[j]), int(COORDINATES[kinds[j]])))
        ]
        self._plain_q, self._plain_v = np.array(plain, int).reshape(-1, 2).T
        assert len(self._plain_v) + 3 * len(turning) == DOFS[kinds].sum()

    def gradient_by_velocity(self, qpos: torch.Tensor, by_qpos: torch.Tensor) -> torch.Tensor:
        """Return E(q)' g: the gradient in the tangent space (..., nv), from the one by coordinates (..., nq)."""
        found = by_qpos.new_zeros((*by_qpos.shape[:-1], self._nv))
        found[..., self._plain_v] = by_qpos[..., self._plain_q]
        w, x, y, z = self._quaternion(qpos)
        a, b, c, d = self._quaternion(by_qpos)
        found[..., self._turn] = 0.5 * (-x * a + w * b + z * c - y * d)
        found[..., self._turn + 1] = 0.5 * (-y * a - z * b + w * c + x * d)
        found[..., self._turn + 2] = 0.5 * (-z * a + y * b - x * c + w * d)
        return found

    def gradient_by_coordinates(self, qpos: torch.Tensor, by_velocity: torch.Tensor) -> torch.Tensor:
        """Return the gradient by coordinates (..., nq), from the one in the tangent space (..., nv).

        Along a quaternion itself it is zero, as its length has no effect.
        """
        found = by_velocity.new_zeros((*by_velocity.shape[:-1], self._nq))
        found[..., self._plain_q] = by_velocity[..., self._plain_v]
        w, x, y, z = self._quaternion(qpos)
        a, b, c = (by_velocity[..., self._turn + k] for k in range(3))
        scale = 2.0 / (w * w + x * x + y * y + z * z)
        found[..., self._quat] = scale * (-x * a - y * b - z * c)
        found[..., self._quat + 1] = scale * (w * a - z * b + y * c)
        found[..., self._quat + 2] = scale * (z * a + w * b - x * c)
        found[..., self._quat + 3] = scale * (-y * a + x * b + w * c)
        return found

    def _quaternion(self, rows: torch.Tensor) -> list[torch.Tensor]:
        """Return the four numbers of each joint's quaternion, (..., quaternions) each."""
        return [rows[..., self._quat + k] for k in range(4)]
