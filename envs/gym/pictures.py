"""Pictures of environments, by a renderer of `physics.rendering` that is made when the first one is wanted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.error import DependencyNotInstalled, Error

from ...physics.base.arguments import CheckedEnvs, as_environments
from ...physics.machine.libraries import pip_install
from ...physics.machine.normal_mode import in_normal_mode
from ...physics.rendering.cameras.camera import check_camera, require_pixels
from ..arguments import whole
from ..batch.batch import TaskBatch

RENDER_MODES = ("rgb_array", "depth_array")
VECTOR_RENDER_MODES = ("human", *RENDER_MODES)
METADATA: dict[str, Any] = {"render_modes": list(RENDER_MODES)}  # of the classes of single and vector environments
MOST_PICTURES = 16  # environments that are pictured at most, unless `render_envs` names others


class Pictures:
    """Takes pictures of the environments of a batch."""

    def __init__(
        self,
        batch: TaskBatch,
        width: int,
        height: int,
        camera_id: int | None,
        camera_name: str | None,
        renderer: str | Mapping[str, Any] = "rays",
    ) -> None:
        """Choose the camera: the named or numbered one, the task's configuration, or the model's "track" camera.

        Raises:
            ValueError, TypeError: a camera was chosen twice, or the model has no such camera; a size is no whole number
                of pixels, or there are too many; there is no such renderer.
        """
        if camera_id is not None and camera_name is not None:
            raise ValueError(f"choose camera_id={camera_id!r} or camera_name={camera_name!r}, not both")
        self._batch = batch
        self._size = whole("width", width), whole("height", height)
        require_pixels(*self._size)
        self._camera = self._choose(camera_id, camera_name)
        check_camera(batch.solver.model.mj, self._camera)  # now, not when the first picture is wanted
        if renderer != "rays":
            from ...physics.rendering.choose import check_renderer

            check_renderer(renderer)
        self._kind: str | Mapping[str, Any] = renderer
        self._renderer: Any = None
        self._dress: dict[str, Any] = {}

    def dress(self, look: Any = None, show: Any = None) -> None:
        """Draw from now on in another look, or other things: arguments of `BatchRenderer`, None for the usual ones."""
        self._dress = {name: option for name, option in (("look", look), ("show", show)) if option is not None}
        self._renderer = None

    def _choose(self, camera_id: int | None, camera_name: str | None) -> int | str | Mapping[str, Any] | None:
        """Choose the renderer's camera. As in v5 a camera called "track" goes before the task's default."""
        task, mj = self._batch.task, self._batch.solver.model.mj
        if camera_name is not None:
            return camera_name
        if camera_id is not None:
            return camera_id
        if task.default_camera_config is not None:
            return task.default_camera_config
        has_track = any(mj.camera(i).name == "track" for i in range(mj.ncam))
        return "track" if has_track else task.camera

    def take(self, envs: CheckedEnvs | None, mode: str = "rgb_array") -> torch.Tensor:
        """Picture environments, on the solver's device.

        Args:
            envs: k of them, as `checked` returns them; None: all.
            mode: "depth_array" for metres along the optical axis, (k, height, width) float32, inf for the sky;
                anything else for uint8 RGB, (k, height, width, 3).
        """
        renderer = self.renderer
        draw = renderer.depth if mode == "depth_array" else renderer.render
        return draw(self._batch.solver, envs)

    @property
    def renderer(self) -> Any:
        """The renderer."""
        if self._renderer is None:
            from ...physics.rendering import Look, Show
            from ...physics.rendering.choose import make_renderer

            width, height = self._size
            # endless: a fast cheetah runs off v5's floor of 40 m
            dress = {"look": replace(self._dress.get("look", Look()), endless_planes=True)}
            show = self._dress.get("show", Show())
            dress["show"] = replace(show, sites=show.sites or self._batch.task.shows_sites)
            dress["camera"] = self._camera
            self._renderer = make_renderer(self._kind, self._batch.solver.model, width, height, **dress)
        return self._renderer

    def together(self, envs: CheckedEnvs, spacing: Sequence[float]) -> torch.Tensor:
        """Picture environments side by side, (height, width, 3) uint8."""
        return self.renderer.together(self._batch.solver, ("rgb",), envs, spacing=spacing)["rgb"]

    def body_pixels(self, envs: CheckedEnvs) -> tuple[torch.Tensor, list[str]]:
        """Return where the bodies of environments are seen, (k, bodies, 2) pixels right and down, and their names."""
        solver, mj = self._batch.solver, self._batch.solver.model.mj
        places = solver.get_many(("xpos",), envs)["xpos"][:, 1:]
        return self.renderer.pixels(solver, places, envs), [mj.body(i).name for i in range(1, mj.nbody)]

    def checked(self, envs: Any, name: str = "envs_idx") -> CheckedEnvs:
        """Return environments by what `as_environments` takes, with its errors; None: the first 16 at most."""
        count, device = self._batch.num_envs, self._batch.solver.device
        if envs is None:
            return CheckedEnvs(torch.arange(min(MOST_PICTURES, count), device=device))
        return CheckedEnvs(as_environments(envs, count, device, name))


@in_normal_mode
class VectorPictures:
    """Pictures of vector environments, of the ones that are chosen once or in a call.

    Attributes:
        render_mode: one of `VECTOR_RENDER_MODES`, or None for no pictures by `render`.
    """

    render_mode: str | None

    def __init__(
        self,
        pictures: Pictures,
        render_mode: str | None,
        render_envs: Sequence[int] | torch.Tensor | None,
        metadata: Mapping[str, Any],
    ) -> None:
        """Choose environments by what `Pictures.checked` takes; `metadata` has the pace of a window, "render_fps"."""
        self._pictures, self.render_mode, self._metadata = pictures, render_mode, metadata
        self._window = PictureWindow() if render_mode == "human" else None
        self.render_envs = render_envs

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.close()

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Picture the environments in `render_envs`, an array each: uint8 (height, width, 3), or depth (height, width).

        With render mode "human" they are in the window, and the result is None.
        """
        if self._window is not None:
            self._window.show(self._pictures.take(self._shown).cpu().numpy(), self._metadata["render_fps"])
            return None
        if self.render_mode is None:
            raise gymnasium.error.Error(
                "there are no pictures without a render mode: make it with render_mode='rgb_array'"
            )
        return tuple(self._pictures.take(self._shown, self.render_mode).cpu().numpy())

    def render_tensor(self, envs_idx: Sequence[int] | torch.Tensor | None = None) -> torch.Tensor:
        """Picture the environments `envs_idx` (k,), by default `render_envs`: uint8 (k, height, width, 3).

        The pictures lie where the solver does, and a GPU that draws them is not waited for.
        """
        return self._pictures.take(self._chosen(envs_idx))

    def render_grid(
        self, envs_idx: Sequence[int] | torch.Tensor | None = None, columns: int | None = None, gap: int = 0
    ) -> torch.Tensor:
        """Picture environments as one picture of rows and columns, uint8 (height, width, 3), where the solver is.

        Args:
            envs_idx: environments (k,); None: `render_envs`.
            columns: of them in a row; None: about as many as there are rows.
            gap: pixels between them.
        """
        from ...physics.rendering import grid

        return grid(self.render_tensor(envs_idx), columns, gap)

    def render_together(
        self, envs_idx: Sequence[int] | torch.Tensor | None = None, spacing: Sequence[float] = (2.0, 2.0)
    ) -> torch.Tensor:
        """Picture environments side by side in one world, uint8 (height, width, 3), where the solver is.

        Args:
            envs_idx: environments (k,); None: `render_envs`.
            spacing: distances along x and y, m; (0, 0): all in one place, as on a terrain that they share.
        """
        return self._pictures.together(self._chosen(envs_idx), spacing)

    def dress(self, look: Any = None, show: Any = None) -> None:
        """Draw from now on in another look, or other things beside geoms; None for the usual ones.

        Args:
            look: a `tumble.physics.rendering.Look`; planes are always endless.
            show: a `tumble.physics.rendering.Show`, for contacts, forces, frames, sites.
        """
        self._pictures.dress(look, show)

    def body_pixels(self, envs_idx: Sequence[int] | torch.Tensor | None = None) -> tuple[torch.Tensor, list[str]]:
        """Return where bodies are seen, (k, bodies, 2) pixels right and down, nan behind the camera, and their names.

        Args:
            envs_idx: environments (k,); None: `render_envs`.
        """
        return self._pictures.body_pixels(self._chosen(envs_idx))

    @property
    def render_envs(self) -> torch.Tensor:
        """The environments that `render` shows, (k,) indices on the solver's device."""
        return self._shown.index.clone()

    @render_envs.setter
    def render_envs(self, envs: Sequence[int] | torch.Tensor | None) -> None:
        self._shown = CheckedEnvs(self._pictures.checked(envs, "render_envs").index.clone())

    def _chosen(self, envs_idx: Sequence[int] | torch.Tensor | None) -> CheckedEnvs:
        """Return the environments of a call; None: `render_envs`."""
        return self._shown if envs_idx is None else self._pictures.checked(envs_idx)


