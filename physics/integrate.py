"""Integrators: semi-implicit Euler, implicitfast, implicit and Runge-Kutta of fourth order, as MuJoCo's.

All of them end in `advance`: velocities by an acceleration, then positions by a velocity.
"""

import taichi as ti

from .dynamics.actuation import has_slope
from .dynamics.dof_control import has_controls
from .dynamics.free_body import free_body_acceleration
from .dynamics.implicit import implicit_change
from .dynamics.springs import damper_slope
from .dynamics.stage_time import is_last_stage, stage_time
from .dynamics.tendon_forces import entry_of
from .dynamics.tree_matrix import factor, solve
from .hooks import DAMPER_SLOPE, FORCE_SLOPES, MOMENT_ROWS, ROW_SLOPES
from .kinematics.forward import BALL, FREE
from .math import Quat, Vec3, func
from .math.compensated import two_sum
from .math.quaternion import integrate, turn
from .math.trigonometry import sincos
from .mjmodel.transmissions import TENDON
from .stage import stage
from .state.sizes import IMPLICITFAST


@stage(
    reads="start_qpos start_qvel drive_qvel drive_qacc rk_stage rk_stages",
    writes="qpos qvel eval_rest",
    updates="qpos_rest qvel_rest",
)
def advance(model, work):
    """Qvel = start_qvel + dt drive_qacc; qpos = start_qpos moved for dt at drive_qvel, dt being `stage_time`.

    In single precision start_qpos and start_qvel are the leading halves of sums (`state/fields.py`, `REMAINDERS`); the
    last stage of a step writes both halves of its result.
    """
    dt, last = stage_time(model, work), ti.cast(is_last_stage(work), ti.i32)
    velocity = work.drive_qvel
    for i in range(model.nv):
        _move(work, work.qvel, work.start_qvel, work.qvel_rest, i, work.drive_qacc[i] * dt, last)
    for j in range(model.njnt):
        q = model.jnt_qposadr[j]
        v = model.jnt_dofadr[j]
        kind = model.jnt_type[j]
        if kind == FREE:
            for c in range(3):
                _shift(model, work, q + c, velocity[v + c] * dt, last)
            q += 3
            v += 3
        if kind <= BALL:
            _rotate(model, work, q, Vec3(velocity[v], velocity[v + 1], velocity[v + 2]), dt, last)
        else:
            _shift(model, work, q, velocity[v] * dt, last)


@func
def _shift(model, work, q: ti.i32, change, last: ti.i32):
    """qpos[q] = start_qpos[q] + change; eval_rest[q] keeps the rounding error of a Runge-Kutta stage."""
    error = _move(work, work.qpos, work.start_qpos, work.qpos_rest, q, change, last)
    if ti.static(model.has.mixed_precision):
        if last == 0:
            work.eval_rest[q] = error


@func
def _move(work, end, start, rest, i: ti.i32, change, last: ti.i32):
    """end[i] = start[i] + rest[i] + change; returns the rounding error, which the last stage keeps in rest[i]."""
    error = work.real(0.0)
    if ti.static(work.lanes.double):
        end[i] = start[i] + change
    else:
        end[i], error = two_sum(start[i], rest[i] + change)
        if last == 1:
            rest[i] = error
    return error


@func
def _rotate(model, work, q: ti.i32, omega, dt, last: ti.i32):
    """qpos[q] to qpos[q + 3] = the quaternion at start_qpos[q], turned for dt (s) at `omega` (rad/s, body frame)."""
    at = work.start_qpos
    start = Quat(at[q], at[q + 1], at[q + 2], at[q + 3])
    if ti.static(work.lanes.double):
        end = integrate(work.lanes, start, omega, dt)
        for c in ti.static(range(4)):
            work.qpos[q + c] = end.parts()[c]
    else:
        change = turn(work.lanes, start, omega, dt)
        for c in ti.static(range(4)):
            _shift(model, work, q + c, change.parts()[c], last)


@stage(
    reads=(
        "qvel xquat root_offset inertial_offset com_offset anchor_offset own_inertia cdof",
        "subtree_inertia M cvel actuator_slope moment dof_slope qacc start_qvel M_rownnz M_rowadr",
        "M_colind M_order controlled",
    ),
    writes="drive_qvel",
    updates="qvel_rest L U D_inv subtree_momentum subtree_turning dof_bend drive_qacc block",
    hooks=(DAMPER_SLOPE, FORCE_SLOPES, MOMENT_ROWS, ROW_SLOPES),
)
def implicit_acceleration(model, work):
    """Set drive_qacc and drive_qvel, with which Euler, implicitfast or implicit advances."""
    dt = model.timestep[0]
    if ti.static(model.has.implicit_full):
        implicit_change(model, work, dt)
        for i in range(model.nv):
            work.drive_qacc[i] = work.qacc[i] + work.drive_qacc[i]
    else:
        _symmetric_acceleration(model, work, dt)
    for i in range(model.nv):
        _move(work, work.drive_qvel, work.start_qvel, work.qvel_rest, i, work.drive_qacc[i] * dt, 0)


