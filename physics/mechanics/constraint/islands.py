"""Islands: the trees that active constraints couple in one lane. Each is solved independently.

A group is a set of trees that contacts couple in some lane of the tile (`hessian_pattern.lay_out_hessian`). Every
island of every lane lies within a group, and groups are solved one after the other. Each lane labels the trees of an
island by the least tree number in it (tree_island). A sum over an island is the sum of `tree_part` over the trees of
the group with the same label in that lane; the other trees contribute exact zeros, so a lane's result does not depend
on the other lanes of its tile.
"""

import taichi as ti

from ...base.math import func
from .rows import count_blocks


@func
def dofs_of(model, t: ti.i32):
    """Return the first dof of tree t and the one after its last; conjugate gradients take all dofs as one tree."""
    first, end = 0, model.nv
    if ti.static(not model.has.cg):
        first = model.tree_dofadr[t]
        end = first + model.tree_dofnum[t]
    return first, end


@func
def trees_of(work, g: ti.i32):
    """Return the first entry of group g in group_tree, and the one after its last."""
    first = work.group_treeadr[g]
    return first, first + work.group_treenum[g]


@func
def list_blocks(model, work, count: ti.i32):
    """Fill tree_block with the first `count` blocks, sorted by tree; a block belongs to the tree of its first dof."""
    # Count the blocks of every tree, lay out the lists, fill them.
    for t in range(model.nsolve):
        work.tree_blocknum[t] = 0
    for k in range(count):
        t = 0
        if ti.static(not model.has.cg):
            t = model.dof_treeid[work.block_dof[work.block_dofadr[k]]]
        work.block_tree.put(k, t)
        work.tree_blocknum[t] = work.tree_blocknum[t] + 1
    place = 0
    for s in range(model.nsolve):
        t = work.group_tree[s]
        work.tree_blockadr[t] = place
        place += work.tree_blocknum[t]
        work.tree_blocknum[t] = 0
    for k in range(count):
        t = work.block_tree[k]
        work.tree_block[work.tree_blockadr[t] + work.tree_blocknum[t]] = k
        work.tree_blocknum[t] = work.tree_blocknum[t] + 1


@func
def label_islands(model, work):
    """Set tree_island: a block couples the trees of all of its dofs in lanes in which it is active."""
    # Every tree is an island; then merge by block, if any group has several trees.
    for t in range(model.ntree):
        work.tree_island[t] = work.real(t)
    blocks = 0
    if work.tile_ngroup[0] < model.ntree:
        blocks = count_blocks(work)
    for k in range(blocks):
        first, last = work.block_dofadr[k], work.block_dofadr[k] + work.block_dofnum[k] - 1
        low = model.dof_treeid[work.block_dof[last]]
        if work.block_tree[k] != low:
            if ti.static(model.has.equality or model.has.tendons):
                for at in range(first, last):
                    one, other = work.block_dof[at], work.block_dof[at + 1]
                    _join_islands(work, k, model.dof_treeid[one], model.dof_treeid[other])
            else:
                _join_islands(work, k, work.block_tree[k], low)


@func
def _join_islands(work, k: ti.i32, t1: ti.i32, t2: ti.i32):
    """Merge the islands of two trees of one group in lanes in which block k is active."""
    first, end = trees_of(work, work.tree_group[t1])
    join_islands(work, work.tree_island, first, end, k, t1, t2)


@func
def join_islands(work, labels, first: ti.i32, end: ti.i32, k: ti.i32, t1: ti.i32, t2: ti.i32):
    """Merge the islands of trees t1 and t2 in lanes in which block k is active.

    All trees of both islands are among the entries `first` to `end` of group_tree. `labels` is tree_island or a field
    like it.
    """
    lanes = work.lanes
    label1, label2 = labels[t1], labels[t2]
    joins = lanes.mask(work.block_D[k] > 0.0) * lanes.mask(label1 != label2)
    if lanes.any(joins):
        least = ti.min(label1, label2)
        for s in range(first, end):
            t = work.group_tree[s]
            label = labels[t]
            same = lanes.mask(label == label1) + lanes.mask(label == label2)
            labels[t] = ti.select(joins * same > 0.5, least, label)


@func
def island_sum(work, first: ti.i32, end: ti.i32, t: ti.i32, c):
    """Return the sum of column c of tree_part over the island of tree t; its group are the entries `first` to `end`."""
    return sum_over_island(work, work.tree_part, work.tree_island, first, end, t, c)


@func
def sum_over_island(work, parts, labels, first: ti.i32, end: ti.i32, t: ti.i32, c):
    """Return the sum of column c of `parts` over the trees in `first` to `end` that have the label of tree t."""
    total = work.real(0.0) + parts.at(t, c)
    if end - first > 1:
        total = work.real(0.0)
        for s in range(first, end):
            other = work.group_tree[s]
            mine = labels[other] == labels[t]
            total += ti.select(mine, parts.at(other, c), work.real(0.0))
    return total
