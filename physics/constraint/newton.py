"""Newton's method with exact line search for the acceleration under all forces, all lanes of a tile together.

The unknown is shifted, y = qacc - qacc_warmstart, and the smooth forces enter as what the warm start leaves of them
unexplained (`smooth.start_acceleration`): single precision then rounds a small number, and qacc_smooth is not needed.
A lane in which no row can push is done after the first step, taken whole: M y = residual. The others take Newton steps
with an exact line search; one that has converged rests: its numbers do not change while others go on. Stopping rules
and their scale are MuJoCo's (mj_solNewton), improvement, gradient or Newton decrement below the tolerance, but that a
step that changed the active rows is not the last unless the gradient is small: near the solution it gains little, and
yet leaves forces wrong by much more than the tolerance. And a lane that rests because the cost no longer changes much
still goes along the direction at hand if it gains anything (it is not counted as an iteration). In single precision,
where y was so large that its rounding shows, the solver starts once more from where it got (iterative refinement:
Higham 2002, chapter 12).
"""

import taichi as ti

from ..dynamics.smooth import unexplained_force
from ..dynamics.tree_matrix import multiply, solve
from ..fields import SMALL_BITS, below
from .fill import lay_out_hessian
from .hessian import start_hessian, update_hessian
from .line_search import search
from .products import constraint_force, jacobian_times

UNIT_ROUNDOFF = 6e-8  # of single precision
VISIBLE = 3e-4
"""Error of qacc, relative to its size, that a solution in single precision may leave. docs/parity.md allows 1e-3."""
RESTARTS, FINE_RESTARTS = 2, 5
"""At most; in fine kernels (`Features.fine`), whose residual is exact, restarts that gain slowly are worth it."""
WORTHLESS = 1e-3
"""Part of the tolerance below which a last step along a direction at hand gains nothing."""
FINITE = 1e38


@ti.func
def acceleration(model: ti.template(), work: ti.template()):
    """qacc, qfrc_constraint, the rows' forces and solver_niter; qacc holds the start, residual what it leaves."""
    lanes = work.lanes
    scale = _scale(model, work)
    resting, iterations, improvement = work.real(0.0), work.real(0.0), work.real(0.0)
    work.last_step[0] = work.real(0.0)
    work.whole[0] = 1.0 - _pushed(work)
    for i in range(model.nv):
        work.shift[i] = work.real(0.0)
        work.M_shift[i] = work.real(0.0)
    going, rounds, restarts = 1, 0, 0
    while going == 1:
        if rounds == 0:
            _place_rows(model, work, resting)
        resting = _newton_direction(model, work, scale, rounds, restarts, resting, improvement)
        if rounds < model.iterations and lanes.any(ti.max(1.0 - resting, work.last_step[0])):
            jacobian_times(model, work, work.search)
            improvement = -_step(model, work, scale, rounds, resting)
            resting = ti.max(resting, lanes.mask(improvement == 0.0))
            iterations += 1.0 - resting
            rounds += 1
        else:
            going = 0
            if ti.static(not lanes.double):
                if restarts < ti.static(FINE_RESTARTS if model.has.fine else RESTARTS):
                    work.whole[0] = _coarse(model, work)
                    if lanes.any(work.whole[0]):
                        _restart(model, work)
                        resting = 1.0 - work.whole[0]
                        rounds = 0
                        restarts += 1
                        going = 1
    work.solver_niter[0] = iterations
    for i in range(model.nv):
        work.qacc[i] = work.qacc[i] + work.shift[i]


@ti.func
def _pushed(work: ti.template()):
    """Mask of the lanes with a row that may push."""
    found = work.real(0.0)
    for k in range(work.tile_nlim[0]):
        found = ti.max(found, work.lanes.mask(work.lim_D[k] > 0.0))
    for k in range(work.tile_ncon[0]):
        found = ti.max(found, work.lanes.mask(work.con_D[k] > 0.0))
    return found


@ti.func
def _scale(model: ti.template(), work: ti.template()):
    """One over the trace of M (MuJoCo with constraint islands), or the constant without islands."""
    trace = work.real(0.0)
    for i in range(model.nv):
        trace += work.M[work.tree.start(i)]
    scale = 1.0 / trace
    if model.solver_scale[0] > 0.0:
        scale = work.real(model.solver_scale[0])
    return scale


@ti.func
def _place_rows(model: ti.template(), work: ti.template(), resting: ti.template()):
    """X of every row at qacc, but in resting lanes."""
    jacobian_times(model, work, work.qacc)
    for k in range(work.tile_nlim[0]):
        x = work.lim_ref[k] + work.lim_Jv[k]
        work.lim_x[k] = ti.select(resting > 0.5, work.lim_x[k], x)
    for k in range(work.tile_ncon[0]):
        for c in range(model.pair_condim[work.con_pair[k]]):
            x = work.con_ref.at(k, c) + work.con_Jv.at(k, c)
            work.con_x.at(k, c)._assign(ti.select(resting > 0.5, work.con_x.at(k, c), x))


