"""Several cameras of one model, of several sizes, whose pictures come from one call."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .cameras.camera import PoseSource
from .names import nearest
from .renderer import BatchRenderer

_OF_CAMERA = ("camera", "width", "height", "near")


class CameraRig:
    """Cameras by name.

    Args:
        model: a `Model`.
        cameras: by name, arguments of `BatchRenderer` that cameras have of their own: `camera`, `width`, `height`,
            `near`.
        options: arguments of `BatchRenderer` that they share: `samples`, `look`, `show`, `entities`.

    Raises:
        ValueError, TypeError: there is no camera, an argument that cameras do not have, and those of `BatchRenderer`.
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
        """Return what `BatchRenderer.draw` does, by the cameras' names.

        Args:
            solver: a solver of this model.
            outputs: names of what to draw, the same for all cameras, or by their names.
            envs_idx: environments; None: all.

        Raises:
            ValueError: a camera or an output that there is not.
        """
        wanted = outputs if isinstance(outputs, Mapping) else dict.fromkeys(self.renderers, outputs)
        for name in wanted:
            if name not in self.renderers:
                raise ValueError(f"there is no camera {name!r}{nearest(name, set(self.renderers))}")
        return {name: self.renderers[name].draw(solver, asked, envs_idx) for name, asked in wanted.items()}
