"""Nonlinear conjugate gradients for the acceleration under all forces: nothing is factored but the preconditioner.

The problem, its unknown dqacc, the line search and the stopping rule by the gradient are Newton's (`newton`); the
direction is that of Polak and Ribiere, started anew where it would not descend (Nocedal and Wright 2006, section 5.2).
An improvement below the tolerance does not end it, as it would in MuJoCo: far from the solution, too, a single step may
gain little. In lanes without contacts the preconditioner is M, and the first step ends at the solution.
"""

import taichi as ti

from ..dynamics.tree_matrix import multiply, solve
from ..fields import SMALL_BITS, below
from .cost import block_curve
from .line_search import search
from .preconditioner import precondition
from .problem import constraint_force, move, place_blocks, problem_scale
from .rows import count_blocks, jacobian_times

CLOSE = 10.0
"""Times the tolerance below which the scaled gradient ends the solution: qacc is then about 1e-5 of its size off."""
SLOPE = 1e-2
"""Part of the slope that the line search may leave."""
FINITE = 1e38


@ti.func
def acceleration_by_gradients(model: ti.template(), work: ti.template()):
    """qacc, qfrc_constraint, block_force and solver_niter; qacc holds the start, residual what it leaves."""
    lanes = work.lanes
    scale = problem_scale(model, work)
    done, iterations, before = work.real(0.0), work.real(0.0), work.real(1.0)
    for i in range(model.nv):
        work.dqacc[i] = work.real(0.0)
        work.M_dqacc[i] = work.real(0.0)
        work.search[i] = work.real(0.0)
        work.gradient[i] = work.real(0.0)
    place_blocks(model, work, done)
    precondition(model, work)
    step = work.real(0.0)
    going, rounds = 1, 0
    while going == 1:
        constraint_force(model, work, step)
        square = _gradient(model, work)
        small = lanes.mask(scale * ti.sqrt(square) < CLOSE * model.tolerance[0])
        done = ti.max(done, ti.max(small, 1.0 - lanes.mask(square < FINITE)))
        if rounds < model.iterations and lanes.any(1.0 - done):
            before = _direction(model, work, before)
            step = _step(model, work, done)
            iterations += 1.0 - done
            done = ti.max(done, lanes.mask(step == 0.0))
            rounds += 1
        else:
            going = 0
    work.solver_niter[0] = iterations
    for i in range(model.nv):
        work.qacc[i] = work.qacc[i] + work.dqacc[i]


@ti.func
def _gradient(model: ti.template(), work: ti.template()):
    """Set the gradient of the cost and cg_change, how far it has changed; its square."""
    square = work.real(0.0)
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        gradient = (work.M_dqacc[i] - work.residual[i]) - work.qfrc_constraint[i]
        work.cg_change[i] = gradient - work.gradient[i]
        work.cg_scaled[i] = gradient
        work.gradient[i] = gradient
        square += gradient * gradient
    return square


@ti.func
def _direction(model: ti.template(), work: ti.template(), before: ti.template()):
    """Set the search direction; the gradient times its scaled self, which the next one takes as `before`.

    The direction is -z + beta (direction before), with z = P^-1 gradient and beta = z change / before, at least 0; and
    -z alone where that does not descend.
    """
    solve(model.nv, work.M_pattern, work.H_L, work.H_inv, work.cg_scaled)
    now, gained, along = work.real(0.0), work.real(0.0), work.real(0.0)
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        z = work.cg_scaled[i]
        now += work.gradient[i] * z
        gained += work.cg_change[i] * z
        along += work.gradient[i] * work.search[i]
    beta = ti.max(gained / before, 0.0)
    beta = ti.select(beta * along < now, beta, work.real(0.0))
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        work.search[i] = beta * work.search[i] - work.cg_scaled[i]
    return now


@ti.func
def _step(model: ti.template(), work: ti.template(), done: ti.template()):
    """Move along `search` as far as it pays; the step, 0 where nothing is left to gain."""
    jacobian_times(model, work, work.search)
    multiply(model.nv, work.M_pattern, work.M, work.search, work.M_search)
    linear, quadratic, descent = work.real(0.0), work.real(0.0), work.real(0.0)
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        direction = work.search[i]
        linear += direction * (work.M_dqacc[i] - work.residual[i])
        quadratic += direction * work.M_search[i]
        descent += direction * work.gradient[i]
    curve = work.real(0.0)
    for k in range(count_blocks(work)):
        curve += block_curve(work, k)
    first = -descent / (quadratic + curve)
    length, _change = search(model, work, first, linear, quadratic, done, ti.abs(descent) * SLOPE, False)
    step = ti.select(done > 0.5, work.real(0.0), length)
    move(model, work, step)
    return step
