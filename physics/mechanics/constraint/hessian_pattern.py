"""The sparsity pattern of the Hessian: that of a tree of dofs in which the branches that contacts couple are merged.

A contact between two branches couples every dof of one with every dof of the other. If both branches are merged into a
single path to the root, in the order of their dofs, then all of these entries lie between a dof and its ancestors, and
so does the fill-in of the factorisation (elimination trees: Davis 2006, section 4.1). Trees whose dofs have a common
root form a group; the Hessian couples no dofs of different groups. The couplings of equalities are the same in every
state, and are part of the model: dof_coupledid.
"""

import taichi as ti

from ...base.math import func
from ...base.stage import stage
from ..dynamics.tree_matrix import count_entries, lay_out


@stage(
    reads="con_geom1 con_geom2 block_dofnum block_dofadr block_dof tile_conadr",
    writes="M_order tile_ngroup group_tree group_dof need_nH",
    updates=(
        "M_rownnz M_rowadr M_colind H_rownnz H_rowadr H_colind H_order H_parent depth_place H_ncouple tree_group",
        "group_treeadr group_treenum group_dofadr group_dofnum tile_ncon",
    ),
)
def lay_out_dofs(model, work):
    """Lay out the pattern of M, and that of a Hessian without contacts."""
    lay_out(model.nv, model.dof_parentid, work.M_pattern, work.depth_place)
    work.H_ncouple[0] = 0
    _lay_out_parents(model, work)


@func
def lay_out_hessian(model, work):
    """Lay out the pattern of H for the current contacts, if they couple other dofs than when it was last made."""
    same, count = 1, 0
    # Compare the couplings with the couplings of the last layout.
    for k in range(work.tile_ncon[0]):
        key = _coupling(model, work, k)
        if key >= 0:
            if count >= work.H_ncouple[0] or work.H_couple[count] != key:
                same = 0
            work.H_couple[count] = key
            count += 1
    if same == 0 or count != work.H_ncouple[0]:
        work.H_ncouple[0] = count
        _lay_out_parents(model, work)


@func
def _lay_out_parents(model, work):
    """Set H_parent, H_pattern and the groups for the H_ncouple couplings of the current contacts.

    If H has more entries than the buffer (nH), set need_nH and lay H out without contacts: the tile is redone.
    """
    _take_parents(model, work)
    # Merge the branches of every coupling contact; check that the entries fit.
    if work.H_ncouple[0] > 0:
        for k in range(work.tile_ncon[0]):
            if _coupling(model, work, k) >= 0:
                block = work.tile_conadr[0] + k
                first = work.block_dofadr[block]
                for e in range(first + 1, first + work.block_dofnum[block]):
                    _join(work.H_parent, work.block_dof[e - 1], work.block_dof[e])
        entries = count_entries(model.nv, work.H_parent, work.H_pattern)
        if entries > model.nH:
            work.need_nH[0] = entries
            _let_go(model, work)
    lay_out(model.nv, work.H_parent, work.H_pattern, work.depth_place)
    _list_groups(model, work)


@func
def _let_go(model, work):
    """Drop all contacts of the tile: the rest of the launch stays within the buffer until the tile is redone."""
    work.tile_ncon[0] = 0
    work.H_ncouple[0] = 0
    _take_parents(model, work)


@func
def _take_parents(model, work):
    """Set H_parent for no contacts. Conjugate gradients have no Hessian: there every tree is a group."""
    for i in range(model.nv):
        if ti.static(model.has.cg):
            work.H_parent[i] = model.dof_parentid[i]
        else:
            work.H_parent[i] = model.dof_coupledid[i]


@func
def _coupling(model, work, k: ti.i32):
    """Return a number that identifies the dofs that a contact couples, or -1 if one of its bodies is static."""
    last1 = model.body_lastdof[model.geom_bodyid[work.con_geom1[k]]]
    last2 = model.body_lastdof[model.geom_bodyid[work.con_geom2[k]]]
    key = -1
    if last1 >= 0 and last2 >= 0:
        key = last1 * model.nv + last2
    return key


@func
def _join(parent, i: ti.i32, j: ti.i32):
    """Merge the paths from dofs i and j to the root into one path, in descending order of dofs."""
    low, high = ti.min(i, j), ti.max(i, j)
    # Walk both paths at once: link the higher dof to the lower one where its parent is lower still.
    while low != high:
        up = parent[high]
        if up < low:
            parent[high] = low
            high = low
            low = up
        else:
            high = up
    # both are the dof where the paths had met, or -1


@func
def _list_groups(model, work):
    """List the trees and dofs of every group; a tree whose first dof has a parent belongs to the parent's group."""
    # Number the groups; count their trees and dofs.
    groups = 0
    for t in range(model.ntree):
        up = work.H_parent[model.tree_dofadr[t]]
        g = groups
        if up >= 0:
            g = work.tree_group[model.dof_treeid[up]]
        else:
            work.group_treenum[g] = 0
            work.group_dofnum[g] = 0
            groups += 1
        work.tree_group.put(t, g)
        work.group_treenum[g] = work.group_treenum[g] + 1
        work.group_dofnum[g] = work.group_dofnum[g] + model.tree_dofnum[t]
    work.tile_ngroup[0] = groups
    # Addresses of every group's lists.
    trees, dofs = 0, 0
    for g in range(groups):
        work.group_treeadr[g] = trees
        work.group_dofadr[g] = dofs
        trees += work.group_treenum[g]
        dofs += work.group_dofnum[g]
        work.group_treenum[g] = 0
        work.group_dofnum[g] = 0
    # Fill the lists, dofs in the order of depth.
    for t in range(model.ntree):
        g = work.tree_group[t]
        work.group_tree.put(work.group_treeadr[g] + work.group_treenum[g], t)
        work.group_treenum[g] = work.group_treenum[g] + 1
    for k in range(model.nv):
        i = work.H_pattern.order[k]
        g = work.tree_group[model.dof_treeid[i]]
        work.group_dof.put(work.group_dofadr[g] + work.group_dofnum[g], i)
        work.group_dofnum[g] = work.group_dofnum[g] + 1
