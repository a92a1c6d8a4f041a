"""Newton's method with exact line search for the constrained acceleration, all lanes of a tile together.

The unknown is shifted, y = qacc - qacc_smooth, which keeps single precision exact where constraints are weak. Round 0
puts the rows at y = 0; round 1 tries the warm start as a whole step; the rounds after it are Newton steps. A lane that
has converged rests: its numbers do not change while others go on. Stopping rules and their scale are MuJoCo's
(mj_solNewton): improvement, gradient or Newton decrement below the tolerance. In single precision, where the tolerance
cannot be tight, a step that changed the active rows is not the last unless the gradient is small: forces gain three
digits for one more iteration in a hundred. There a lane that rests because the cost no longer changes much still goes
along the direction at hand if it gains anything (it is not counted as an iteration), and a last round refines lanes
whose unconstrained acceleration is in doubt.
"""

import taichi as ti

from ..dynamics.local_inverse import local_inverse_dynamics
from ..dynamics.tree_matrix import multiply, solve
from .hessian import fill_pattern, start_hessian, update_hessian
from .line_search import search
from .products import constraint_force, jacobian_times

BAD = 1.5e-4
"""Doubt (see `smooth`) above which qacc under constraints is refined; docs/parity.md allows an error of 1e-3."""
WORTHLESS = 1e-3
"""Part of the tolerance below which a last step along a direction at hand gains nothing in single precision."""


@ti.func
def constrained_acceleration(model: ti.template(), work: ti.template()):
    """qacc, qfrc_constraint, the rows' forces and solver_niter."""
    zero = work.real(0.0)
    if work.tile_ncon[0] + work.tile_nlim[0] == 0:
        for i in range(model.nv):
            work.qacc[i] = work.qacc_smooth[i]
            work.qfrc_constraint[i] = zero
        work.solver_niter[0] = zero
        work.last_step[0] = zero
        work.refined[0] = zero
    else:
        if ti.static(not work.lanes.double):
            work.refined[0] = work.lanes.mask(work.doubt[0] > BAD) * _constrained(work)
        _minimise(model, work)
        for i in range(model.nv):
            work.qacc[i] = work.qacc_smooth[i] + work.shift[i]


@ti.func
def _constrained(work: ti.template()):
    """Mask of the lanes with a row that may push: the others must not notice their neighbours' refinement."""
    found = work.real(0.0)
    for k in range(work.tile_nlim[0]):
        found = ti.max(found, work.lanes.mask(work.lim_D[k] > 0.0))
    for k in range(work.tile_ncon[0]):
        found = ti.max(found, work.lanes.mask(work.con_D[k] > 0.0))
    return found


@ti.func
def _minimise(model: ti.template(), work: ti.template()):
    lanes = work.lanes
    scale = _scale(model, work)
    resting, iterations, improvement = work.real(0.0), work.real(0.0), work.real(0.0)
    work.last_step[0] = work.real(0.0)
    for i in range(model.nv):
        work.shift[i] = work.real(0.0)
        work.M_shift[i] = work.real(0.0)
        work.search[i] = work.qacc_smooth[i]
    going, rounds, refining = 1, 0, 0
    while going == 1:
        if rounds == 1:
            for i in range(model.nv):
                work.search[i] = work.qacc_warmstart[i] - work.qacc_smooth[i]
        elif rounds > 1:
            resting = _newton_direction(model, work, scale, rounds, resting, improvement)
            if rounds > model.iterations + 1 or not lanes.any(ti.max(1.0 - resting, work.last_step[0])):
                going = 0
                if ti.static(not lanes.double):
                    if refining == 0 and model.iterations > 0 and lanes.any(work.refined[0]):
                        going, refining = 1, 1
                        rounds = model.iterations + 2
                        _refinement(model, work)
        if going == 1:
            jacobian_times(model, work, work.search)
            if rounds == 0:
                _place_rows(model, work)
            elif refining == 1:
                _move(model, work, work.refined[0])
            else:
                improvement = -_step(model, work, scale, rounds, resting)
                resting = ti.max(resting, lanes.mask(improvement == 0.0) * (1.0 if rounds > 1 else 0.0))
                if rounds > 1:
                    iterations += 1.0 - resting
            rounds += 1
            if rounds == 1 and model.warmstart == 0:
                rounds = 2
    work.solver_niter[0] = iterations


@ti.func
def _scale(model: ti.template(), work: ti.template()):
    """One over the trace of M (MuJoCo with constraint islands), or the constant without islands."""
    trace = work.real(0.0)
    for i in range(model.nv):
        trace += work.M[i, i]
    scale = 1.0 / trace
    if model.solver_scale[0] > 0.0:
        scale = work.real(model.solver_scale[0])
    return scale


