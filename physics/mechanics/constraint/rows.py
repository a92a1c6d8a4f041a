"""The list of blocks, and products with their Jacobians: J v and J' force."""

import taichi as ti

from ...base.fields import ROW_BITS, SMALL_BITS, below
from ...base.math import func
from ...base.math.lanes import let
from ...base.stage import stage


@func
def count_blocks(work):
    """Return the number of blocks in use in the tile."""
    return work.tile_conadr[0] + work.tile_ncon[0]


@stage(writes="tile_conadr tile_ndof tile_njac")
def clear_blocks(model, work):
    """Empty the list of blocks."""
    work.tile_conadr.put(0, 0)
    work.tile_ndof[0] = 0
    work.tile_njac[0] = 0


@func
def append_row(work, dofs: ti.i32):
    """Append a block of one row on `dofs` dofs, to be filled in by the caller; return its number.

    The blocks of contacts come after all of these.
    """
    k, dof, jac = work.tile_conadr[0], work.tile_ndof[0], work.tile_njac[0]
    work.tile_conadr.put(0, k + 1)
    work.block_dim.put(k, 1)
    work.block_dofnum.put(k, dofs)
    work.block_dofadr[k] = dof
    work.block_jacadr[k] = jac
    work.tile_ndof[0] = dof + dofs
    work.tile_njac[0] = jac + dofs
    return k


@func
def append_row_on(work, dofs, first: ti.i32, count: ti.i32):
    """Append a block of one row on the `count` entries of the list `dofs` from `first` on; return its number."""
    k = append_row(work, count)
    for e in range(count):
        work.block_dof.put(work.block_dofadr[k] + e, dofs[first + e])
    return k


@func
def append_tendon(model, work, t: ti.i32, sign):
    """Append a block of one row whose Jacobian is `sign` times that of tendon t; return its number."""
    first, count = model.tendon_dofadr[t], model.tendon_dofnum[t]
    k = append_row_on(work, model.tendon_dof, first, count)
    for e in range(count):
        work.block_J[work.block_jacadr[k] + e] = work.ten_J[first + e] * sign
    return k


@func
def row_times(work, k: ti.i32, v, start):
    """Return `start` + J v for block k, which has one row."""
    total = work.real(0.0) + start
    for e in range(work.block_dofnum[k]):
        total += work.block_J[work.block_jacadr[k] + e] * v[work.block_dof[work.block_dofadr[k] + e]]
    return total


@func
def block_times(work, k: ti.i32, v):
    """Set block_Jv to J v for block k; `v` (nv,)."""
    dim = work.block_dim[k]
    if dim == 3:
        _axes_times(work, k, v, 3, 0, 3)
    elif dim == 1:
        _axes_times(work, k, v, 1, 0, 1)
    else:
        for c in range(dim):
            _axes_times(work, k, v, dim, c, 1)


@func
def _axes_times(work, k: ti.i32, v, dim, c, count):
    """Set block_Jv of the `count` axes from axis c on, for block k of `dim` axes; `count` is a Python integer."""
    address = below(ROW_BITS - 1, work.block_jacadr[k])
    first = below(ROW_BITS - 1, work.block_dofadr[k])
    totals = [work.real(0.0) for _axis in range(count)]
    for q in range(work.block_dofnum[k]):
        e = below(SMALL_BITS, q)
        a = below(ROW_BITS - 1, address + dim * q + c)
        speed = v[work.block_dof[first + e]]
        for axis in ti.static(range(count)):
            totals[axis] += work.block_J[a + axis] * speed
    for axis in ti.static(range(count)):
        work.block_Jv.at(k, c + axis)._assign(totals[axis])


@func
def add_transpose_times_force(work, k: ti.i32):
    """Add J' block_force of block k to qfrc_constraint."""
    dim = work.block_dim[k]
    if dim == 3:
        _add_forces(work, k, 3, 3)
    elif dim == 1:
        _add_forces(work, k, 1, 1)
    else:
        _add_forces(work, k, dim, 3)


@func
def _add_forces(work, k: ti.i32, dim, unrolled):
    """Add J' block_force of block k, of `dim` axes; the loop over the first `unrolled` of them is unrolled."""
    address = below(ROW_BITS - 1, work.block_jacadr[k])
    first = below(ROW_BITS - 1, work.block_dofadr[k])
    forces = [let(work.block_force.at(k, c)) for c in range(unrolled)]
    for q in range(work.block_dofnum[k]):
        e = below(SMALL_BITS, q)
        i = work.block_dof[first + e]
        a = below(ROW_BITS - 1, address + dim * q)
        push = work.block_J[a] * forces[0]
        for c in ti.static(range(1, unrolled)):
            push += work.block_J[a + c] * forces[c]
        for c in range(unrolled, dim):
            push += work.block_J[a + c] * work.block_force.at(k, c)
        work.qfrc_constraint[i] = work.qfrc_constraint[i] + push
