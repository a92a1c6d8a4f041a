"""Integrators: semi-implicit Euler, implicitfast, implicit and fourth-order Runge-Kutta, as in MuJoCo.

All of them set drive_qacc and drive_qvel, and end with `advance`, which integrates velocities by drive_qacc and then
positions by drive_qvel.
"""

import taichi as ti

from .dynamics.actuation import has_slope
from .dynamics.dof_control import has_controls
from .dynamics.free_body import free_body_acceleration
from .dynamics.implicit import implicit_change
from .dynamics.springs import damper_slope
from .dynamics.stage_time import is_last_stage, stage_time
from .dynamics.tendon_forces import damping_slope, entry_of
from .dynamics.tree_matrix import factor, solve
from .hooks import DAMPER_SLOPE, FORCE_SLOPES, MOMENT_ROWS
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
    """Set qvel = start_qvel + dt drive_qacc, and qpos = start_qpos integrated for dt at drive_qvel.

    dt is `stage_time`. In single precision start_qpos and start_qvel are the leading halves of sums (`state/fields.py`,
    `REMAINDERS`); the last stage of a step writes both halves of its result.
    """
    dt, last = stage_time(model, work), ti.cast(is_last_stage(work), ti.i32)
    velocity = work.drive_qvel
    # velocities
    for i in range(model.nv):
        _move(work, work.qvel, work.start_qvel, work.qvel_rest, i, work.drive_qacc[i] * dt, last)
    # positions: translations and angles by their velocity, orientations by an angular velocity
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
    """Set qpos[q] = start_qpos[q] + change; eval_rest[q] keeps the rounding error of a Runge-Kutta stage."""
    error = _move(work, work.qpos, work.start_qpos, work.qpos_rest, q, change, last)
    if ti.static(model.has.mixed_precision):
        if last == 0:
            work.eval_rest[q] = error


@func
def _move(work, end, start, rest, i: ti.i32, change, last: ti.i32):
    """Set end[i] = start[i] + rest[i] + change; return the rounding error, which the last stage keeps in rest[i]."""
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
    """Set qpos[q] to qpos[q + 3]: the quaternion at start_qpos[q] rotated for dt (s) at `omega` (rad/s, body frame)."""
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
        "qvel xquat root_offset inertial_offset com_offset anchor_offset own_inertia cdof ten_velocity ten_J",
        "subtree_inertia M cvel actuator_slope moment dof_slope qacc start_qvel M_rownnz M_rowadr",
        "M_colind M_order controlled",
    ),
    writes="drive_qvel",
    updates="qvel_rest L U D_inv subtree_momentum subtree_turning dof_bend drive_qacc block",
    hooks=(DAMPER_SLOPE, FORCE_SLOPES, MOMENT_ROWS),
)
def implicit_acceleration(model, work):
    """Set drive_qacc and drive_qvel, with which Euler, implicitfast or implicit advances."""
    dt = model.timestep[0]
    # drive_qacc - qacc first, so that drive_qacc keeps the digits of qacc
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

    Forces linear in the velocity are taken at the end of the step: M - dt D replaces M, with D = d(force)/d(qvel), and
    (M - dt D) (drive_qacc - qacc) = dt D qacc. Euler does so for joint damping alone; implicitfast also for dampers of
    tendons, controls, mechanisms and actuators, and for the gyroscopic terms of single free bodies.
    """
    full = model.integrator == IMPLICITFAST
    if full or model.euler_damping == 1:
        # L = M - dt D, drive_qacc = dt D qacc: joint damping first
        for e in range(model.nM):
            work.L[e] = work.M[e]
        for i in range(model.nv):
            damping = damper_slope(model, work, i) * dt
            diagonal = work.M_pattern.start(i)
            work.L[diagonal] = work.L[diagonal] + damping
            work.drive_qacc[i] = -(damping * work.qacc[i])
        # implicitfast: actuators, controls of dofs, dampers of tendons, mechanisms
        if full:
            _subtract_actuators(model, work, dt)
            if has_controls(model, work):
                for i in range(model.nv):
                    diagonal, slope = work.M_pattern.start(i), work.dof_slope[i] * dt
                    work.L[diagonal] = work.L[diagonal] - slope
                    work.drive_qacc[i] = work.drive_qacc[i] + slope * work.qacc[i]
            if ti.static(model.has.tendons):
                for t in range(model.ntendon):
                    _subtract_tendon(model, work, t, damping_slope(model, work, t) * -dt)
            for prepare, slope_of in ti.static(FORCE_SLOPES.of(model.has)):
                prepare(model, work)
                _subtract_passive(model, work, dt, slope_of)
        # solve for drive_qacc - qacc
        factor(0, model.nv, work.M_pattern, work.L, work.D_inv)
        solve(model.nv, work.M_pattern, work.L, work.D_inv, work.drive_qacc)
        for i in range(model.nv):
            work.drive_qacc[i] = work.qacc[i] + work.drive_qacc[i]
        # single free bodies have an unsymmetric 6x6 system of their own
        if ti.static(model.has.ball_joints):
            for b in range(1, model.nbody):
                if full and model.body_is_single_free[b] == 1:
                    free_body_acceleration(model, work, b, dt)
    else:
        for i in range(model.nv):
            work.drive_qacc[i] = work.qacc[i]


@func
def _subtract_actuators(model, work, dt):
    """Subtract dt moment' slope moment from L, for every actuator whose force depends on its velocity."""
    for u in range(model.nout):
        if has_slope(model, work, u):
            dof = model.actuator_dofadr[u]
            slope = work.actuator_slope[u] * dt
            # other transmissions; joints and tendons with one gear; ball and free joints
            if model.actuator_type[u] > TENDON:
                for row_of in ti.static(MOMENT_ROWS.of(model.has)):
                    first, end, dofs, row = row_of(model, work, u)
                    _subtract_row(model, work, first, end, dofs, row, slope)
            elif model.actuator_type[u] > BALL:
                gear = model.actuator_gear.at(u, 0)
                if ti.static(model.has.tendons):
                    if model.actuator_tendon[u] >= 0:
                        _subtract_tendon(model, work, model.actuator_tendon[u], slope * (gear * gear))
                    else:
                        _add_slope(work, dof, dof, slope * (gear * gear))
                else:
                    _add_slope(work, dof, dof, slope * (gear * gear))
            else:
                if ti.static(model.has.ball_joints):
                    count = 6 if model.actuator_type[u] == FREE else 3
                    for a in range(count):
                        for b in range(a + 1):
                            _add_slope(work, dof + a, dof + b, slope * (work.moment[u, a] * work.moment[u, b]))


