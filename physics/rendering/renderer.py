"""BatchRenderer: pictures of any environments of a solver in one call, as torch tensors."""

import warnings
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from ..batch_numbers import Known
from ..process.runtime import Runtime, ensure_runtime
from ..process.waiting import Waiting
from ..scalars import as_count
from .camera import Camera, PosedCamera, PoseSource, View, require_pixels
from .launch import shared_ray_kernels
from .lights import DIRECTION, POSITION, light_poses, lights
from .look import SHADOWS, Look
from .outputs import Found, Poses, outputs_named, pixel_rays
from .overlays import CONTACTS, Show
from .raycast import GUIDES, LAYERS, TILE, Has
from .render_model import BOUND, CORE, NEVER, render_model
from .scene import OCCLUSION_REACH

Tables = dict[str, torch.Tensor]
_GEOM_POSES = ("geom_xpos", "geom_xmat")
_MESH_TABLES, _DRESS_TABLES = ("trees", "nodes", "corners"), ("skin", "rows", "lie")
_IMAGE_TABLES = ("images", "levels", "texels")
_FIELD_TABLES = ("shapes", "measures", "heights", "blocks")
_CONTACT_FIELDS = ("mask", "pos", "frame", "dist", "force", "geom")
DRESS_NAMES = (*_MESH_TABLES, *_DRESS_TABLES, *_IMAGE_TABLES, *_FIELD_TABLES)
"""The tables of meshes, textures and height fields, in the order that kernels have them."""
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
    that are not fully clear, as in MuJoCo's viewer, with their materials and textures; visible geoms of other types are
    left out, with one warning that names them. Surfaces have one side (a camera inside a geom looks out of it), but a
    mesh is seen from both by cameras outside of the box around it. Nothing nearer than MuJoCo's near plane
    (`vis.map.znear` times `stat.extent`) is seen; there is no far plane. Solids throw shadows and are mirrored in
    shining planes; planes do neither. Geoms are drawn where their environment has them, but in the model's sizes, also
    where environments have sizes of their own (`RigidSolver.set_parameters`). Drawing asks a solver for poses, and so
    evaluates its kinematics alone, unless `show` wants contacts.

    Args:
        model: a `Model`.
        width: of the pictures, pixels.
        height: of the pictures, pixels.
        camera: one of the model's cameras by name or id; a `Camera`, or its fields as a dict (Gymnasium's
            `default_camera_config`), for a free or tracking one; None or -1: follow the first body that can move.
        samples: rays along a pixel's side where colours change; 1: no anti-aliasing.
        look: light and colours.
        show: which geom groups, and which overlays.
        entities: an id for each geom (ngeom,), for the output "entity"; by default the root of its body's tree.

    Raises:
        ValueError: an unknown camera, body or camera field (with its nearest names), or a size that is no whole number
            from 1 on, or of too many pixels.
        TypeError: `model`, `camera`, `look` or `show` is of another type.
    """

    def __init__(
        self,
        model: Any,
        width: int = 480,
        height: int = 480,
        camera: int | str | Camera | PosedCamera | Mapping | None = None,
        samples: int = 2,
        look: Look | None = None,
        show: Show | None = None,
        entities: Sequence[int] | np.ndarray | None = None,
    ):
        if not isinstance(getattr(model, "mj", None), mujoco.MjModel):
            raise TypeError(f"model: expected a tumble.physics.Model, not {type(model).__name__}")
        require_pixels(width, height)
        as_count("samples", samples, most=MOST_SAMPLES)
        for name, given, kind in (("look", look, Look), ("show", show, Show)):
            if not isinstance(given, kind | None):
                raise TypeError(
                    f"{name}: expected a tumble.physics.rendering.{kind.__name__}, not {type(given).__name__}"
                )
        self.model, self.width, self.height, self.samples = model, int(width), int(height), int(samples)
        self.look = look or Look()
        mj = model.mj
        self.near = float(mj.vis.map.znear * mj.stat.extent)  # m
        self._entities = _entities(mj, entities)
        self._view = View(mj, camera, width / height)
        with Waiting("preparing what is drawn of the model"):
            self._drawn = render_model(mj, self.look, show)
            self._lights = lights(mj)
        if self._drawn.left_out:
            warnings.warn(
                f"not drawn yet, signed distance functions: {', '.join(self._drawn.left_out)}",
                stacklevel=2,
            )
        self._reach = OCCLUSION_REACH * float(self._drawn.shape[:, CORE + 1].max())
        self._tables: dict[torch.device, Tables] = {}

    def draw(
        self,
        solver: PoseSource,
        outputs: Sequence[str] = ("rgb",),
        envs_idx: Any = None,
        *,
        before: Poses | None = None,
    ) -> dict[str, torch.Tensor]:
        """Several pictures from the same rays.

        Args:
            solver: a solver of this model.
            outputs: names of what to draw, see `OUTPUTS`.
            envs_idx: environments; None: all.
            before: for "motion", what `moment` returned for these environments earlier.

        Returns:
            A tensor (n, height, width, ...) by name, on the solver's device; row 0 is the top.

        Raises:
            ValueError: an output that there is not, or "motion" without an earlier moment.
        """
        wanted = outputs_named(outputs)
        colour, guided = any(o.colour for o in wanted.values()), any(o.guided for o in wanted.values())
        if before is None and any(o.before for o in wanted.values()):
            raise ValueError('the output "motion" needs an earlier moment: before=renderer.moment(solver)')
        found = self._find(solver, envs_idx, colour=colour, guided=guided, before=before)
        return {name: output.make(found) for name, output in wanted.items()}

    def render(self, solver: PoseSource, envs_idx: Any = None) -> torch.Tensor:
        """Colour pictures of the environments `envs_idx` (None: all), (n, height, width, 3) uint8."""
        return self.draw(solver, ("rgb",), envs_idx)["rgb"]

    def depth(self, solver: PoseSource, envs_idx: Any = None) -> torch.Tensor:
        """Metres along the optical axis to each pixel's middle, inf for the sky: (n, height, width) float32.

        As MuJoCo's renderer measures it. Distance along the ray is `depth * rays().norm(dim=-1)`.
        """
        return self.draw(solver, ("depth",), envs_idx)["depth"]

    def segmentation(self, solver: PoseSource, envs_idx: Any = None) -> torch.Tensor:
        """Id of the geom at each pixel's middle, -1 for the sky: (n, height, width) int32."""
        return self.draw(solver, ("segmentation",), envs_idx)["segmentation"]

    def images(self, solver: PoseSource, envs_idx: Any = None) -> Images:
        """Colour, depth and segmentation in one go."""
        return Images(**self.draw(solver, Images._fields, envs_idx))

    def moment(self, solver: PoseSource, envs_idx: Any = None) -> Poses:
        """Return where everything is now, for the output "motion" of a later moment."""
        return self._poses(solver, environments(envs_idx, solver))[0]

    def camera_poses(self, solver: PoseSource, envs_idx: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the camera's poses: positions (n, 3) in metres and camera-to-world rotations (n, 3, 3)."""
        self._require_poses(solver)
        envs = environments(envs_idx, solver)
        position, rotation = self._view.poses(_read(solver, self._view.reads, envs), solver, _count(envs, solver))
        return position, rotation

    def rays(self) -> torch.Tensor:
        """Rays through the pixels' middles in the camera's frame, (height, width, 3), with -1 along its z axis.

        The point a pixel sees is `position + depth * rotation @ ray` (for a perspective camera).
        """
        return pixel_rays(self._view.frustum, self.width, self.height)

    @property
    def _has(self) -> Has:
        """The things that the kernel's code is made for."""
        dress = self._drawn.dress
        flags = bool(dress.trees.meshes), bool(dress.fields.fields), bool(dress.images.ids), self.look.lights == "file"
        return Has(*flags)

    def _poses(self, solver: PoseSource, envs: Known | None) -> tuple[Poses, Tables]:
        """Find all that is drawn, and what differs between environments beside: sizes of overlays, lights."""
        self._require_poses(solver)
        count, overlays, mj = _count(envs, solver), self._drawn.overlays, self.model.mj
        names = {*(_GEOM_POSES if mj.ngeom else ()), *self._view.reads, *overlays.reads} - {CONTACTS}
        if self._has.lights:
            names |= set(self._lights.reads)
        fields: dict[str, Any] = _read(solver, tuple(sorted(names)), envs)
        eye, view = self._view.poses(fields, solver, count)
        if CONTACTS in overlays.reads:
            fields[CONTACTS] = _contacts(solver, envs)
        fields["like"] = eye
        tables = self._tables_on(torch.device(solver.device))
        centre, turn = self._geom_poses(tables, fields, solver, count)
        more: Tables = {}
        placed = overlays.place(fields)
        if placed is not None:
            first = int((self._drawn.geom >= 0).sum())
            rows = slice(first, first + len(overlays.kind))
            shape = tables["shape"].repeat(count, 1, 1)
            centre[:, rows], turn[:, rows] = placed[0], placed[1].flatten(2)
            shape[:, rows, :3] = placed[2]
            bound = placed[2].sum(dim=-1)
            shape[:, rows, BOUND] = torch.where((placed[2] >= 0).all(dim=-1), bound, NEVER).to(shape.dtype)
            more["shape"] = shape
        if self._has.lights:
            more["lights"] = self._placed_lights(tables["lights"], fields, eye, view)
        return Poses(centre, turn, eye, view), more

    def _placed_lights(self, table: torch.Tensor, fields: Any, eye: torch.Tensor, view: torch.Tensor) -> torch.Tensor:
        """The lights of every environment (n, m, LIGHT_COLUMNS), from the camera."""
        placed = table.repeat(len(eye), 1, 1)
        ids = self._lights.ids
        placed[:, ids < 0, DIRECTION : DIRECTION + 3] = -view[:, None, :, 2].to(placed.dtype)
        if (ids >= 0).any():
            position, way = light_poses(self.model.mj, ids[ids >= 0], fields)
            placed[:, ids >= 0, POSITION : POSITION + 3] = (position - eye[:, None]).to(placed.dtype)
            placed[:, ids >= 0, DIRECTION : DIRECTION + 3] = way.to(placed.dtype)
        return placed

    def _find(self, solver: PoseSource, envs_idx: Any, *, colour: bool, guided: bool, before: Poses | None) -> Found:
        """All pictures, in chunks that bound the working memory; rgb and guides are empty unless asked for."""
        runtime = ensure_runtime()
        self._require_poses(solver)
        envs = environments(envs_idx, solver)
        poses, more = self._poses(solver, envs)
        tables, count = self._tables_on(torch.device(solver.device)), len(poses.eye)
        chunk = max(1, _PIXELS_AT_ONCE // (self.width * self.height))
        parts = []
        for i in range(0, max(1, count), chunk):
            own = {name: table[i : i + chunk].contiguous() for name, table in more.items()}
            now = Poses(*(part[i : i + chunk] for part in poses))
            parts.append(self._cast(runtime, tables | own, now, colour=colour, guided=guided))
        whole = parts[0] if len(parts) == 1 else tuple(torch.cat(kind) for kind in zip(*parts, strict=True))
        depth, row, guides, rgb = whole
        ids = {name: tables[name] for name in ("geom", "body", "entity")}
        return Found(depth, row, guides, rgb, ids, self._view.frustum, poses, before)

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

    def _cast(
        self, runtime: Runtime, tables: Tables, poses: Poses, *, colour: bool, guided: bool
    ) -> tuple[torch.Tensor, ...]:
        """Depth, rows, guides and colours of one chunk.

        All is relative to the camera, so that float32 is exact wherever the robot has run.
        """
        device, n = poses.eye.device, len(poses.eye)
        offset = (poses.centre - poses.eye[:, None]).to(torch.float32)
        pose = torch.cat([offset, poses.turn.to(torch.float32)], dim=-1).contiguous()
        solids = tables["solids"].long()
        bound = _enclosing_spheres(offset[:, solids], tables["shape"][0, solids, BOUND])
        camera = poses.view.reshape(n, 9).to(torch.float32).contiguous()
        size = (n, self.height, self.width)
        shown, guide = (size if wanted else (1, 1, 1) for wanted in (colour, guided))  # Taichi takes no empty tensors
        depth = torch.empty(size, dtype=torch.float32, device=device)
        seen = torch.empty(size, dtype=torch.int32, device=device)
        guides = torch.empty((*guide, GUIDES), dtype=torch.float32, device=device)
        first_look = torch.empty((*shown, 4), dtype=torch.float32, device=device)
        image = torch.empty((*shown, 3), dtype=torch.uint8, device=device)
        n_tiles = -(-self.width // TILE) * -(-self.height // TILE)
        tiles = torch.empty((n, n_tiles, pose.shape[1] + 1), dtype=torch.int32, device=device)
        scene = (*(tables[name] for name in ("kind", "shape", "paint", "solids")), pose, bound)
        lens = (camera, tables["frustum"])
        if n:
            cull, cast = shared_ray_kernels(runtime, self._has)
            names = (*DRESS_NAMES, "openness")
            dressed = [tables[name] for name in names]
            cull((tables["shape"], pose, *lens, self.width, self.height, tiles))
            for side in (0, self.samples) if colour else (0,):
                limits = self.near, self._reach, LAYERS if colour else 0, int(guided and side == 0), side
                lit = tables["look"], tables["lights"], tiles
                cast((*scene, *lens, *lit, *limits, depth, seen, guides, first_look, image, *dressed))
        depth.masked_fill_(seen < 0, torch.inf)
        return depth, seen, guides, image

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
            drawn, mj = self._drawn, self.model.mj
            arrays = {name: getattr(drawn, name) for name in ("kind", "paint", "solids")}
            arrays |= {"shape": drawn.shape[None], "lights": self._lights.table[None]}
            arrays |= {name: getattr(drawn.dress.trees, name) for name in _MESH_TABLES}
            arrays |= {name: getattr(drawn.dress, name) for name in (*_DRESS_TABLES, "openness")}
            images = drawn.dress.images
            arrays |= {"images": images.table, "levels": images.levels, "texels": images.texels}
            arrays |= {name: getattr(drawn.dress.fields, name) for name in _FIELD_TABLES}
            geom = np.append(drawn.geom, np.int32(-1))  # row -1, the sky, is geom -1
            arrays["geom"] = geom
            for name, of_geom in (("body", mj.geom_bodyid), ("entity", self._entities)):
                arrays[name] = np.where(geom >= 0, np.append(of_geom, 0)[geom], -1).astype(np.int32)
            arrays["frustum"] = np.array(self._view.frustum, dtype=np.float32)
            arrays["look"] = self.look.table(mj.stat.extent, self._view.typical_distance)
            arrays["look"][SHADOWS, 2] = drawn.dress.sky + 1
            self._tables[device] = {name: torch.as_tensor(array, device=device) for name, array in arrays.items()}
        return self._tables[device]


def _entities(mj: mujoco.MjModel, given: Any) -> np.ndarray:
    """Return an id for each geom (ngeom,)."""
    if given is None:
        return np.array(mj.body_rootid[mj.geom_bodyid])
    ids = np.asarray(given)
    if ids.shape != (mj.ngeom,) or ids.dtype.kind not in "iu":
        raise ValueError(
            f"entities: needed are {mj.ngeom} whole numbers, one for each geom, not {ids.dtype} {ids.shape}"
        )
    return ids


def _contacts(solver: Any, envs: Known | None) -> Any:
    """The contacts of some environments of a solver."""
    if not hasattr(solver, CONTACTS):
        raise TypeError(f"solver: contacts are those of a RigidSolver, not of a {type(solver).__name__}")
    found = solver.contacts
    return found if envs is None else SimpleNamespace(**{n: getattr(found, n)[envs.index] for n in _CONTACT_FIELDS})


def environments(envs_idx: Any, solver: PoseSource) -> Known | None:
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
