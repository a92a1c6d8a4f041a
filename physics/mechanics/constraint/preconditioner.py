"""The preconditioner of conjugate gradients: M plus the entries of J' D J that lie in the pattern of M.

Every pyramid edge and every elliptic cone counts with half of its stiffness, as if it were active half of the time; a
friction loss counts if it sticks at the start of the solution. A contact then adds a symmetric 6 x 6 matrix to each of
its bodies, as a mass would (exact if one of the bodies is static; the coupling between two moving bodies is left out),
and a sweep over composite bodies carries these matrices into the rows of M, as the composite-rigid-body algorithm
carries inertia (Featherstone 2008, section 6.2). It is made once for each solution.
"""

import taichi as ti

from ...base.math import SpatialMotion, Vec3, func
from ...base.math.lanes import let, traced
from ..dynamics.tree_matrix import factor
from .rows import row_times

PUSHING = 0.5
"""Fraction of its stiffness with which an edge counts."""
LOWER = tuple((i, j) for i in range(6) for j in range(i + 1))
"""Entries of a symmetric 6 x 6 matrix, in the order of `cg_stiffness`."""


@func
def precondition(model, work):
    """Set H_L and H_inv to the L' D L factor of the preconditioner."""
    # Stiffness of the contacts on every body.
    for b in range(model.nbody):
        for c in ti.static(range(len(LOWER))):
            work.cg_stiffness.at(b, c)._assign(work.real(0.0))
    for k in range(work.tile_ncon[0]):
        _add_contact(model, work, k, work.tile_conadr[0] + k)
    # Composite bodies: add that of the children.
    for k in range(1, model.nbody):
        b = model.nbody - k
        parent = model.body_parentid[b]
        if parent > 0:
            for c in ti.static(range(len(LOWER))):
                total = work.cg_stiffness.at(parent, c) + work.cg_stiffness.at(b, c)
                work.cg_stiffness.at(parent, c)._assign(total)
    # Rows of M plus the stiffness seen by each pair of dofs; then rows of other constraints.
    for i in range(model.nv):
        force = _stiffness_times(work, model.dof_bodyid[i], work.cdof[i])
        start = work.M_pattern.start(i)
        for p in range(work.M_pattern.count[i]):
            work.H_L[start + p] = work.M[start + p] + work.cdof[work.M_pattern.column(start, p)].dot(force)
    for k in range(work.tile_conadr[0]):
        _add_row(model, work, k)
    factor(0, model.nv, work.M_pattern, work.H_L, work.H_inv)


@func
def _add_row(model, work, k: ti.i32):
    """Add the stiffness of block k, which has one row and is no contact.

    A row adds to the diagonal; a two-sided row that lies on one path also adds between its dofs and their ancestors.
    """
    inside = 1
    if ti.static(model.has.tendons):  # without some of its entries a row may take more than it adds
        inside = _in_pattern(work, k)
    first, address, stiffness = work.block_dofadr[k], work.block_jacadr[k], _stiffness_of(work, k)
    for e in range(work.block_dofnum[k]):
        i, scaled = work.block_dof[first + e], stiffness * work.block_J[address + e]
        entry = work.M_pattern.start(i)
        work.H_L[entry] = work.H_L[entry] + scaled * work.block_J[address + e]
        if ti.static(work.blocks.two_sided):
            if k < work.ntwosided and inside == 1:
                for f in range(e + 1, work.block_dofnum[k]):
                    j = work.block_dof[first + f]
                    if work.M_pattern.count[j] < work.M_pattern.count[i]:
                        at = work.M_pattern.count[i] - work.M_pattern.count[j]
                        if work.M_pattern.column(entry, at) == j:
                            work.H_L[entry + at] = work.H_L[entry + at] + scaled * work.block_J[address + f]


@func
def _in_pattern(work, k: ti.i32):
    """Return 1 if the dofs of row k lie on one path to the root, else 0."""
    first, inside = work.block_dofadr[k], 1
    for e in range(first + 1, first + work.block_dofnum[k]):
        i, j = work.block_dof[e - 1], work.block_dof[e]
        at = work.M_pattern.count[i] - work.M_pattern.count[j]
        if at <= 0:
            inside = 0
        elif work.M_pattern.column(work.M_pattern.start(i), at) != j:
            inside = 0
    return inside


@func
def _stiffness_of(work, k: ti.i32):
    """Return the stiffness that row k counts with.

    A two-sided row sticks or slides for many steps in a row, so its state at the start of the solution is a good guess,
    with which a third of the iterations are enough.
    """
    stiffness = work.block_D[k] * PUSHING
    if ti.static(work.blocks.two_sided):
        if k < work.ntwosided:
            x = row_times(work, k, work.qacc, -work.block_aref.at(k, 0))
            stiffness = ti.select(ti.abs(x) <= work.block_reach[k], work.block_D[k], work.real(0.0))
    return stiffness


@func
def _add_contact(model, work, k: ti.i32, block: ti.i32):
    """Add the stiffness of contact slot k to cg_stiffness of its two bodies.

    It is diagonal in contact space, as both edges of an axis have the same weight.
    """
    dim = work.block_dim[block]
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    for side in range(2):
        b = model.geom_bodyid[work.con_geom1[k] if side == 0 else work.con_geom2[k]]
        if model.body_lastdof[b] >= 0:
            arm = work.con_pos[k] - work.subtree_com[model.body_rootid[b]]
            for c in range(dim):
                at = 3 * (c % 3)
                axis = Vec3(work.con_frame.at(k, at), work.con_frame.at(k, at + 1), work.con_frame.at(k, at + 2))
                weight = _weight_of_axis(model, work, block, dim, c) * PUSHING
                if c < 3:
                    _add_square(work, b, SpatialMotion(arm.cross(axis), axis), weight)
                else:
                    _add_square(work, b, SpatialMotion(axis, none), weight)


@func
def _weight_of_axis(model, work, block: ti.i32, dim: ti.i32, c: ti.i32):
    """Return the stiffness of a sticking contact along axis c."""
    weight = work.real(0.0) + work.block_D[block]
    if ti.static(model.has.elliptic):
        if c > 0:
            share = work.block_friction.at(block, c - 1) / work.cone_mu[block]
            weight *= share * share
    else:
        if c > 0:
            mu = work.block_friction.at(block, c - 1)
            weight *= 2.0 * mu * mu
        elif dim > 1:
            weight *= 2.0 * (dim - 1)
    return weight


@traced
def _add_square(work, b, motion, weight):
    """Add weight motion motion' to cg_stiffness[b]."""
    numbers = motion.numbers()
    scaled = [let(n * weight) for n in numbers]
    for c, (i, j) in enumerate(LOWER):
        entry = work.cg_stiffness.at(b, c)
        entry._assign(entry + scaled[i] * numbers[j])


@traced
def _stiffness_times(work, b, motion):
    """Return cg_stiffness[b] times a motion: a wrench."""
    numbers = motion.numbers()
    totals = [work.real(0.0) for _ in range(6)]
    for c, (i, j) in enumerate(LOWER):
        entry = let(work.cg_stiffness.at(b, c))
        totals[i]._assign(totals[i] + entry * numbers[j])
        if i != j:
            totals[j]._assign(totals[j] + entry * numbers[i])
    return SpatialMotion(Vec3(*totals[:3]), Vec3(*totals[3:]))
