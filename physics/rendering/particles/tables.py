"""The tables of groups of particles among those of meshes, so that kernels need no more arrays.

A group has `GroupTables` for n environments: rows of the table of nodes and of corners, and for spheres also rows of
the table of trees, which hold the starts of cells. `joined` puts them after the model's.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from ..rays.mesh_tree import FIRST_NODE, FIRST_TRIANGLE, TREE_COLUMNS
from .spheres import FIRST_CELL

_PREFIX = "particle_"
SPHERES_TABLE = TREE_COLUMNS
"""The column of `particle_trees` that is 1 for spheres, after those of `MeshTrees.trees`."""


class GroupTables(NamedTuple):
    """A group in n environments.

    Attributes:
        middle: (n, 1, 3) m of the box around it.
        shape: (n, 1, SHAPE_COLUMNS): its row of `RenderModel.shape`.
        tree: its row of `MeshTrees.trees`, whose first node, triangle and cell are the group's own.
        nodes: (n, b, 6) boxes of a tree, or the numbers of a grid.
        items: (n, k, 9) spheres, or the corners of triangles.
        cells: (n, c, 4) int32 starts of cells; c is 0 without a grid.
        skin: (n, k, SKIN_COLUMNS) of triangles; k is 0 for spheres.
        centers: (n, p, 3) m of the particles.
    """

    middle: torch.Tensor
    shape: torch.Tensor
    tree: tuple[int, ...]
    nodes: torch.Tensor
    items: torch.Tensor
    cells: torch.Tensor
    skin: torch.Tensor
    centers: torch.Tensor


def tables_of(groups: Sequence[GroupTables]) -> dict[str, torch.Tensor]:
    """Return the tables of groups, for `joined`: their first dimension is that of environments."""
    trees, nodes, items, cells, parts = [], 0, 0, 0, []
    has_skin = any(group.skin.shape[1] for group in groups)
    for group in groups:
        row = [*group.tree, int(group.cells.shape[1] > 0)]
        row[FIRST_NODE] += nodes
        row[FIRST_TRIANGLE] += items
        row[FIRST_CELL] += cells * row[SPHERES_TABLE]
        trees.append(row)
        n, count = group.items.shape[:2]
        nodes, items, cells = nodes + group.nodes.shape[1], items + count, cells + group.cells.shape[1]
        bare = group.skin.new_zeros((n, count * has_skin, group.skin.shape[2]))
        parts.append(group.skin if group.skin.shape[1] else bare)
    device, n = groups[0].nodes.device, len(groups[0].nodes)
    found = {
        "trees": torch.tensor(trees, dtype=torch.int32, device=device).expand(n, -1, -1),
        "nodes": torch.cat([group.nodes for group in groups], dim=1),
        "items": torch.cat([group.items for group in groups], dim=1),
        "cells": torch.cat([group.cells for group in groups], dim=1),
        "skin": torch.cat(parts, dim=1),
    }
    return {_PREFIX + name: table for name, table in found.items()}


def joined(tables: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return tables in which those of particles of all environments follow the model's."""
    if _PREFIX + "trees" not in tables:
        return tables
    trees, nodes, items, cells, skin = (tables[_PREFIX + n] for n in ("trees", "nodes", "items", "cells", "skin"))
    first, groups = len(tables["trees"]), trees.shape[1]
    env = torch.arange(len(trees), dtype=torch.int32, device=trees.device)[:, None]
    trees = trees.clone()
    trees[..., FIRST_NODE] += len(tables["nodes"]) + env * nodes.shape[1]
    trees[..., FIRST_TRIANGLE] += len(tables["corners"]) + env * items.shape[1]
    trees[..., FIRST_CELL] += trees[..., SPHERES_TABLE] * (first + len(trees) * groups + env * cells.shape[1])
    found = {name: table for name, table in tables.items() if not name.startswith(_PREFIX)}
    own = {"nodes": [nodes], "corners": [items], "trees": [trees[..., :SPHERES_TABLE], cells]}
    if skin.shape[1]:
        own["skin"] = [skin]
    more = {name: torch.cat([tables[name], *(part.flatten(0, 1) for part in parts)]) for name, parts in own.items()}
    return found | more
