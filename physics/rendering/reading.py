"""The numbers of a solver that pictures need, of the environments that are asked for.

Poses of lights follow from the bodies (MuJoCo's mj_camlight). They are apart from `lights.py`, which the process that
compiles pictures imports: it has no torch.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import torch

from ..base.arguments import CheckedEnvs, as_environments
from ..base.rotations import quat_to_matrix
from ..base.shapes import of_kinds
from .cameras.camera import PoseSource
from .look import Look
from .shown.lights import DIRECTION, POSITION
from .shown.overlays import CONTACTS
from .shown.render_model import ALWAYS, BOUND, CORE, SIZE, RenderModel

_CONTACT_FIELDS = ("mask", "pos", "frame", "dist", "force", "geom")


def entity_ids(mj: mujoco.MjModel, given: Any) -> np.ndarray:
    """Return an id for each geom (ngeom,)."""
    if given is None:
        return np.array(mj.body_rootid[mj.geom_bodyid])
    ids = np.asarray(given)
    if ids.shape != (mj.ngeom,) or ids.dtype.kind not in "iu":
        raise ValueError(
            f"entities: needed are {mj.ngeom} whole numbers, one for each geom, not {ids.dtype} {ids.shape}"
        )
    return ids


def contacts_of(solver: Any, envs: CheckedEnvs | None) -> Any:
    """The contacts of some environments of a solver."""
    if not hasattr(solver, CONTACTS):
        raise TypeError(f"solver: contacts are those of a RigidSolver, not of a {type(solver).__name__}")
    found = solver.contacts
    return found if envs is None else SimpleNamespace(**{n: getattr(found, n)[envs.index] for n in _CONTACT_FIELDS})


def environments(envs_idx: Any, solver: PoseSource) -> CheckedEnvs | None:
    """Return environments of a solver by what `as_environments` takes, with its errors; None: all."""
    if envs_idx is None or isinstance(envs_idx, CheckedEnvs):
        return envs_idx
    return CheckedEnvs(as_environments(envs_idx, solver.num_envs, solver.device))


def count_of(envs: CheckedEnvs | None, solver: PoseSource) -> int:
    """Return the number of environments in what `environments` returned."""
    return solver.num_envs if envs is None else len(envs)


def read(solver: PoseSource, names: Sequence[str], envs: CheckedEnvs | None) -> dict[str, torch.Tensor]:
    """Fields of a solver, all from one evaluation."""
    return solver.get_many(names, envs) if names else {}


def enclosing_spheres(centres: torch.Tensor, radii: torch.Tensor) -> torch.Tensor:
    """A sphere around each environment's solids: (n, k, 3) and (k,) -> (n, 4), centre and radius."""
    middle = (centres.amin(dim=1) + centres.amax(dim=1)) / 2
    reach = ((centres - middle[:, None]).norm(dim=-1) + radii).amax(dim=1)
    return torch.cat([middle, reach[:, None]], dim=-1).contiguous()


def own_numbers(solver: Any, names: Sequence[str], envs: CheckedEnvs | None) -> dict[str, torch.Tensor]:
    """Return those of some numbers of the model (n, ...), in the processor's memory, that environments have own."""
    parameters: Any = getattr(solver, "parameters", None)
    own = getattr(parameters, "own", ())
    return {name: parameters.get(name, envs) for name in names if name in own}


def own_shapes(drawn: RenderModel, look: Look, sizes: torch.Tensor) -> np.ndarray:
    """Return `RenderModel.shape` for each environment, (n, rows, SHAPE_COLUMNS), by geom_size (n, ngeom, 3).

    Meshes and height fields keep the model's: their sizes say nothing about their triangles.
    """
    shape = np.repeat(drawn.shape[None], len(sizes), axis=0)
    given, reach, bulk = sizes.numpy(), of_kinds("reach"), of_kinds("bulk")
    for row, (geom, kind) in enumerate(zip(drawn.geom.tolist(), drawn.kind.tolist(), strict=True)):
        if geom < 0 or kind not in reach:
            continue
        if drawn.shape[row, BOUND] == np.float32(ALWAYS):  # a plane
            if not look.endless_planes:
                shape[:, row, SIZE : SIZE + 3] = given[:, geom]
            continue
        shape[:, row, SIZE : SIZE + 3] = given[:, geom]
        shape[:, row, BOUND] = reach[kind](given[:, geom])
        shape[:, row, CORE : CORE + 2] = np.stack(bulk[kind](given[:, geom]), axis=-1)
    return shape


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
