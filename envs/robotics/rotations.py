"""Angles and velocities as Gymnasium-Robotics' observations have them, for arrays of n environments."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from ..arrays import Array, namespace, row_norm, row_sum, sin_cos
from ..managers.frames import atan2, cross

SMALL = 4 * float(np.finfo(np.float64).eps)  # a cosine below this is of a rotation by a right angle about y


def euler_of(mat: Array) -> Array:
    """Return angles about the moving axes x, y and z of rotation matrices (..., 9) by rows, (..., 3) rad."""
    xp = namespace(mat)
    xx, xy, xz, yx, yy, yz, _, _, zz = (mat[..., k] for k in range(9))
    level = xp.sqrt(zz * zz + yz * yz)
    usual = level > SMALL
    roll = xp.where(usual, -atan2(yz, zz), 0 * zz)
    yaw = xp.where(usual, -atan2(xy, xx), -atan2(-yx, yy))
    return xp.stack((roll, -atan2(-xz, level), yaw), axis=-1)


def mat_of(quat: Array) -> Array:
    """Return the rotation matrices (..., 9) by rows of quaternions (..., 4) of any length above 0."""
    scale = 2 / row_sum(quat * quat)
    w, x, y, z = (quat[..., k] for k in range(4))
    x2, y2, z2 = x * scale, y * scale, z * scale
    rows = (
        *(1 - (y * y2 + z * z2), x * y2 - w * z2, x * z2 + w * y2),
        *(x * y2 + w * z2, 1 - (x * x2 + z * z2), y * z2 - w * x2),
        *(x * z2 - w * y2, y * z2 + w * x2, 1 - (x * x2 + y * y2)),
    )
    return namespace(quat).stack(rows, axis=-1)


def quat_of_euler(angles: Array) -> Array:
    """Return the quaternions (..., 4) of angles (..., 3) rad about the moving axes x, y and z."""
    (sx, sy, sz), (cx, cy, cz) = zip(*(sin_cos(angles[..., k] / 2) for k in range(3)), strict=True)
    sy = -sy
    rows = (
        cy * cz * cx + sy * sz * sx,
        cy * cz * sx - sy * sz * cx,
        -(cy * sz * sx + sy * cz * cx),
        cy * sz * cx - sy * cz * sx,
    )
    return namespace(angles).stack(rows, axis=-1)


def quat_about(axis: Array, angle: Array) -> Array:
    """Return rotations by angles (n, 1) rad about axes (n, 3) of any length above 0, (n, 4)."""
    sine, cosine = sin_cos(angle / 2)
    return namespace(axis).concat((cosine, sine * (axis / row_norm(axis)[:, None])), axis=1)


class SiteVelocity:
    """The velocity of a site by the Jacobian of an evaluation, as MuJoCo's mj_jacSite times any velocities gives it.

    Make one in `bind`. It reads `cdof`, `subtree_com` and `site_xpos`.
    """

    def __init__(self, model: mujoco.MjModel, site: str, array: Any) -> None:
        self.site = model.site(site).id
        body = int(model.site_bodyid[self.site])
        self.root = int(model.body_rootid[body])
        chain: list[int] = []
        while body:
            first = int(model.body_dofadr[body])
            chain += range(first, first + int(model.body_dofnum[body]))
            body = int(model.body_parentid[body])
        self.dofs = slice(min(chain), max(chain) + 1)
        self.moves = array([dof in chain for dof in range(self.dofs.start, self.dofs.stop)])

    def __call__(self, seen: Mapping[str, Array], qvel: Array) -> tuple[Array, Array]:
        """Return linear and angular velocity in the world's frame, (n, 3) m/s and rad/s.

        Args:
            seen: the quantities of an evaluation.
            qvel: velocities (n, nv).
        """
        along = seen["cdof"][:, self.dofs] * (qvel[:, self.dofs] * self.moves)[:, :, None]
        twist = row_sum(namespace(along).permute_dims(along, (0, 2, 1)))
        arm = seen["site_xpos"][:, self.site] - seen["subtree_com"][:, self.root]
        return twist[:, 3:] + cross(twist[:, :3], arm), twist[:, :3]
