"""Pictures of Tumble's own cameras in the panel, a few times a second."""

from typing import Any

import mujoco
import numpy as np

SIZE = 320, 240
FOLLOWING = "following"


class CameraPictures:
    """The picture of the chosen camera, while it is asked for."""

    def __init__(self, gui: Any, solver: Any, mj: mujoco.MjModel) -> None:
        self._gui, self._solver = gui, solver
        self._renderers: dict[str, Any] = {}
        self._image: Any = None
        self.names = [FOLLOWING, *(mj.camera(i).name or str(i) for i in range(mj.ncam))]
        self._shown = gui.add_checkbox("camera picture", False)
        self._choice = gui.add_dropdown("camera", self.names, initial_value=self.names[0])

    def update(self, env: int) -> None:
        """Draw the environment."""
        if not self._shown.value:
            if self._image is not None:
                self._image.visible = False
            return
        picture = self._renderer(self._choice.value).render(self._solver, [env])[0].cpu().numpy()
        if self._image is None:
            self._image = self._gui.add_image(np.ascontiguousarray(picture), format="jpeg")
        self._image.visible = True
        self._image.image = np.ascontiguousarray(picture)

    def _renderer(self, name: str) -> Any:
        from ..physics.rendering import BatchRenderer

        if name not in self._renderers:
            place = self.names.index(name)
            camera = place - 1 if place else None
            self._renderers[name] = BatchRenderer(self._solver.model, *SIZE, camera=camera)
        return self._renderers[name]
