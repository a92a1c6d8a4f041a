"""DrawnModel: the tables of a model that pictures are made of, and the poses of its geoms in environments."""

import copy
import warnings
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import torch

from ..base.rotations import quat_to_matrix
from ..base.shapes import of_kinds
from ..machine.waiting import Waiting
from .cameras.camera import BoundCamera
from .cameras.mounted import MountedView
from .cast.casting import Tables, model_arrays
from .cast.raycast import Has
from .cast.scene import OCCLUSION_REACH
from .look import SHADOWS, Look
from .outputs import DrawnPoses
from .reading import SceneReading
from .shown.appearance import haze_of
from .shown.lights import DIRECTION, POSITION, lights
from .shown.overlays import Show
from .shown.render_model import ALWAYS, BOUND, CORE, NEVER, SIZE, RenderModel, render_model

View = BoundCamera | MountedView
_GEOM_POSES = ("geom_xpos", "geom_xmat")
_FIXED, _TRACK, _TRACKCOM, _TARGETBODY = (
    int(getattr(mujoco.mjtCamLight, f"mjCAMLIGHT_{name}")) for name in ("FIXED", "TRACK", "TRACKCOM", "TARGETBODY")
)
OFFSETS = ("light_pos0", "light_poscom0", "light_dir0")
"""Fields of the model that place lights which follow a body; they may be per-environment parameters."""


class DrawnModel:
    """A model as it is drawn, seen by one camera.

    Args:
        mj: the model.
        look: light and colours.
        show: which geom groups, and which overlays.
        entities: an id for each geom (ngeom,), for the output "entity"; None: the root of its body's tree.
        view: the camera, bound to the model.
        near: distance along the optical axis from which on something is seen, m.

    Attributes:
        drawn: the rows that are drawn.
        lights: the lights of the model.
        view: the camera.
        near: m.
        has: the things that the kernel's code is made for.
        reads: fields of a solver that `place` takes.
        parameters: parameters of the model that `place` takes if environments have their own.
    """

    def __init__(
        self,
        mj: mujoco.MjModel,
        look: Look,
        show: Show | None,
        entities: Any,
        view: View,
        near: float,
    ) -> None:
        self._mj, self._look, self._entities, self.view, self.near = mj, look, entity_ids(mj, entities), view, near
        with Waiting("preparing what is drawn of the model"):
            self.drawn = render_model(mj, look, show)
            self.lights = lights(mj)
        if self.drawn.left_out:
            warnings.warn(
                f"not drawn yet, signed distance functions: {', '.join(self.drawn.left_out)}",
                stacklevel=3,
            )
        shown = self.drawn.appearance
        flags = bool(shown.trees.meshes), bool(shown.fields.fields), bool(shown.images.ids)
        self.has = Has(*flags, look.lights == "file")
        self.parameters = ("geom_size", *(OFFSETS if self.has.lights else ()))
        self._reach = OCCLUSION_REACH * float(self.drawn.shape[:, CORE + 1].max())
        self._tables: dict[torch.device, Tables] = {}
        self._view_tables: dict[torch.device, Tables] = {}

    @property
    def reads(self) -> set[str]:
        """The fields of a solver that `place` takes."""
        geoms = _GEOM_POSES if self._mj.ngeom else ()
        return {*geoms, *self.view.reads, *self.drawn.overlays.reads, *(self.lights.reads if self.has.lights else ())}

    def seen_by(self, view: View, near: float) -> "DrawnModel":
        """Return the same model seen by another camera; it shares the tables."""
        other = copy.copy(self)
        other.view, other.near, other._view_tables = view, near, {}
        return other

    def tables_on(self, device: torch.device) -> Tables:
        """Return the tables that do not change between pictures, on a device."""
        if device not in self._tables:
            arrays = model_arrays(self._mj, self.drawn, self.lights, self._entities)
            self._tables[device] = {name: torch.as_tensor(array, device=device) for name, array in arrays.items()}
        if device not in self._view_tables:
            sky = self.drawn.appearance.sky
            haze = {"haze": haze_of(self._mj)} if sky >= 0 else {}
            look = self._look.table(self._mj.stat.extent, self.view.typical_distance, self.near, self._reach, **haze)
            look[SHADOWS, 2] = sky + 1
            found = {"look": torch.as_tensor(look, device=device)}
            if self.view.frustum.is_shared:
                found["frustum"] = self.view.frustum.table(device)
            self._view_tables[device] = found
        return self._tables[device] | self._view_tables[device]

    def place(self, reading: SceneReading) -> tuple[DrawnPoses, Tables, Tables]:
        """Return the poses of all that is drawn, the shared tables, and the tables that differ by environment.

        The last are sizes of geoms and overlays, fields of view, and lights.
        """
        sizes = reading.own.get("geom_size")
        if sizes is not None and (reach := OCCLUSION_REACH * float(sizes.max())) > self._reach:
            self._reach = reach  # solids dim the sky's light up to this distance (m)
            self._view_tables.clear()
        tables, count, fields = self.tables_on(reading.device), reading.count, dict(reading.fields)
        centre, turn = self._geom_poses(tables["geom"][:-1].long(), reading)
        eye, view = self.view.poses(reading)
        more: Tables = {}
        if sizes is not None:
            more["shape"] = torch.as_tensor(own_shapes(self.drawn, self._look, sizes), device=eye.device)
        frustum = self.view.frustum.of(reading.envs, reading.num_envs, eye.device)
        if not frustum.is_shared:
            more["frustum"] = frustum.table(eye.device)
        overlays, fields["like"] = self.drawn.overlays, eye
        placed = overlays.place(fields)
        if placed is not None:
            first = int((self.drawn.geom >= 0).sum())
            rows = slice(first, first + len(overlays.kind))
            shape = more.get("shape", tables["shape"]).repeat(1 if "shape" in more else count, 1, 1)
            centre[:, rows], turn[:, rows] = placed[0], placed[1].flatten(2)
            shape[:, rows, :3] = placed[2]
            bound = placed[2].sum(dim=-1)
            shape[:, rows, BOUND] = torch.where((placed[2] >= 0).all(dim=-1), bound, NEVER).to(shape.dtype)
            more["shape"] = shape
        if self.has.lights:
            more["lights"] = placed_lights(
                self._mj, self.lights.ids, tables["lights"], fields | reading.own, (eye, view)
            )
        return DrawnPoses(centre, turn, eye, view, centre[:, :0]), tables, more

    def _geom_poses(self, drawn: torch.Tensor, reading: SceneReading) -> tuple[torch.Tensor, torch.Tensor]:
        """Centres (n, rows, 3) and rotations (n, rows, 9) of the geoms `drawn` (rows,), in the solver's precision."""
        if not reading.fields.keys() >= set(_GEOM_POSES):
            empty = torch.zeros(reading.count, len(drawn), 12, dtype=reading.dtype, device=reading.device)
            return empty[..., :3], empty[..., 3:]
        centre, rotation = (reading.fields[name][:, drawn] for name in _GEOM_POSES)
        return centre, rotation.reshape(reading.count, len(drawn), 9)


def entity_ids(mj: mujoco.MjModel, given: Any) -> np.ndarray:
    """Return an id for each geom (ngeom,); by default the root of its body's tree."""
    if given is None:
        return np.array(mj.body_rootid[mj.geom_bodyid])
    ids = np.asarray(given)
    if ids.shape != (mj.ngeom,) or ids.dtype.kind not in "iu":
        raise ValueError(
            f"entities: needed are {mj.ngeom} whole numbers, one for each geom, not {ids.dtype} {ids.shape}"
        )
    return ids


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
