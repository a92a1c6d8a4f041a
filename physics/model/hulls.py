"""Convex meshes as the kernels see them: vertices, and the faces around each vertex.

MuJoCo 4 puts contacts between a plane and a mesh at the lowest vertex and around that vertex's face that looks most
towards the plane (inferred from its contacts). Of a face seen from one of its vertices, a *corner*, at most three
others are kept, those that make a large quadrilateral with it.

Where a mesh has many vertices, the farthest in a direction is sought by climbing from neighbour to neighbour, beginning
at the one that is farthest along the middle of the direction's cell, in a grid on a cube.
"""

from dataclasses import dataclass, field

import mujoco
import numpy as np

from ..geometry.hull import hull_polygons

GRID = 8
"""Cells along an edge of the cube of directions."""
FEW = 32
"""Vertices up to which it is faster to look at all of them (measured: GJK in `tumble bench scenes`)."""


@dataclass
class Hulls:
    """Vertices and corners of all meshes, one after the other."""

    points: list[np.ndarray] = field(default_factory=list)
    corner_start: list[int] = field(default_factory=list)
    corner_count: list[int] = field(default_factory=list)
    following: list[tuple[int, ...]] = field(default_factory=list)
    normals: list[np.ndarray] = field(default_factory=list)
    corner_face: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    faces: list[list[int]] = field(default_factory=list)
    grid: list[int] = field(default_factory=list)

    def add(self, mjm: mujoco.MjModel, mesh: int) -> tuple[int, int, int]:
        """Append the hull of a mesh; its first vertex, their number, and its first cell of `grid` or -1."""
        first = len(self.corner_start)
        points, polygons = hull_polygons(mjm, mesh)
        corners: list[list[tuple[tuple[int, ...], np.ndarray, int, int]]] = [[] for _ in points]
        for p, polygon in enumerate(polygons, mjm.mesh_polyadr[mesh]):
            face = polygon.tolist()
            for i, v in enumerate(face):
                seen = face[i:] + face[:i]
                after = [seen[k] for k in large_quadrilateral(points[seen])[1:]]
                kept_after = (*after, *[-1] * (3 - len(after)))
                corners[v].append((kept_after, mjm.mesh_polynormal[p], len(self.faces), face[i - 1]))
            self.faces.append(face)
        self.points.append(points)
        for around in corners:
            self.corner_start.append(len(self.following))
            self.corner_count.append(len(around))
            for following, normal, number_of_face, before in around:
                self.following.append(following)
                self.normals.append(normal)
                self.corner_face.append(number_of_face)
                self.before.append(before)
        return first, len(points), self._add_grid(points) if polygons else -1

    def _add_grid(self, points: np.ndarray) -> int:
        if len(points) <= FEW:
            return -1
        self.grid.extend(int(v) for v in (grid_directions() @ points.T).argmax(axis=1))
        return len(self.grid) - 6 * GRID**2


def grid_directions() -> np.ndarray:
    """The middles of the cells (6 GRID^2, 3): of +x, -x, +y and so on, and there by the two axes that follow."""
    middles = (np.arange(GRID) + 0.5) * 2 / GRID - 1
    second, first = np.meshgrid(middles, middles)
    ones = np.ones(GRID**2)
    return np.concatenate(
        [
            np.roll(np.stack([sign * ones, first.ravel(), second.ravel()], axis=1), axis, axis=1)
            for axis in range(3)
            for sign in (1, -1)
        ]
    )


def large_quadrilateral(polygon: np.ndarray) -> list[int]:
    """Indices of the first and three more vertices of a convex polygon (n, 3); all of them if n <= 4.

    The last of the first four moves on while their area grows; after each move the third does, and then the second.
    Most often that finds the largest of those quadrilaterals; it is what MuJoCo 4.0.0 does, seen from its contacts.
    """
    n = len(polygon)
    if n <= 4:
        return list(range(n))

    def area(second: int, third: int, fourth: int) -> float:
        diagonals = np.cross(polygon[third] - polygon[0], polygon[fourth] - polygon[second])
        return float(np.linalg.norm(diagonals))

    b, c, d = 1, 2, 3
    while d + 1 < n and area(b, c, d + 1) > area(b, c, d):
        d += 1
        while c + 1 < d and area(b, c + 1, d) > area(b, c, d):
            c += 1
        while b + 1 < c and area(b + 1, c, d) > area(b, c, d):
            b += 1
    return [0, b, c, d]
