"""Cameras of a scene: where they stand, what they see, films.

A pose is a camera-to-world transform (4, 4): x right, y up, looking along -z. Pictures have row 0 at the top.
"""

import os
from typing import Any

import numpy as np
import torch

from ...physics.base.arguments import real_array
from ...physics.machine.scalars import as_count
from ...physics.rendering.cameras.camera import PosedCamera, require_pixels
from ...physics.rendering.film.video import write_video
from ...physics.rendering.look import Look
from ...physics.rendering.renderer import BatchRenderer
from ...physics.rendering.shown.overlays import Show
from ..checks import Indices, Numbers, number
from ..renderers import RayTracer
from .camera_pose import CameraPose
from .debug_pictures import DebugOverlay
from .scene_pictures import Pictured, PresentPoses, are_together, look_of, rendered, show_of

MODELS = ("pinhole", "thinlens")


class Camera(CameraPose):
    """A camera of a scene; `Scene.add_camera` makes it.

    Attributes:
        idx: its number among the scene's.
        res: width and height, pixels.
        fov: degrees from the lower to the upper edge.
        model, aperture, focus_dist, spp, denoise: for path tracing.
        near: distance along the optical axis from which on it sees, m.
        far: kept, m: the renderer sees as far as there is something.
        env_idx: the only environment that it sees; None: all.
        GUI, debug: kept.
    """

    def __init__(self, idx: int, contents: Pictured, options: dict[str, Any]) -> None:
        self.idx, self._contents = idx, contents
        width, height = options["res"]
        require_pixels(width, height)
        self.res = int(width), int(height)
        self.fov = number("add_camera", "fov", options["fov"], above=0.0, most=179.0)
        self.env_idx = None if options["env_idx"] is None else as_count("env_idx", options["env_idx"], least=0)
        self.near, self.far = number("add_camera", "near", options["near"], above=0.0), float(options["far"])
        self.model, self.GUI, self.debug = str(options["model"]), bool(options["GUI"]), bool(options["debug"])
        self.aperture = number("add_camera", "aperture", options["aperture"], above=0.0)
        self.focus_dist = options["focus_dist"]
        self.spp, self.denoise = options["spp"], options["denoise"]
        if options["model"] not in MODELS:
            raise ValueError(f"add_camera: model={options['model']!r}: it is one of {', '.join(MODELS)}")
        super().__init__(options["pos"], options["lookat"], options["up"])
        self._posed = PosedCamera(self.fov, self._distance, self._poses)
        self._renderer: BatchRenderer | None = None
        self._made_for: object = None
        self._film: list[np.ndarray] | None = None
        self._paused = False
        self._target: tuple[str | os.PathLike | None, float | None] = None, None

    def __repr__(self) -> str:
        return f"Camera({self.idx}, {self.res[0]} x {self.res[1]}, fov {self.fov:g})"

    def close(self) -> None:
        """Forget the scene, and what was made for its pictures."""
        super().close()
        self._renderer = None

    destroy = close

    @property
    def uid(self) -> str:
        """Its name among the cameras of the scene."""
        return f"camera_{self.idx}"

    def render(
        self,
        rgb: bool = True,
        depth: bool = False,
        segmentation: bool = False,
        colorize_seg: bool = False,
        normal: bool = False,
        antialiasing: bool = False,
        force_render: bool = False,
    ) -> tuple[Any, Any, Any, Any]:
        """Return colour, depth, segmentation and normals, None for what is not asked for.

        A picture of one environment (of a scene without a batch, or by `env_idx`), or of all side by side (of a scene
        that was built with `env_spacing`), is an array of numpy; pictures of several are tensors, environments first.

        Args:
            rgb: (h, w, 3) uint8.
            depth: (h, w) float32: metres along the optical axis, inf for the sky.
            segmentation: (h, w) int32, keys of `Scene.segmentation_idx_dict`; 0 for the sky.
            colorize_seg: segmentation as colours, (h, w, 3) uint8, instead.
            normal: (h, w, 3) float32: unit normals of the surfaces in the world's frame; 0 for the sky.
            antialiasing: more rays a pixel; edges are smooth without it, too.
            force_render: changes nothing: pictures are always of the present state.

        Raises:
            SceneOrderError: the scene is not built.
        """
        world = self._built()
        self._move()
        envs, poses = self._shown(), PresentPoses(world)
        renderer = self._drawn(4 if antialiasing else 2)
        wanted = {"rgb": rgb, "depth": depth, "segmentation": segmentation or colorize_seg, "normals": normal}
        images = self._draw(renderer, poses, [name for name, asked in wanted.items() if asked], envs)
        found: list[Any] = [images.get("rgb"), images.get("depth"), None, images.get("normals")]
        if wanted["segmentation"]:
            table = self._contents.segmentation
            found[2] = table.colors(images["segmentation"]) if colorize_seg else table.keys(images["segmentation"])
        if self._single:
            found = [None if part is None else part[0].cpu().numpy() for part in found]
        if self._film is not None and not self._paused and found[0] is not None:
            first = found[0] if self._single else found[0][0].cpu().numpy()
            self._film.append(first)
        return tuple(found)

    def _draw(self, renderer: BatchRenderer, poses: PresentPoses, names: list[str], envs: list[int] | None) -> Any:
        """Return the pictures, (n, h, w, ...) by name; one if environments stand side by side."""
        if not self._together:
            return renderer.draw(poses, names, envs)
        offsets = self._built().offsets[envs]
        return {name: one[None] for name, one in renderer.together(poses, names, envs, offsets=offsets).items()}

    def _drawn(self, samples: int) -> BatchRenderer:
        """Return the renderer, made at the first picture and when what is drawn has changed."""
        scene = self._contents
        look, show = look_of(scene), show_of(scene, DebugOverlay(lambda: scene.drawn, self._origin))
        made_for = scene.renderer, samples, look, show
        if self._renderer is None or self._made_for != made_for:
            self._made_for, model = made_for, self._built().model
            self._renderer = (
                self._tracer(scene.renderer, look, show)
                if isinstance(scene.renderer, RayTracer)
                else BatchRenderer(model, *self.res, self._posed, samples, look, show, near=self.near)
            )
        return self._renderer

    def _tracer(self, settings: RayTracer, look: Look, show: Show) -> BatchRenderer:
        """Return a renderer of path tracing; an aperture is an f-number, for a film 24 mm high."""
        from ...physics.rendering.path.tracer import PathTracer

        focal = 0.012 / np.tan(np.radians(self.fov) / 2)  # m
        return PathTracer(
            self._built().model,
            *self.res,
            self._posed,
            self.spp,
            look=look,
            show=show,
            near=self.near,
            bounces=settings.tracing_depth,
            aperture=focal / (2 * self.aperture) if self.model == "thinlens" else 0.0,
            focus=self.focus_dist,
            environment=settings.environment,
            denoise=True if self.denoise is None else self.denoise,
        )

    def _poses(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        shown = self._shown()
        pose = self._pose if shown is None else self._pose[shown]
        place = pose[:, :3, 3]
        if self._together and (self._link is not None or self._followed is not None):
            place = place + self._built().offsets[shown].to(place)
        return place, pose[:, :3, :3]

    def _origin(self) -> torch.Tensor | None:
        """Return the place of the first environment in a picture of all side by side, (3,) m; else None."""
        return self._built().offsets[self._shown()][0] if self._together else None

    @property
    def _together(self) -> bool:
        """True if one picture shows the environments side by side."""
        return self.env_idx is None and are_together(self._contents, self._built())

    @property
    def _single(self) -> bool:
        return self._built().n_envs == 0 or self.env_idx is not None or self._together

    def _shown(self) -> list[int] | None:
        """Return the environments of a picture, None for all."""
        if self._together:
            return rendered(self._contents, self._built())
        return [0] if self._built().n_envs == 0 else None if self.env_idx is None else [int(self.env_idx)]

    def set_fov(self, fov: Numbers, envs_idx: Indices = None) -> None:
        """Give it another field of view, in environments each its own.

        Args:
            fov: degrees from the lower to the upper edge, one or (n,).
            envs_idx: of n environments; None: of all.

        Raises:
            ValueError: an angle that no picture has, or another number of them.
        """
        world = self._built()
        index, opening = self._index(envs_idx), self._posed.fovy
        now = torch.as_tensor(opening, dtype=torch.float64, device=self._pose.device).expand(world.count).clone()
        angles = real_array("set_fov: fov", fov)
        if not ((angles > 0) & (angles < 180)).all() or angles.shape not in ((), (len(now[index]),)):
            raise ValueError(f"set_fov: fov={fov!r}: expected degrees above 0 and below 180, one or {len(now[index])}")
        now[index] = torch.as_tensor(angles, dtype=torch.float64, device=now.device)
        self._posed.fovy, self.fov = now, float(now[self.env_idx or 0])

    def _rays(self, renderer: BatchRenderer, envs: list[int] | None) -> torch.Tensor:
        """Return rays in the camera's frame, (h, w, 3), or (n, h, w, 3) if environments have their own."""
        rays = renderer.rays()
        return rays if envs is None or rays.ndim == 3 else rays[envs]

    def render_pointcloud(self, world_frame: bool = True) -> tuple[Any, Any]:
        """Return the points that pixels see, (h, w, 3) m, environments first if several, and a mask (h, w) of those.

        Args:
            world_frame: in the world's frame; else in the camera's.
        """
        world = self._built()
        self._move()
        envs, renderer = self._shown(), self._drawn(2)
        depth = self._draw(renderer, PresentPoses(world), ["depth"], envs)["depth"]
        there = torch.isfinite(depth)
        rays = self._rays(renderer, envs).to(depth)
        points = torch.where(there, depth, 0.0)[..., None] * rays
        if world_frame:
            place, turn = (part[: len(points)].to(points) for part in self._poses(len(points)))
            points = points @ turn[:, None].transpose(-1, -2) + place[:, None, None]
        return (points[0].cpu().numpy(), there[0].cpu().numpy()) if self._single else (points, there)

    # films

    def start_recording(self, save_to_filename: str | os.PathLike | None = None, fps: float | None = None) -> None:
        """Keep the colours of each `render` from now on, of the first environment if there are several.

        Args:
            save_to_filename: where `stop_recording` writes the film, if that is told no other place.
            fps: pictures a second of the film, if `stop_recording` is told no other.
        """
        self._built()
        self._film, self._paused, self._target = [], False, (save_to_filename, fps)

    def pause_recording(self) -> None:
        """Keep no pictures until `start_recording` or `stop_recording`.

        Raises:
            ValueError: no film is being taken.
        """
        self._filming("pause_recording")
        self._paused = True

    def stop_recording(self, save_to_filename: str | os.PathLike | None = None, fps: float | None = None) -> Any:
        """Write the film, an mp4; return its path.

        Args:
            save_to_filename: the path; None: that of `start_recording`, or "camera_<number>.mp4".
            fps: pictures a second; None: that of `start_recording`, or as many as the scene has steps, so that time
                passes as it does there if every step is drawn.

        Raises:
            ValueError: no film is being taken, or nothing was drawn.
        """
        film = self._filming("stop_recording")
        if not film:
            raise ValueError("stop_recording: nothing was drawn; call render after start_recording")
        place, rate = self._target
        path = save_to_filename or place or f"camera_{self.idx}.mp4"
        written = write_video(path, film, fps or rate or 1.0 / self._contents.dt)
        self._film = None
        return written

    def _filming(self, call: str) -> list[np.ndarray]:
        if self._film is None:
            raise ValueError(f"{call}: no film is being taken; call start_recording first")
        return self._film

    # numbers

    @property
    def transform(self) -> np.ndarray:
        """Its pose (4, 4), of the environment that it sees, or of the first."""
        return self._pose[self.env_idx or 0].cpu().numpy()

    @property
    def pos(self) -> np.ndarray:
        """Its position (3,) m, as `transform`."""
        return self.transform[:3, 3]

    @property
    def up(self) -> np.ndarray:
        """The direction that is up in its pictures (3,), as `transform`."""
        return self.transform[:3, 1]

    @property
    def lookat(self) -> np.ndarray:
        """The point that it looks at (3,) m, as `transform`."""
        return self._aim(slice(None))[self.env_idx or 0].cpu().numpy()

    @property
    def extrinsics(self) -> np.ndarray:
        """World-to-camera transform (4, 4) as OpenCV has it: x right, y down, z forward."""
        return np.linalg.inv(self.transform @ np.diag([1.0, -1.0, -1.0, 1.0]))

    @property
    def f(self) -> float:
        """Focal length, pixels."""
        return 0.5 * self.res[1] / float(np.tan(np.radians(self.fov) / 2))

    @property
    def cx(self) -> float:
        """Column of the optical axis, pixels from the left edge."""
        return 0.5 * self.res[0]

    @property
    def cy(self) -> float:
        """Row of the optical axis, pixels from the upper edge."""
        return 0.5 * self.res[1]

    @property
    def intrinsics(self) -> np.ndarray:
        """OpenCV's camera matrix (3, 3), pixels."""
        return np.array([[self.f, 0.0, self.cx], [0.0, self.f, self.cy], [0.0, 0.0, 1.0]])

    @property
    def aspect_ratio(self) -> float:
        """Width over height."""
        return self.res[0] / self.res[1]


def require_environment(camera: Camera, count: int) -> None:
    """Refuse a camera of an environment that does not exist among so many."""
    if camera.env_idx is not None and camera.env_idx >= count:
        raise IndexError(f"camera {camera.idx}: env_idx={camera.env_idx}: the scene has {count} environments")
