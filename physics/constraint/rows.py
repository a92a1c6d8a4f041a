"""The list of blocks, and products with their Jacobian: J v and J' force."""

import taichi as ti

from ..fields import ROW_BITS, SMALL_BITS, below
from ..math import func


@func
def count_blocks(work):
    """Blocks in use in the tile."""
    return work.tile_conadr[0] + work.tile_ncon[0]


@func
def clear_blocks(work):
    """Begin the list of blocks."""
    work.tile_conadr.put(0, 0)
    work.tile_ndof[0] = 0
    work.tile_njac[0] = 0


@func
def append_row(work, dofs: ti.i32):
    """A block of one row on so many dofs, before those of the contacts; its number."""
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
def append_tendon(model, work, t: ti.i32, sign):
    """A block of one row on the dofs of tendon t, its Jacobian `sign` times the tendon's; its number."""
    first, count = model.tendon_dofadr[t], model.tendon_dofnum[t]
    k = append_row(work, count)
    for e in range(count):
        work.block_dof.put(work.block_dofadr[k] + e, model.tendon_dof[first + e])
        work.block_J[work.block_jacadr[k] + e] = work.ten_J[first + e] * sign
    return k


@func
def block_times(work, k: ti.i32, v):
    """block_Jv = J v of block k."""
    dim = work.block_dim[k]
    address = below(ROW_BITS - 1, work.block_jacadr[k])
    first = below(ROW_BITS - 1, work.block_dofadr[k])
    if dim == 3:
        along, side1, side2 = work.real(0.0), work.real(0.0), work.real(0.0)
        for e in range(work.block_dofnum[k]):
            a = below(ROW_BITS - 1, address + 3 * e)
            speed = v[work.block_dof[first + below(SMALL_BITS, e)]]
            along += work.block_J[a] * speed
            side1 += work.block_J[a + 1] * speed
            side2 += work.block_J[a + 2] * speed
        work.block_Jv.at(k, 0)._assign(along)
        work.block_Jv.at(k, 1)._assign(side1)
        work.block_Jv.at(k, 2)._assign(side2)
    elif dim == 1:
        along = work.real(0.0)
        for q in range(work.block_dofnum[k]):
            e = below(SMALL_BITS, q)
            along += work.block_J[address + e] * v[work.block_dof[first + e]]
        work.block_Jv.at(k, 0)._assign(along)
    else:
        for c in range(dim):
            total = work.real(0.0)
            for e in range(work.block_dofnum[k]):
                total += work.block_J[address + dim * e + c] * v[work.block_dof[first + e]]
            work.block_Jv.at(k, c)._assign(total)


@func
def add_transpose_times_force(work, k: ti.i32):
    """qfrc_constraint += J' block_force of block k."""
    dim = work.block_dim[k]
    address = below(ROW_BITS - 1, work.block_jacadr[k])
    first = below(ROW_BITS - 1, work.block_dofadr[k])
    normal = work.block_force.at(k, 0)
    if dim == 3:
        side1, side2 = work.block_force.at(k, 1), work.block_force.at(k, 2)
        for e in range(work.block_dofnum[k]):
            i = work.block_dof[first + below(SMALL_BITS, e)]
            a = below(ROW_BITS - 1, address + 3 * e)
            push = work.block_J[a] * normal + work.block_J[a + 1] * side1 + work.block_J[a + 2] * side2
            work.qfrc_constraint[i] = work.qfrc_constraint[i] + push
    elif dim == 1:
        for q in range(work.block_dofnum[k]):
            e = below(SMALL_BITS, q)
            i = work.block_dof[first + e]
            work.qfrc_constraint[i] = work.qfrc_constraint[i] + work.block_J[address + e] * normal
    else:
        for e in range(work.block_dofnum[k]):
            i = work.block_dof[first + e]
            total = work.block_J[address + dim * e] * normal
            for c in range(1, dim):
                total += work.block_J[address + dim * e + c] * work.block_force.at(k, c)
            work.qfrc_constraint[i] = work.qfrc_constraint[i] + total
