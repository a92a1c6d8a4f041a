"""The page of a scene in a browser, which `show_viewer=True` or `scene.view` opens, and the pictures of its cameras."""

import warnings
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ...viewer import Viewer, ViewerError, view
from ..checks import Numbers
from ..entity.index import HasIndex, index_of
from ..pictures import debug
from ..pictures.camera import Camera
from ..pictures.debug import DebugObject
from .contents import SceneContents

UNPACED = float("inf")


class Page:
    """The page that cannot be opened, or is not open yet: `is_alive` is False, and its methods change nothing.

    Scripts that ask for a viewer run to their end without one.
    """

    def is_alive(self) -> bool:
        """Return False: no page is open."""
        return False

    def _nothing(self, *args: Any, **options: Any) -> None:
        """Change nothing."""

    update = stop = close = setup_camera = set_camera_pose = follow_entity = unfollow_entity = _nothing
    update_following = register_keybinds = add_plugin = remove_keybinds = _nothing


class Window(Viewer, Page):
    """A live view of a built scene, which `Scene.step` brings up to date.

    It paces the script: no faster than `ViewerOptions.realtime_factor`, which the page can change, and not while
    the page says pause. Calls of scripts that ask for keys of a window change nothing.
    """

    def __init__(self, scene: object, contents: SceneContents) -> None:
        options = contents.viewer_options
        super().__init__(scene, driven=True, title="Tumble scene", **page_options(contents))
        self.show_frames(contents.vis_options.show_link_frame)
        arguments = getattr(options, "given", {})
        if "camera_pos" in arguments or "camera_lookat" in arguments or "camera_fov" in arguments:
            self._stage.look(options.camera_pos, options.camera_lookat, np.radians(options.camera_fov))
        self.panel.pace(UNPACED if options.realtime_factor is None else float(options.realtime_factor))
        self.announce()

    def update(self, *args: Any, **options: Any) -> None:
        """Show the scene as it is now: `sync`."""
        self.sync()

    def stop(self) -> None:
        """Close it."""
        self.close()

    def set_camera_pose(
        self, pose: Numbers | None = None, pos: Numbers | None = None, lookat: Numbers | None = None
    ) -> None:
        """Put the camera at `pos` (3,) m, looking at `lookat` (3,) m; or at a pose (4, 4), which looks along -z."""
        first = self._server.initial_camera
        if pose is not None:
            pose = np.asarray(pose, float)
            pos, lookat = pose[:3, 3], pose[:3, 3] - pose[:3, 2]
        self._stage.look(
            np.asarray(first.position if pos is None else pos, float),
            np.asarray(first.look_at if lookat is None else lookat, float),
            float(first.fov),
        )

    def follow_entity(self, entity: HasIndex, *args: Any, **options: Any) -> None:
        """Keep an entity where it is on the page, while one environment is shown: its surroundings move."""
        self._stage.follow(index_of("entity", entity).links[0].body)

    def unfollow_entity(self) -> None:
        """Stop following; the camera stays."""
        self._stage.follows = False


def page_options(contents: SceneContents) -> dict[str, Any]:
    """Return arguments of `Viewer`: where `env_spacing` puts environments, if it was given, and light and shadows."""
    vis, offsets = contents.vis_options, contents.world.offsets.double().cpu().numpy()
    places = {"places": offsets} if np.ptp(offsets, axis=0).any() else {}
    shadows = {} if vis.shadow else {"shadows": False}
    return {"background": vis.background_color, "ambient": vis.ambient_light, **shadows, **places}


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
        scene: the scene that a page shows, and the argument of `act` of `view`.
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
        """Return the objects that its page shows: drawn by `draw_debug_*`, and by `VisOptions` cameras and axes.

        An object that is shown again is the same one.
        """
        vis, known, objects = self._contents.vis_options, self._besides, dict[Hashable, DebugObject]()
        self._besides = objects
        if vis.show_world_frame:
            size = vis.world_frame_size
            objects["world"] = known.get("world") or debug.frame(np.eye(4), size, 0.03 * size, 0.015 * size)
        for camera in self._contents.cameras if vis.show_cameras else ():
            key = camera.idx, camera.fov
            objects[key] = known.get(key) or debug.frustum(camera, CAMERA)
            objects[key].pose = camera.transform
        return [*self._contents.drawn, *objects.values()]

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

        Sliders are for the joints, and for the targets of dofs with `set_dofs_kp`.

        Args:
            act: is called with the scene before each step; None: controls stay as they are.
            options: `block=False` returns at once; the scene must not be used then until the viewer is closed.

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
