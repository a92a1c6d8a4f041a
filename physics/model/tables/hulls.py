"""Convex meshes for the kernels: vertices, and the faces around each vertex.

MuJoCo 4 puts the contacts of a plane and a mesh at the lowest vertex, and around the face at that vertex that faces the
plane most (inferred from its contacts). A *corner* is a face seen from one of its vertices. Of the face's other
vertices a corner keeps at most three, which make a large quadrilateral with it.

In a mesh with many vertices, the farthest one in a direction is sought by climbing from neighbour to neighbour. The
start is the vertex that is farthest along the middle of the direction's cell, in a grid on a cube.
"""

from dataclasses import dataclass, field

import mujoco
import numpy as np

from ...base.shapes.mesh import BLOCK, GRID
from ...files.geometry.hull import whole_hull

FEW = 96
"""Vertices up to which it is faster to look at all of them (measured: GJK in `tumble bench scenes`)."""


@dataclass
class Hulls:
    """Vertices and corners of all meshes, one mesh after the other."""

    points: list[np.ndarray] = field(default_factory=list)
    blocks: list[np.ndarray] = field(default_factory=list)
    corner_start: list[int] = field(default_factory=list)
    corner_count: list[int] = field(default_factory=list)
    following: list[tuple[int, ...]] = field(default_factory=list)
    normals: list[np.ndarray] = field(default_factory=list)
    corner_face: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    faces: list[list[int]] = field(default_factory=list)
    grid: list[int] = field(default_factory=list)
    ways: list[np.ndarray] = field(default_factory=list)

    def add(self, mjm: mujoco.MjModel, mesh: int) -> tuple[int, int, int, int]:
        """Append the hull of a mesh.

        Returns:
            Its first vertex, the number of them, its first block, and its first cell of `grid`, or -1.
        """
        first, block = len(self.corner_start), sum(map(len, self.blocks))
        points, polygons, ways = whole_hull(mjm, mesh)
        if polygons:
            self._add_corners(points, polygons, mjm.mesh_polynormal[mjm.mesh_polyadr[mesh] :])
        else:
            self.corner_start.extend([len(self.following)] * len(points))
            self.corner_count.extend([0] * len(points))
        self.points.append(points)
        self.blocks.append(blocks_of(points))
        cells = self._add_grid(points) if polygons else -1
        self.ways.extend(ways if cells >= 0 else [np.zeros(0, int)] * len(points))
        return first, len(points), block, cells

    def _add_corners(self, points: np.ndarray, polygons: list[np.ndarray], normals: np.ndarray) -> None:
        """Append the corners of a hull's faces, sorted by vertex, and corners of one vertex by face."""
        size = np.array([len(polygon) for polygon in polygons])
        vertex, face = np.concatenate(polygons), np.repeat(np.arange(len(polygons)), size)
        order = np.argsort(vertex, kind="stable")
        before, first = np.roll(vertex, 1), np.cumsum(size) - size
        before[first] = vertex[first + size - 1]
        count = np.bincount(vertex, minlength=len(points))
        self.corner_start.extend((len(self.following) + np.cumsum(count) - count).tolist())
        self.corner_count.extend(count.tolist())
        self.following.extend(map(tuple, large_quadrilaterals(points, polygons)[order].tolist()))
        self.normals.extend(normals[face[order]])
        self.corner_face.extend((len(self.faces) + face[order]).tolist())
        self.before.extend(before[order].tolist())
        self.faces.extend(polygon.tolist() for polygon in polygons)

    def _add_grid(self, points: np.ndarray) -> int:
        if len(points) <= FEW:
            return -1
        self.grid.extend(int(v) for v in (grid_directions() @ points.T).argmax(axis=1))
        return len(self.grid) - 6 * GRID**2


def blocks_of(points: np.ndarray) -> np.ndarray:
    """Vertices (n, 3) in blocks (m, 3 BLOCK): x of BLOCK vertices, y, z; the first vertex fills the last block up."""
    full = np.concatenate([points, np.repeat(points[:1], -len(points) % BLOCK, axis=0)])
    return full.reshape(-1, BLOCK, 3).transpose(0, 2, 1).reshape(-1, 3 * BLOCK)


