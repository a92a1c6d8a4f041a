"""Distances from a surface at the nodes of a grid: exact in a band around it, nearly so beyond.

In the band each block of nodes is compared with the triangles that come near it. From there outwards, layer by layer, a
node is compared with the nearest triangles of its neighbours; its result is at least its distance, and seldom more.

Signs come from the winding numbers of the surface: 1 inside, 0 outside, others near an open border. From a node a ray
goes upwards, along z. A face that it leaves through counts 1, one that it enters through -1; that is the winding number
of the surface with a curtain, hung from its border down to minus infinity. The curtain's own solid angle is subtracted:
a triangle with one corner at infinity for each edge of the border. So the number is exact, with holes too, and costs
one pass over the faces and one over the border.

A. Jacobson et al., "Robust inside-outside segmentation using generalized winding numbers", ACM Trans. Graph. 32(4),
2013; A. van Oosterom and J. Strackee, "The solid angle of a plane triangle", IEEE Trans. Biomed. Eng. 30(2), 1983.
"""

from dataclasses import dataclass

import numpy as np

from .surface import ClosedSurface
from .triangle_distance import Triangles, places_in_boxes

BAND = 3.0
"""Cells around the surface in which nodes are exact: all corners of a cell are that has a point within 1.2 cells."""
ENOUGH = 0.05
"""Cells by which a node beyond the band has to come nearer for its neighbours to be asked again."""
SIDE = 4
"""Nodes along the side of a block."""
_AT_ONCE, _PAIRS = 1 << 20, 1 << 17


@dataclass(frozen=True, eq=False)
class DistanceGrid:
    """Nodes at `low + cell * (i, j, k)`, row-major over `counts`: z changes fastest.

    Attributes:
        low: (3,) m.
        cell: m.
        counts: (3,) nodes along each axis.
        distance: (nodes,) m, negative inside.
        nearest: (nodes,) the nearest face of the surface.
    """

    low: np.ndarray
    cell: float
    counts: np.ndarray
    distance: np.ndarray
    nearest: np.ndarray


def grid_of(
    surface: ClosedSurface, triangles: Triangles, low: np.ndarray, cell: float, counts: np.ndarray
) -> DistanceGrid:
    """Compute the signed distances of all nodes."""
    distance, nearest = _band(surface, triangles, low, cell, counts)
    _fill(triangles, low, cell, counts, distance, nearest)
    winding = crossings(surface, low, cell, counts).reshape(-1)
    inside = winding > 0
    if len(surface.border):
        inside = winding - curtain(surface, nodes_at(np.arange(len(winding)), low, cell, counts)) > 0.5
    return DistanceGrid(low, cell, counts, np.where(inside, -distance, distance), nearest)


def nodes_at(numbers: np.ndarray, low: np.ndarray, cell: float, counts: np.ndarray) -> np.ndarray:
    """Return the places (n, 3) of nodes by their numbers (n,)."""
    rest, z = np.divmod(numbers, counts[2])
    return low + cell * np.stack([*np.divmod(rest, counts[1]), z], axis=1)


