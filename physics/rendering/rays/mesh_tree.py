"""Meshes for rays: triangles in the order of a tree of boxes, which numpy builds once for all environments.

The tree of a mesh is complete and binary: node 1 is the root, node i has the children 2 i and 2 i + 1, and all leaves
are `depth` levels down. Of L = 2^depth leaves, leaf j has the triangles j T / L to (j + 1) T / L, rounded down, of T in
the mesh. So no pointers are stored, and a ray climbs back by shifting the number of its node (`traverse.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from ...files.geometry.compiled_mesh import triangles_of

MOST_IN_LEAF = 4
ROUNDING = 2e-6
"""Share of a mesh's size by which its boxes are larger than their triangles: more than single precision rounds off
where rays meet them."""

# columns of `MeshTrees.trees`
FIRST_NODE, DEPTH, FIRST_TRIANGLE, TRIANGLES = range(4)
TREE_COLUMNS = 4


@dataclass(frozen=True, eq=False)
class MeshTrees:
    """Trees of some meshes of a model, one after the other; without meshes one row that is not read.

    Attributes:
        meshes: MuJoCo's ids of the meshes, (m,).
        trees: (m, TREE_COLUMNS) int32.
        nodes: (n, 6) float32: lower and upper corner of every node's box in the mesh's frame, metres; node 1 first.
        corners: (t, 9) float32: the three corners of every triangle, counterclockwise from outside.
        faces: (t,) which of the model's faces a triangle is.
        reach: (m,) distance of the farthest vertex from the mesh's origin, metres.
    """

    meshes: tuple[int, ...]
    trees: np.ndarray
    nodes: np.ndarray
    corners: np.ndarray
    faces: np.ndarray
    reach: np.ndarray


_kept: "WeakKeyDictionary[mujoco.MjModel, dict[tuple[int, ...], MeshTrees]]" = WeakKeyDictionary()


def mesh_trees(mj: mujoco.MjModel, meshes: Sequence[int]) -> MeshTrees:
    """Trees of these meshes; built once for a model."""
    kept = _kept.setdefault(mj, {})
    key = tuple(dict.fromkeys(int(mesh) for mesh in meshes))
    if key not in kept:
        kept[key] = _built(mj, key)
    return kept[key]


def _built(mj: mujoco.MjModel, meshes: tuple[int, ...]) -> MeshTrees:
    trees, nodes, corners, faces, reach = [], [np.zeros((0, 6))], [np.zeros((0, 9))], [np.zeros(0, int)], []
    first_node = first_triangle = 0
    for mesh in meshes:
        triangles = triangles_of(mj, mesh)
        order, boxes = box_tree(triangles)
        depth = (len(boxes) + 1).bit_length() - 2
        trees.append([first_node, depth, first_triangle, len(triangles)])
        nodes.append(boxes)
        corners.append(triangles[order].reshape(-1, 9))
        faces.append(mj.mesh_faceadr[mesh] + order)
        reach.append(float(np.linalg.norm(triangles, axis=-1).max()))
        first_node += len(boxes)
        first_triangle += len(triangles)
    if not meshes:
        tables = np.zeros((1, TREE_COLUMNS), np.int32), np.zeros((1, 6), np.float32), np.zeros((1, 9), np.float32)
        return MeshTrees((), *tables, np.zeros(1, int), np.zeros(1))
    return MeshTrees(
        meshes,
        np.array(trees, np.int32),
        np.concatenate(nodes).astype(np.float32),
        np.concatenate(corners).astype(np.float32),
        np.concatenate(faces),
        np.array(reach),
    )


def box_tree(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A complete tree of boxes over triangles (t, 3, 3), halved again and again across the longest side.

    All nodes of a level are split at once: sorted by node, then by the middle of the triangle along the node's axis.

    Returns:
        order (t,): the triangles as the leaves have them; boxes (2^(depth + 1) - 1, 6): lower and upper corners.
    """
    count = len(triangles)
    low, high = triangles.min(axis=1), triangles.max(axis=1)
    middle = (low.astype(np.float64) + high) / 2
    depth = max(0, int(np.ceil(np.log2(count / MOST_IN_LEAF))))
    order = np.arange(count)
    rank = np.empty((count, 3), np.int64)  # along each axis
    rank[np.argsort(middle, axis=0, kind="stable"), np.arange(3)] = order[:, None]
    for level in range(depth):
        starts = _starts(count, level)
        node = np.repeat(np.arange(1 << level), np.diff(starts))
        sorted_middle = middle[order]
        side = np.maximum.reduceat(sorted_middle, starts[:-1]) - np.minimum.reduceat(sorted_middle, starts[:-1])
        order = order[np.argsort(node * count + rank[order, side.argmax(axis=1)[node]])]
    room = ROUNDING * float(np.abs(triangles).max())
    levels = []
    for level in range(depth + 1):
        first = _starts(count, level)[:-1]
        lower, upper = np.minimum.reduceat(low[order], first), np.maximum.reduceat(high[order], first)
        levels.append(np.concatenate([lower - room, upper + room], axis=1))
    return order, np.concatenate(levels)


def _starts(count: int, level: int) -> np.ndarray:
    """First triangle of every node of a level, and their number at the end."""
    return (np.arange((1 << level) + 1, dtype=np.int64) * count) >> level