def check_render_mode(render_mode: str | None, modes: Sequence[str] = RENDER_MODES) -> None:
    """Refuse a render mode that does not exist.

    Raises:
        ValueError: with the modes there are.
    """
    if render_mode is not None and render_mode not in modes:
        raise ValueError(f"render_mode={render_mode!r}: there is {', '.join(modes)}, or None for no pictures")


class PictureWindow:
    """A window that opens when the first pictures are shown."""

    def __init__(self) -> None:
        self._surface: Any = None
        self._clock: Any = None

    def show(self, pictures: np.ndarray, fps: float) -> None:
        """Show pictures (k, height, width, 3) uint8, after a wait that keeps to `fps` pictures a second at most.

        Raises:
            DependencyNotInstalled: there is no pygame.
            gymnasium.error.Error: there is no display.
        """
        from ...physics.rendering import grid

        try:
            import pygame
        except ImportError as error:
            raise DependencyNotInstalled(
                f'render_mode="human" needs pygame: {pip_install("window")}; "rgb_array" needs no window'
            ) from error
        tiled = grid(pictures)
        if self._surface is None:
            try:
                pygame.display.init()
                self._surface = pygame.display.set_mode(tiled.shape[1::-1])
            except pygame.error as error:
                raise Error(f'render_mode="human" needs a display ({error}); "rgb_array" needs none') from error
            self._clock = pygame.time.Clock()
        self._surface.blit(pygame.surfarray.make_surface(tiled.transpose(1, 0, 2)), (0, 0))
        pygame.event.pump()
        self._clock.tick(fps)
        pygame.display.flip()

    def close(self) -> None:
        """Close the window, if it was opened."""
        if self._surface is not None:
            import pygame

            pygame.display.quit()
            self._surface = None
