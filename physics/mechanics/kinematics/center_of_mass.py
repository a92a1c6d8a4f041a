"""Centres of mass, inertias and motion subspaces about the tree's centre of mass (mj_comPos)."""

import taichi as ti

from ...base.joints import motion_subspace
from ...base.math import SpatialInertia, Sym3, Vec3, func
from ...base.stage import stage

MASSLESS = 1e-15  # kg; MuJoCo's mjMINVAL


@stage(
    reads="xpos xquat inertial_offset anchor_offset xaxis",
    writes="subtree_com own_inertia cdof",
    updates="com_offset",
)
def center_of_mass(model, work):
    """Set com_offset, own_inertia and cdof, and subtree_com of every root."""
    _tree_com(model, work)
    for b in range(1, model.nbody):
        # Inertia about the body's centre of mass, rotated from its principal axes to the world's.
        axes = (work.lanes.cast(work.xquat[b]) * model.body_iquat[b]).matrix()
        work.own_inertia.put(b, axes.scaled_square(model.body_inertia[b]))
        first = model.body_jntadr[b]
        for j in range(first, first + model.body_jntnum[b]):
            motion_subspace(model, work, b, j)


@stage(reads="inertial_offset com_offset own_inertia", writes="cinert")
def body_inertias(model, work):
    """Set cinert of every body. It is an output only: the dynamics use moments about nearer points."""
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    work.cinert.put(0, SpatialInertia(Sym3(zero, zero, zero, zero, zero, zero), none, zero))
    for b in range(1, model.nbody):
        offset = work.inertial_offset[b] - work.com_offset[model.body_rootid[b]]
        own = work.own_inertia.symmetric(b)
        work.cinert.put(b, SpatialInertia.about(own, offset, work.real(model.body_mass[b])))


@stage(reads="xpos xquat root_offset com_offset", writes="subtree_com", updates="xipos")
def mass_centers(model, work):
    """Set xipos and subtree_com of every body, outputs only; subtree_com of body 0 is that of the whole model."""
    zero = work.real(0.0)
    world = Vec3(zero, zero, zero)
    work.xipos.put(0, world)
    for b in range(1, model.nbody):
        root = work.xpos[model.body_rootid[b]]
        inertial = work.root_offset[b] + work.xquat[b].rotate(model.body_ipos[b])
        work.xipos.put(b, work.lanes.cast(root + inertial))
        work.subtree_com.put(b, work.lanes.cast(work.xpos[model.body_rootid[b]]) + work.com_offset[b])
        world = world + work.xipos[b] * model.body_mass[b]
    total = model.body_subtreemass[0]
    if model.any_true(work.lanes, total > MASSLESS):
        world = world * (1.0 / total)
    work.subtree_com.put(0, world)


@func
def _tree_com(model, work):
    """Set com_offset of every body, and subtree_com of every root."""
    # Mass times position, summed over every subtree from the leaves to the roots.
    for b in range(1, model.nbody):
        work.com_offset.put(b, work.inertial_offset[b] * model.body_mass[b])
    for k in range(1, model.nbody):
        b = model.nbody - k
        parent = model.body_parentid[b]
        if parent > 0:
            work.com_offset.put(parent, work.com_offset[parent] + work.com_offset[b])
    # Divide by the subtree's mass; a massless subtree gets the body's own centre.
    for b in range(1, model.nbody):
        mass = model.body_subtreemass[b]
        if ti.static(model.has.parameters):
            own = work.com_offset[b] * (1.0 / ti.max(mass, MASSLESS))
            work.com_offset.put(b, work.inertial_offset[b].select(mass < MASSLESS, own))
        else:
            if mass < MASSLESS:
                work.com_offset.put(b, work.inertial_offset[b])
            else:
                work.com_offset.put(b, work.com_offset[b] * (1.0 / mass))
        if model.body_rootid[b] == b:
            work.subtree_com.put(b, work.lanes.cast(work.xpos[b]) + work.com_offset[b])
