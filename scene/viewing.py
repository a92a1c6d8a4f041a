"""The window that scripts ask of a scene, which opens none."""

import warnings
from typing import Any

from .life import Life


class Viewer:
    """The window that `show_viewer=True` asks for, which is closed from the start: `is_alive` is False.

    What scripts ask of it besides changes nothing, so that they run to their end.
    """

    def is_alive(self) -> bool:
        """Return False: no window is open."""
        return False

    def _nothing(self, *args: Any, **options: Any) -> None:
        """Change nothing."""

    update = stop = start = setup_camera = set_camera_pose = follow_entity = unfollow_entity = update_following = (
        _nothing
    )
    register_keybinds = add_plugin = remove_keybinds = _nothing


class Visualizer:
    """The cameras of a scene, which show its present state whenever they are asked.

    Attributes:
        viewer: `Scene.viewer`.
    """

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self.viewer: Viewer | None = scene.viewer

    @property
    def cameras(self) -> list[Any]:
        """The cameras of the scene."""
        return self._scene.cameras

    def update(self, force: bool = True, auto: bool | None = None) -> None:
        """Change nothing: pictures are of the present state."""


class Viewing(Life):
    """The window of a scene.

    Attributes:
        viewer: None; with `show_viewer=True` a window that is closed.
    """

    viewer: Viewer | None = None

    def _show_viewer(self, asked: bool) -> None:
        if asked:
            self.viewer = Viewer()
            warnings.warn(
                "show_viewer=True: a scene opens no window. Film it with scene.add_camera, or look at it in a browser "
                "after scene.build(): tumble.viewer.view(scene.rigid_solver)",
                stacklevel=3,
            )

    @property
    def visualizer(self) -> Visualizer:
        """The cameras of the scene, and its window."""
        return Visualizer(self)
