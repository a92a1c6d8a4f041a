"""Convex hulls as contacts see them: MuJoCo's polygons, the same as triangles, their edges and normals."""

from dataclasses import dataclass

import mujoco
import numpy as np

from .compiled_mesh import points_of


@dataclass(frozen=True, eq=False)
class Hull:
    """A closed convex surface in the frame of its geom, m; indices count from the hull's first vertex, face and edge.

    Attributes:
        vert: (n, 3).
        vert_normal: (n, 3), the mean of the faces around a vertex, each as much as its area.
        face: (m, 3) triangles, counter-clockwise from outside.
        face_normal: (m, 3).
        edge: (e, 2), the lower vertex first; no edge lies between two faces in one plane.
        edge_face: (e, 2) the faces at both sides.
    """

    vert: np.ndarray
    vert_normal: np.ndarray
    face: np.ndarray
    face_normal: np.ndarray
    edge: np.ndarray
    edge_face: np.ndarray


def hull_polygons(mjm: mujoco.MjModel, mesh: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Vertices that the hull of a compiled mesh has (n, 3), and its polygons, each by its corners, in MuJoCo's order.

    Polygon k has the normal `mjm.mesh_polynormal[mjm.mesh_polyadr[mesh] + k]`. Where nothing can touch the mesh, MuJoCo
    has made no hull: all vertices, and no polygon.
    """
    first, count = mjm.mesh_polyadr[mesh], mjm.mesh_polynum[mesh]
    points = points_of(mjm, mesh).astype(float)
    ranges = zip(mjm.mesh_polyvertadr[first : first + count], mjm.mesh_polyvertnum[first : first + count], strict=True)
    polygons = [mjm.mesh_polyvert[adr : adr + number] for adr, number in ranges]
    if not polygons:
        return points, []
    used = np.unique(np.concatenate(polygons))
    number_of = np.zeros(len(points), int)
    number_of[used] = np.arange(len(used))
    return points[used], [number_of[polygon] for polygon in polygons]


def whole_hull(mjm: mujoco.MjModel, mesh: int) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """All vertices of a hull (n, 3), its polygons, and the neighbours of every vertex by the edges of its triangles.

    Triangles that are one plane but for rounding are one of MuJoCo's polygons, whose inner vertices and edges stick out
    of it by as much: who climbs from vertex to vertex needs them. `hull_polygons` leaves them out.
    """
    points, polygons = hull_polygons(mjm, mesh)
    at = mjm.mesh_graphadr[mesh]
    if not polygons or at < 0:
        return points, polygons, [np.zeros(0, int)] * len(points)
    count, faces = mjm.mesh_graph[at : at + 2]
    first, vertex, other = np.split(mjm.mesh_graph[at + 2 : at + 2 + 3 * count + 3 * faces], [count, 2 * count])
    corners = np.unique(np.concatenate([mjm.mesh_polyvert[_corners(mjm, mesh)], vertex]))
    number_of = np.zeros(mjm.mesh_vertnum[mesh], int)
    number_of[corners] = np.arange(len(corners))
    ways = [np.zeros(0, int)] * len(corners)
    ends = np.flatnonzero(other < 0)
    for v, start, end in zip(vertex, first, ends[np.searchsorted(ends, first)], strict=True):
        ways[number_of[v]] = np.sort(number_of[vertex[other[start:end]]])
    used = np.unique(mjm.mesh_polyvert[_corners(mjm, mesh)])
    renamed = [number_of[used[polygon]] for polygon in polygons]
    return points_of(mjm, mesh).astype(float)[corners], renamed, ways


def _corners(mjm: mujoco.MjModel, mesh: int) -> slice:
    """Return the part of `mesh_polyvert` with the corners of a mesh's polygons."""
    first, last = mjm.mesh_polyadr[mesh], mjm.mesh_polyadr[mesh] + mjm.mesh_polynum[mesh] - 1
    return slice(mjm.mesh_polyvertadr[first], mjm.mesh_polyvertadr[last] + mjm.mesh_polyvertnum[last])


def hull_of(mjm: mujoco.MjModel, mesh: int) -> Hull | None:
    """The hull of a compiled mesh; None where MuJoCo has made none, because nothing can touch the mesh."""
    vert, polygons = hull_polygons(mjm, mesh)
    if not polygons:
        return None
    faces: list[tuple[int, int, int]] = []
    face_normals, sides = [], []
    for p, ring in enumerate(polygons, mjm.mesh_polyadr[mesh]):
        inside = range(1, len(ring) - 1)
        for k, (a, b) in enumerate(zip(ring, np.roll(ring, -1), strict=True)):
            triangle = len(faces) + min(max(k - 1, 0), len(inside) - 1)
            sides.append((min(a, b), max(a, b), triangle))
        faces += [(ring[0], ring[k], ring[k + 1]) for k in inside]
        face_normals += [mjm.mesh_polynormal[p]] * len(inside)
    face = np.array(faces, np.int32)
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
