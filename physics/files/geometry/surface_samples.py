"""Points and edges of a surface that look for contacts in the fields of others, in bins with balls around them.

Points: vertices, and more on long sharp edges and on large faces. A vertex at which all is hollow is left out, because
another geom touches an earlier point; on smooth, finely meshed surfaces points are dropped near sharper ones, as long
as corners between two neighbours protrude by some share of the size. Edges: sharp, convex, and long enough that their
ends do not stand for them.

Bins: points are halved across their longest side again and again, and of 2^depth bins of n points, bin j has the points
j n / 2^depth to (j + 1) n / 2^depth, rounded down. Eight bins in succession are a block, which is so the bin of a tree
three levels less deep. No starts are stored.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .surface import ClosedSurface, half_edges

MOST_POINTS, MOST_EDGES = 2048, 1024
A_BIN, BLOCK_DEPTH = 8, 3
"""The most points in a bin; levels between a block and its bins."""
SHARP = np.radians(20.0)
"""Angle between the normals of two faces from which on their edge is sampled."""
OUT = 1.0 / 2000.0
"""Share of the longest side that may stick out between two points of a smooth surface."""
ON_EDGES, ON_FACES, SHORT_EDGE = 1.0 / 24.0, 1.0 / 10.0, 1.0 / 50.0
"""Shares of the longest side: the most between points of sharp edges, and of large faces; the shortest edge."""


@dataclass(frozen=True, eq=False)
class Binned:
    """Items in the order of their bins: `depth` says how many there are.

    Attributes:
        items: (n, 3 k) k points for each item, m.
        depth: 2^depth bins.
        balls: (2^depth, 4) centre and radius of the ball around each bin, m.
        block_depth: 2^block_depth blocks.
        block_balls: (2^block_depth, 4).
    """

    items: np.ndarray
    depth: int
    balls: np.ndarray
    block_depth: int
    block_balls: np.ndarray


def binned(items: np.ndarray) -> Binned:
    """Put items (n, 3 k) into bins."""
    count = len(items)
    middle = items.reshape(count, items.shape[1] // 3, 3).mean(axis=1)
    depth = max(0, int(np.ceil(np.log2(max(count, 1) / A_BIN))))
    order = np.arange(count)
    for level in range(depth):
        ends = _starts(count, level)
        for first, last in pairwise(ends):
            own = order[first:last]
            axis = np.ptp(middle[own], axis=0).argmax()
            order[first:last] = own[np.argsort(middle[own, axis], kind="stable")]
    items = items[order]
    above = max(0, depth - BLOCK_DEPTH)
    return Binned(items, depth, _balls(items, depth), above, _balls(items, above))


def _starts(count: int, level: int) -> np.ndarray:
    return (np.arange((1 << level) + 1, dtype=np.int64) * count) >> level


def _balls(items: np.ndarray, level: int) -> np.ndarray:
    """Balls (2^level, 4) around the boxes of bins."""
    balls = np.zeros((1 << level, 4))
    ends = _starts(len(items), level)
    for k, (first, last) in enumerate(pairwise(ends)):
        points = items[first:last].reshape(-1, 3)
        if len(points):
            balls[k, :3] = (points.min(axis=0) + points.max(axis=0)) / 2
            balls[k, 3] = np.linalg.norm(points - balls[k, :3], axis=1).max()
    return balls


def contact_points(surface: ClosedSurface) -> np.ndarray:
    """Return the points (n, 3) of a surface that look for contacts, at most MOST_POINTS."""
    length = float(np.ptp(surface.vertices, axis=0).max())
    edge, angle = _bends(surface)
    convexity = np.full(len(surface.vertices), -np.inf)
    curvature = np.zeros(len(surface.vertices))
    for side in range(2):
        np.maximum.at(convexity, edge[:, side], angle)
        np.maximum.at(curvature, edge[:, side], _across(surface, edge, angle))
    kept = np.flatnonzero(convexity > -np.radians(1.0))
    sharp = angle > SHARP
    points = [
        surface.vertices[kept],
        _between(surface.vertices[edge[sharp]], ON_EDGES * length),
        _on_faces(surface.corners, ON_FACES * length),
    ]
    curvatures = [curvature[kept], np.full(len(points[1]), np.inf), np.zeros(len(points[2]))]
    return _thinned(np.concatenate(points), np.concatenate(curvatures), length)


def contact_edges(surface: ClosedSurface) -> np.ndarray:
    """Return the edges (n, 6), by both ends, that look for contacts: sharp, convex, not short; the longest first."""
    length = float(np.ptp(surface.vertices, axis=0).max())
    edge, angle = _bends(surface)
    ends = surface.vertices[edge[angle > SHARP]]
    size = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    order = np.argsort(-size, kind="stable")
    return ends[order[size[order] > SHORT_EDGE * length]][:MOST_EDGES].reshape(-1, 6)


def _normals(surface: ClosedSurface) -> np.ndarray:
    corners = surface.corners
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-300)


def _bends(surface: ClosedSurface) -> tuple[np.ndarray, np.ndarray]:
    """Edges (n, 2) with one face in each direction, and the angle (n,) between them, positive if convex."""
    faces, count = surface.faces, len(surface.faces)
    edges = half_edges(faces)
    key = np.sort(edges, axis=1)
    order = np.lexsort((edges[:, 0] > edges[:, 1], key[:, 1], key[:, 0]))
    one, other = order[:-1], order[1:]
    pair = (key[one] == key[other]).all(axis=1) & (edges[one, 0] != edges[other, 0])
    one, other = one[pair], other[pair]
    normal = _normals(surface)
    cosine = np.einsum("ij,ij->i", normal[one % count], normal[other % count]).clip(-1, 1)
    tip = surface.vertices[faces[other % count, (other // count + 2) % 3]]
    height = np.einsum("ij,ij->i", normal[one % count], tip - surface.vertices[edges[one, 0]])
    return key[one], np.arccos(cosine) * np.where(height <= 0, 1.0, -1.0)


def _across(surface: ClosedSurface, edge: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Curvature (n,) 1/m across edges: the angle over the height of the lower of both faces; 0 where hollow."""
    corners = surface.corners
    doubled = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    keys = np.sort(half_edges(surface.faces), axis=1)
    number = {tuple(row): k for k, row in enumerate(edge.tolist())}
    least = np.full(len(edge), np.inf)
    rows = np.array([number.get(tuple(key), -1) for key in keys.tolist()])
    np.minimum.at(least, rows[rows >= 0], np.tile(doubled, 3)[rows >= 0])
    area = np.where(np.isfinite(least), least, 1.0)
    length = np.linalg.norm(surface.vertices[edge[:, 1]] - surface.vertices[edge[:, 0]], axis=1)
    return np.maximum(angle, 0.0) * length / np.maximum(area, 1e-300)


