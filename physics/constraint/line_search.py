"""Exact search along the Newton direction: the cost is piecewise quadratic, its derivative piecewise linear.

Newton's method on the derivative inside a shrinking bracket; it ends exactly as soon as two evaluations in a row
see the same active rows.
"""

import taichi as ti

UNBOUNDED = 1e30
ENOUGH = {False: 1e-5, True: 0.0}  # part of the slope that may remain; single precision resolves little more


@ti.func
def evaluate(model: ti.template(), work: ti.template(), step: ti.template()):
    """Change of the constraint cost from step 0, its first and second derivative at `step`."""
    cost, slope, curve = work.real(0.0), work.real(0.0), work.real(0.0)
    for k in range(work.tile_nlim[0]):
        stiffness = work.lim_D[k]
        x, v = work.lim_x[k], work.lim_Jv[k]
        here, there = ti.min(x, 0.0), ti.min(x + step * v, 0.0)
        cost += stiffness * ((there - here) * (there + here))
        slope += stiffness * v * there
        curve += ti.select(there < 0.0, stiffness * v * v, work.real(0.0))
    for k in range(work.tile_ncon[0]):
        p = work.con_pair[k]
        dim = model.pair_condim[p]
        stiffness = work.con_D[k]
        x, v = work.con_x.at(k, 0), work.con_Jv.at(k, 0)
        for c in range(1, ti.max(dim, 2)):
            y, w = work.real(0.0), work.real(0.0)
            if dim > 1:
                mu = model.pair_friction.at(p, c - 1)
                y = work.con_x.at(k, c) * mu
                w = work.con_Jv.at(k, c) * mu
            sides = 2 if dim > 1 else 1
            for side in range(sides):
                if side == 1:
                    y = -y
                    w = -w
                speed = v + w
                here, there = ti.min(x + y, 0.0), ti.min((x + y) + step * speed, 0.0)
                cost += stiffness * ((there - here) * (there + here))
                slope += stiffness * speed * there
                curve += ti.select(there < 0.0, stiffness * speed * speed, work.real(0.0))
    return cost * 0.5, slope, curve


@ti.func
def search(
    model: ti.template(),
    work: ti.template(),
    linear: ti.template(),
    quadratic: ti.template(),
    descent: ti.template(),
    resting: ti.template(),
    tolerance: ti.template(),
):
    """Step length and the change of the cost along `work.search`.

    Args:
        model: the model.
        work: the tile's scratch.
        linear: derivative at step 0 of the cost without constraints.
        quadratic: search' M search.
        descent: derivative of the cost along `search` at step 0.
        resting: mask of lanes that do not move; their step is meaningless.
        tolerance: derivative that counts as zero.

    Returns:
        (step, change of the total cost).
    """
    lanes = work.lanes
    step = work.real(1.0)  # where the minimum is if no row changes
    enough = ti.max(tolerance, ti.abs(descent) * ENOUGH[lanes.double])
    low, high = work.real(0.0), work.real(UNBOUNDED)
    change, previous = work.real(0.0), work.real(-1.0)
    settled = work.real(0.0) + resting
    trial = 0
    while trial >= 0:
        cost, slope, curve = evaluate(model, work, step)
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
