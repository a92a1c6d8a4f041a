"""Particles of a source in browsers: spheres of the live page, and the recording of a replay.

A source that has particles has `particle_groups`, a sequence of `ParticleGroup`
(`physics/rendering/particles/group.py`), as renderers read it. Browsers show all groups as spheres, surfaces too.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .surfaces import GeomSurface, sphere

GROUPS = "particle_groups"
CORNERS, FEW_CORNERS = 8, 4
MANY = 20_000
"""Particles that are shown from which on spheres have `FEW_CORNERS`."""
_STEPS = 65534  # of a coordinate in a replay; the number after them: it is not there


def groups_of(source: Any) -> Callable[[], Sequence[Any]]:
    """Return a function that returns the present groups of a source."""
    for one in (source, getattr(source, "unwrapped", None)):
        if hasattr(one, GROUPS):
            return lambda: tuple(getattr(one, GROUPS))
    return tuple


def ball(count: int) -> GeomSurface:
    """Return the surface of a sphere of radius 1 m, of which so many are shown."""
    return sphere(np.ones(1), CORNERS if count <= MANY else FEW_CORNERS)


def places_of(group: Any, envs: Sequence[int]) -> np.ndarray:
    """Return the centers (k, n, 3) float32 of k environments, nan where a particle is not there."""
    places = group.centers[list(envs)].double().cpu().numpy()
    there = group.there()[list(envs)].cpu().numpy()
    return np.where(there[..., None], places, np.nan).astype(np.float32)


def colors_of(group: Any, envs: Sequence[int]) -> np.ndarray:
    """Return the colors (k, n, 3) of particles, 0 to 1 as shown on a screen."""
    shape = len(envs), group.centers.shape[1], 3
    if group.colors is None:
        return np.broadcast_to(np.asarray(group.rgba[:3], float), shape)
    own = group.colors if group.colors.ndim == 2 else group.colors[list(envs)]
    return np.broadcast_to(np.clip(own.double().cpu().numpy(), 0.0, 1.0), shape)


def radii_of(group: Any) -> np.ndarray:
    """Return the radii (n,) m."""
    return group.radii(group.centers.dtype).double().cpu().numpy()


class ShownParticles:
    """The particles of the environments that are shown, in a scene of viser."""

    def __init__(self, server: Any, source: Any) -> None:
        self._scene, self.groups = server.scene, groups_of(source)
        self._shown: list[tuple[Any, Any]] = []  # what a handle was made for, and the handle

    def update(self, shown: Sequence[int], offsets: np.ndarray) -> None:
        """Show the present groups of environments, each at its place (k, 3) m."""
        groups = self.groups()
        for number, group in enumerate(groups):
            places = places_of(group, shown) + offsets[:, None]
            there = np.isfinite(places).all(axis=-1)
            looks = {
                "batched_positions": np.nan_to_num(places).reshape(-1, 3).astype(np.float32),
                "batched_scales": (there * radii_of(group)).reshape(-1).astype(np.float32),
                # viser takes them as linear
                "batched_colors": np.round(255 * colors_of(group, shown) ** 2.2).reshape(-1, 3).astype(np.uint8),
            }
            made_for = there.size, float(group.rgba[3])
            if number == len(self._shown) or self._shown[number][0] != made_for:
                self._forget(number)
                self._shown.insert(number, (made_for, self._make(number, made_for, looks)))
                continue
            handle = self._shown[number][1]
            for name, now in looks.items():
                if not np.array_equal(getattr(handle, name), now):
                    setattr(handle, name, now)
        for number in range(len(self._shown) - 1, len(groups) - 1, -1):
            self._forget(number)

    def _make(self, number: int, made_for: tuple[int, float], looks: dict[str, np.ndarray]) -> Any:
        count, opacity = made_for
        surface = ball(count)
        return self._scene.add_batched_meshes_simple(
            f"/particles/{number}",
            surface.vertices,
            surface.faces.astype(np.uint32),
            batched_wxyzs=np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (count, 1)),
            opacity=opacity if opacity < 1 else None,
            lod="off",
            **looks,
        )

    def _forget(self, number: int) -> None:
        if number < len(self._shown):
            self._shown.pop(number)[1].remove()


class RecordedParticles(NamedTuple):
    """A group of n particles of some environments in all frames of a replay.

    Attributes:
        places: (frames, envs, n, 3) m, nan where a particle is not there.
        radii: (n,) m.
        colors: (envs, n, 3) of the first frame, 0 to 1.
        opacity: 0 to 1.
    """

    places: np.ndarray
    radii: np.ndarray
    colors: np.ndarray
    opacity: float

    def arrays(self, number: int) -> dict[str, np.ndarray]:
        """Return the arrays of a page, whose places are whole numbers between the corners of a box."""
        low, side = self.box
        steps = np.round((self.places - low) / side * _STEPS)
        there = np.isfinite(self.places).all(axis=-1, keepdims=True)
        return {
            f"grains{number}": np.where(there, steps, _STEPS + 1).astype(np.uint16),
            f"grain_radii{number}": self.radii.astype(np.float32),
            f"grain_colors{number}": np.round(255 * self.colors).astype(np.uint8),
        }

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower corner (3,) of the box around all places, and its sides (3,), m."""
        found = self.places[np.isfinite(self.places).all(axis=-1)].astype(float)
        if not len(found):
            return np.zeros(3), np.ones(3)
        return found.min(axis=0), np.maximum(np.ptp(found, axis=0), 1e-6)

    def about(self) -> dict[str, Any]:
        """Return the part of a page's header."""
        low, side = self.box
        return {"low": low.tolist(), "step": (side / _STEPS).tolist(), "opacity": self.opacity}


def recorded(frames: Sequence[Sequence[np.ndarray]], groups: Sequence[Any], envs: Sequence[int]) -> tuple:
    """Return the recordings of groups, by the places of each in every frame; `groups` are those of the first."""
    return tuple(
        RecordedParticles(np.stack(places), radii_of(group), colors_of(group, envs), float(group.rgba[3]))
        for places, group in zip(zip(*frames, strict=True), groups, strict=True)
    )
