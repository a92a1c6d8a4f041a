"""The composite-rigid-body algorithm (Featherstone 2008, section 6.2), with moments about nearby points.

Inertias are about the centre of mass of the subtree they belong to, and the force of a dof on an ancestor is taken
about that ancestor's own anchor. About one point for the whole tree, the moments of small limbs would be differences of
large numbers, and rounding would spoil them.
"""

import taichi as ti

from ...base.hooks import INERTIA
from ...base.math import SpatialMotion, func
from ...base.math.spatial import parallel_axis
from ...base.stage import stage


@stage(
    reads="inertial_offset com_offset anchor_offset own_inertia cdof M_rownnz M_rowadr M_colind",
    updates="subtree_inertia M",
    hooks=(INERTIA,),
)
def mass_matrix(model, work):
    """Set M: entries of every dof and its ancestors, armature on the diagonal, and additions of mechanisms."""
    _subtree_inertias(model, work)
    # row i: the momentum at unit velocity of dof i, projected on dof i and each of its ancestors
    for i in range(model.nv):
        b = model.dof_bodyid[i]
        com = work.com_offset[b]
        momentum = _momentum(model, work, i, b, com)
        start = work.M_pattern.start(i)
        work.M[start] = _moment(model, work, i, com, momentum) + model.dof_armature[i]
        for k in range(1, work.M_pattern.count[i]):
            work.M[start + k] = _moment(model, work, work.M_pattern.column(start, k), com, momentum)
    for add in ti.static(INERTIA.of(model.has)):
        add(model, work)


@func
def _subtree_inertias(model, work):
    """Set subtree_inertia: inertia of each subtree about its centre of mass, from the leaves to the roots."""
    for b in range(1, model.nbody):
        arm = work.inertial_offset[b] - work.com_offset[b]
        own = work.own_inertia.symmetric(b)
        work.subtree_inertia.put(b, parallel_axis(own, arm, model.body_mass[b]))
    for k in range(1, model.nbody):
        b = model.nbody - k
        parent = model.body_parentid[b]
        if parent > 0:
            arm = work.com_offset[b] - work.com_offset[parent]
            own = work.subtree_inertia.symmetric(b)
            moved = parallel_axis(own, arm, model.body_subtreemass[b])
            work.subtree_inertia.put(parent, work.subtree_inertia.symmetric(parent) + moved)


@func
def _momentum(model, work, i: ti.i32, b: ti.i32, com):
    """Return the momentum, about `com`, of body b and all below it when dof i of b moves at unit velocity."""
    rot = work.cdof[i].rot
    lin = work.cdof[i].lin
    if model.dof_is_rotation[i] == 1:
        lin = rot.cross(com - work.anchor_offset[model.dof_jntid[i]])
    return SpatialMotion(work.subtree_inertia.symmetric(b).times(rot), lin * model.body_subtreemass[b])


@func
def _moment(model, work, j: ti.i32, com, momentum):
    """Return the component along dof j of a momentum about `com`."""
    share = work.real(0.0)
    if model.dof_is_rotation[j] == 1:
        arm = com - work.anchor_offset[model.dof_jntid[j]]
        share = work.cdof[j].rot.dot(momentum.rot + arm.cross(momentum.lin))
    else:
        share = work.cdof[j].lin.dot(momentum.lin)
    return share