@func
def _symmetric_acceleration(model, work, dt):
    """Set drive_qacc for Euler or implicitfast, whose matrix is symmetric.

    Forces linear in the velocity are taken at the end of the step: M - dt d(force)/d(velocity) replaces M. Euler does
    so for joint damping alone, implicitfast also for dampers of tendons, for mechanisms and actuators, and for the
    gyroscopic terms of single free bodies.
    The unknown is drive_qacc - qacc, so that drive_qacc keeps the digits that qacc has.
    """
    full = model.integrator == IMPLICITFAST
    if full or model.euler_damping == 1:
        for e in range(model.nM):
            work.L[e] = work.M[e]
        for i in range(model.nv):
            damping = damper_slope(model, work, i) * dt
            diagonal = work.M_pattern.start(i)
            work.L[diagonal] = work.L[diagonal] + damping
            work.drive_qacc[i] = -(damping * work.qacc[i])
        if full:
            _subtract_actuators(model, work, dt)
            if has_controls(model, work):
                for i in range(model.nv):
                    diagonal, slope = work.M_pattern.start(i), work.dof_slope[i] * dt
                    work.L[diagonal] = work.L[diagonal] - slope
                    work.drive_qacc[i] = work.drive_qacc[i] + slope * work.qacc[i]
            for count, row_of in ti.static(ROW_SLOPES.of(model.has)):
                for k in range(count(model)):
                    first, end, dofs, row, slope = row_of(model, work, k)
                    _subtract_row(model, work, first, end, dofs, row, slope * dt)
            for prepare, slope_of in ti.static(FORCE_SLOPES.of(model.has)):
                prepare(model, work)
                _subtract_passive(model, work, dt, slope_of)
        factor(0, model.nv, work.M_pattern, work.L, work.D_inv)
        solve(model.nv, work.M_pattern, work.L, work.D_inv, work.drive_qacc)
        for i in range(model.nv):
            work.drive_qacc[i] = work.qacc[i] + work.drive_qacc[i]
        if ti.static(model.has.ball_joints):
            for b in range(1, model.nbody):
                if full and model.body_is_single_free[b] == 1:
                    free_body_acceleration(model, work, b, dt)
    else:
        for i in range(model.nv):
            work.drive_qacc[i] = work.qacc[i]


@func
def _subtract_actuators(model, work, dt):
    """L -= dt moment' (d force / d velocity) moment, for every actuator with a slope."""
    for u in range(model.nout):
        if has_slope(model, work, u):
            dof, kind = model.actuator_dofadr[u], model.actuator_type[u]
            slope = work.actuator_slope[u] * dt
            for has_row, row_of in ti.static(MOMENT_ROWS.of(model.has)):
                if has_row(model, u):
                    first, end, dofs, row, gear = row_of(model, work, u)
                    _subtract_row(model, work, first, end, dofs, row, slope * (gear * gear))
            if kind > BALL and kind < TENDON:
                gear = model.actuator_gear.at(u, 0)
                _add_slope(work, dof, dof, slope * (gear * gear))
            elif kind <= BALL:
                if ti.static(model.has.ball_joints):
                    count = 6 if kind == FREE else 3
                    for a in range(count):
                        for b in range(a + 1):
                            _add_slope(work, dof + a, dof + b, slope * (work.moment[u, a] * work.moment[u, b]))


@func
def _subtract_row(model, work, first: ti.i32, end: ti.i32, dofs, row, slope):
    """L -= J' slope J of a row with numbers for the dofs listed from `first` to `end`.

    As far as L has entries in MuJoCo, where dofs of a body with a diagonal mass matrix have none with each other.
    """
    for e in range(first, end):
        for f in range(e, end):
            i, j = dofs[e], dofs[f]
            if entry_of(work, i, j) >= 0 and (e == f or model.dof_is_simple[i] == 0):
                _add_slope(work, i, j, slope * (row[e] * row[f]))


