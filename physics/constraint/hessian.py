"""Hessian M + J' W J of the cost, kept up to date as rows become active or inactive, and its factor."""

import taichi as ti

from ..dynamics.tree_matrix import factor
from ..fields import ROW_BITS, SMALL_BITS, below
from .products import limit_dofs


@ti.func
def start_hessian(model: ti.template(), work: ti.template()):
    """H = M, no row counted in yet."""
    for i in range(model.nv):
        start, from_start = work.fill.start(i), work.tree.start(i)
        count = work.tree.count[i]
        if work.fill.count[i] == count:
            for p in range(count):
                work.H[start + below(SMALL_BITS, p)] = work.M[from_start + below(SMALL_BITS, p)]
        else:
            end = work.fill.end(i)
            for e in range(start, end):
                work.H[e] = work.real(0.0)
            for p in range(count):
                work.H[work.fill.address(end, work.tree.index[i, p])] = work.M[from_start + p]
    for k in range(work.tile_nlim[0]):
        work.lim_weight[k] = work.real(0.0)
    for k in range(work.tile_ncon[0]):
        for c in range(2 * model.pair_condim[work.con_pair[k]] - 1):
            work.con_weight.at(k, c)._assign(work.real(0.0))


@ti.func
def update_hessian(model: ti.template(), work: ti.template(), fresh: ti.i32):
    """Count in the rows whose activity changed in some lane since the last update, and factor if there are any.

    Args:
        model: the model.
        work: the tile's scratch.
        fresh: 1 factors in any case.

    Returns:
        mask of the lanes in which a row changed.
    """
    changed = work.real(0.0)
    for k in range(work.tile_nlim[0]):
        changed = ti.max(changed, _update_limit(model, work, k))
    for k in range(work.tile_ncon[0]):
        changed = ti.max(changed, _update_contact(model, work, k))
    if fresh == 1 or work.lanes.any(changed):
        factor(model.nv, work.fill, work.H, work.H_L, work.H_inv)
    return changed


@ti.func
def _update_limit(model: ti.template(), work: ti.template(), k: ti.i32):
    weight = ti.select(work.lim_x[k] < 0.0, work.lim_D[k], work.real(0.0))
    change = weight - work.lim_weight[k]
    changed = work.lanes.mask(change != 0.0)
    if work.lanes.any(changed):
        work.lim_weight[k] = weight
        row = work.lim_row[k]
        dof = model.limit_dofadr[row]
        for a in range(limit_dofs(model, row)):
            scaled = change * work.lim_J.at(k, a)
            for b in range(a + 1):
                entry = work.fill.address(work.fill.end(dof + a), dof + b)
                work.H[entry] = work.H[entry] + scaled * work.lim_J.at(k, b)
    return changed


@ti.func
def _update_contact(model: ti.template(), work: ti.template(), k: ti.i32):
    """The weight of a contact is an arrow: (normal, normal), (normal, axis i) and (axis i, axis i)."""
    p = work.con_pair[k]
    dim = model.pair_condim[p]
    stiffness = work.con_D[k]
    zero = work.real(0.0)
    x = work.con_x.at(k, 0)
    normal = ti.select(x < 0.0, stiffness, zero)
    changed = zero
    if dim > 1:
        normal = zero
        for c in range(1, dim):
            mu = model.pair_friction.at(p, c - 1)
            y = work.con_x.at(k, c) * mu
            up = ti.select(x + y < 0.0, stiffness, zero)
            down = ti.select(x - y < 0.0, stiffness, zero)
            normal += up + down
            changed = ti.max(changed, _set_change(work, k, 2 * c - 1, (up - down) * mu))
            changed = ti.max(changed, _set_change(work, k, 2 * c, (up + down) * (mu * mu)))
    changed = ti.max(changed, _set_change(work, k, 0, normal))
    if work.lanes.any(changed):
        side_by_side = _find_columns(model, work, p)
        if dim == 3:
            _add_three(model, work, k, p, side_by_side)
        elif dim == 1:
            _add_one(model, work, k, p, side_by_side)
        else:
            _add_any(model, work, k, p, dim)
    return changed


@ti.func
def _set_change(work: ti.template(), k: ti.i32, c: ti.i32, value: ti.template()):
    """Store a weight, and its change in weight_change; a mask of the lanes in which it changed."""
    change = value - work.con_weight.at(k, c)
    work.con_weight.at(k, c)._assign(value)
    work.weight_change[c] = change
    return work.lanes.mask(change != 0.0)


