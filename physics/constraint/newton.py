"""Newton's method with exact line search for the acceleration under all forces, all lanes of a tile together.

The unknown is shifted, dqacc = qacc - qacc_warmstart, and the smooth forces enter as what the warm start leaves of them
unexplained (`smooth.start_acceleration`): single precision then rounds a small number, and qacc_smooth is not needed.
A lane in which no row can push is done after the first step, taken whole: M dqacc = qfrc_unbalanced. The others take
Newton steps with an exact line search; one that has converged rests: its numbers do not change while others go on.
Stopping rules and their scale are MuJoCo's (mj_solNewton), improvement, gradient or Newton decrement below the
tolerance, but that a step that changed the active rows is not the last unless the gradient is small: near the solution
it gains little, and yet leaves forces wrong by much more than the tolerance. And a lane that rests because the cost no
longer changes much still goes along the direction at hand if it gains anything (it is not counted as an iteration). In
single precision, where dqacc was so large that its rounding shows, the solver starts once more from where it got
(iterative refinement: Higham 2002, chapter 12).
"""

import taichi as ti

from ..dynamics.smooth import force_residual
from ..dynamics.tree_matrix import multiply, solve
from ..fields import SMALL_BITS, below
from .hessian import start_hessian, update_hessian
from .hessian_pattern import lay_out_hessian
from .line_search import search
from .problem import clear_solution, constraint_force, move, place_blocks, problem_scale
from .rows import count_blocks, jacobian_times

UNIT_ROUNDOFF = 6e-8  # of single precision
VISIBLE = 3e-4
"""Error of qacc, relative to its size, that a solution in single precision may leave. docs/parity.md allows 1e-3."""
RESTARTS, MIXED_RESTARTS = 2, 5
"""At most; in mixed precision, where qfrc_unbalanced is exact, restarts that gain slowly are worth it."""
WORTHLESS = 1e-3
"""Part of the tolerance below which a last step along a direction at hand gains nothing."""
FINITE = 1e38
ENOUGH = {False: 1e-5, True: 0.0}
"""Part of the slope that the line search may leave; single precision resolves little more."""


@ti.func
def acceleration_by_newton(model: ti.template(), work: ti.template()):
    """qacc, qfrc_constraint, block_force and solver_niter; before: qacc where to start, qfrc_unbalanced there."""
    lanes = work.lanes
    scale = problem_scale(model, work)
    done, iterations, improvement = work.real(0.0), work.real(0.0), work.real(0.0)
    work.polish[0] = work.real(0.0)
    work.full_step[0] = 1.0 - _pushed(work)
    clear_solution(model, work)
    step = work.real(0.0)
    going, rounds, restarts = 1, 0, 0
    while going == 1:
        if rounds == 0:
            place_blocks(work, count_blocks(work), work.qacc, done)
            step = work.real(0.0)
        constraint_force(model, work, count_blocks(work), step)
        done = _newton_direction(model, work, scale, rounds, restarts, done, improvement)
        if rounds < model.iterations and lanes.any(ti.max(1.0 - done, work.polish[0])):
            jacobian_times(work, count_blocks(work), work.search)
            step, change = _step(model, work, scale, rounds, done)
            improvement = -change
            done = ti.max(done, lanes.mask(improvement == 0.0))
            iterations += 1.0 - done
            rounds += 1
        else:
            going = 0
            if ti.static(not lanes.double):
                if restarts < ti.static(MIXED_RESTARTS if model.has.mixed_precision else RESTARTS):
                    work.full_step[0] = _coarse(model, work)
                    if lanes.any(work.full_step[0]):
                        _restart(model, work)
                        done = 1.0 - work.full_step[0]
                        rounds = 0
                        restarts += 1
                        going = 1
    work.solver_niter[0] = iterations
    for i in range(model.nv):
        work.qacc[i] = work.qacc[i] + work.dqacc[i]


@ti.func
def _pushed(work: ti.template()):
    """Mask of the lanes with a block that may push."""
    found = work.real(0.0)
    for k in range(count_blocks(work)):
        found = ti.max(found, work.lanes.mask(work.block_D[k] > 0.0))
    return found