@func
def _subtract_tendon(model, work, t: ti.i32, slope):
    """Subtract J' slope J of tendon t from L."""
    first, end = model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]
    _subtract_row(model, work, first, end, model.tendon_dof, work.ten_J, slope)


@func
def _subtract_row(model, work, first: ti.i32, end: ti.i32, dofs, row, slope):
    """Subtract J' slope J from L for a Jacobian row, whose entries from `first` to `end` belong to the dofs in `dofs`.

    Entries that L does not have in MuJoCo are left out: those of two dofs of which neither is an ancestor of the other,
    and of two dofs of a body whose mass matrix is diagonal.
    """
    for e in range(first, end):
        for f in range(e, end):
            i, j = dofs[e], dofs[f]
            if entry_of(work, i, j) >= 0 and (e == f or model.dof_is_simple[i] == 0):
                _add_slope(work, i, j, slope * (row[e] * row[f]))


@func
def _subtract_passive(model, work, dt, slope_of):
    """Subtract dt times the slopes of a mechanism's force, made symmetric, from L."""
    for i in range(model.nv):
        b = model.dof_bodyid[i]
        start = work.M_pattern.start(i)
        for k in range(work.M_pattern.count[i]):
            j = work.M_pattern.column(start, k)
            _add_slope(work, i, j, _symmetric(model, work, slope_of, b, i, j) * dt)


@func
def _symmetric(model, work, slope_of, b: ti.i32, i: ti.i32, j: ti.i32):
    """Return the mean of a mechanism's two slopes, of dof i by dof j and of j by i; both dofs move body b."""
    total = work.real(0.0)
    for way in range(2):
        total = total + slope_of(model, work, b, ti.select(way == 0, i, j), ti.select(way == 0, j, i)) * 0.5
    return total


@func
def _add_slope(work, i: ti.i32, j: ti.i32, slope):
    """Subtract `slope`, dt D_ij = dt D_ji, from L; add its products with qacc to drive_qacc, the right-hand side."""
    entry = work.M_pattern.address(work.M_pattern.end(i), j)
    work.L[entry] = work.L[entry] - slope
    work.drive_qacc[i] = work.drive_qacc[i] + slope * work.qacc[j]
    if i != j:
        work.drive_qacc[j] = work.drive_qacc[j] + slope * work.qacc[i]


@stage(reads="qvel qacc rk_stage", writes="drive_qacc", updates="drive_qvel mean_qvel mean_qacc")
def runge_kutta_stage(model, work):
    """Set drive_qacc and drive_qvel after the evaluation of a stage (0 to 3).

    Tableau: stages at 0, 1/2, 1/2, 1 of the step, weights 1/6, 1/3, 1/3, 1/6. Rotations are combined in exponential
    coordinates about the start of the step (Munthe-Kaas 1998), as in MuJoCo 4.
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
    # the state of this stage lies the time `reached` from the start of the step at the last drive_qvel
    reached = dt
    if stage < 3:
        reached = dt * 0.5
    for j in range(model.njnt):
        _exponential_rate(model, work, j, reached)
    # the weighted means of all stages, with which the last stage advances
    for i in range(model.nv):
        work.drive_qacc[i] = work.qacc[i]
        work.mean_qvel[i] = work.mean_qvel[i] + work.drive_qvel[i] * weight
        work.mean_qacc[i] = work.mean_qacc[i] + work.qacc[i] * weight
        if stage == 3:
            work.drive_qvel[i] = work.mean_qvel[i]
            work.drive_qacc[i] = work.mean_qacc[i]


@func
def _exponential_rate(model, work, j: ti.i32, reached):
    """Set drive_qvel of joint j: its velocity, or for a rotation the rate of its exponential coordinates u.

    With u = reached * (the last drive_qvel), a = |u|, and w the angular velocity in the body's frame,
    du/dt = w + u x w / 2 + c u x (u x w), c = (1 - (a/2) cot(a/2)) / a^2, or its series if a is small.
    """
    v = model.jnt_dofadr[j]
    kind = model.jnt_type[j]
    # translations
    if kind == FREE:
        for c in range(3):
            work.drive_qvel[v + c] = work.qvel[v + c]
        v += 3
    if kind <= BALL:
        # rotations: u, w and du/dt
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
    """Return (1 - (a/2) cot(a/2)) / a^2 for a = sqrt(square)."""
    half = 0.5 * ti.sqrt(square)
    sine, cosine = sincos(lanes, half)
    tail = 1.0 / 30240.0 + square * (1.0 / 1209600.0 + square * (1.0 / 47900160.0))
    series = 1.0 / 12.0 + square * (1.0 / 720.0 + square * tail)
    return ti.select(square < 0.1, series, (1.0 - half * cosine / sine) / square)
