"""Adhesion actuators: the moment by which an actuator pulls its body onto the bodies that it touches.

The moment is minus the mean of the contacts' normals mapped to the dofs, with contacts within the gap included (MuJoCo
documentation, XML reference: actuator/adhesion). It needs the contacts, so it runs after their constraint blocks.
"""

import taichi as ti

from ...base.math import SpatialMotion, Vec3, func


@func
def pull_of_contacts(model, work, u: ti.i32):
    """Set trn_moment of output `u`."""
    b, first = model.trn_body1[u], model.trn_dofadr[u]
    end = first + model.trn_dofnum[u]
    for at in range(first, end):
        work.trn_moment[at] = work.real(0.0)
    # subtract the normal Jacobian of every contact of body b
    count = work.real(0.0)
    for k in range(work.tile_ncon[0]):
        b1, b2 = model.geom_bodyid[work.con_geom1[k]], model.geom_bodyid[work.con_geom2[k]]
        if b1 == b or b2 == b:
            count += work.con_present[k]
            _subtract_normal(model, work, k, b1, b2, first)
    # divide by the number of contacts in each lane
    share = 1.0 / ti.max(count, 1.0)
    for at in range(first, end):
        work.trn_moment[at] = work.trn_moment[at] * share


@func
def _subtract_normal(model, work, k: ti.i32, b1: ti.i32, b2: ti.i32, first: ti.i32):
    """Subtract from trn_moment, from entry `first` on, the normal row of contact slot k's Jacobian (J' n).

    The loop climbs from both bodies to their common ancestor, in descending order of dofs, as trn_dof lists them.
    """
    # the normal in lanes with this contact, 0 in the others
    normal = Vec3(work.con_frame.at(k, 0), work.con_frame.at(k, 1), work.con_frame.at(k, 2)) * work.con_present[k]
    pos = work.con_pos[k]
    i, j, at = model.body_lastdof[b1], model.body_lastdof[b2], first
    while i != j:
        # the greater dof is below the common ancestor; it moves geom 2 (-1) or geom 1 (1)
        dof, sign = j, -1.0
        if i > j:
            dof, sign = i, 1.0
            i = model.dof_parentid[i]
        else:
            j = model.dof_parentid[j]
        while model.trn_dof[at] != dof:
            at += 1
        # the velocity of the contact point along the normal by this dof
        arm = pos - work.subtree_com[model.body_rootid[model.dof_bodyid[dof]]]
        push = work.cdof[dof].dot(SpatialMotion(arm.cross(normal), normal))
        work.trn_moment[at] = work.trn_moment[at] + push * sign
