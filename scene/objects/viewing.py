"""The sight of a scene: its page in a browser, and the pictures of its cameras."""

import warnings
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ...viewer import Viewer, ViewerError, view
from ..pictures import debug
from ..pictures.camera import Camera
from ..pictures.debug import DebugObject
from ..pictures.window import Page, Window, page_options
from .contents import SceneContents

CAMERA = (0.1, 0.1, 0.1, 1.0)


class Visualizer:
    """The cameras of a scene, which show its present state whenever they are asked.

    Attributes:
        viewer: `Scene.viewer`.
        cameras: of the scene.
    """

    def __init__(self, viewer: Page | None, cameras: list[Camera]) -> None:
        self.viewer, self.cameras = viewer, cameras

    def update(self, force: bool = True, auto: bool | None = None) -> None:
        """Show the present state on the page; pictures are of the present state anyway."""
        if self.viewer is not None:
            self.viewer.update()


class SceneViewing:
    """The page of a scene.

    Args:
        contents: of the scene.
        scene: what a page shows, and `act` of `view` is called with.
        asked: whether a page is opened when the scene is built.

    Attributes:
        viewer: with `show_viewer=True` the page that shows each step, from `build` on; else None.
    """

    viewer: Page | None

    def __init__(self, contents: SceneContents, scene: object, asked: bool) -> None:
        self._contents, self._scene = contents, scene
        self.viewer = Page() if asked else None
        self._besides: dict[Hashable, DebugObject] = {}

    def page_objects(self) -> list[DebugObject]:
        """Return what its page shows beside the bodies: what `draw_debug_*` drew, and by `VisOptions` cameras and axes.

        An object that is shown again is the same one.
        """
        vis, known, found = self._contents.vis_options, self._besides, dict[Hashable, DebugObject]()
        self._besides = found
        if vis.show_world_frame:
            size = vis.world_frame_size
            found["world"] = known.get("world") or debug.frame(np.eye(4), size, 0.03 * size, 0.015 * size)
        for camera in self._contents.cameras if vis.show_cameras else ():
            key = camera.idx, camera.fov
            found[key] = known.get(key) or debug.frustum(camera, CAMERA)
            found[key].pose = camera.transform
        return [*self._contents.drawn, *found.values()]

    def open(self) -> None:
        """Open the page, if it was asked for; warn if it cannot be, so that the script runs without."""
        if self.viewer is None:
            return
        try:
            self.viewer = Window(self._scene, self._contents)
        except ViewerError as error:
            warnings.warn(f"show_viewer=True: {error}", stacklevel=3)

    def view(self, act: Callable[[Any], Any] | None = None, **options: Any) -> Viewer:
        """Show the scene in a browser, and move it from its present state: `tumble.viewer.view`, with its arguments.

        Sliders are for the joints, and for what dofs with `set_dofs_kp` aim at.

        Args:
            act: is called with the scene before each step; None: controls stay as they are.
            options: `block=False` returns at once; the scene must be left alone then until the viewer is closed.

        Raises:
            SceneOrderError: the scene is not built yet.
            ViewerError: as of `tumble.viewer.Viewer`.
        """
        self._contents.built("view")
        return view(self._scene, act, **page_options(self._contents) | options)

    @property
    def visualizer(self) -> Visualizer:
        """The cameras of the scene, and its page."""
        return Visualizer(self.viewer, list(self._contents.cameras))
