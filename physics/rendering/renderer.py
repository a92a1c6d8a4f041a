"""BatchRenderer: pictures of any environments of a solver in one call, as torch tensors."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from ..batch_numbers import Known
from ..process.runtime import Runtime, ensure_runtime
from ..process.waiting import Waiting
from ..scalars import as_count
from .camera import Camera, PosedCamera, PoseSource, View, require_pixels
from .drawables import BOUND, CORE, drawables
from .launch import shared_ray_kernels
from .look import Look
from .raycast import LAYERS, TILE
from .scene import OCCLUSION_REACH

Tables = dict[str, torch.Tensor]
_GEOM_POSES = ("geom_xpos", "geom_xmat")
_MESH_TABLES = ("trees", "nodes", "corners", "skin", "rows", "texels")  # of the trees, then of the dress
_FIELD_TABLES = ("shapes", "measures", "heights", "blocks")
_PIXELS_AT_ONCE = 2**22  # working memory is bounded by drawing this many pixels in one go
MOST_SAMPLES = 16


class Images(NamedTuple):
    """Pictures of one camera, for n environments; row 0 is the top."""

    rgb: torch.Tensor  # (n, height, width, 3) uint8
    depth: torch.Tensor  # (n, height, width) float32: metres along the optical axis, inf where there is only sky
    segmentation: torch.Tensor  # (n, height, width) int32: geom id, -1 for the sky


class BatchRenderer:
    """A ray caster for the visible geoms of a model, without OpenGL.

    Drawn are planes, spheres, capsules, cylinders, ellipsoids, boxes, meshes and height fields of geom groups 0 to 2
    that are not fully clear, as in MuJoCo's viewer; visible geoms of other types are left out, with one warning that
    names them. Surfaces have one side (a camera inside a geom looks out of it, and faces of meshes are seen from
    outside only), and nothing nearer than MuJoCo's near plane (`vis.map.znear` times `stat.extent`) is seen; there is
    no far plane. Solids throw shadows and are mirrored in shining planes; planes do neither. Geoms are drawn where
    their environment has them, but in the model's sizes, also where environments have sizes of their own
    (`RigidSolver.set_parameters`).

    Args:
        model: a `Model`.
        width: of the pictures, pixels.
        height: of the pictures, pixels.
        camera: one of the model's cameras by name or id; a `Camera`, or its fields as a dict (Gymnasium's
            `default_camera_config`), for a free or tracking one; None or -1: follow the first body that can move.
        samples: rays along a pixel's side where colours change; 1: no anti-aliasing.
        look: light and colours.

    Raises:
        ValueError: an unknown camera, body or camera field (with its nearest names), or a size that is no whole number
            from 1 on, or of too many pixels.
        TypeError: `model`, `camera` or `look` is of another type.
    """

    def __init__(
        self,
        model: Any,
        width: int = 480,
        height: int = 480,
        camera: int | str | Camera | PosedCamera | Mapping | None = None,
        samples: int = 2,
        look: Look | None = None,
    ):
        if not isinstance(getattr(model, "mj", None), mujoco.MjModel):
            raise TypeError(f"model: expected a tumble.physics.Model, not {type(model).__name__}")
        require_pixels(width, height)
        as_count("samples", samples, most=MOST_SAMPLES)
        if not isinstance(look, Look | None):
            raise TypeError(f"look: expected a tumble.physics.rendering.Look, not {type(look).__name__}")
        self.model, self.width, self.height, self.samples = model, int(width), int(height), int(samples)
        self.look = look or Look()
        mj = model.mj
        self.near = float(mj.vis.map.znear * mj.stat.extent)  # m
        self._view = View(mj, camera, width / height)
        with Waiting("preparing what is drawn of the model"):
            self._drawn = drawables(mj, self.look)
        if self._drawn.left_out:
            warnings.warn(
                f"not drawn yet, signed distance functions: {', '.join(self._drawn.left_out)}",
                stacklevel=2,
            )
        self._reach = OCCLUSION_REACH * float(self._drawn.shape[:, CORE + 1].max())
        self._tables: dict[torch.device, Tables] = {}

    def render(self, solver: PoseSource, envs_idx: Any = None) -> torch.Tensor:
        """Colour pictures of the environments `envs_idx` (None: all), (n, height, width, 3) uint8."""
        return self._draw(solver, envs_idx, colour=True).rgb

    def depth(self, solver: PoseSource, envs_idx: Any = None) -> torch.Tensor:
        """Metres along the optical axis to each pixel's middle, inf for the sky: (n, height, width) float32.

        As MuJoCo's renderer measures it. Distance along the ray is `depth * rays().norm(dim=-1)`.
        """
        return self._draw(solver, envs_idx, colour=False).depth

    def segmentation(self, solver: PoseSource, envs_idx: Any = None) -> torch.Tensor:
        """Id of the geom at each pixel's middle, -1 for the sky: (n, height, width) int32."""
        return self._draw(solver, envs_idx, colour=False).segmentation

    def images(self, solver: PoseSource, envs_idx: Any = None) -> Images:
        """Colour, depth and segmentation in one go."""
        return self._draw(solver, envs_idx, colour=True)

    def camera_poses(self, solver: PoseSource, envs_idx: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the camera's poses: positions (n, 3) in metres and camera-to-world rotations (n, 3, 3)."""
        self._require_poses(solver)
        envs = _environments(envs_idx, solver)
        position, rotation = self._view.poses(_read(solver, self._view.reads, envs), solver, _count(envs, solver))
        return position, rotation

    def rays(self) -> torch.Tensor:
        """Rays through the pixels' middles in the camera's frame, (height, width, 3), with -1 along its z axis.

        The point a pixel sees is `position + depth * rotation @ ray` (for a perspective camera).
        """
        frustum = self._view.frustum
        x = torch.linspace(frustum.left, frustum.right, 2 * self.width + 1)[1::2]
        y = torch.linspace(frustum.top, frustum.bottom, 2 * self.height + 1)[1::2]
        up, right = torch.meshgrid(y, x, indexing="ij")
        return torch.stack([right, up, torch.full_like(up, -1.0)], dim=-1)

    def _draw(self, solver: PoseSource, envs_idx: Any, *, colour: bool) -> Images:
        """All pictures, in chunks that bound the working memory; rgb is empty without `colour`."""
        runtime = ensure_runtime()
        self._require_poses(solver)
        envs = _environments(envs_idx, solver)
        count = _count(envs, solver)
        fields = _read(solver, (*(_GEOM_POSES if self.model.mj.ngeom else ()), *self._view.reads), envs)
        tables = self._tables_on(torch.device(solver.device))
        poses = *self._geom_poses(tables, fields, solver, count), *self._view.poses(fields, solver, count)
        chunk = max(1, _PIXELS_AT_ONCE // (self.width * self.height))
        parts = [
            self._draw_chunk(runtime, tables, [part[i : i + chunk] for part in poses], colour=colour)
            for i in range(0, max(1, count), chunk)
        ]
        return parts[0] if len(parts) == 1 else Images(*(torch.cat(kind) for kind in zip(*parts, strict=True)))

    def _geom_poses(
        self, tables: Tables, fields: Mapping[str, torch.Tensor], solver: PoseSource, count: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Centres (n, rows, 3) and rotations (n, rows, 9) of the drawn geoms, in the solver's precision."""
        drawn = tables["geom"][:-1].long()
        if not fields.keys() >= set(_GEOM_POSES):
            empty = torch.zeros(count, len(drawn), 12, dtype=solver.dtype, device=solver.device)
            return empty[..., :3], empty[..., 3:]
        centre, rotation = (fields[name][:, drawn] for name in _GEOM_POSES)
        return centre, rotation.reshape(count, len(drawn), 9)

    def _draw_chunk(self, runtime: Runtime, tables: Tables, poses: Sequence[torch.Tensor], *, colour: bool) -> Images:
        """The pictures of one chunk, by positions and rotations of geoms, and those of the camera.

        All is relative to the camera, so that float32 is exact wherever the robot has run.
        """
        geom_position, geom_rotation, position, rotation = poses
        device, n = position.device, len(position)
        offset = (geom_position - position[:, None]).to(torch.float32)
        pose = torch.cat([offset, geom_rotation.to(torch.float32)], dim=-1).contiguous()
        bound = _enclosing_spheres(offset[:, tables["solids"].long()], tables["shape"][tables["solids"].long(), BOUND])
        camera = rotation.reshape(n, 9).to(torch.float32).contiguous()
        size = (n, self.height, self.width)
        shown = size if colour else (1, 1, 1)  # Taichi takes no empty tensors
        depth = torch.empty(size, dtype=torch.float32, device=device)
        seen = torch.empty(size, dtype=torch.int32, device=device)
        first_look = torch.empty((*shown, 4), dtype=torch.float32, device=device)
        image = torch.empty((*shown, 3), dtype=torch.uint8, device=device)
        n_tiles = -(-self.width // TILE) * -(-self.height // TILE)
        tiles = torch.empty((n, n_tiles, pose.shape[1] + 1), dtype=torch.int32, device=device)
        scene = (*(tables[name] for name in ("kind", "shape", "paint", "solids")), pose, bound)
        lens = (camera, tables["frustum"])
        limits = self.near, self._reach, LAYERS if colour else 0
        if n:
            dress = self._drawn.dress
            cull, cast = shared_ray_kernels(runtime, bool(dress.trees.meshes), bool(dress.fields.fields))
            dressed = [tables[name] for name in (*_MESH_TABLES, *_FIELD_TABLES, "openness")]
            cull((tables["shape"], pose, *lens, self.width, self.height, tiles))
            for side in (0, self.samples) if colour else (0,):
                cast((*scene, *lens, tables["look"], tiles, *limits, side, depth, seen, first_look, image, *dressed))
        depth.masked_fill_(seen < 0, torch.inf)
        return Images(image, depth, tables["geom"][seen.long()])

    def _require_poses(self, solver: Any) -> None:
        """Refuse what is no solver, or a solver of a model with other bodies, geoms or cameras."""
        if not hasattr(solver, "get_many"):
            raise TypeError(f"solver: expected a RigidSolver, not {type(solver).__name__}")
        mine, theirs = self.model.mj, getattr(getattr(solver, "model", None), "mj", None)
        if theirs is not None and any(getattr(mine, n) != getattr(theirs, n) for n in ("nbody", "ngeom", "ncam")):
            raise ValueError("solver: it is of another model than the one that this renderer was made for")

    def _tables_on(self, device: torch.device) -> Tables:
        """The tables that do not change between pictures, on a device."""
        if device not in self._tables:
            drawn = self._drawn
            arrays = {name: getattr(drawn, name) for name in ("kind", "shape", "paint", "solids")}
            arrays |= {name: getattr(drawn.dress.trees, name) for name in _MESH_TABLES[:3]}
            arrays |= {name: getattr(drawn.dress, name) for name in _MESH_TABLES[3:]}
            arrays |= {name: getattr(drawn.dress.fields, name) for name in _FIELD_TABLES}
            arrays["openness"] = drawn.dress.openness
            arrays["geom"] = np.append(drawn.geom, np.int32(-1))  # row -1, the sky, is geom -1
            arrays["frustum"] = np.array(self._view.frustum, dtype=np.float32)
            arrays["look"] = self.look.table(self.model.mj.stat.extent, self._view.typical_distance)
            self._tables[device] = {name: torch.as_tensor(array, device=device) for name, array in arrays.items()}
        return self._tables[device]


def _environments(envs_idx: Any, solver: PoseSource) -> Known | None:
    """Environments from a number, a sequence, or a mask of all, asked where it lies whether they exist; None: all."""
    if envs_idx is None or isinstance(envs_idx, Known):
        return envs_idx
    try:
        chosen = torch.as_tensor(envs_idx)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"envs_idx={envs_idx!r}: environment numbers must be integers") from error
    if chosen.is_meta:
        raise ValueError("envs_idx: a tensor on the device 'meta' has no numbers")
    if chosen.dtype == torch.bool:
        if chosen.shape != (solver.num_envs,):
            raise ValueError(f"envs_idx: a mask must have shape ({solver.num_envs},), not {tuple(chosen.shape)}")
        return Known(chosen.nonzero()[:, 0].to(solver.device))
    if chosen.numel() and (chosen.is_floating_point() or chosen.is_complex()):
        raise TypeError(f"envs_idx: environment numbers must be integers, not {chosen.dtype}")
    chosen = chosen.reshape(-1).long()
    outside = chosen[(chosen < 0) | (chosen >= solver.num_envs)]
    if len(outside):
        raise IndexError(f"envs_idx: environment {int(outside[0])} is not in 0 to {solver.num_envs - 1}")
    return Known(chosen.to(solver.device))


def _count(envs: Known | None, solver: PoseSource) -> int:
    return solver.num_envs if envs is None else len(envs.index)


def _read(solver: PoseSource, names: Sequence[str], envs: Known | None) -> dict[str, torch.Tensor]:
    """Fields of a solver, all from one evaluation."""
    return solver.get_many(names, envs) if names else {}


def _enclosing_spheres(centres: torch.Tensor, radii: torch.Tensor) -> torch.Tensor:
    """A sphere around each environment's solids: (n, k, 3) and (k,) -> (n, 4), centre and radius."""
    middle = (centres.amin(dim=1) + centres.amax(dim=1)) / 2
    reach = ((centres - middle[:, None]).norm(dim=-1) + radii).amax(dim=1)
    return torch.cat([middle, reach[:, None]], dim=-1).contiguous()
