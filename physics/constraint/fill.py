"""The tree whose pattern the Hessian's factor has: the dofs' own, with the branches that contacts couple made one.

A contact between two branches couples every dof of one with every dof of the other. Where both branches become a
single path to the root, in the order of their dofs, all of these entries are between a dof and its ancestors, and so
is what elimination fills in (elimination trees: Davis 2006, section 4.1).
"""

import taichi as ti

from ..dynamics.tree_matrix import lay_out


@ti.func
def lay_out_dofs(model: ti.template(), work: ti.template()):
    """The pattern of M, and of a Hessian without coupling contacts."""
    _own_parents(model, work)
    lay_out(model.nv, work.fill_parent, work.tree)
    lay_out(model.nv, work.fill_parent, work.fill)
    work.fill_npair[0] = 0


@ti.func
def lay_out_hessian(model: ti.template(), work: ti.template()):
    """The pattern for the contacts in hand; it stays where the coupling ones are those it was last made for."""
    same, count = 1, 0
    for k in range(work.tile_ncon[0]):
        p = work.con_pair[k]
        if model.pair_couples[p] == 1:
            if count >= work.fill_npair[0] or work.fill_pair[count] != p:
                same = 0
            work.fill_pair[count] = p
            count += 1
    if same == 0 or count != work.fill_npair[0]:
        work.fill_npair[0] = count
        _own_parents(model, work)
        for k in range(count):
            p = work.fill_pair[k]
            first = model.pair_dofadr[p]
            for e in range(first + 1, first + model.pair_dofnum[p]):
                _join(work.fill_parent, model.pairdof_id[e - 1], model.pairdof_id[e])
        lay_out(model.nv, work.fill_parent, work.fill)


@ti.func
def _own_parents(model: ti.template(), work: ti.template()):
    for i in range(model.nv):
        work.fill_parent[i] = model.dof_ancestor[i, 1] if model.dof_depth[i] > 1 else -1


@ti.func
def _join(parent: ti.template(), i: ti.i32, j: ti.i32):
    """Make one path of those from i and from j to the root, in descending order."""
    low, high = ti.min(i, j), ti.max(i, j)
    while low != high:
        up = parent[high]
        if up < low:
            parent[high] = low
            high = low
            low = up
        else:
            high = up
    # both are the dof where the paths had met, or -1