@ti.func
def _newton_direction(
    model: ti.template(),
    work: ti.template(),
    scale: ti.template(),
    rounds: ti.i32,
    restarts: ti.i32,
    resting: ti.template(),
    improvement: ti.template(),
):
    """Gradient, forces, Hessian and search direction here; the mask of lanes that have converged."""
    lanes = work.lanes
    tolerance = model.tolerance[0]
    constraint_force(model, work)
    square = work.real(0.0)
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        gradient = (work.M_shift[i] - work.residual[i]) - work.qfrc_constraint[i]
        work.gradient[i] = gradient
        work.search[i] = -gradient
        square += gradient * gradient
    flat = lanes.mask(scale * ti.sqrt(square) < tolerance)
    poor = lanes.mask(scale * improvement < tolerance)
    lost = 1.0 - lanes.mask(square < FINITE)
    now = resting
    work.last_step[0] = work.real(0.0)
    if rounds == 0:
        work.whole[0] = ti.max(work.whole[0], lost)  # so that qacc tells
    else:
        now = ti.max(ti.max(now, lost), flat)
    if rounds < model.iterations and lanes.any(1.0 - now):
        fresh = 0
        if rounds + restarts == 0:
            fresh = 1
            lay_out_hessian(model, work)
            start_hessian(model, work)
        changed = update_hessian(model, work, fresh)
        solve(model.nv, work.fill, work.H_L, work.H_inv, work.search)
        decrement = work.real(0.0)
        for i in range(model.nv):
            decrement -= work.gradient[i] * work.search[i]
        small = lanes.mask(0.5 * scale * decrement < tolerance)
        if rounds == 0:
            small = small * flat * (1.0 - work.whole[0])
        else:
            small = ti.max(small, poor) * (1.0 - changed)
            gains = lanes.mask(0.5 * scale * decrement > WORTHLESS * tolerance)
            work.last_step[0] = small * gains * (1.0 - now)
        now = ti.max(now, small)
    return now


@ti.func
def _step(model: ti.template(), work: ti.template(), scale: ti.template(), rounds: ti.i32, resting: ti.template()):
    """Move along `search` as far as it pays; the change of the cost, 0 where nothing is left to gain."""
    still = resting * (1.0 - work.last_step[0])
    step, change = work.real(0.0), work.real(0.0)
    if rounds == 0:
        step = work.whole[0] * (1.0 - still)
        still = ti.max(still, work.whole[0])
    if work.lanes.any(1.0 - still):
        length, gain = _line_search(model, work, scale, still)
        step = ti.select(still > 0.5, step, length)
        change = ti.select(ti.max(still, resting) > 0.5, change, gain)
    _move(model, work, step)
    return change


@ti.func
def _line_search(model: ti.template(), work: ti.template(), scale: ti.template(), still: ti.template()):
    """M_search, and `line_search.search` along it: (step, change of the cost)."""
    multiply(model.nv, work.tree, work.M, work.search, work.M_search)
    linear, quadratic, square, descent = work.real(0.0), work.real(0.0), work.real(0.0), work.real(0.0)
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        direction = work.search[i]
        linear += direction * (work.M_shift[i] - work.residual[i])
        quadratic += direction * work.M_search[i]
        square += direction * direction
        descent += direction * work.gradient[i]
    tolerance = model.tolerance[0] * model.ls_tolerance[0] * ti.sqrt(square) / scale
    return search(model, work, linear, quadratic, descent, still, tolerance)


@ti.func
def _move(model: ti.template(), work: ti.template(), step: ti.template()):
    """Go `step` times along `search`, whose J search is at hand, and M search where it will be needed."""
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        work.shift[i] = work.shift[i] + step * work.search[i]
        work.M_shift[i] = work.M_shift[i] + step * work.M_search[i]
    for k in range(work.tile_nlim[0]):
        work.lim_x[k] = work.lim_x[k] + step * work.lim_Jv[k]
    for k in range(work.tile_ncon[0]):
        for c in range(model.pair_condim[work.con_pair[k]]):
            work.con_x.at(k, c)._assign(work.con_x.at(k, c) + step * work.con_Jv.at(k, c))


@ti.func
def _coarse(model: ti.template(), work: ti.template()):
    """Mask of the lanes in which the rounding of the shift may be seen in qacc.

    Errors of a solution are bounded in the scale in which `condition` is measured: that of dof i, times sqrt(M_ii), by
    the condition times the unit roundoff times the largest shift (Higham 2002, section 7.3).
    """
    moved, size, least = work.real(0.0), work.real(0.0), work.real(FINITE)
    for i in range(model.nv):
        end = work.qacc[i] + work.shift[i]
        inertia = work.M[work.tree.start(i)]
        moved = ti.max(moved, work.shift[i] * work.shift[i] * inertia)
        size = ti.max(size, end * end)
        least = ti.min(least, inertia)
    error = model.condition[0] * (UNIT_ROUNDOFF / VISIBLE)
    return work.lanes.mask(moved * (error * error) > size * least)


@ti.func
def _restart(model: ti.template(), work: ti.template()):
    """Begin again from where `whole` lanes got; what the others' residual becomes does not matter any more."""
    for i in range(model.nv):
        start = ti.select(work.whole[0] > 0.5, work.qacc[i] + work.shift[i], work.qacc[i])
        work.shift[i] = ti.select(work.whole[0] > 0.5, work.real(0.0), work.shift[i])
        work.M_shift[i] = work.real(0.0)
        work.qacc[i] = start
    unexplained_force(model, work, work.qacc)
