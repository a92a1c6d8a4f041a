"""Shapes that a program draws beside the bodies, such as a scene's `draw_debug_*`: capsules that taper, and boxes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .sources import quaternions
from .surfaces import GeomSurface, box, capsule

CORNERS = 12
"""Corners of circles of a drawing, a multiple of 4; half as many where it has a hundred parts or more."""
MANY_PARTS = 100


class Drawings:
    """The drawings of a source, from its `page_objects()`; none if it has no such method.

    A drawing has `start` and `end` (k, 3) m, `radius` (k, 2) m and `rgba` (k, 4) of capsules, `boxes` (b, 2, 3) m and
    `box_rgba` (b, 4), and `pose` (4, 4), which moves all of it. It is kept while the same object is drawn: only its
    pose may change.
    """

    def __init__(self, server: Any, source: Any) -> None:
        self._scene = server.scene
        self._objects: Callable[[], Sequence[Any]] = getattr(source, "page_objects", list)
        self._shown: dict[int, tuple[Any, list[Any]]] = {}
        self._number = 0

    def update(self, places: np.ndarray) -> None:
        """Show the present drawings, once at each of the places (k, 3) m."""
        objects = {id(one): one for one in self._objects()}
        for key in self._shown.keys() - objects.keys():
            for handle in self._shown.pop(key)[1]:
                handle.remove()
        for key, one in objects.items():
            pos, quat = self._poses(one, places)
            if key not in self._shown or any(len(h.batched_positions) != len(pos) for h in self._shown[key][1]):
                for handle in self._shown.pop(key, (one, []))[1]:
                    handle.remove()
                self._shown[key] = one, self._make(one, pos, quat)
            for handle in self._shown[key][1]:
                if not (np.array_equal(handle.batched_positions, pos) and np.array_equal(handle.batched_wxyzs, quat)):
                    handle.batched_positions, handle.batched_wxyzs = pos, quat

    @staticmethod
    def _poses(one: Any, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pos = (places + one.pose[:3, 3]).astype(np.float32)
        return pos, np.tile(quaternions(one.pose[:3, :3]), (len(pos), 1)).astype(np.float32)

    def _make(self, one: Any, pos: np.ndarray, quat: np.ndarray) -> list[Any]:
        """Add a mesh for each color of a drawing."""
        handles = []
        for rgba, surface in surfaces_of(one):
            self._number += 1
            color = tuple(round(255 * float(part)) for part in np.clip(rgba[:3], 0, 1) ** 2.2)
            handles.append(
                self._scene.add_batched_meshes_simple(
                    f"/drawn/{self._number}",
                    surface.vertices,
                    surface.faces.astype(np.uint32),
                    batched_wxyzs=quat,
                    batched_positions=pos,
                    batched_colors=np.array(color, np.uint8),
                    opacity=float(rgba[3]) if rgba[3] < 1 else None,
                    lod="off",
                    cast_shadow=False,
                    receive_shadow=False,
                )
            )
        return handles


def surfaces_of(one: Any) -> list[tuple[np.ndarray, GeomSurface]]:
    """Return the surfaces of a drawing in its frame, one for each color (4,)."""
    by_color: dict[tuple, list[GeomSurface]] = {}
    corners = CORNERS if len(one.start) < MANY_PARTS else CORNERS // 3
    for start, end, radius, rgba in zip(one.start, one.end, one.radius, one.rgba, strict=True):
        if rgba[3] > 0:
            by_color.setdefault(tuple(rgba), []).append(tapering(start, end, radius, corners))
    for (low, high), rgba in zip(one.boxes, one.box_rgba, strict=True):
        if rgba[3] > 0:
            solid = box((high - low) / 2)
            moved = solid.vertices + ((low + high) / 2).astype(np.float32)
            by_color.setdefault(tuple(rgba), []).append(solid._replace(vertices=moved))
    return [(np.array(rgba), _joined(parts)) for rgba, parts in by_color.items()]


def tapering(start: np.ndarray, end: np.ndarray, radius: np.ndarray, corners: int = CORNERS) -> GeomSurface:
    """Return the surface of a capsule from a point to another one (3,), with a radius (2,) at each, m."""
    along = end - start
    length = float(np.linalg.norm(along))
    z = along / length if length > 0 else np.array([0.0, 0.0, 1.0])
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    x /= np.linalg.norm(x)
    turn = np.stack([x, np.cross(z, x), z], axis=1)
    shape = capsule(np.ones(2), corners)  # the first half of its vertices belong to the lower end
    upper = np.arange(len(shape.vertices)) >= len(shape.vertices) // 2
    local = shape.normals * np.where(upper, radius[1], radius[0])[:, None]
    local[:, 2] += length * upper
    return GeomSurface(
        (local @ turn.T + start).astype(np.float32), (shape.normals @ turn.T).astype(np.float32), shape.faces
    )


def _joined(parts: list[GeomSurface]) -> GeomSurface:
    first = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    return GeomSurface(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, first, strict=True)]),
    )