def grid_directions() -> np.ndarray:
    """Return the middles of the cells (6 GRID^2, 3): for +x, -x, +y, ..., and within a side by the next two axes."""
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


def large_quadrilaterals(points: np.ndarray, polygons: list[np.ndarray]) -> np.ndarray:
    """Return the three vertices that make a large quadrilateral with each corner of each polygon (corners, 3).

    Rows are in the order of polygons and of their corners. Triangles have -1 for the third vertex. In a larger polygon
    a corner starts with the three vertices that follow it. The last of these moves on while the area grows; after each
    of its moves the second does, and then the first. Mostly that finds the largest quadrilateral; MuJoCo 4.0.0 does the
    same, as its contacts show. All corners move at the same time, one vertex each.

    Args:
        points: vertices of a hull (n, 3), m.
        polygons: indices of the corners of each of its faces, counter-clockwise.
    """
    if not polygons:
        return np.zeros((0, 3), int)
    size = np.array([len(polygon) for polygon in polygons])
    start = np.repeat(np.cumsum(size) - size, size) + np.arange(size.sum())
    size = np.repeat(size, size)
    rings = np.concatenate([ring for polygon in polygons for ring in (polygon, polygon)])  # so no index wraps around
    others = np.tile([1, 2, 3], (len(size), 1))
    many = np.flatnonzero(size > 4)
    others[many] = _enlarged(points[rings].T, start[many], size[many]).T
    found = rings[np.minimum(start[:, None] + others, len(rings) - 1)]
    return np.where(others < size[:, None], found, -1)


_MOVES_NEXT = np.array([[-1, 3, 1, -1], [-1, 1, 2, 2]])
"""The corner, 1 to 3, that may move next, or -1: in row 1 if the last one has moved, else row 0; by the last one."""


def _enlarged(rings: np.ndarray, start: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the second to fourth corner of n quadrilaterals (3, n), counted from their first one.

    Args:
        rings: positions of the corners of polygons (3, m), m, each polygon twice.
        start: index of each quadrilateral's first corner in `rings` (n,), in the first copy of its polygon.
        size: number of corners of its polygon (n,), at least 4.
    """
    found, lane = np.empty((3, len(start)), int), np.arange(len(start))
    # corners of all quadrilaterals, and which of them moves: at first the last
    corner = np.stack([*(np.full_like(start, k) for k in range(4)), size])
    mover = np.full_like(start, 3)
    area = _areas(rings, start + corner[:4])
    while len(lane):
        column = np.arange(len(lane))
        # move one corner on if the area grows and it does not meet the next one
        moved = corner.copy()
        moved[mover, column] += 1
        new = _areas(rings, start + moved[:4])
        grows = (moved[mover, column] < corner[mover + 1, column]) & (new > area)
        corner, area = np.where(grows, moved, corner), np.where(grows, new, area)
        mover = _MOVES_NEXT[grows.astype(int), mover]
        # quadrilaterals without a next move are finished
        going = mover >= 0
        if not going.all():
            found[:, lane[~going]] = corner[1:4, ~going]
            lane, start, mover, area, corner = lane[going], start[going], mover[going], area[going], corner[:, going]
    return found


def _areas(rings: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Return twice the areas of quadrilaterals (n,), m^2, with the rounding of `numpy.cross` and `numpy.linalg.norm`.

    Areas in a regular polygon are equal up to rounding, so the rounding decides which is chosen.

    Args:
        rings: positions of corners (3, m), m.
        corner: indices of each quadrilateral's corners in `rings` (4, n).
    """
    at = np.take(rings, corner, axis=1)
    (ax, ay, az), (bx, by, bz) = at[:, 2] - at[:, 0], at[:, 3] - at[:, 1]
    cross = np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)
    return np.sqrt(np.vecdot(cross, cross))
