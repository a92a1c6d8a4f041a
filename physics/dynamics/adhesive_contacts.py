"""Adhesion of a body by an actuator: it pulls the body onto whatever the body touches.

Its moment is the mean of the contacts' normals as the dofs feel them, those within the gap included, with its sign
turned (MuJoCo documentation, XML reference: actuator/adhesion). It knows contacts, and so comes after their blocks.
"""

import taichi as ti

from ..math import Motion, Vec3, func


@func
def pull_of_contacts(model, work, u: ti.i32):
    """trn_moment of output `u`."""
    b, first = model.trn_body1[u], model.trn_dofadr[u]
    end = first + model.trn_dofnum[u]
    for at in range(first, end):
        work.trn_moment[at] = work.real(0.0)
    count = work.real(0.0)
    for k in range(work.tile_ncon[0]):
        b1, b2 = model.geom_bodyid[work.con_geom1[k]], model.geom_bodyid[work.con_geom2[k]]
        if b1 == b or b2 == b:
            count += work.con_present[k]
            _subtract_normal(model, work, k, b1, b2, first)
    share = 1.0 / ti.max(count, 1.0)
    for at in range(first, end):
        work.trn_moment[at] = work.trn_moment[at] * share


@func
def _subtract_normal(model, work, k: ti.i32, b1: ti.i32, b2: ti.i32, first: ti.i32):
    """Take off trn_moment, from `first` on, how fast contact slot k opens by each dof.

    The dofs that move one body and not the other are gone through in descending order, as they are listed.
    """
    normal = Vec3(work.con_frame.at(k, 0), work.con_frame.at(k, 1), work.con_frame.at(k, 2)) * work.con_present[k]
    pos = work.con_pos[k]
    i, j, at = model.body_lastdof[b1], model.body_lastdof[b2], first
    while i != j:
        dof, sign = j, -1.0
        if i > j:
            dof, sign = i, 1.0
            i = model.dof_parentid[i]
        else:
            j = model.dof_parentid[j]
        while model.trn_dof[at] != dof:
            at += 1
        arm = pos - work.subtree_com[model.body_rootid[model.dof_bodyid[dof]]]
        push = work.cdof[dof].dot(Motion(arm.cross(normal), normal))
        work.trn_moment[at] = work.trn_moment[at] + push * sign
