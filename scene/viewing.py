"""The sight of a scene: its page in a browser, and the pictures of its cameras."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import debug
from .debug import DebugObject
from .life import Life

if TYPE_CHECKING:
    from ..viewer import Viewer
    from .window import Window

CAMERA = (0.1, 0.1, 0.1, 1.0)


class NoWindow:
    """The page that cannot be opened, or is not open yet: `is_alive` is False, and what is asked of it changes nothing.

    Scripts that ask for a viewer run to their end without one.
    """

    def is_alive(self) -> bool:
        """Return False: no page is open."""
        return False

    def _nothing(self, *args: Any, **options: Any) -> None:
        """Change nothing."""

    update = stop = close = setup_camera = set_camera_pose = follow_entity = unfollow_entity = _nothing
    update_following = register_keybinds = add_plugin = remove_keybinds = _nothing


class Visualizer:
    """The cameras of a scene, which show its present state whenever they are asked.

    Attributes:
        viewer: `Scene.viewer`.
    """

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self.viewer: Window | NoWindow | None = scene.viewer

    @property
    def cameras(self) -> list[Any]:
        """The cameras of the scene."""
        return self._scene.cameras

    def update(self, force: bool = True, auto: bool | None = None) -> None:
        """Show the present state on the page; pictures are of the present state anyway."""
        if self.viewer is not None:
            self.viewer.update()


class Viewing(Life):
    """The page of a scene.

    Attributes:
        viewer: with `show_viewer=True` the page that shows each step, from `build` on; else None.
    """

    viewer: "Window | NoWindow | None" = None
    _besides: dict[Any, DebugObject] | None = None

    def page_objects(self) -> list[DebugObject]:
        """Return what its page shows beside the bodies: what `draw_debug_*` drew, and by `VisOptions` cameras and axes.

        An object that is shown again is the same one.
        """
        scene: Any = self
        vis, known = scene.vis_options, self._besides if self._besides is not None else {}
        found: dict[Any, DebugObject] = {}
        self._besides = found
        if vis.show_world_frame:
            size = vis.world_frame_size
            found["world"] = known.get("world") or debug.frame(np.eye(4), size, 0.03 * size, 0.015 * size)
        for camera in scene.cameras if vis.show_cameras else ():
            key = camera.idx, camera.fov
            found[key] = known.get(key) or debug.frustum(camera, CAMERA)
            found[key].pose = camera.transform
        return [*scene.debug_objects, *found.values()]

    def _show_viewer(self, asked: bool) -> None:
        if asked:
            self.viewer = NoWindow()

    def _open_viewer(self) -> None:
        """Open the page, if it was asked for; warn if it cannot be, so that the script runs without."""
        if self.viewer is None:
            return
        from ..viewer import ViewerError
        from .window import Window

        try:
            self.viewer = Window(self)
        except ViewerError as error:
            warnings.warn(f"show_viewer=True: {error}", stacklevel=3)

    def view(self, act: Callable[[Any], Any] | None = None, **options: Any) -> "Viewer":
        """Show the scene in a browser, and move it from its present state: `tumble.viewer.view`, with its arguments.

        Sliders are for the joints, and for what dofs with `set_dofs_kp` aim at.

        Args:
            act: is called with the scene before each step; None: controls stay as they are.
            options: `block=False` returns at once; the scene must be left alone then until the viewer is closed.

        Raises:
            SceneOrderError: the scene is not built yet.
            ViewerError: as of `tumble.viewer.Viewer`.
        """
        self._built("view")
        from ..viewer import view
        from .window import page_options

        return view(self, act, **page_options(self) | options)

    @property
    def visualizer(self) -> Visualizer:
        """The cameras of the scene, and its page."""
        return Visualizer(self)
