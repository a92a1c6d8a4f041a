"""Products with the constraint Jacobian."""

import taichi as ti

from ..fields import ROW_BITS, SMALL_BITS, below


@ti.func
def limit_dofs(model: ti.template(), row: ti.i32):
    """Number of dofs of a limit's Jacobian: 3 for a ball joint, else 1."""
    return 3 if model.limit_side[row] == 0 else 1


@ti.func
def jacobian_times(model: ti.template(), work: ti.template(), v: ti.template()):
    """con_Jv and lim_Jv = J v."""
    for k in range(work.tile_nlim[0]):
        row = work.lim_row[k]
        total = work.real(0.0)
        for c in range(limit_dofs(model, row)):
            total += work.lim_J.at(k, c) * v[model.limit_dofadr[row] + c]
        work.lim_Jv[k] = total
    for k in range(work.tile_ncon[0]):
        p = work.con_pair[k]
        dim = model.pair_condim[p]
        address = below(ROW_BITS - 1, work.con_jadr[k])
        first = model.pair_dofadr[p]
        if dim == 3:
            along, side1, side2 = work.real(0.0), work.real(0.0), work.real(0.0)
            for e in range(model.pair_dofnum[p]):
                a = below(ROW_BITS - 1, address + 3 * e)
                speed = v[model.pairdof_id[first + e]]
                along += work.con_J[a] * speed
                side1 += work.con_J[a + 1] * speed
                side2 += work.con_J[a + 2] * speed
            work.con_Jv.at(k, 0)._assign(along)
            work.con_Jv.at(k, 1)._assign(side1)
            work.con_Jv.at(k, 2)._assign(side2)
        elif dim == 1:
            along = work.real(0.0)
            for e in range(model.pair_dofnum[p]):
                along += work.con_J[address + below(SMALL_BITS, e)] * v[model.pairdof_id[first + e]]
            work.con_Jv.at(k, 0)._assign(along)
        else:
            for c in range(dim):
                total = work.real(0.0)
                for e in range(model.pair_dofnum[p]):
                    total += work.con_J[address + dim * e + c] * v[model.pairdof_id[first + e]]
                work.con_Jv.at(k, c)._assign(total)


@ti.func
def constraint_force(model: ti.template(), work: ti.template()):
    """Forces of all rows at their x, and qfrc_constraint = J' force."""
    zero = work.real(0.0)
    for i in range(model.nv):
        work.qfrc_constraint[i] = zero
    for k in range(work.tile_nlim[0]):
        row = work.lim_row[k]
        force = ti.min(work.lim_x[k], 0.0) * (-work.lim_D[k])
        work.lim_force[k] = force
        for c in range(limit_dofs(model, row)):
            i = model.limit_dofadr[row] + c
            work.qfrc_constraint[i] = work.qfrc_constraint[i] + work.lim_J.at(k, c) * force
    for k in range(work.tile_ncon[0]):
        p = work.con_pair[k]
        _contact_force(model, work, k, p)
        dim = model.pair_condim[p]
        address = below(ROW_BITS - 1, work.con_jadr[k])
        first = model.pair_dofadr[p]
        normal = work.con_force.at(k, 0)
        if dim == 3:
            side1, side2 = work.con_force.at(k, 1), work.con_force.at(k, 2)
            for e in range(model.pair_dofnum[p]):
                i = model.pairdof_id[first + e]
                a = below(ROW_BITS - 1, address + 3 * e)
                push = work.con_J[a] * normal + work.con_J[a + 1] * side1 + work.con_J[a + 2] * side2
                work.qfrc_constraint[i] = work.qfrc_constraint[i] + push
        elif dim == 1:
            for e in range(model.pair_dofnum[p]):
                i = model.pairdof_id[first + e]
                push = work.con_J[address + below(SMALL_BITS, e)] * normal
                work.qfrc_constraint[i] = work.qfrc_constraint[i] + push
        else:
            for e in range(model.pair_dofnum[p]):
                i = model.pairdof_id[first + e]
                total = work.con_J[address + dim * e] * normal
                for c in range(1, dim):
                    total += work.con_J[address + dim * e + c] * work.con_force.at(k, c)
                work.qfrc_constraint[i] = work.qfrc_constraint[i] + total


@ti.func
def _contact_force(model: ti.template(), work: ti.template(), k: ti.i32, p: ti.i32):
    """Force in contact space: the pyramid's rows push along normal +- mu_i axis_i."""
    dim = model.pair_condim[p]
    stiffness = -work.con_D[k]
    x = work.con_x.at(k, 0)
    normal = ti.min(x, 0.0)
    if dim > 1:
        normal = work.real(0.0)
        for c in range(1, dim):
            mu = model.pair_friction.at(p, c - 1)
            y = work.con_x.at(k, c) * mu
            up = ti.min(x + y, 0.0)
            down = ti.min(x - y, 0.0)
            normal += up + down
            work.con_force.at(k, c)._assign((up - down) * mu * stiffness)
    work.con_force.at(k, 0)._assign(normal * stiffness)