def _band(
    surface: ClosedSurface, triangles: Triangles, low: np.ndarray, cell: float, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Distance (nodes,) and nearest face (nodes,) where a face is within the band; infinity and -1 elsewhere."""
    distance, nearest = np.full(int(np.prod(counts)), np.inf), np.full(int(np.prod(counts)), -1, np.int32)
    reach, side = BAND * cell, SIDE * cell
    corners = surface.corners - low
    blocks = -(-counts // SIDE)
    first = np.maximum(np.floor((corners.min(axis=1) - reach) / side), 0).astype(np.int64)
    last = np.minimum(np.floor((corners.max(axis=1) + reach) / side), blocks - 1).astype(np.int64)
    within = np.indices((SIDE,) * 3).reshape(3, -1).T
    middle, half = (SIDE - 1) / 2 * cell, (SIDE - 1) / 2 * cell
    for face, block in places_in_boxes(first, last, _AT_ONCE):
        centre = low + block * side + middle
        height = np.abs(np.einsum("ij,ij->i", triangles.normal[face], centre) - triangles.offset[face])
        near = height <= reach + half * np.abs(triangles.normal[face]).sum(axis=1)
        near &= _apart(surface.corners[face], centre) <= reach + half * np.sqrt(3.0)
        face, block = face[near], block[near]
        for at in range(0, len(face), _PAIRS // len(within)):
            some = slice(at, at + _PAIRS // len(within))
            place = (block[some, None] * SIDE + within).reshape(-1, 3)
            which = np.repeat(face[some], len(within))
            points = low + cell * place
            height = np.abs(np.einsum("ij,ij->i", triangles.normal[which], points) - triangles.offset[which])
            kept = (place < counts).all(axis=1) & (height <= reach)
            place, which, points = place[kept], which[kept], points[kept]
            node = (place[:, 0] * counts[1] + place[:, 1]) * counts[2] + place[:, 2]
            found = triangles.distance(points, which)
            kept = found <= reach
            _lower(distance, nearest, node[kept], which[kept], found[kept])
    return distance, nearest


def _apart(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return a distance (n,) that points (n, 3) have at least from triangles (n, 3, 3), by the balls around them."""
    middle = corners.mean(axis=1)
    radius = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
    return np.linalg.norm(points - middle, axis=1) - radius


def _lower(
    distance: np.ndarray, nearest: np.ndarray, node: np.ndarray, face: np.ndarray, found: np.ndarray, least: float = 0.0
) -> np.ndarray:
    """Lower the distances of nodes (n,), which may occur several times, to the distances from faces (n,).

    Less than `least` metres are not worth it.

    Returns:
        The nodes that are lower now; they may stand there several times.
    """
    better = found < distance[node] - least
    node, face, found = node[better], face[better], found[better]
    np.minimum.at(distance, node, found)
    best = distance[node] == found
    nearest[node[best]] = face[best]
    return node[best]


def _fill(
    triangles: Triangles, low: np.ndarray, cell: float, counts: np.ndarray, distance: np.ndarray, nearest: np.ndarray
) -> None:
    """Give every node beyond the band a distance: compare it with the nearest faces of its six neighbours.

    From layer to layer, and again from every node that a later layer has brought nearer, until no node changes.
    """
    strides = np.array([counts[1] * counts[2], counts[2], 1])
    layer, marks = np.flatnonzero(nearest >= 0), np.zeros(len(nearest), bool)
    while len(layer):
        place = np.stack([layer // strides[0], layer // strides[1] % counts[1], layer % counts[2]], axis=1)
        nodes, faces = [], []
        for axis in range(3):
            for step in (-1, 1):
                inside = (place[:, axis] + step >= 0) & (place[:, axis] + step < counts[axis])
                node, face = layer[inside] + step * strides[axis], nearest[layer[inside]]
                open_to = (nearest[node] != face) & (distance[node] > BAND * cell)
                nodes.append(node[open_to])
                faces.append(face[open_to])
        node, face = np.concatenate(nodes), np.concatenate(faces)
        found = triangles.distance(nodes_at(node, low, cell, counts), face)
        marks[_lower(distance, nearest, node, face, found, ENOUGH * cell)] = True
        layer = np.flatnonzero(marks)
        marks[layer] = False


ASIDE = 3.7e-7, 2.3e-7
"""Share of a cell by which rays pass beside the nodes, along x and y: vertices of meshes often lie above nodes."""
_COLUMNS_AT_ONCE = 1 << 20


def crossings(surface: ClosedSurface, low: np.ndarray, cell: float, counts: np.ndarray) -> np.ndarray:
    """Return the winding numbers (x, y, z) int16 at the nodes of a grid, with a curtain below the border.

    Args:
        surface: the surface to wind around.
        low: (3,) the first node, m.
        cell: m between nodes.
        counts: (3,) nodes along each axis.
    """
    found = np.zeros((counts[0], counts[1], counts[2] + 1), np.int16)
    start = low[:2] + np.multiply(ASIDE, cell)
    flat = surface.corners[:, :, :2]
    first = np.maximum(np.ceil((flat.min(axis=1) - start) / cell), 0).astype(np.int64)
    last = np.minimum(np.floor((flat.max(axis=1) - start) / cell), counts[:2] - 1).astype(np.int64)
    for face, column in places_in_boxes(first, last, _COLUMNS_AT_ONCE):
        point = start + column * cell
        sides = np.stack([_side(surface, face, k, point) for k in range(3)], axis=1)
        met = (sides > 0).all(axis=1) | (sides < 0).all(axis=1)
        face, column, sides = face[met], column[met], sides[met]
        height = np.einsum("ij,ij->i", sides, surface.corners[face][:, :, 2]) / sides.sum(axis=1)
        below = np.clip(np.ceil((height - low[2]) / cell), 0, counts[2]).astype(np.int64)  # nodes under the face
        np.add.at(found, (column[:, 0], column[:, 1], below), np.where(sides[:, 0] > 0, 1, -1).astype(np.int16))
    return np.cumsum(found[:, :, ::-1], axis=2, dtype=np.int16)[:, :, ::-1][:, :, 1:]


def _side(surface: ClosedSurface, face: np.ndarray, corner: int, point: np.ndarray) -> np.ndarray:
    """Return on which side of the edge opposite a corner points lie, seen from above; never 0.

    Both faces of an edge compute it in the same order, so that no ray slips between them or meets both.
    """
    one, other = surface.faces[face, (corner + 1) % 3], surface.faces[face, (corner + 2) % 3]
    a, b = surface.vertices[np.minimum(one, other)], surface.vertices[np.maximum(one, other)]
    turn = (b[:, 0] - a[:, 0]) * (point[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (point[:, 0] - a[:, 0])
    return np.where(one < other, 1.0, -1.0) * np.where(turn == 0.0, 1e-300, turn)


def curtain(surface: ClosedSurface, points: np.ndarray) -> np.ndarray:
    """Return the share (n,) of the winding number at points (n, 3) that the curtain below the border has."""
    total = np.zeros(len(points))
    for one, other in surface.border:
        a, b = surface.vertices[other] - points, surface.vertices[one] - points
        la, lb = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
        spat = -(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])  # a x b, times the direction (0, 0, -1) of the third corner
        total += np.arctan2(spat, la * lb + np.einsum("ij,ij->i", a, b) - b[:, 2] * la - a[:, 2] * lb)
    return total / (2 * np.pi)