@ti.func
def _place_rows(model: ti.template(), work: ti.template()):
    """X of every row at y = 0, after con_Jv = J qacc_smooth."""
    for k in range(work.tile_nlim[0]):
        work.lim_x[k] = work.lim_ref[k] + work.lim_Jv[k]
    for k in range(work.tile_ncon[0]):
        for c in range(model.pair_condim[work.con_pair[k]]):
            work.con_x.at(k, c)._assign(work.con_ref.at(k, c) + work.con_Jv.at(k, c))


@ti.func
def _newton_direction(
    model: ti.template(),
    work: ti.template(),
    scale: ti.template(),
    rounds: ti.i32,
    resting: ti.template(),
    improvement: ti.template(),
):
    """Gradient, forces, Hessian and search direction here; the mask of lanes that have converged."""
    lanes = work.lanes
    tolerance = model.tolerance[0]
    constraint_force(model, work)
    square = work.real(0.0)
    for i in range(model.nv):
        gradient = work.M_shift[i] - work.qfrc_constraint[i]
        work.gradient[i] = gradient
        square += gradient * gradient
    flat = lanes.mask(scale * ti.sqrt(square) < tolerance)
    poor = lanes.mask(scale * improvement < tolerance)
    now = resting
    work.last_step[0] = work.real(0.0)
    if rounds > 2:
        now = ti.max(now, flat)
        if ti.static(lanes.double):
            now = ti.max(now, poor)
    now = ti.max(now, 1.0 - lanes.mask(square < 1e38))  # a lane that is not finite rests
    unfinished = lanes.any(1.0 - now)
    if ti.static(not lanes.double):  # the refinement needs the Hessian of the last point
        unfinished = unfinished or lanes.any(work.refined[0])
    if rounds <= model.iterations + 1 and unfinished:
        fresh = 0
        if rounds == 2:
            fresh = 1
            fill_pattern(model, work)
            start_hessian(model, work)
        changed = update_hessian(model, work, fresh)
        for i in range(model.nv):
            work.search[i] = -work.gradient[i]
        solve(model.nv, work.fill_count, work.fill_index, work.H_L, work.H_inv, work.search)
        decrement = work.real(0.0)
        for i in range(model.nv):
            decrement -= work.gradient[i] * work.search[i]
        small = lanes.mask(0.5 * scale * decrement < tolerance)
        if rounds == 2:
            small = small * flat
        elif ti.static(not lanes.double):
            small = ti.max(small, poor) * (1.0 - changed)
            gains = lanes.mask(0.5 * scale * decrement > WORTHLESS * tolerance)
            work.last_step[0] = small * gains * (1.0 - now)
        now = ti.max(now, small)
    return now


@ti.func
def _step(model: ti.template(), work: ti.template(), scale: ti.template(), rounds: ti.i32, resting: ti.template()):
    """Move along `search` as far as it pays; the change of the cost."""
    multiply(model.nv, work.tree_count, work.tree_index, work.M, work.search, work.M_search)
    linear, quadratic, square, descent = work.real(0.0), work.real(0.0), work.real(0.0), work.real(0.0)
    for i in range(model.nv):
        direction = work.search[i]
        linear += direction * work.M_shift[i]
        quadratic += direction * work.M_search[i]
        square += direction * direction
        descent += direction * work.gradient[i]
    tolerance = model.tolerance[0] * model.ls_tolerance[0] * ti.sqrt(square) / scale
    still = resting * (1.0 - work.last_step[0])
    step, change = search(model, work, linear, quadratic, descent, still, tolerance, 1 if rounds == 1 else 0)
    step = ti.select(still > 0.5, work.real(0.0), step)
    _move(model, work, step)
    return ti.select(resting > 0.5, change * 0.0, change)


@ti.func
def _move(model: ti.template(), work: ti.template(), step: ti.template()):
    """Go `step` times along `search`, whose J search is at hand, and M search."""
    for i in range(model.nv):
        work.shift[i] = work.shift[i] + step * work.search[i]
        work.M_shift[i] = work.M_shift[i] + step * work.M_search[i]
    for k in range(work.tile_nlim[0]):
        work.lim_x[k] = work.lim_x[k] + step * work.lim_Jv[k]
    for k in range(work.tile_ncon[0]):
        for c in range(model.pair_condim[work.con_pair[k]]):
            work.con_x.at(k, c)._assign(work.con_x.at(k, c) + step * work.con_Jv.at(k, c))


@ti.func
def _refinement(model: ti.template(), work: ti.template()):
    """`search` puts back what inverse dynamics find missing where qacc_smooth is in doubt (see `smooth`)."""
    for i in range(model.nv):
        work.qacc[i] = work.qacc_smooth[i] + work.shift[i]
    needed = work.fine.residual
    local_inverse_dynamics(model, work, work.qacc, needed)
    for i in range(model.nv):
        applied = work.qfrc_passive[i] + work.qfrc_actuator[i]
        work.search[i] = work.lanes.rounded((applied - needed[i]) + work.qfrc_constraint[i])
    solve(model.nv, work.fill_count, work.fill_index, work.H_L, work.H_inv, work.search)
    multiply(model.nv, work.tree_count, work.tree_index, work.M, work.search, work.M_search)
