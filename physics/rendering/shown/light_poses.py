"""The poses of lights in the world, which follow from the bodies (MuJoCo's mj_camlight).

They are apart from `lights.py`, which the process that compiles pictures imports: it has no torch.
"""

from collections.abc import Mapping

import mujoco
import numpy as np
import torch

from ...base.rotations import quat_to_matrix
from .lights import DIRECTION, POSITION

_FIXED, _TRACK, _TRACKCOM, _TARGETBODY = (
    int(getattr(mujoco.mjtCamLight, f"mjCAMLIGHT_{name}")) for name in ("FIXED", "TRACK", "TRACKCOM", "TARGETBODY")
)


OFFSETS = ("light_pos0", "light_poscom0", "light_dir0")
"""Fields of the model that place lights which follow a body; environments with bodies of their own have their own."""


def light_poses(
    mj: mujoco.MjModel, ids: np.ndarray, fields: Mapping[str, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions and directions (n, k, 3) in the world of the lights `ids` (k,), as mj_camlight finds them.

    Beside fields of a solver there may stand those of `OFFSETS` that environments have of their own, (n, nlight, 3).
    """
    body = mj.light_bodyid[ids]
    place, turn, com = fields["xpos"][:, body], quat_to_matrix(fields["xquat"][:, body]), fields["subtree_com"]
    own, mode = place.new_tensor, mj.light_mode[ids].tolist()
    pos0, poscom0, dir0 = (fields.get(name, own(getattr(mj, name))[None]).to(place) for name in OFFSETS)
    position = place + (turn @ own(mj.light_pos[ids])[..., None])[..., 0]
    way = (turn @ own(mj.light_dir[ids])[..., None])[..., 0].clone()
    for k, i in enumerate(ids):
        target = mj.light_targetbodyid[i]
        if mode[k] in (_TRACK, _TRACKCOM):
            way[:, k] = dir0[:, i]
            if mode[k] == _TRACK:
                position[:, k] = place[:, k] + pos0[:, i]
            else:
                position[:, k] = com[:, body[k]] + poscom0[:, i]
        elif mode[k] != _FIXED and target >= 0:
            at = fields["xpos"] if mode[k] == _TARGETBODY else com
            way[:, k] = at[:, target] - position[:, k]
    return position, torch.nn.functional.normalize(way, dim=-1)


def placed_lights(
    mj: mujoco.MjModel, ids: np.ndarray, table: torch.Tensor, fields: Mapping, camera: tuple[torch.Tensor, torch.Tensor]
) -> torch.Tensor:
    """Return the lights of every environment, (n, m, LIGHT_COLUMNS), from the camera.

    Args:
        mj: the model.
        ids: of its lights, as in `Lights`.
        table: `Lights.table` with a first dimension of one.
        fields: as `light_poses` takes them, `Lights.reads` of a solver.
        camera: its positions (n, 3) m and rotations (n, 3, 3).
    """
    eye, view = camera
    placed = table.repeat(len(eye), 1, 1)
    placed[:, ids < 0, DIRECTION : DIRECTION + 3] = -view[:, None, :, 2].to(placed.dtype)
    if (ids >= 0).any():
        position, way = light_poses(mj, ids[ids >= 0], fields)
        placed[:, ids >= 0, POSITION : POSITION + 3] = (position - eye[:, None]).to(placed.dtype)
        placed[:, ids >= 0, DIRECTION : DIRECTION + 3] = way.to(placed.dtype)
    return placed
