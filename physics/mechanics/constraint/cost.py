"""The cost of a block and its derivatives: its force, its weight (second derivative), and its values along a line.

A one-sided row costs D x^2 / 2 where x = J qacc - aref is negative. A friction loss f costs as much for |x| up to its
reach f / D, and beyond it grows with the constant slope f (Huber 1964). An equality is a friction loss of infinite
reach. A pyramidal contact of d axes has the 2 (d - 1) rows x_0 +- mu_i x_i, i = 1 ... d - 1, each of which costs as
much as a one-sided row (MuJoCo documentation, Computation: Friction cones). Elliptic contacts are in `cone`.

Arguments of the functions: `rows` says in which fields the numbers of a block are (`state.views.Rows`), k is the number
of the block, and `dim` the number of its axes.
"""

import taichi as ti

from ...base.math import func
from .cone import Along, cone_along, cone_force, cone_weight, set_weight


@func
def block_force(work, rows, k: ti.i32, dim: ti.i32):
    """Set the force of block k: minus the gradient of its cost with respect to its jar."""
    if ti.static(rows.elliptic):
        if is_cone(work, rows, k):
            cone_force(work, rows, k, dim)
        else:
            _force_of_rows(work, rows, k, dim)
    else:
        _force_of_rows(work, rows, k, dim)


@func
def is_cone(work, rows, k: ti.i32):
    """True if block k is a contact; asked in kernels with elliptic cones."""
    first = 0
    if ti.static(not rows.contacts_alone):
        first = work.tile_conadr[0]
    return k >= first


@func
def _force_of_rows(work, rows, k: ti.i32, dim: ti.i32):
    """Set the force of block k for a single row or a pyramid."""
    x = rows.jar.at(k, 0)
    normal = work.real(0.0)
    if dim == 1:
        normal = _quadratic_part(work, rows, k, x) * -rows.stiffness(k, 1)
    for c in range(1, dim):
        mu, stiffness = rows.friction.at(k, c - 1), -rows.stiffness(k, c)
        up, down = edges(rows, k, c, x)
        normal += (up + down) * stiffness
        rows.force.at(k, c)._assign((up - down) * mu * stiffness)
    rows.force.at(k, 0)._assign(normal)


@func
def edges(rows, k: ti.i32, c: ti.i32, x):
    """Return min(x + mu x_c, 0) and min(x - mu x_c, 0), the two rows of axis c; `x` is the jar of the normal."""
    y = rows.jar.at(k, c) * rows.friction.at(k, c - 1)
    return ti.min(x + y, 0.0), ti.min(x - y, 0.0)


@func
def _quadratic_part(work, rows, k: ti.i32, x):
    """Return x clamped to the quadratic range of row k's cost. The row's force is -D times this value."""
    part = ti.min(x, 0.0)
    if ti.static(rows.two_sided):
        if k < work.ntwosided:
            reach = work.block_reach[k]
            part = ti.max(ti.min(x, reach), -reach)
    return part


@func
def block_weight(work, k: ti.i32):
    """Update block_weight of block k, and set weight_change to the difference.

    Returns the mask of the lanes in which it changed, and the mask of the lanes in which the active set did. The two
    differ for elliptic cones, whose weight changes continuously while they slide.
    """
    changed, moved = work.real(0.0), work.real(0.0)
    if ti.static(work.blocks.elliptic):
        if is_cone(work, work.blocks, k):
            changed, moved = cone_weight(work, k)
        else:
            changed = _weight_of_rows(work, k)
            moved = changed
    else:
        changed = _weight_of_rows(work, k)
        moved = changed
    return changed, moved


@func
def _weight_of_rows(work, k: ti.i32):
    """Update block_weight for a single row or a pyramid; return the mask of the lanes in which it changed.

    The second derivative of a pyramid's cost is an arrow matrix: entry 0 is (normal, normal), entry 2 i - 1 is (normal,
    axis i) and entry 2 i is (axis i, axis i). For a two-sided row, entry 1 is the end of its reach that it is beyond
    (-1, 0 or 1): a jump from one end to the other leaves the second derivative as it is, but not the force.
    """
    dim = work.block_dim[k]
    stiffness = work.block_D[k]
    zero = work.real(0.0)
    x = work.block_jar.at(k, 0)
    normal = ti.select(x < 0.0, stiffness, zero)
    changed = zero
    if ti.static(work.blocks.two_sided):
        if k < work.ntwosided:
            side = _spent(work, k, x)
            normal = ti.select(side == 0.0, stiffness, zero)
            changed = set_weight(work, k, 1, side)
    if dim > 1:
        normal = zero
        for c in range(1, dim):
            mu = work.block_friction.at(k, c - 1)
            y = work.block_jar.at(k, c) * mu
            up = ti.select(x + y < 0.0, stiffness, zero)
            down = ti.select(x - y < 0.0, stiffness, zero)
            normal += up + down
            changed = ti.max(changed, set_weight(work, k, 2 * c - 1, (up - down) * mu))
            changed = ti.max(changed, set_weight(work, k, 2 * c, (up + down) * (mu * mu)))
    return ti.max(changed, set_weight(work, k, 0, normal))


