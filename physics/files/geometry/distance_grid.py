"""Distances from a surface at the nodes of a grid: exact in a band around it, nearly so beyond.

In the band each block of nodes is compared with the triangles that come near it. From there outwards, layer by layer, a
node is compared with the nearest triangles of its neighbours; what it gets is at least its distance, and seldom more.
"""

from dataclasses import dataclass

import numpy as np

from .surface import ClosedSurface
from .triangle_distance import Triangles, places_in_boxes
from .winding import crossings, curtain

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
    """Lower the distances of nodes (n,), which may stand there several times, to those found from faces (n,).

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

    From layer to layer, and again from every node that a later layer has brought nearer, until none is.
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
