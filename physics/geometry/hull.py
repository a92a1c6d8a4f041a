"""Convex hulls as contacts see them: MuJoCo's polygons as triangles, their edges, and who is whose neighbour."""

from dataclasses import dataclass

import mujoco
import numpy as np


@dataclass(frozen=True, eq=False)
class Hull:
    """A closed convex surface in the frame of its geom, m; indices count from its own first vertex, face and edge.

    Attributes:
        vert: (n, 3).
        vert_normal: (n, 3), the mean of the faces around a vertex, each as much as its area.
        face: (m, 3) triangles, counter-clockwise from outside.
        face_normal: (m, 3).
        edge: (e, 2), the lower vertex first; where two faces lie in one plane there is none between them.
        edge_face: (e, 2) the faces at both sides.
    """

    vert: np.ndarray
    vert_normal: np.ndarray
    face: np.ndarray
    face_normal: np.ndarray
    edge: np.ndarray
    edge_face: np.ndarray


def hull_of(mjm: mujoco.MjModel, mesh: int) -> Hull | None:
    """The hull of a compiled mesh; None where MuJoCo has made none, because nothing can touch the mesh."""
    polygons = range(mjm.mesh_polyadr[mesh], mjm.mesh_polyadr[mesh] + mjm.mesh_polynum[mesh])
    if not polygons:
        return None
    first = mjm.mesh_vertadr[mesh]
    points = np.asarray(mjm.mesh_vert[first : first + mjm.mesh_vertnum[mesh]], float)
    rings, normals = [], []
    for p in polygons:
        start = mjm.mesh_polyvertadr[p]
        rings.append(np.asarray(mjm.mesh_polyvert[start : start + mjm.mesh_polyvertnum[p]], int))
        normals.append(mjm.mesh_polynormal[p])
    used = np.unique(np.concatenate(rings))
    number = np.full(len(points), -1)
    number[used] = np.arange(len(used))
    faces: list[tuple[int, int, int]] = []
    face_normals, sides = [], []
    for ring, normal in zip(rings, normals, strict=True):
        ring = number[ring]
        inside = range(1, len(ring) - 1)
        for k, (a, b) in enumerate(zip(ring, np.roll(ring, -1), strict=True)):
            triangle = len(faces) + min(max(k - 1, 0), len(inside) - 1)
            sides.append((min(a, b), max(a, b), triangle))
        faces += [(ring[0], ring[k], ring[k + 1]) for k in inside]
        face_normals += [normal] * len(inside)
    vert, face = points[used], np.array(faces, np.int32)
    edge, edge_face = _edges(np.array(sides))
    return Hull(vert, vertex_normals(vert, face), face, np.array(face_normals, float), edge, edge_face)


def _edges(sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges (e, 2) and the faces beside them (e, 2) from sides of polygons: two vertices and a face, (s, 3).

    A side that only one polygon has (where a hull is too flat for MuJoCo to tell faces apart) has -1 for the other.
    """
    order = np.lexsort((sides[:, 2], sides[:, 1], sides[:, 0]))
    sides = sides[order]
    edge, first, count = np.unique(sides[:, :2], axis=0, return_index=True, return_counts=True)
    other = np.where(count > 1, sides[np.minimum(first + 1, len(sides) - 1), 2], -1)
    return edge.astype(np.int32), np.stack([sides[first, 2], other], axis=1).astype(np.int32)


def vertex_normals(vert: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Unit normals (n, 3) at vertices (n, 3) of triangles (m, 3), weighted by area; zero where there is no face."""
    corners = vert[face]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.zeros_like(vert)
    for k in range(3):
        np.add.at(total, face[:, k], area)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, length, out=np.zeros_like(total), where=length > 0)


def volume_of(vert: np.ndarray, face: np.ndarray) -> float:
    """Volume that triangles enclose, m3, negative if they look inwards."""
    a, b, c = np.moveaxis(vert[face], 1, 0)
    return float((a * np.cross(b, c)).sum() / 6.0)