@func
def block_along(work, rows, k: ti.i32, dim: ti.i32, step, with_cost):
    """Return the values of block k's cost at `step` along Jv; the change is 0 unless `with_cost`, a Python bool."""
    found = no_change(work)
    if ti.static(rows.elliptic):
        if is_cone(work, rows, k):
            found = cone_along(work, rows, k, dim, step, with_cost)
        else:
            found = _rows_along(work, rows, k, dim, step, with_cost)
    else:
        found = _rows_along(work, rows, k, dim, step, with_cost)
    return found


@func
def no_change(work):
    """Return zero `Along`."""
    return Along(work.real(0.0), work.real(0.0), work.real(0.0))


@func
def _rows_along(work, rows, k: ti.i32, dim: ti.i32, step, with_cost):
    """Return the results of `block_along`, for a single row or a pyramid."""
    x, v = rows.jar.at(k, 0), rows.Jv.at(k, 0)
    found = no_change(work)
    if dim == 1:
        found = _row_along(work, x, v, step, with_cost)
        if ti.static(rows.two_sided):
            if k < work.ntwosided:
                found = _loss_along(work, k, x, v, step, with_cost)
        found = found * rows.stiffness(k, 1)
    else:
        for c in ti.static((1, 2)):  # a pyramid has at least three axes
            found += _axis_along(work, rows, k, c, x, v, step, with_cost)
        for c in range(3, dim):
            found += _axis_along(work, rows, k, c, x, v, step, with_cost)
    return found


@func
def _axis_along(work, rows, k: ti.i32, c: ti.i32, x, v, step, with_cost):
    """Return the results of `block_along`, for the two rows x_0 +- mu x_c of axis c."""
    mu = rows.friction.at(k, c - 1)
    y, w = rows.jar.at(k, c) * mu, rows.Jv.at(k, c) * mu
    both = _row_along(work, x + y, v + w, step, with_cost) + _row_along(work, x - y, v - w, step, with_cost)
    return both * rows.stiffness(k, c)


@func
def _row_along(work, x, v, step, with_cost):
    """Return the results of `block_along`, for a one-sided row of stiffness 1 with jar x and Jv v."""
    there = ti.min(x + step * v, 0.0)
    cost = work.real(0.0)
    if ti.static(with_cost):
        here = ti.min(x, 0.0)
        cost = (there - here) * (there + here)
    return Along(cost, v * there, ti.select(there < 0.0, v * v, work.real(0.0)))


@func
def _loss_along(work, k: ti.i32, x, v, step, with_cost):
    """Return the results of `block_along`, for a two-sided row of stiffness 1.

    Twice the cost at x is y (2 x - y), with y the clamped x (`_quadratic_part`). The change is written without
    cancellation.
    """
    place = x + step * v
    there = _quadratic_part(work, work.blocks, k, place)
    cost = work.real(0.0)
    if ti.static(with_cost):
        here = _quadratic_part(work, work.blocks, k, x)
        cost = 2.0 * there * (step * v) + (there - here) * ((x - here) + (x - there))
    return Along(cost, v * there, ti.select(there == place, v * v, work.real(0.0)))


@func
def _spent(work, k: ti.i32, x):
    """Return -1 or 1 in lanes in which x is beyond the reach of the two-sided row k, else 0."""
    above = work.lanes.mask(x > work.block_reach[k])
    return above - work.lanes.mask(x < -work.block_reach[k])


@func
def spent_slope(work, k: ti.i32, step):
    """Return the slope along Jv of the two-sided row k at `step` in lanes in which it is beyond its reach, else 0."""
    side = _spent(work, k, work.block_jar.at(k, 0) + step * work.block_Jv.at(k, 0))
    return side * work.block_Jv.at(k, 0) * (work.block_D[k] * work.block_reach[k])


@func
def block_curve(work, rows, k: ti.i32, dim: ti.i32):
    """Return the second derivative of block k's cost along Jv at step 0."""
    return block_along(work, rows, k, dim, work.real(0.0), False).curve
