"""BatchRenderer: pictures of any environments of a solver in one call, as torch tensors."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from ..machine.runtime import ensure_runtime
from ..machine.scalars import as_count
from .cameras.camera import Camera, PosedCamera, as_positive, require_pixels, view_of
from .cameras.frustum import Frustum, Intrinsics, intrinsics_of, pixel_rays, project
from .cameras.mounted import MountedCamera
from .cast.casting import Tables, cast, tiles_of
from .drawn_model import DrawnModel
from .look import Look
from .names import nearest
from .outputs import DrawnPoses, PixelFindings, needs_of, outputs_named
from .particles.group import ParticleGroup, ParticleLook
from .particles.placed import ParticleScene
from .reading import PoseSource, SceneReading, read
from .shown.overlays import Show
from .side_by_side import Crowd, framed, side_by_side

_PIXELS_AT_ONCE = 2**22  # working memory is bounded by drawing this many pixels in one go
MOST_SAMPLES = 16


class Images(NamedTuple):
    """Pictures of one camera, for n environments; row 0 is the top."""

    rgb: torch.Tensor  # (n, height, width, 3) uint8
    depth: torch.Tensor  # (n, height, width) float32: metres along the optical axis, inf where there is only sky
    segmentation: torch.Tensor  # (n, height, width) int32: geom id, -1 for the sky


class DrawnMoment(NamedTuple):
    """The things that are drawn of environments at a moment."""

    scene: DrawnModel | ParticleScene
    reading: SceneReading
    poses: DrawnPoses
    tables: Tables  # shared
    more: Tables  # that differ by environment


class BatchRenderer:
    """A ray caster for the visible geoms of a model, without OpenGL.

    Drawn are planes, spheres, capsules, cylinders, ellipsoids, boxes, meshes and height fields of geom groups 0 to 2
    that are not fully clear, as in MuJoCo's viewer, with their materials and textures; visible geoms of other types are
    left out, with one warning that names them. Surfaces have one side (a camera inside a geom looks out of it), but a
    mesh is seen from both by cameras outside of the box around it. Nothing nearer than MuJoCo's near plane
    (`vis.map.znear` times `stat.extent`) is seen; there is no far plane. Solids throw shadows and are mirrored in
    shining planes; planes do neither. Geoms are drawn at their environment's poses, and in its per-environment
    sizes (`RigidSolver.set_parameters`). Drawing asks a solver for poses, and so evaluates only its kinematics,
    unless `show` wants contacts.

    Args:
        model: a `Model`.
        width: of the pictures, pixels.
        height: of the pictures, pixels.
        camera: one of the model's cameras by name or id; a `Camera`, or its fields as a dict (Gymnasium's
            `default_camera_config`), for a free or tracking one; a `MountedCamera`, for one on a body, or with a pose
            and a field of view of each environment's own; None or -1: follow the first body that can move.
        samples: rays along a pixel's side where colours change; 1: no anti-aliasing.
        look: light and colours.
        show: which geom groups, and which overlays.
        entities: an id for each geom (ngeom,), for the output "entity"; by default the root of its body's tree.
        near: distance along the optical axis from which on something is seen, m; None: MuJoCo's near plane.

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
        camera: int | str | Camera | MountedCamera | PosedCamera | Mapping | None = None,
        samples: int = 2,
        look: Look | None = None,
        show: Show | None = None,
        entities: Sequence[int] | np.ndarray | None = None,
        near: float | None = None,
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
        self.near = float(mj.vis.map.znear * mj.stat.extent) if near is None else as_positive("near", near)  # m
        view = view_of(mj, camera, width / height)
        self._scene = DrawnModel(mj, self.look, show, entities, view, self.near)
        self._with_particles: dict[tuple[ParticleLook, ...], ParticleScene] = {}
        self._crowd: tuple[torch.Tensor, DrawnModel | ParticleScene, Crowd] | None = None

    def draw(
        self,
        solver: PoseSource,
        outputs: Sequence[str] = ("rgb",),
        envs_idx: Any = None,
        *,
        before: DrawnPoses | None = None,
    ) -> dict[str, torch.Tensor]:
        """Several pictures from the same rays.

        Args:
            solver: a solver of this model.
            outputs: names of the outputs to draw, see `OUTPUTS`.
            envs_idx: environments; None: all.
            before: for "motion", the earlier result of `moment` for these environments.

        Returns:
            A tensor (n, height, width, ...) by name, on the solver's device; row 0 is the top.

        Raises:
            ValueError: an unknown output, or "motion" without an earlier moment.
        """
        wanted = outputs_named(outputs)
        if before is None and any(o.before for o in wanted.values()):
            raise ValueError('the output "motion" needs an earlier moment: before=renderer.moment(solver)')
        found = self._find(solver, envs_idx, needs_of(wanted), before)
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

    def moment(self, solver: PoseSource, envs_idx: Any = None) -> DrawnPoses:
        """Return where everything is now, for the output "motion" of a later moment."""
        return self._place(solver, envs_idx).poses

    def camera_poses(self, solver: PoseSource, envs_idx: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the camera's poses: positions (n, 3) in metres and camera-to-world rotations (n, 3, 3)."""
        view = self._scene.view
        position, rotation = view.poses(read(solver, self.model.mj, view.reads, (), envs_idx))
        return position, rotation

    def rays(self) -> torch.Tensor:
        """Rays through the pixels' middles in the camera's frame, (height, width, 3), with -1 along its z axis.

        The point a pixel sees is `position + depth * rotation @ ray` (for a perspective camera). They are (num_envs,
        height, width, 3) if fields of view differ between environments.
        """
        return pixel_rays(self._scene.view.frustum, self.width, self.height)

    def pixels(self, solver: PoseSource, points: torch.Tensor, envs_idx: Any = None) -> torch.Tensor:
        """Return where points (n, k, 3) m of environments are seen, as `frustum.project` has it, (n, k, 2)."""
        reading = read(solver, self.model.mj, self._scene.view.reads, (), envs_idx)
        eye, view = self._scene.view.poses(reading)
        frustum = self._scene.view.frustum.of(reading.envs, reading.num_envs, eye.device)
        return project(frustum, (self.width, self.height), points.to(eye), eye, view)

    @property
    def intrinsics(self) -> Intrinsics:
        """The field of view as OpenCV has it.

        Raises:
            ValueError: the camera is orthographic.
        """
        return intrinsics_of(self._scene.view.frustum, self.width, self.height)

    def with_camera(
        self, camera: Any = None, width: int | None = None, height: int | None = None, near: float | None = None
    ) -> "BatchRenderer":
        """Return a renderer of the same model with another camera, which shares its tables.

        Args:
            camera: as for this class.
            width: of the pictures, pixels; None: as here.
            height: of the pictures, pixels; None: as here.
            near: as for this class; None: as here.

        Raises:
            ValueError, TypeError: as in this class.
        """
        width, height = width or self.width, height or self.height
        require_pixels(width, height)
        other = copy.copy(self)
        other.width, other.height = int(width), int(height)
        other.near = self.near if near is None else as_positive("near", near)
        other._with_particles = {}
        other._scene = self._scene.seen_by(view_of(self.model.mj, camera, width / height), other.near)
        return other

    def together(
        self,
        solver: PoseSource,
        outputs: Sequence[str] = ("rgb",),
        envs_idx: Any = None,
        *,
        spacing: Sequence[float] = (2.0, 2.0),
        per_row: int | None = None,
        center: bool = True,
        offsets: Any = None,
    ) -> dict[str, torch.Tensor]:
        """Several environments side by side in one picture.

        Static geoms, except planes, are repeated in each place. A camera that follows something looks
        at the middle of all from farther away; others stay where they are.

        Args:
            solver: a solver of this model.
            outputs: names of the outputs to draw, see `OUTPUTS`; not "motion".
            envs_idx: environments; None: all.
            spacing: distances along x and y at which they are put, m; 0: all in one place.
            per_row: how many stand along x; None: about as many as along y.
            center: whether the middle of all is at the world's origin; else the first environment is.
            offsets: where they are put instead, (n, 3) m.

        Returns:
            A tensor (height, width, ...) by name.

        Raises:
            ValueError: an unknown output; too many geoms for one picture.
        """
        wanted = outputs_named(outputs)
        if any(o.before for o in wanted.values()):
            raise ValueError('the output "motion" is of single environments: use draw')
        scene, poses, tables, frustum, _ = self._side_by_side(solver, envs_idx, spacing, per_row, center, offsets)
        size = self.width, self.height, self.samples
        found = cast(ensure_runtime(), scene.has, scene.drawn, tables, poses, *size, **needs_of(wanted))
        depth, row, guides, rgb = found
        made = PixelFindings(depth, row, guides, rgb, tables, frustum, poses, None)
        return {name: output.make(made)[0] for name, output in wanted.items()}

    def _side_by_side(
        self, solver: PoseSource, envs_idx: Any, spacing: Any, per_row: Any, center: bool, offsets: Any
    ) -> tuple[DrawnModel | ParticleScene, DrawnPoses, Tables, Frustum, Crowd]:
        """Find what `together` draws: the scene, the poses and tables of one world, its view, and its rows."""
        scene, reading, poses, tables, more = self._place(solver, envs_idx)
        if not len(poses.eye):
            raise ValueError("envs_idx: there is no environment to draw")
        if offsets is None:
            offsets = side_by_side(len(poses.eye), spacing, per_row, center, "spacing")
        crowd = self._crowd_of(scene, torch.as_tensor(offsets, dtype=torch.float64), poses.eye.device)
        crowd.require_room(tiles_of(self.width, self.height))
        frustum = self._scene.view.frustum.of(reading.envs, reading.num_envs, poses.eye.device).first
        if self._scene.view.follows:
            poses = crowd.poses(poses, *framed(frustum, poses.eye, poses.view, crowd.offsets))
        else:
            poses = crowd.poses(poses, poses.eye[0], poses.view[0])
        return scene, poses, crowd.tables(tables, more), frustum, crowd

    def _crowd_of(self, scene: DrawnModel | ParticleScene, offsets: torch.Tensor, device: torch.device) -> Crowd:
        """Return the rows of environments at these places, reusing the last picture's if they are the same."""
        if self._crowd is None or self._crowd[1] is not scene or not torch.equal(self._crowd[0], offsets):
            self._crowd = offsets.clone(), scene, Crowd(self.model.mj, scene.drawn, offsets.to(device))
        return self._crowd[2]

    def _place(self, solver: PoseSource, envs_idx: Any) -> DrawnMoment:
        """Read what is drawn of environments, and place it."""
        reading = read(solver, self.model.mj, self._scene.reads, self._scene.parameters, envs_idx)
        scene = self._scene_with(reading.particles)
        return DrawnMoment(scene, reading, *scene.place(reading))

    def _scene_with(self, groups: Sequence[ParticleGroup]) -> DrawnModel | ParticleScene:
        """Return the drawn model with groups of particles, made once for groups of the same looks."""
        if not groups:
            return self._scene
        looks = tuple(group.look for group in groups)
        if looks not in self._with_particles:
            mj = self.model.mj
            self._with_particles = {looks: ParticleScene(self._scene, looks, self.look, mj.nbody, mj.ngeom)}
        return self._with_particles[looks]

    def _find(
        self, solver: PoseSource, envs_idx: Any, needs: dict[str, bool], before: DrawnPoses | None
    ) -> PixelFindings:
        """All pictures, in chunks that bound the working memory; rgb and guides are empty unless asked for."""
        runtime = ensure_runtime()
        scene, reading, poses, tables, more = self._place(solver, envs_idx)
        count = len(poses.eye)
        chunk = max(1, _PIXELS_AT_ONCE // (self.width * self.height))
        parts = []
        for i in range(0, max(1, count), chunk):
            own = {name: table[i : i + chunk].contiguous() for name, table in more.items()}
            now = DrawnPoses(*(part[i : i + chunk] for part in poses))
            size = self.width, self.height, self.samples
            parts.append(cast(runtime, scene.has, scene.drawn, tables | own, now, *size, **needs))
        whole = parts[0] if len(parts) == 1 else tuple(torch.cat(kind) for kind in zip(*parts, strict=True))
        depth, row, guides, rgb = whole
        ids = {name: tables[name] for name in ("geom", "body", "entity")}
        frustum = scene.view.frustum.of(reading.envs, reading.num_envs, depth.device)
        return PixelFindings(depth, row, guides, rgb, ids, frustum, poses, before)


_OF_CAMERA = ("camera", "width", "height", "near")


class CameraRig:
    """Cameras by name.

    Args:
        model: a `Model`.
        cameras: by name, each camera's arguments of `BatchRenderer`: `camera`, `width`, `height`,
            `near`.
        options: arguments of `BatchRenderer` that they share: `samples`, `look`, `show`, `entities`.

    Raises:
        ValueError, TypeError: there is no camera, an argument that cameras do not have, or as in `BatchRenderer`.
    """

    def __init__(self, model: Any, cameras: Mapping[str, Mapping[str, Any]], **options: Any) -> None:
        if not cameras:
            raise ValueError("cameras: name one at least")
        self.renderers: dict[str, BatchRenderer] = {}
        first: BatchRenderer | None = None
        for name, own in cameras.items():
            for key in own:
                if key not in _OF_CAMERA:
                    raise ValueError(f"cameras: {name!r} has no argument {key!r}{nearest(key, set(_OF_CAMERA))}")
            if first is None:
                first = BatchRenderer(model, **options, **own)
                self.renderers[name] = first
            else:
                sizes = {"width": 480, "height": 480} | {key: own[key] for key in ("width", "height") if key in own}
                self.renderers[name] = first.with_camera(own.get("camera"), **sizes, near=own.get("near"))

    def draw(
        self,
        solver: PoseSource,
        outputs: Sequence[str] | Mapping[str, Sequence[str]] = ("rgb",),
        envs_idx: Any = None,
    ) -> dict[str, dict[str, torch.Tensor]]:
        """Return the pictures of `BatchRenderer.draw`, by the cameras' names.

        Args:
            solver: a solver of this model.
            outputs: names of the outputs to draw, the same for all cameras, or by their names.
            envs_idx: environments; None: all.

        Raises:
            ValueError: an unknown camera or output.
        """
        wanted = outputs if isinstance(outputs, Mapping) else dict.fromkeys(self.renderers, outputs)
        for name in wanted:
            if name not in self.renderers:
                raise ValueError(f"there is no camera {name!r}{nearest(name, set(self.renderers))}")
        return {name: self.renderers[name].draw(solver, asked, envs_idx) for name, asked in wanted.items()}
