"""Pictures of environments: the batched ray caster of `physics.rendering`, made when the first picture is wanted."""

from collections.abc import Mapping
from typing import Any

import torch

from .batch import TaskBatch

RENDER_MODES = ("rgb_array",)
METADATA: dict[str, Any] = {"render_modes": list(RENDER_MODES)}  # of both kinds of environment, before they are made


class Pictures:
    """Takes pictures of the environments of a batch."""

    def __init__(
        self,
        batch: TaskBatch,
        width: int,
        height: int,
        camera_id: int | None,
        camera_name: str | None,
    ) -> None:
        """Choose the camera: the named or numbered one, the task's configuration, or the model's "track" camera.

        Raises:
            ValueError: a camera was chosen twice.
        """
        if camera_id is not None and camera_name is not None:
            raise ValueError(f"choose camera_id={camera_id!r} or camera_name={camera_name!r}, not both")
        self._batch = batch
        self._size = (width, height)
        self._camera = self._choose(camera_id, camera_name)
        self._renderer: Any = None

    def _choose(self, camera_id: int | None, camera_name: str | None) -> int | str | Mapping[str, Any] | None:
        """What the renderer is to look through. As in v5 a camera called "track" goes before the task's default."""
        task, mj = self._batch.task, self._batch.solver.model.mj
        if camera_name is not None:
            return camera_name
        if camera_id is not None:
            return camera_id
        if task.default_camera_config is not None:
            return task.default_camera_config
        has_track = any(mj.camera(i).name == "track" for i in range(mj.ncam))
        return "track" if has_track else task.camera

    def take(self, envs_idx: torch.Tensor) -> torch.Tensor:
        """Picture the environments `envs_idx` (k,): uint8 RGB (k, height, width, 3)."""
        if self._renderer is None:
            from ..physics.rendering import BatchRenderer, Look

            width, height = self._size
            look = Look(endless_planes=True)  # a fast cheetah runs off v5's floor of 40 m
            self._renderer = BatchRenderer(self._batch.solver.model, width, height, camera=self._camera, look=look)
        return self._renderer.render(self._batch.solver, envs_idx)


def check_render_mode(render_mode: str | None) -> None:
    """Refuse a render mode that does not exist.

    Raises:
        ValueError: with the modes there are.
    """
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(f"render_mode={render_mode!r}: there is {', '.join(RENDER_MODES)}, or None for no pictures")
