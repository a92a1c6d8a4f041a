"""A mesh as a file has it: vertices, triangles, and appearance."""

from dataclasses import dataclass, field

import numpy as np

from .files import MeshFileError

MOST_FACES = 10_000_000
"""Triangles of one mesh: MuJoCo needs some hundred bytes for each."""
FARTHEST = 1.0e9
"""m; MuJoCo's limit is 2^30. Single precision has no digit left for the size of such a mesh."""


@dataclass(frozen=True, eq=False)
class Appearance:
    """Colour (4,) in [0, 1], and an image (height, width, 3 or 4) of bytes, first row on top, that it tints."""

    rgba: np.ndarray
    image: np.ndarray | None = None
    shininess: float = 0.5


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Triangles in the frame of their file, m.

    Attributes:
        vertices: (n, 3).
        faces: (m, 3) indices into `vertices`.
        normals: (m, 3, 3) unit vectors, one for each corner of a face, or None: to be made from the faces.
        uvs: (m, 3, 2) places in the image, v upwards, or None.
        appearance: colour and image, or None if the file has none.
    """

    vertices: np.ndarray
    faces: np.ndarray
    normals: np.ndarray | None = None
    uvs: np.ndarray | None = None
    appearance: Appearance | None = field(default=None)


def cleaned(mesh: TriangleMesh) -> TriangleMesh:
    """A mesh whose vertices are all used and all different, without faces that have a corner twice.

    Raises:
        MeshFileError: for numbers that are not finite or too large, faces with vertices that do not exist, no faces.
    """
    vertices, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces)
    if not len(faces) or not len(vertices):
        raise MeshFileError("it has no faces")
    if len(faces) > MOST_FACES:
        raise MeshFileError(f"it has {len(faces):,} faces, and {MOST_FACES:,} are the most")
    require_faces(faces, len(vertices))
    require_near(vertices)
    vertices, faces = merged(vertices, faces)
    kept = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    if not kept.any():
        raise MeshFileError("all its faces are points or lines")
    vertices, faces = merged(vertices, faces[kept])
    parts = (None if part is None else np.asarray(part, float)[kept] for part in (mesh.normals, mesh.uvs))
    normals, uvs = parts
    if normals is not None and not (np.abs(np.linalg.norm(normals, axis=2) - 1.0) < 0.1).all():
        normals = None  # MuJoCo makes better ones
    if uvs is not None and not np.isfinite(uvs).all():
        uvs = None
    return TriangleMesh(vertices, faces, normals, uvs, mesh.appearance)


def require_faces(faces: np.ndarray, count: int) -> None:
    """Raise MeshFileError for faces (m, 3) with vertices that are not among `count`."""
    wrong = np.flatnonzero(((faces < 0) | (faces >= count)).any(axis=1))
    if len(wrong):
        raise MeshFileError(f"face {wrong[0]} has the vertices {faces[wrong[0]].tolist()}; there are {count}, from 0")


def require_near(vertices: np.ndarray) -> None:
    """Raise MeshFileError for vertices (n, 3) that are not finite or too far away."""
    wrong = np.flatnonzero(~(np.abs(vertices) < FARTHEST).all(axis=1))
    if len(wrong):
        raise MeshFileError(f"vertex {wrong[0]} is at {vertices[wrong[0]].tolist()}: not finite, or too far away")


def merged(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) that faces (m, 3) use, each once, in the order in which they stood; and the faces."""
    used = np.zeros(len(vertices), bool)
    used[faces] = True
    rows = np.flatnonzero(used)
    points = vertices[rows] + 0.0  # no -0, which would differ from 0
    _, first, inverse = different_rows(points)
    rank = np.empty(len(first), int)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    number = np.zeros(len(vertices), int)
    number[rows] = rank[inverse]
    return points[np.sort(first)], number[faces].astype(np.int32)


def different_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the different rows (k, n) of an array (m, n) in order, their first places (k,), and each row's number.

    It is `np.unique` by rows for finite numbers, several times as fast: columns are sorted, not rows as records.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(rows), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = np.empty(len(rows), int)
    number[order] = np.cumsum(new) - 1
    return ordered[new], order[new], number
