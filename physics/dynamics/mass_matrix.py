"""Composite-rigid-body algorithm (Featherstone 2008, section 6.2)."""

import taichi as ti


@ti.func
def mass_matrix(model: ti.template(), work: ti.template()):
    """M at (dof, ancestor), armature on the diagonal."""
    for b in range(1, model.nbody):
        work.crb.put(b, work.cinert[b])
    for k in range(1, model.nbody):
        b = model.nbody - k
        parent = model.body_parentid[b]
        if parent > 0:
            work.crb.put(parent, work.crb[parent] + work.crb[b])
    for i in range(model.nv):
        force = work.crb[model.dof_bodyid[i]].times(work.cdof[i])
        work.M[i, i] = force.dot(work.cdof[i]) + model.dof_armature[i]
        for k in range(1, model.dof_depth[i]):
            j = model.dof_ancestor[i, k]
            work.M[i, j] = force.dot(work.cdof[j])
