"""Marching cubes: the triangles where a field of numbers on a grid changes its sign.

W. Lorensen and H. Cline, Marching cubes, SIGGRAPH 1987. The table of cases is computed: on each face of a cube, lines
cut off the corners inside, each by itself where two of them are opposite. As a face's lines depend only on its corners,
they are the same for both of its cubes, and surfaces are closed. The lines around a cube are loops, and a loop is a fan
of triangles.
"""

from functools import cache

import numpy as np
import torch

CORNERS = np.array([[k & 1, k >> 1 & 1, k >> 2] for k in range(8)])
"""Places (8, 3) of a cube's corners."""
EDGES = [(a, a | 1 << axis, axis) for axis in range(3) for a in range(8) if not a >> axis & 1]
"""Edges of a cube: the corners at both ends, along an axis."""
_EDGE_OF = {frozenset(edge[:2]): number for number, edge in enumerate(EDGES)}


def _faces() -> list[list[int]]:
    """Return the corners of each face of a cube, counterclockwise from outside."""
    found = []
    for axis in range(3):
        u, v = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3
        ring = [0, u, u | v, v]
        found += [[corner | 1 << axis for corner in ring], ring[::-1]]
    return found


@cache
def table() -> np.ndarray:
    """Return the triangles of each case, (256, most, 3) numbers of edges, -1 for none.

    Bit k of a case says that corner k is inside. Triangles go counterclockwise as seen from outside of the surface.
    """
    cases = []
    for case in range(256):
        following = {}
        for ring in _faces():
            sides = [case >> corner & 1 for corner in ring]
            ways = [(sides[k], sides[(k + 1) % 4], _EDGE_OF[frozenset((ring[k], ring[(k + 1) % 4]))]) for k in range(4)]
            for k in range(4):
                if ways[k][:2] == (0, 1):  # a line from where it goes in to where it next comes out
                    after = (ways[(k + i) % 4] for i in range(1, 4))
                    following[ways[k][2]] = next(edge for begin, end, edge in after if (begin, end) == (1, 0))
        triangles = []
        while following:
            loop = [next(iter(following))]
            while (edge := following.pop(loop[-1])) != loop[0]:
                loop.append(edge)
            triangles += [[loop[0], loop[k], loop[k + 1]] for k in range(1, len(loop) - 1)]
        cases.append(triangles)
    found = np.full((256, max(map(len, cases)), 3), -1, np.int64)
    for case, triangles in enumerate(cases):
        found[case, : len(triangles)] = np.array(triangles).reshape(-1, 3)
    return found


def triangles_of(field: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the triangles between the numbers below 0, which are inside, and the others.

    Args:
        field: numbers at the nodes of a grid, (x, y, z); those at its border are not below 0.

    Returns:
        The corners of triangles (t, 3, 3) in cells, counterclockwise from outside; the outward directions there
        (t, 3, 3), of any length; and the node (t,) inside that is at the first corner's edge, as a flat number.
    """
    strides = torch.tensor([field.shape[1] * field.shape[2], field.shape[2], 1], device=field.device)
    inside = (field < 0).to(torch.uint8)
    x, y, z = (size - 1 for size in field.shape)
    parts = [inside[a : a + x, b : b + y, c : c + z] << k for k, (a, b, c) in enumerate(CORNERS.tolist())]
    case = torch.stack(parts).sum(dim=0)
    cells = torch.nonzero((case > 0) & (case < 255))
    rows = torch.as_tensor(table(), device=field.device)[case[tuple(cells.unbind(-1))]]
    which = torch.nonzero(rows[..., 0] >= 0)
    edges = rows[which[:, 0], which[:, 1]]  # (t, 3)
    begin, axis = (torch.tensor([edge[k] for edge in EDGES], device=field.device)[edges] for k in (0, 2))
    node = cells[which[:, 0], None] + torch.as_tensor(CORNERS, device=field.device)[begin]
    first = (node * strides).sum(dim=-1)
    second = first + strides[axis]
    a, b = field.reshape(-1)[first], field.reshape(-1)[second]
    share = (a / (a - b))[..., None]
    along = torch.eye(3, dtype=field.dtype, device=field.device)[axis]
    slope = _slopes(field).reshape(-1, 3)
    normals = slope[first] + share * (slope[second] - slope[first])
    return node.to(field.dtype) + share * along, normals, torch.where(a < 0, first, second)[:, 0]


def _slopes(field: torch.Tensor) -> torch.Tensor:
    """Return the slopes (x, y, z, 3) of a field, by central differences; 0 at its border."""
    found = field.new_zeros((*field.shape, 3))
    for axis in range(3):
        size = field.shape[axis]
        ahead, behind = field.narrow(axis, 2, size - 2), field.narrow(axis, 0, size - 2)
        found[..., axis].narrow(axis, 1, size - 2).copy_(ahead - behind)
    return found
