"""The page that `show_viewer=True` opens: it shows the steps that a script takes."""

from typing import Any

import numpy as np

from ..viewer.live import Viewer

UNPACED = float("inf")


class Window(Viewer):
    """A live view of a built scene, which `Scene.step` brings up to date.

    It paces the script: no faster than `ViewerOptions.realtime_factor`, which the page can change, and not while
    the page says pause. Calls of scripts that ask for keys of a window change nothing.
    """

    def __init__(self, scene: Any) -> None:
        options = scene.viewer_options
        super().__init__(scene, driven=True, title="Tumble scene", **page_options(scene))
        self.show_frames(scene.vis_options.show_link_frame)
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

    def set_camera_pose(self, pose: Any = None, pos: Any = None, lookat: Any = None) -> None:
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

    def follow_entity(self, entity: Any, *args: Any, **options: Any) -> None:
        """Keep an entity where it is on the page, while one environment is shown: what is around it moves."""
        self._stage.follow(entity.base_link.idx + 1)

    def unfollow_entity(self) -> None:
        """Let the camera stay."""
        self._stage.follows = False

    def _nothing(self, *args: Any, **options: Any) -> None:
        """Change nothing."""

    setup_camera = update_following = register_keybinds = add_plugin = remove_keybinds = _nothing


def page_options(scene: Any) -> dict[str, Any]:
    """Return arguments of `Viewer`: where `env_spacing` puts environments, if it was given, and light and shadows."""
    vis, offsets = scene.vis_options, scene.world.offsets.double().cpu().numpy()
    places = {"places": offsets} if np.ptp(offsets, axis=0).any() else {}
    shadows = {} if vis.shadow else {"shadows": False}
    return {"background": vis.background_color, "ambient": vis.ambient_light, **shadows, **places}
