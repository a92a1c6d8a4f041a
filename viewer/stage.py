"""The bodies of a batch in a scene of viser: every surface once, its geoms in all environments as instances."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from .drawn import drawn, followed, sized, start_camera
from .floor import Floor, SceneLight
from .surfaces import PRIMITIVES, ROUND, GeomSurface

Grab = Callable[[Any, int, int], None]
"""Called with an event of a drag, the environment and the body that were grabbed."""
FIELD_OF_VIEW = np.radians(42)
HORIZON = 222, 232, 240
ROUND_GEOMS = [int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}")) for kind in PRIMITIVES if kind != "box"]
MOST_WITH_SHADOWS = 4
"""Environments that throw shadows, unless that is asked for."""
FEW_ROUND, MANY_ROUND = 60, 200
"""Round geoms up to which circles have `ROUND` corners, and from which on they have the fewest."""


@dataclass(frozen=True)
class Background:
    """The light and the color around a stage.

    Attributes:
        background: red, green and blue behind all, 0 to 1; None: a sky.
        ambient: red, green and blue of light from all sides, 0 to 1, in place of the sky's; None: the sky's.
    """

    background: Sequence[float] | None = None
    ambient: Sequence[float] | None = None

    @property
    def haze(self) -> tuple[int, int, int]:
        """The color of the far distance."""
        if self.background is None:
            return HORIZON
        red, green, blue = (round(255 * min(max(part, 0.0), 1.0)) for part in self.background)
        return red, green, blue

    @property
    def sky(self) -> str:
        """The background, in the words of CSS: blue above, nearly white at the horizon, or one color.

        A background picture of viser is drawn in every pixel, behind bodies too; this one the browser has for nothing.
        """
        haze = "rgb({}, {}, {})".format(*self.haze)
        blue = "rgb(104, 152, 206), rgb(166, 194, 224) 10%, "
        return haze if self.background is not None else f"linear-gradient({blue}{haze} 25%)"


_SKY = Background()


@dataclass
class _Part:
    """Geoms of one surface that are shown or hidden together; n instances of them."""

    surface: GeomSurface
    collision: bool
    opacity: float
    places: np.ndarray  # (n,) of `Stage.shown`
    rows: np.ndarray  # (n,) of `Drawn`
    handle: Any = field(default=None, repr=False)


class ShownBodies:
    """The bodies of the environments that are shown, each environment at its place.

    Attributes:
        shown: numbers of the environments.
        offsets: (len(shown), 3) where each of them is put, m.
        follows: True while the scene is shifted so that the body that goes places stays where it is.
        shadows: True while the sun throws shadows, which cost a browser without a graphics card the most.
        walker: the geom that is followed, -1 for none.
    """

    def __init__(
        self,
        server: Any,
        mj: mujoco.MjModel,
        grab: Grab,
        shadows: bool | None = None,
        envs: int = 1,
        backdrop: Background = _SKY,
    ) -> None:
        """Make the stage; shadows: None throws them if few environments are shown."""
        self._server, self._mj, self._grab, self._backdrop = server, mj, grab, backdrop
        self.shadows = envs <= MOST_WITH_SHADOWS if shadows is None else shadows
        self._corners = _corners(mj, envs)
        self._drawn = drawn(mj, collision=True, corners=self._corners)
        self._parts: list[_Part] = []
        self._sizes: np.ndarray | None = None
        self._visible = {False: True, True: False}  # parts that are there for contacts: hidden at first
        self.shown: list[int] = []
        self.offsets = self._places = np.zeros((0, 3))
        row = followed(mj, self._drawn)
        self.walker = int(self._drawn.geom[row]) if row >= 0 else -1
        self.follows = self.walker >= 0
        self._floor, self._light = Floor(server, self._drawn, envs > MOST_WITH_SHADOWS), SceneLight(backdrop.ambient)

    def _make_parts(self) -> list[_Part]:
        """Collect the shown geoms by surface, opacity and purpose; per-environment sizes make a surface, too."""
        drawn, sizes = self._drawn, self._sizes
        kinds: dict[tuple, list[tuple[int, int]]] = {}
        surfaces: dict[tuple, GeomSurface] = {}
        for place in range(len(self.shown)):
            for row, g in enumerate(drawn.geom.tolist()):
                which: tuple = (int(drawn.surface[row]),)
                if sizes is not None and not np.array_equal(sizes[place, g], self._mj.geom_size[g]):
                    which = int(self._mj.geom_type[g]), *sizes[place, g].tolist()
                if which not in surfaces:
                    own = sized(self._mj, g, np.array(which[1:]), self._corners) if len(which) > 1 else None
                    surfaces[which] = drawn.surfaces[drawn.surface[row]] if own is None else own
                key = which, bool(drawn.collision[row]), float(drawn.color[row, 3])
                kinds.setdefault(key, []).append((place, row))
        return [
            _Part(surfaces[which], hidden, opacity, *np.array(pairs).T)
            for (which, hidden, opacity), pairs in kinds.items()
        ]

    def prepare(self, pos: np.ndarray, quat: np.ndarray) -> None:
        """Make floor, light, sky and the first camera, from the poses (ngeom, ...) of one environment."""
        scene = self._server.scene
        self._server.gui.add_html(f"<style>canvas[data-engine] {{ background: {self._backdrop.sky} }}</style>")
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(None)  # looked up in every pixel, it takes 40 times the rest without a card
        self._sun = self._light.shine(scene, self.shadows)
        camera = self._first = start_camera(self._mj, pos)
        reach = camera.distance
        scene.configure_fog(5 * reach, 16 * reach, color=self._backdrop.haze)
        self._laid = pos, quat
        self._floor.lay(pos, quat, self.shadows, self._light)
        self._start = pos[self.walker] if self.walker >= 0 else None

    def _look_at_all(self, places: np.ndarray) -> None:
        """Put the camera where it sees environments at all places, from higher up if they are several."""
        low, high = places.min(axis=0), places.max(axis=0)
        wide, start = 0.8 * float(np.linalg.norm(high - low)), self._first
        middle = np.asarray(start.target) + (low + high) / 2
        self.aim(middle, start.distance + wide, start.azimuth, start.elevation - min(wide, 12.0))

    def aim(self, target: Any, distance: float, azimuth: float, elevation: float) -> None:
        """Set the camera that browsers begin with, and move the open ones; degrees and metres."""
        a, e = np.radians([azimuth, elevation])
        eye = np.asarray(target) - distance * np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        self.look(eye, target)

    def look(self, eye: Any, target: Any, fov: float = FIELD_OF_VIEW) -> None:
        """Set the camera that browsers begin with, and move the open ones: from a point to another one, m."""
        first = self._server.initial_camera
        first.position, first.look_at, first.fov = tuple(eye), tuple(target), fov
        for client in self._server.get_clients().values():
            client.camera.position, client.camera.look_at, client.camera.fov = tuple(eye), tuple(target), fov

    def show(
        self, shown: list[int], places: np.ndarray, pos: np.ndarray, quat: np.ndarray, sizes: np.ndarray | None = None
    ) -> None:
        """Show environments at places (k, 3) m; poses are for all environments.

        Args:
            shown: k numbers of environments.
            places: where they are put.
            pos: (num_envs, ngeom, 3) m.
            quat: (num_envs, ngeom, 4).
            sizes: geom_size (k, ngeom, 3) m, if they are set per environment.
        """
        if len(shown) != len(self.shown):
            self._look_at_all(places)
        self.shown = shown
        self.offsets = self._places = places
        self._follow(pos)
        self.resize(sizes, pos, quat)

    def resize(self, sizes: np.ndarray | None, pos: np.ndarray, quat: np.ndarray) -> None:
        """Make all bodies again, of sizes (k, ngeom, 3) m, or of the model's."""
        self._sizes = sizes
        for part in self._parts:
            if part.handle is not None:
                part.handle.remove()
        self._parts = self._make_parts()
        for number, part in enumerate(self._parts):
            part.handle = self._make(number, part, pos, quat)

    def has_sizes(self, sizes: np.ndarray | None) -> bool:
        """Return True if bodies are shown with these sizes (k, ngeom, 3) m, or the model's for None."""
        if sizes is None or self._sizes is None:
            return sizes is None and self._sizes is None
        return np.array_equal(sizes, self._sizes)

    def _make(self, number: int, part: _Part, pos: np.ndarray, quat: np.ndarray) -> Any:
        place, turn = self._instances(part, pos, quat)
        colors = np.round(255 * self._drawn.color[part.rows, :3] ** 2.2).astype(np.uint8)  # viser takes them as linear
        handle = self._server.scene.add_batched_meshes_simple(
            f"/bodies/{number}",
            part.surface.vertices,
            part.surface.faces,
            batched_wxyzs=turn,
            batched_positions=place,
            batched_colors=colors,
            opacity=part.opacity if part.opacity < 1 else None,
            lod="off",
            visible=self._visible[part.collision],
        )

        async def dragged(event: Any) -> None:
            instance = event.instance_index or 0
            if 0 <= instance < len(part.places) and part.places[instance] < len(self.shown):
                self._grab(event, int(part.places[instance]), int(self._drawn.body[part.rows[instance]]))

        handle.on_drag("left")(dragged)
        return handle

    def _instances(self, part: _Part, pos: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        envs, geoms = np.array(self.shown)[part.places], self._drawn.geom[part.rows]
        place = pos[envs, geoms] + self.offsets[part.places]
        return place.astype(np.float32), quat[envs, geoms].astype(np.float32)

    def set_shadows(self, on: bool) -> None:
        """Switch the sun's shadows on or off."""
        if on != self.shadows:
            self.shadows = self._sun.cast_shadow = on
            self._floor.lay(*self._laid, on, self._light)

    def set_visible(self, collision: bool, visible: bool) -> None:
        """Show or hide the geoms that are there for contacts, or the others."""
        self._visible[collision] = visible
        for part in self._parts:
            if part.collision == collision and part.handle is not None:
                part.handle.visible = visible

    def follow(self, body: int) -> None:
        """Follow a body, or the first one below it that has geoms; nothing if no body has any."""
        mj = self._mj
        below = [b for b in range(body, mj.nbody) if b == body or mj.body_rootid[b] == mj.body_rootid[body]]
        geoms = [int(mj.body_geomadr[b]) for b in below if mj.body_geomnum[b]]
        if geoms:
            self.walker, self.follows, self._start = geoms[0], True, None

    @property
    def has_collision_geoms(self) -> bool:
        """True if the model has geoms that serve only contacts."""
        return bool(self._drawn.collision.any())

    def _follow(self, pos: np.ndarray) -> None:
        """Shift the one environment that is shown, and the floors by as much."""
        shift = np.zeros(3)
        if self.follows and len(self.shown) == 1 and self.walker >= 0:
            here = pos[self.shown[0], self.walker]
            self._start = here if self._start is None else self._start
            shift[:2] = (self._start - here)[:2]
        self.offsets = self._places + shift
        if self.shown:
            self._floor.move(pos[self.shown[0]], shift)

    def update(self, pos: np.ndarray, quat: np.ndarray) -> None:
        """Move all bodies to poses (num_envs, ngeom, ...)."""
        self._follow(pos)
        for part in self._parts:
            if self._visible[part.collision] and part.handle is not None:
                place, turn = self._instances(part, pos, quat)
                part.handle.batched_positions = place
                part.handle.batched_wxyzs = turn


def _corners(mj: mujoco.MjModel, envs: int) -> int:
    """Return the corners of circles: fewer where many round geoms are drawn, each of them small."""
    shown = envs * int(np.isin(mj.geom_type, ROUND_GEOMS).sum())
    return ROUND if shown <= FEW_ROUND else 16 if shown <= MANY_ROUND else 8