@ti.func
def _find_columns(model: ti.template(), work: ti.template(), p: ti.i32):
    """Whether a contact's entries lie side by side, as a row's do: no other has put dofs between those of this one.

    `con_column` says how far before the end of every row its columns are.
    """
    first = model.pair_dofadr[p]
    count = model.pair_dofnum[p]
    for e in range(count):
        work.con_column.put(e, work.fill.count[model.pairdof_id[first + e]])
    side_by_side = True
    if count > 1:
        side_by_side = work.con_column[0] - work.con_column[count - 1] == count - 1
    return side_by_side


@ti.func
def _entry(work: ti.template(), end: ti.i32, e: ti.i32):
    """Address of the entry at a contact's e-th dof, in the row that ends at `end`."""
    return below(ROW_BITS - 1, end - work.con_column[e])


@ti.func
def _add_one(model: ti.template(), work: ti.template(), k: ti.i32, p: ti.i32, side_by_side: ti.i32):
    """Without friction."""
    address = below(ROW_BITS - 1, work.con_jadr[k])
    first = model.pair_dofadr[p]
    count = model.pair_dofnum[p]
    weight = work.weight_change[0]
    for e in range(count):
        i = model.pairdof_id[first + e]
        a = below(ROW_BITS - 1, address + e)
        scaled = weight * work.con_J[a]
        if side_by_side:
            start = work.fill.start(i)
            for q in range(count - e):
                f = below(SMALL_BITS, q)
                work.H[start + f] = work.H[start + f] + scaled * work.con_J[a + f]
        else:
            end = work.fill.end(i)
            for q in range(e, count):
                f = below(SMALL_BITS, q)
                entry = _entry(work, end, f)
                work.H[entry] = work.H[entry] + scaled * work.con_J[address + f]


@ti.func
def _add_three(model: ti.template(), work: ti.template(), k: ti.i32, p: ti.i32, side_by_side: ti.i32):
    """With friction along two axes."""
    address = below(ROW_BITS - 1, work.con_jadr[k])
    first = model.pair_dofadr[p]
    count = model.pair_dofnum[p]
    nn, n1, w1 = work.weight_change[0], work.weight_change[1], work.weight_change[2]
    n2, w2 = work.weight_change[3], work.weight_change[4]
    for e in range(count):
        i = model.pairdof_id[first + e]
        a = below(ROW_BITS - 1, address + 3 * e)
        jn, j1, j2 = work.con_J[a], work.con_J[a + 1], work.con_J[a + 2]
        tn = nn * jn + n1 * j1 + n2 * j2
        t1 = n1 * jn + w1 * j1
        t2 = n2 * jn + w2 * j2
        if side_by_side:
            start = work.fill.start(i)
            for q in range(count - e):
                f = below(SMALL_BITS, q)
                b = below(ROW_BITS - 1, a + 3 * f)
                total = tn * work.con_J[b] + t1 * work.con_J[b + 1] + t2 * work.con_J[b + 2]
                work.H[start + f] = work.H[start + f] + total
        else:
            end = work.fill.end(i)
            for q in range(e, count):
                f = below(SMALL_BITS, q)
                b = below(ROW_BITS - 1, address + 3 * f)
                total = tn * work.con_J[b] + t1 * work.con_J[b + 1] + t2 * work.con_J[b + 2]
                entry = _entry(work, end, f)
                work.H[entry] = work.H[entry] + total


@ti.func
def _add_any(model: ti.template(), work: ti.template(), k: ti.i32, p: ti.i32, dim: ti.i32):
    """With rotation too."""
    address = work.con_jadr[k]
    first = model.pair_dofadr[p]
    count = model.pair_dofnum[p]
    for e in range(count):
        end = work.fill.end(model.pairdof_id[first + e])
        a = address + dim * e
        tn = work.weight_change[0] * work.con_J[a]
        for c in range(1, dim):
            tn += work.weight_change[2 * c - 1] * work.con_J[a + c]
        for f in range(e, count):
            b = address + dim * f
            total = tn * work.con_J[b]
            for c in range(1, dim):
                side = work.weight_change[2 * c - 1] * work.con_J[a] + work.weight_change[2 * c] * work.con_J[a + c]
                total += side * work.con_J[b + c]
            entry = _entry(work, end, f)
            work.H[entry] = work.H[entry] + total