@ti.func
def _newton_direction(
    model: ti.template(),
    work: ti.template(),
    scale: ti.template(),
    rounds: ti.i32,
    restarts: ti.i32,
    done: ti.template(),
    improvement: ti.template(),
):
    """Gradient, Hessian and search direction here; the mask of lanes that have converged."""
    lanes = work.lanes
    tolerance = model.tolerance[0]
    square = work.real(0.0)
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        gradient = (work.M_dqacc[i] - work.qfrc_unbalanced[i]) - work.qfrc_constraint[i]
        work.gradient[i] = gradient
        work.search[i] = -gradient
        square += gradient * gradient
    gradient_small = lanes.mask(scale * ti.sqrt(square) < tolerance)
    improvement_small = lanes.mask(scale * improvement < tolerance)
    nonfinite = 1.0 - lanes.mask(square < FINITE)
    now = done
    work.polish[0] = work.real(0.0)
    if rounds == 0:
        work.full_step[0] = ti.max(work.full_step[0], nonfinite)  # so that qacc tells
    else:
        now = ti.max(ti.max(now, nonfinite), gradient_small)
    if rounds < model.iterations and lanes.any(1.0 - now):
        fresh = 0
        if rounds + restarts == 0:
            fresh = 1
            lay_out_hessian(model, work)
            start_hessian(model, work)
        changed = update_hessian(model, work, fresh)
        solve(model.nv, work.H_pattern, work.H_L, work.H_inv, work.search)
        decrement = work.real(0.0)
        for i in range(model.nv):
            decrement -= work.gradient[i] * work.search[i]
        decrement_small = lanes.mask(0.5 * scale * decrement < tolerance)
        if rounds == 0:
            decrement_small = decrement_small * gradient_small * (1.0 - work.full_step[0])
        else:
            decrement_small = ti.max(decrement_small, improvement_small) * (1.0 - changed)
            gains = lanes.mask(0.5 * scale * decrement > WORTHLESS * tolerance)
            work.polish[0] = decrement_small * gains * (1.0 - now)
        now = ti.max(now, decrement_small)
    return now


@ti.func
def _step(model: ti.template(), work: ti.template(), scale: ti.template(), rounds: ti.i32, done: ti.template()):
    """Move along `search` as far as it pays; (step, change of the cost, 0 where nothing is left to gain)."""
    still = done * (1.0 - work.polish[0])
    step, change = work.real(0.0), work.real(0.0)
    if rounds == 0:
        step = work.full_step[0] * (1.0 - still)
        still = ti.max(still, work.full_step[0])
    if work.lanes.any(1.0 - still):
        length, gain = _line_search(model, work, scale, still)
        step = ti.select(still > 0.5, step, length)
        change = ti.select(ti.max(still, done) > 0.5, change, gain)
    move(model, work, step)
    return step, change


@ti.func
def _line_search(model: ti.template(), work: ti.template(), scale: ti.template(), still: ti.template()):
    """M_search, and `line_search.search` along it: (step, change of the cost)."""
    multiply(model.nv, work.M_pattern, work.M, work.search, work.M_search)
    linear, quadratic, square, descent = work.real(0.0), work.real(0.0), work.real(0.0), work.real(0.0)
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        direction = work.search[i]
        linear += direction * (work.M_dqacc[i] - work.qfrc_unbalanced[i])
        quadratic += direction * work.M_search[i]
        square += direction * direction
        descent += direction * work.gradient[i]
    tolerance = model.tolerance[0] * model.ls_tolerance[0] * ti.sqrt(square) / scale
    enough = ti.max(tolerance, ti.abs(descent) * ENOUGH[work.lanes.double])
    return search(model, work, work.real(1.0), linear, quadratic, still, enough, True)


@ti.func
def _coarse(model: ti.template(), work: ti.template()):
    """Mask of the lanes in which the rounding of the shift may be seen in qacc.

    Errors of a solution are bounded in the scale in which `condition` is measured: that of dof i, times sqrt(M_ii), by
    the condition times the unit roundoff times the largest shift (Higham 2002, section 7.3).
    """
    moved, size, least = work.real(0.0), work.real(0.0), work.real(FINITE)
    for i in range(model.nv):
        end = work.qacc[i] + work.dqacc[i]
        inertia = work.M[work.M_pattern.start(i)]
        moved = ti.max(moved, work.dqacc[i] * work.dqacc[i] * inertia)
        size = ti.max(size, end * end)
        least = ti.min(least, inertia)
    error = model.condition[0] * (UNIT_ROUNDOFF / VISIBLE)
    return work.lanes.mask(moved * (error * error) > size * least)


@ti.func
def _restart(model: ti.template(), work: ti.template()):
    """Begin again where lanes with full_step got to; in the others qfrc_unbalanced does not matter any more."""
    for i in range(model.nv):
        start = ti.select(work.full_step[0] > 0.5, work.qacc[i] + work.dqacc[i], work.qacc[i])
        work.dqacc[i] = ti.select(work.full_step[0] > 0.5, work.real(0.0), work.dqacc[i])
        work.M_dqacc[i] = work.real(0.0)
        work.qacc[i] = start
    force_residual(model, work, work.qacc)
