"""Exact search along a direction: the cost is piecewise quadratic, its derivative piecewise linear.

Newton's method on the derivative inside a shrinking bracket; it ends exactly as soon as two evaluations in a row
see the same active rows.
"""

import taichi as ti

from .cost import block_along
from .rows import count_blocks

UNBOUNDED = 1e30


@ti.func
def evaluate(model: ti.template(), work: ti.template(), step: ti.template(), with_cost: ti.template()):
    """Change of the constraint cost from step 0, 0 if not `with_cost`; its first and second derivative at `step`."""
    cost, slope, curve = work.real(0.0), work.real(0.0), work.real(0.0)
    listed = work.tile_nlim[0] if ti.static(model.has.cg) else count_blocks(work)
    for k in range(listed):
        more, steeper, rounder = block_along(work, work.blocks, k, work.block_dim[k], step, with_cost)
        cost += more
        slope += steeper
        curve += rounder
    if ti.static(model.has.cg):
        for j in range(work.tile_nown[0]):
            more, steeper, rounder = block_along(work, work.own, j, model.naxis, step, with_cost)
            cost += more
            slope += steeper
            curve += rounder
    return cost * 0.5, slope, curve


@ti.func
def search(
    model: ti.template(),
    work: ti.template(),
    first: ti.template(),
    linear: ti.template(),
    quadratic: ti.template(),
    done: ti.template(),
    enough: ti.template(),
    with_cost: ti.template(),
):
    """Step length and the change of the cost along `work.search`.

    Args:
        model: the model.
        work: the tile's scratch.
        first: the first step to try; Newton's is 1, where the minimum is if no row changes.
        linear: derivative at step 0 of the cost without constraints.
        quadratic: search' M search.
        done: mask of lanes that do not move; their step is meaningless.
        enough: derivative that counts as zero.
        with_cost: whether the change of the cost is wanted.

    Returns:
        (step, change of the total cost, or something else without `with_cost`).
    """
    lanes = work.lanes
    step = work.real(0.0) + first
    low, high = work.real(0.0), work.real(UNBOUNDED)
    change, previous = work.real(0.0), work.real(-1.0)
    settled = work.real(0.0) + done
    trial = 0
    while trial >= 0:
        cost, slope, curve = evaluate(model, work, step, with_cost)
        change = ti.select(settled > 0.5, change, step * (linear + 0.5 * step * quadratic) + cost)
        derivative = linear + step * quadratic + slope
        settled = ti.max(settled, lanes.mask((curve == previous) | (ti.abs(derivative) <= enough)))
        low = ti.select(derivative < 0.0, step, low)
        high = ti.select(derivative < 0.0, high, step)
        newton = step - derivative / (quadratic + curve)
        inside = (newton > low) & (newton < high)
        middle = 0.5 * (low + ti.min(high, 2.0 * low + 1.0))
        following = ti.select(inside, newton, middle)
        previous = ti.select(inside, curve, work.real(-1.0))
        step = ti.select(settled > 0.5, step, following)
        trial += 1
        if trial > model.ls_iterations or not lanes.any(1.0 - settled):
            trial = -1
    return step, change
