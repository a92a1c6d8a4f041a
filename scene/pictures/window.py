"""The page that `show_viewer=True` opens: it shows the steps that a script takes."""

from typing import Any

import numpy as np

from ...viewer.live import Viewer
from ..checks import Numbers
from ..entity.index import HasIndex, index_of
from ..objects.contents import SceneContents

UNPACED = float("inf")


class Page:
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


class Window(Viewer, Page):
    """A live view of a built scene, which `Scene.step` brings up to date.

    It paces the script: no faster than `ViewerOptions.realtime_factor`, which the page can change, and not while
    the page says pause. Calls of scripts that ask for keys of a window change nothing.
    """

    def __init__(self, scene: object, contents: SceneContents) -> None:
        options = contents.viewer_options
        super().__init__(scene, driven=True, title="Tumble scene", **page_options(contents))
        self.show_frames(contents.vis_options.show_link_frame)
        given = getattr(options, "given", {})
        if "camera_pos" in given or "camera_lookat" in given or "camera_fov" in given:
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
        """Keep an entity where it is on the page, while one environment is shown: what is around it moves."""
        self._stage.follow(index_of("entity", entity).links[0].body)

    def unfollow_entity(self) -> None:
        """Let the camera stay."""
        self._stage.follows = False


def page_options(contents: SceneContents) -> dict[str, Any]:
    """Return arguments of `Viewer`: where `env_spacing` puts environments, if it was given, and light and shadows."""
    vis, offsets = contents.vis_options, contents.world.offsets.double().cpu().numpy()
    places = {"places": offsets} if np.ptp(offsets, axis=0).any() else {}
    shadows = {} if vis.shadow else {"shadows": False}
    return {"background": vis.background_color, "ambient": vis.ambient_light, **shadows, **places}
