"""Rows of the friction constraints for `noslip`: their order, and the products that A = J M^-1 J' consists of.

With M = L' D L, entry (i, j) of A is y_i D^-1 y_j' with y = J L^-1. A row y has entries only for the ancestors of its
dofs. So A is never formed: the sum of all y' f is kept in slip_u (nv,), and residuals follow from it.
"""

import taichi as ti

from ...base.math import func
from ..collision.explicit_pairs import pair_of_contact
from .bodies import contact_axis


@func
def order_contacts(model, work):
    """Fill slip_order with the contact slots in MuJoCo's order: by bodies, then explicit pairs first, then by geoms."""
    for k in range(work.tile_ncon[0]):
        g1, g2 = work.con_geom1[k], work.con_geom2[k]
        b1, b2 = model.geom_bodyid[g1], model.geom_bodyid[g2]
        # Sort keys: both bodies, then both geoms or the explicit pair.
        low, high = g1, g2
        if b1 > b2:
            low, high = g2, g1
        pair = pair_of_contact(model, work, k)
        bodies = ti.min(b1, b2) * model.nbody + ti.max(b1, b2)
        geoms = low * model.ngeom + high
        if pair >= 0:
            geoms = pair - model.nexplicit
        # Insertion sort.
        at = k
        searching = 1
        while at > 0 and searching == 1:  # slots of one pair of geoms stay as they are
            other = work.slip_order[at - 1]
            later = work.slip_bodies[other] > bodies
            if work.slip_bodies[other] == bodies:
                later = work.slip_geoms[other] > geoms
            if later:
                work.slip_order[at] = other
                at -= 1
            else:
                searching = 0
        work.slip_order[at] = k
        work.slip_bodies[k] = bodies
        work.slip_geoms[k] = geoms


@func
def make_rows(model, work):
    """Set slip_y and slip_A for every friction loss, and for the friction axes of every contact."""
    work.tile_slipdof[0] = 0
    work.tile_slipy[0] = 0
    for k in range(model.ne, model.ne + model.nf):
        for e in range(work.block_dofnum[k]):
            work.slip_front[e] = work.block_dof[work.block_dofadr[k] + e]
        _list_ancestors(model, work, k, work.block_dofnum[k])
        _loss_column(work, k)
        _make_axis(work, k)
        _multiply_axes(work, k, 1)
    for c in range(work.tile_ncon[0]):
        k = work.tile_conadr[0] + c
        i = model.body_lastdof[model.geom_bodyid[work.con_geom1[c]]]
        j = model.body_lastdof[model.geom_bodyid[work.con_geom2[c]]]
        if work.block_dim[k] > 1:
            count = 1
            work.slip_front[0] = ti.max(i, j)
            if i != j and ti.min(i, j) >= 0:
                work.slip_front[1] = ti.min(i, j)
                count = 2
            _list_ancestors(model, work, k, count)
            for axis in range(1, work.block_dim[k]):
                _contact_column(model, work, c, axis, i, j)
                _make_axis(work, k)
            _multiply_axes(work, k, work.block_dim[k] - 1)


@func
def _list_ancestors(model, work, k: ti.i32, count: ti.i32):
    """Set the list of dofs of block k: the `count` dofs in slip_front and all of their ancestors, descending."""
    first, dofs, dof = work.tile_slipdof[0], 0, 0
    # Take the largest dof of all fronts, and move the fronts at it to its parent.
    while dof >= 0:
        dof = -1
        for e in range(count):
            dof = ti.max(dof, work.slip_front[e])
        if dof >= 0:
            work.slip_dof[first + dofs] = dof
            work.slip_column[dof] = work.real(0.0)
            dofs += 1
            for e in range(count):
                if work.slip_front[e] == dof:
                    work.slip_front[e] = model.dof_parentid[dof]
    work.slip_dofadr[k] = first
    work.slip_dofnum[k] = dofs
    work.slip_yadr[k] = work.tile_slipy[0]
    work.tile_slipdof[0] = first + dofs


@func
def _loss_column(work, k: ti.i32):
    """Set slip_column to the Jacobian row of the friction loss k."""
    first, address = work.block_dofadr[k], work.block_jacadr[k]
    for e in range(work.block_dofnum[k]):
        work.slip_column[work.block_dof[first + e]] = work.block_J[address + e]


@func
def _contact_column(model, work, c: ti.i32, axis: ti.i32, i: ti.i32, j: ti.i32):
    """Set slip_column to the Jacobian row of an axis of contact slot c; i and j are its bodies' last dofs."""
    a, b = i, j
    while a >= 0 or b >= 0:
        dof = ti.max(a, b)
        sign = 0.0
        if b == dof:
            sign += 1.0
            b = model.dof_parentid[b]
        if a == dof:
            sign -= 1.0
            a = model.dof_parentid[a]
        arm = work.con_pos[c] - work.subtree_com[model.body_rootid[model.dof_bodyid[dof]]]
        work.slip_column[dof] = contact_axis(work, c, axis, work.cdof[dof], arm) * sign


@func
def _make_axis(work, k: ti.i32):
    """Append L^-T slip_column as the next axis of block k to slip_y; slip_column is 0 afterwards."""
    first, count, address = work.slip_dofadr[k], work.slip_dofnum[k], work.tile_slipy[0]
    # Solve L' y = column by substitution, from the last dof to the roots.
    for e in range(count):
        i = work.slip_dof[first + e]
        value = work.slip_column[i]
        work.slip_y[address + e] = value
        work.slip_column[i] = work.real(0.0)
        start = work.M_pattern.start(i)
        for p in range(1, work.M_pattern.count[i]):
            j = work.M_pattern.column(start, p)
            work.slip_column[j] = work.slip_column[j] - work.L[start + p] * value
    work.tile_slipy[0] = address + count


@func
def _multiply_axes(work, k: ti.i32, axes: ti.i32):
    """Set slip_A of block k: the products of its axes, by rows up to the diagonal."""
    first, count, address = work.slip_dofadr[k], work.slip_dofnum[k], work.slip_yadr[k]
    place = 0
    for a in range(axes):
        for b in range(a + 1):
            total = work.real(0.0)
            for e in range(count):
                weight = work.D_inv[work.slip_dof[first + e]]
                total += work.slip_y[address + a * count + e] * work.slip_y[address + b * count + e] * weight
            work.slip_A.at(k, place)._assign(total)
            place += 1


@func
def residual(work, k: ti.i32, a: ti.i32, jar):
    """Return J qacc - aref of axis a of block k under the current forces; `jar` is its value after the main solver."""
    first, count = work.slip_dofadr[k], work.slip_dofnum[k]
    address = work.slip_yadr[k] + a * count
    total = work.real(0.0) + jar
    for e in range(count):
        i = work.slip_dof[first + e]
        total += work.slip_y[address + e] * (work.slip_u[i] * work.D_inv[i])
    return total


@func
def push(work, k: ti.i32, a: ti.i32, change):
    """Add a change of the force on axis a of block k to slip_u."""
    first, count = work.slip_dofadr[k], work.slip_dofnum[k]
    address = work.slip_yadr[k] + a * count
    for e in range(count):
        i = work.slip_dof[first + e]
        work.slip_u[i] = work.slip_u[i] + work.slip_y[address + e] * change
