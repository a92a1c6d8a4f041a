"""Closed surfaces of triangles, made from meshes as files have them: turned faces are turned back, holes are closed.

A signed distance needs an inside. Most meshes have one; of the others, most miss a few faces, or have a few turned
over. What cannot be mended so is left to the winding number (`distance_grid.py`): the surface then keeps a border.
"""

from collections import deque
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .files import MeshFileError
from .mesh import merged, require_faces, require_near

THINNEST = 1.0e-6
"""Volume over area and length of a surface below which it encloses nothing."""


@dataclass(frozen=True, eq=False)
class ClosedSurface:
    """Triangles whose faces look outwards.

    Attributes:
        vertices: (n, 3), m.
        faces: (m, 3) indices into `vertices`.
        border: (b, 2) edges along which the surface is open, in the direction of their face; an edge may stand there
            several times. A closed surface has none.
    """

    vertices: np.ndarray
    faces: np.ndarray
    border: np.ndarray

    @property
    def corners(self) -> np.ndarray:
        """The corners (m, 3, 3) of every face."""
        return self.vertices[self.faces]


def closed_surface(vertices: np.ndarray, faces: np.ndarray) -> ClosedSurface:
    """Make a surface with an inside from a mesh: vertices (n, 3) in metres, faces (m, 3).

    Faces are turned so that neighbours agree, as most of each part have it; a hole with one simple rim is closed by a
    triangle, or by a fan around the middle of its rim; if the whole is inside out, all faces are turned.

    Raises:
        MeshFileError: there are no faces, a number is not finite, an edge has more than two faces that do not cancel,
            or nothing is enclosed.
    """
    vertices, faces = np.asarray(vertices, float), np.asarray(faces)
    if not len(faces) or not len(vertices):
        raise MeshFileError("it has no faces, so it has no distance field")
    require_faces(faces, len(vertices))
    require_near(vertices)
    vertices, faces = merged(vertices, faces)
    faces = _without_repeats(faces)
    if not len(faces):
        raise MeshFileError("all its faces are points or lines, so it has no distance field")
    faces = _turned_alike(vertices, faces)
    _require_no_fins(faces)
    vertices, faces = _without_holes(vertices, faces)
    volume = _volume(vertices, faces)
    if volume < 0:
        faces = faces[:, ::-1].copy()
    if abs(volume) <= THINNEST * _area(vertices, faces) * np.ptp(vertices, axis=0).max():
        raise MeshFileError("it encloses no volume, so it has no inside for a distance field; give it thickness")
    return ClosedSurface(vertices, faces, open_edges(faces))


def half_edges(faces: np.ndarray) -> np.ndarray:
    """Return the edges (3 m, 2) of faces in their direction: edge e of face f is row e m + f."""
    return np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])


def open_edges(faces: np.ndarray) -> np.ndarray:
    """Return the edges (b, 2) that faces run through in one direction more often than in the other, each so often."""
    edges = half_edges(faces)
    pairs, which = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    excess = np.bincount(which.reshape(-1), np.where(edges[:, 0] < edges[:, 1], 1, -1), len(pairs)).astype(int)
    directed = np.where((excess < 0)[:, None], pairs[:, ::-1], pairs)
    return np.repeat(directed, np.abs(excess), axis=0)


def _without_repeats(faces: np.ndarray) -> np.ndarray:
    """Return the faces with three corners, each once: a face and its reverse are two."""
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    first = faces.argmin(axis=1)[:, None]
    turned = np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1)
    _, kept = np.unique(turned, axis=0, return_index=True)
    return faces[np.sort(kept)]


def _turned_alike(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return faces that agree with their neighbours across edges of two faces; of each part, most by area stay."""
    count = len(faces)
    edges = half_edges(faces)
    _, which, uses = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    first = np.searchsorted(which[order], np.flatnonzero(uses == 2))
    one, other = order[first], order[first + 1]
    against = edges[one, 0] == edges[other, 0]
    if not against.any():
        return faces
    neighbours: list[list[tuple[int, bool]]] = [[] for _ in range(count)]
    for a, b, turn in zip((one % count).tolist(), (other % count).tolist(), against.tolist(), strict=True):
        neighbours[a].append((b, turn))
        neighbours[b].append((a, turn))
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    turned = np.zeros(count, bool)
    seen = np.zeros(count, bool)
    for start in range(count):
        if seen[start]:
            continue
        seen[start] = True
        part, waiting = [start], deque([start])
        while waiting:
            face = waiting.popleft()
            for other_face, turn in neighbours[face]:
                if not seen[other_face]:
                    seen[other_face] = True
                    turned[other_face] = turned[face] ^ turn
                    part.append(other_face)
                    waiting.append(other_face)
        if area[part][turned[part]].sum() > area[part].sum() / 2:
            turned[part] = ~turned[part]
    return np.where(turned[:, None], faces[:, ::-1], faces)


def _require_no_fins(faces: np.ndarray) -> None:
    """Raise MeshFileError if an edge has three or more faces and is open all the same: a wall ends inside."""
    pairs, uses = np.unique(np.sort(half_edges(faces), axis=1), axis=0, return_counts=True)
    fins = {tuple(pair) for pair in pairs[uses > 2].tolist()}
    for edge in np.sort(open_edges(faces), axis=1).tolist() if fins else ():
        if tuple(edge) in fins:
            number = int(uses[(pairs == edge).all(axis=1)][0])
            raise MeshFileError(
                f"{number} faces meet at one edge (vertices {edge[0]} and {edge[1]}), so it has no inside for a "
                "distance field; take out inner walls, or let it collide as a hull or as convex pieces"
            )


def _without_holes(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and faces with a triangle or a fan in every hole whose rim passes each of its vertices once."""
    after: dict[int, list[int]] = {}
    for start, end in open_edges(faces).tolist():
        after.setdefault(end, []).append(start)  # the hole's own faces run the other way
    points, added = [vertices], []
    count = len(vertices)
    while after:
        rim = [next(iter(after))]
        while rim[-1] in after:
            ends = after[rim[-1]]
            rim.append(ends.pop())
            if not ends:
                del after[rim[-2]]
            if rim[-1] in rim[:-1]:
                break
        first = rim.index(rim[-1])
        for start, end in pairwise(rim[: first + 1]):
            after.setdefault(start, []).append(end)  # the way to the loop belongs to another rim
        loop = rim[first:-1]
        if len(loop) == 3:
            added.append(loop)
        elif len(loop) > 3:
            points.append(vertices[loop].mean(axis=0, keepdims=True))
            added += [[a, b, count] for a, b in zip(loop, [*loop[1:], loop[0]], strict=True)]
            count += 1
    return np.concatenate(points), np.concatenate([faces, np.array(added, faces.dtype).reshape(-1, 3)])


def _volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, k]] - vertices.mean(axis=0) for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def _area(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