def _between(ends: np.ndarray, spacing: float) -> np.ndarray:
    """Points (n, 3) inside of edges (m, 2, 3), at most a spacing apart."""
    parts = np.ceil(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / spacing).astype(int)
    points = [a + (b - a) * np.arange(1, n)[:, None] / n for (a, b), n in zip(ends, parts, strict=True) if n > 1]
    return np.concatenate([np.zeros((0, 3)), *points])


def _on_faces(corners: np.ndarray, spacing: float) -> np.ndarray:
    """Points (n, 3) inside of triangles (m, 3, 3), at most a spacing apart."""
    longest = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max(axis=1)
    points = [np.zeros((0, 3))]
    for k in np.flatnonzero(longest > 2 * spacing):
        n = int(np.ceil(longest[k] / spacing))
        i, j = (part.reshape(-1) for part in np.meshgrid(np.arange(1, n), np.arange(1, n), indexing="ij"))
        i, j = i[i + j < n], j[i + j < n]
        points.append(np.stack([i, j, n - i - j], axis=1) / n @ corners[k])
    return np.concatenate(points)


def _thinned(points: np.ndarray, curvature: np.ndarray, length: float) -> np.ndarray:
    """Drop points near others of at least their curvature; at first corners may protrude by OUT of the length."""
    order = np.argsort(-curvature, kind="stable")
    points, curvature = points[order], curvature[order]
    out = OUT * length
    while True:
        with np.errstate(divide="ignore"):
            spacing = np.minimum(np.sqrt(8 * out / curvature), ON_FACES * length)
        kept = _apart(points, np.maximum(spacing, out))
        if len(kept) <= MOST_POINTS:
            return points[kept]
        out *= 1.5


def _apart(points: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    """Return the points, taken in order, that have nothing taken before within half their spacing; their numbers."""
    side = float(spacing.max())
    cells: dict[tuple[int, int, int], list[int]] = {}
    kept = []
    near = [tuple(offset) for offset in np.indices((3, 3, 3)).reshape(3, -1).T - 1]
    for k, (place, point) in enumerate(zip(np.floor(points / side).astype(int).tolist(), points, strict=True)):
        x, y, z = place
        others = [o for i, j, m in near for o in cells.get((x + i, y + j, z + m), ())]
        if not others or np.square(points[others] - point).sum(axis=1).min() >= np.square(spacing[k] / 2):
            kept.append(k)
            cells.setdefault((x, y, z), []).append(k)
    return np.array(kept, int)