@func
def _subtract_passive(model, work, dt, slope_of):
    """Subtract from L dt times the slopes of a mechanism's force, made symmetric."""
    for i in range(model.nv):
        b = model.dof_bodyid[i]
        start = work.M_pattern.start(i)
        for k in range(work.M_pattern.count[i]):
            j = work.M_pattern.column(start, k)
            _add_slope(work, i, j, _symmetric(model, work, slope_of, b, i, j) * dt)


@func
def _symmetric(model, work, slope_of, b: ti.i32, i: ti.i32, j: ti.i32):
    """Return the mean of a slope of dof i by dof j, which both move body b, and of the slope of j by i."""
    total = work.real(0.0)
    for way in range(2):
        total = total + slope_of(model, work, b, ti.select(way == 0, i, j), ti.select(way == 0, j, i)) * 0.5
    return total


@func
def _add_slope(work, i: ti.i32, j: ti.i32, slope):
    """Take a symmetric pair of entries off L, and add their product with qacc to the right side."""
    entry = work.M_pattern.address(work.M_pattern.end(i), j)
    work.L[entry] = work.L[entry] - slope
    work.drive_qacc[i] = work.drive_qacc[i] + slope * work.qacc[j]
    if i != j:
        work.drive_qacc[j] = work.drive_qacc[j] + slope * work.qacc[i]


@stage(reads="qvel qacc rk_stage", writes="drive_qacc", updates="drive_qvel mean_qvel mean_qacc")
def runge_kutta_stage(model, work):
    """Set drive_qacc and drive_qvel after the evaluation of a stage (0 to 3).

    Tableau: stages at 0, 1/2, 1/2, 1 of the step, weights 1/6, 1/3, 1/3, 1/6. Rotations are combined in exponential
    coordinates about the start of the step (Munthe-Kaas 1998), as MuJoCo 4 does.
    """
    dt, stage = model.timestep[0], work.rk_stage[0]
    weight = 1.0 / 6.0
    if stage == 1 or stage == 2:
        weight = 1.0 / 3.0
    if stage == 0:
        for i in range(model.nv):
            work.mean_qvel[i] = work.real(0.0)
            work.mean_qacc[i] = work.real(0.0)
            work.drive_qvel[i] = work.real(0.0)
    reached = dt
    if stage < 3:
        reached = dt * 0.5
    for j in range(model.njnt):
        _exponential_rate(model, work, j, reached)
    for i in range(model.nv):
        work.drive_qacc[i] = work.qacc[i]
        work.mean_qvel[i] = work.mean_qvel[i] + work.drive_qvel[i] * weight
        work.mean_qacc[i] = work.mean_qacc[i] + work.qacc[i] * weight
        if stage == 3:
            work.drive_qvel[i] = work.mean_qvel[i]
            work.drive_qacc[i] = work.mean_qacc[i]


@func
def _exponential_rate(model, work, j: ti.i32, reached):
    """drive_qvel of a joint: its velocity; for a rotation u = reached * (the last drive_qvel), the rate of u.

    du/dt = w + u x w / 2 + c u x (u x w) with c = (1 - (a/2) cot(a/2)) / a^2, a = |u|, or its series where a is small.
    w is in the body's own frame.
    """
    v = model.jnt_dofadr[j]
    kind = model.jnt_type[j]
    if kind == FREE:
        for c in range(3):
            work.drive_qvel[v + c] = work.qvel[v + c]
        v += 3
    if kind <= BALL:
        u = Vec3(work.drive_qvel[v], work.drive_qvel[v + 1], work.drive_qvel[v + 2]) * reached
        w = Vec3(work.qvel[v], work.qvel[v + 1], work.qvel[v + 2])
        turned = u.cross(w)
        weight = _second_order_weight(work.lanes, u.dot(u))
        rate = w + turned * 0.5 + u.cross(turned) * weight
        work.drive_qvel[v] = rate.x
        work.drive_qvel[v + 1] = rate.y
        work.drive_qvel[v + 2] = rate.z
    else:
        work.drive_qvel[v] = work.qvel[v]


@func
def _second_order_weight(lanes, square):
    """(1 - (a/2) cot(a/2)) / a^2 of a = sqrt(square)."""
    half = 0.5 * ti.sqrt(square)
    sine, cosine = sincos(lanes, half)
    tail = 1.0 / 30240.0 + square * (1.0 / 1209600.0 + square * (1.0 / 47900160.0))
    series = 1.0 / 12.0 + square * (1.0 / 720.0 + square * tail)
    return ti.select(square < 0.1, series, (1.0 - half * cosine / sine) / square)
