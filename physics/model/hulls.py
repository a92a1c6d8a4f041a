"""Convex meshes as the kernels see them: vertices, and the faces around each vertex.

MuJoCo 4 puts contacts between a plane and a mesh at the lowest vertex and around that vertex's face that looks most
towards the plane (inferred from its contacts). A face of more than four vertices counts with its quadrilateral of
largest area. Of a face seen from one of its vertices, a *corner*, at most the three vertices that follow are kept.
"""

from dataclasses import dataclass, field

import mujoco
import numpy as np


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

    def add(self, mjm: mujoco.MjModel, mesh: int) -> tuple[int, int]:
        """Append a mesh; its first vertex and their number."""
        first, start, number = len(self.points), int(mjm.mesh_vertadr[mesh]), int(mjm.mesh_vertnum[mesh])
        points = np.asarray(mjm.mesh_vert[start : start + number], float)
        corners: list[list[tuple[tuple[int, ...], np.ndarray, int, int]]] = [[] for _ in range(number)]
        for p in range(mjm.mesh_polyadr[mesh], mjm.mesh_polyadr[mesh] + mjm.mesh_polynum[mesh]):
            adr = mjm.mesh_polyvertadr[p]
            face = [int(v) for v in mjm.mesh_polyvert[adr : adr + mjm.mesh_polyvertnum[p]]]
            kept = largest_quadrilateral(points[face])
            for i, v in enumerate(face):
                after = [face[k] for k in sorted((k for k in kept if k != i), key=lambda k: (k - i) % len(face))][:3]
                kept_after = (*after, *[-1] * (3 - len(after)))
                corners[v].append((kept_after, mjm.mesh_polynormal[p], len(self.faces), face[i - 1]))
            self.faces.append(face)
        for point, around in zip(points, corners, strict=True):
            self.points.append(point)
            self.corner_start.append(len(self.following))
            self.corner_count.append(len(around))
            for following, normal, number_of_face, before in around:
                self.following.append(following)
                self.normals.append(normal)
                self.corner_face.append(number_of_face)
                self.before.append(before)
        return first, number


def largest_quadrilateral(polygon: np.ndarray) -> list[int]:
    """Indices of the four vertices of a convex polygon (n, 3) that enclose the largest area; all of them if n <= 4.

    Advances four pointers around the polygon in turn while the area grows (Snoeyink's variant of rotating calipers).
    """
    n = len(polygon)
    if n <= 4:
        return list(range(n))

    def area(i: int, j: int, k: int, m: int) -> float:
        diagonals = np.cross(polygon[k % n] - polygon[i % n], polygon[m % n] - polygon[j % n])
        return float(np.linalg.norm(diagonals))

    b, c, d = 1, 2, 3
    best, largest = (0, 1, 2, 3), area(0, 1, 2, 3)
    for a in range(n):
        grown = True
        while grown:
            grown = False
            if area(a, b, c, d + 1) > largest:
                d, grown = d + 1, True
                best, largest = (a, b, c, d), area(a, b, c, d)
                while area(a, b, c + 1, d) > largest:
                    c += 1
                    best, largest = (a, b, c, d), area(a, b, c, d)
                while area(a, b + 1, c, d) > largest:
                    b += 1
                    best, largest = (a, b, c, d), area(a, b, c, d)
        if b == a:
            b += 1
            if c == b:
                c += 1
                if d == c:
                    d += 1
    return sorted({v % n for v in best})
