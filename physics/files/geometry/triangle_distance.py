"""Exact distances from points to triangles, many pairs at a time, in numpy.

A triangle is prepared once, in columns. A pair costs some hundred operations, which run in blocks that stay in a core's
cache.

C. Ericson, Real-Time Collision Detection, 2005, section 5.1: if a point's foot lies in the triangle, its distance is
that from the plane; if not, the least distance from the three edges.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

BLOCK = 1 << 14
"""Pairs that are computed at once."""


class Triangles:
    """Triangles with corners (m, 3, 3), prepared for distances.

    Attributes:
        normal: (m, 3) unit normals; zero for a triangle without area, which counts as its edges.
        offset: (m,) distance of the plane from the origin, along the normal.
    """

    def __init__(self, corners: np.ndarray) -> None:
        corners = np.asarray(corners, float)
        edges = np.roll(corners, -1, axis=1) - corners
        cross = np.cross(edges[:, 0], -edges[:, 2])
        length = np.linalg.norm(cross, axis=1, keepdims=True)
        flat = length[:, 0] <= 1e-14 * np.square(edges).sum(axis=(1, 2))
        self.normal = np.where(flat[:, None], 0.0, cross / np.where(length > 0, length, 1.0))
        self.offset = np.einsum("ij,ij->i", self.normal, corners[:, 0])
        squared = np.square(edges).sum(axis=2)
        inverse = np.where(squared > 0, 1.0 / np.where(squared > 0, squared, 1.0), 0.0)
        self._corner = [[np.ascontiguousarray(corners[:, i, k]) for k in range(3)] for i in range(3)]
        self._edge = [[np.ascontiguousarray(edges[:, i, k]) for k in range(3)] for i in range(3)]
        self._inverse = [np.ascontiguousarray(inverse[:, i]) for i in range(3)]
        self._normal = [np.ascontiguousarray(self.normal[:, k]) for k in range(3)]

    def distance(self, points: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return the distances (n,) of points (n, 3) from one triangle each, by its number (n,)."""
        found = np.empty(len(points))
        for at in range(0, len(points), BLOCK):
            rows = slice(at, at + BLOCK)
            found[rows] = self._some(points[rows], which[rows])
        return found

    def _some(self, points: np.ndarray, which: np.ndarray) -> np.ndarray:
        columns = [np.ascontiguousarray(points[:, k]) for k in range(3)]
        normal = [part[which] for part in self._normal]
        inside = np.ones(len(points), bool)
        least = np.full(len(points), np.inf)
        height = None
        for i in range(3):
            ex, ey, ez = (part[which] for part in self._edge[i])
            px, py, pz = (x - part[which] for x, part in zip(columns, self._corner[i], strict=True))
            along = np.clip((px * ex + py * ey + pz * ez) * self._inverse[i][which], 0.0, 1.0)
            if height is None:
                height = px * normal[0] + py * normal[1] + pz * normal[2]
            side = (ey * pz - ez * py) * normal[0] + (ez * px - ex * pz) * normal[1] + (ex * py - ey * px) * normal[2]
            inside &= side > 0
            rx, ry, rz = px - along * ex, py - along * ey, pz - along * ez
            np.minimum(least, rx * rx + ry * ry + rz * rz, out=least)
        assert height is not None
        return np.where(inside, np.abs(height), np.sqrt(least))


def places_in_boxes(low: np.ndarray, high: np.ndarray, most: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield all whole-number places in the boxes of some items at a time.

    Args:
        low: (n, d) whole numbers, the first place of each item's box along each axis.
        high: (n, d), the last.
        most: places at a time; an item is not divided.

    Yields:
        The item (p,) of each place, and the places (p, d).
    """
    sizes = np.maximum(high - low + 1, 0)
    counts = np.prod(sizes, axis=1)
    group = np.cumsum(counts) // most
    cuts = [0, *(1 + np.flatnonzero(np.diff(group))).tolist(), len(low)]
    for first, last in pairwise(cuts):
        own = counts[first:last]
        item = np.repeat(np.arange(first, last), own)
        rest = np.arange(len(item)) - np.repeat(np.cumsum(own) - own, own)
        place = np.empty((len(item), low.shape[1]), np.int64)
        for k in reversed(range(low.shape[1])):
            rest, place[:, k] = np.divmod(rest, sizes[item, k])
        yield item, place + low[item]
