"""Integrators: semi-implicit Euler, implicitfast, implicit and fourth-order Runge-Kutta, as in MuJoCo.

All of them set drive_qacc and drive_qvel, and end with `advance`, which integrates velocities by drive_qacc and then
positions by drive_qvel.
"""

import taichi as ti

from ..base.hooks import DAMPER_SLOPE, FORCE_SLOPES, MOMENT_ROWS, ROW_SLOPES
from ..base.joints import advance_joint, dofs_of_ball_or_free, exponential_rate, is_scalar
from ..base.math import func
from ..base.math.compensated import move
from ..base.stage import stage
from ..files.mjmodel.actuators import TENDON
from ..mechanics.dynamics.actuation import has_slope
from ..mechanics.dynamics.dof_control import has_controls
from ..mechanics.dynamics.free_body import free_body_acceleration
from ..mechanics.dynamics.implicit import implicit_change
from ..mechanics.dynamics.passive import damper_slope
from ..mechanics.dynamics.stage_time import is_last_stage, stage_time
from ..mechanics.dynamics.tendon_forces import entry_of
from ..mechanics.dynamics.tree_matrix import factor, solve
from ..model.state.sizes import IMPLICITFAST


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
        move(work.lanes, work.qvel, work.start_qvel, work.qvel_rest, i, work.drive_qacc[i] * dt, last)
    for j in range(model.njnt):
        advance_joint(model, work, j, velocity, dt, last)


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
    # drive_qacc - qacc first, so that drive_qacc keeps the digits of qacc
    if ti.static(model.has.implicit_full):
        implicit_change(model, work, dt)
        for i in range(model.nv):
            work.drive_qacc[i] = work.qacc[i] + work.drive_qacc[i]
    else:
        _symmetric_acceleration(model, work, dt)
    for i in range(model.nv):
        move(work.lanes, work.drive_qvel, work.start_qvel, work.qvel_rest, i, work.drive_qacc[i] * dt, 0)


@func
def _symmetric_acceleration(model, work, dt):
    """Set drive_qacc for Euler or implicitfast, whose matrix is symmetric.

    Forces linear in the velocity are taken at the end of the step: M - dt D replaces M, with D = d(force)/d(qvel), and
    (M - dt D) (drive_qacc - qacc) = dt D qacc. Euler does so only for joint damping; implicitfast also for dampers of
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
            for count, row_of in ti.static(ROW_SLOPES.of(model.has)):
                for k in range(count(model)):
                    first, end, dofs, row, slope = row_of(model, work, k)
                    _subtract_row(model, work, first, end, dofs, row, slope * dt)
            for prepare, slope_of in ti.static(FORCE_SLOPES.of(model.has)):
                prepare(model, work)
                _subtract_passive(model, work, dt, slope_of)
        # solve for drive_qacc - qacc
        factor(0, model.nv, work.M_pattern, work.L, work.D_inv)
        solve(model.nv, work.M_pattern, work.L, work.D_inv, work.drive_qacc)
        for i in range(model.nv):
            work.drive_qacc[i] = work.qacc[i] + work.drive_qacc[i]
        # each single free body has an unsymmetric 6x6 system
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
            dof, kind = model.actuator_dofadr[u], model.actuator_type[u]
            slope = work.actuator_slope[u] * dt
            # moments that are rows; joints with one gear; ball and free joints
            for has_row, row_of in ti.static(MOMENT_ROWS.of(model.has)):
                if has_row(model, u):
                    first, end, dofs, row, gear = row_of(model, work, u)
                    _subtract_row(model, work, first, end, dofs, row, slope * (gear * gear))
            if is_scalar(kind) and kind < TENDON:
                gear = model.actuator_gear.at(u, 0)
                _add_slope(work, dof, dof, slope * (gear * gear))
            elif not is_scalar(kind):
                if ti.static(model.has.ball_joints):
                    count = dofs_of_ball_or_free(kind)
                    for a in range(count):
                        for b in range(a + 1):
                            _add_slope(work, dof + a, dof + b, slope * (work.moment[u, a] * work.moment[u, b]))


@func
def _subtract_row(model, work, first: ti.i32, end: ti.i32, dofs, row, slope):
    """Subtract J' slope J from L for a Jacobian row, whose entries from `first` to `end` belong to the dofs in `dofs`.

    Entries that L does not have in MuJoCo are left out: pairs of dofs of which neither is an ancestor of the other,
    and pairs of dofs of a body whose mass matrix is diagonal.
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
        exponential_rate(model, work, j, reached)
    for i in range(model.nv):
        work.drive_qacc[i] = work.qacc[i]
        work.mean_qvel[i] = work.mean_qvel[i] + work.drive_qvel[i] * weight
        work.mean_qacc[i] = work.mean_qacc[i] + work.qacc[i] * weight
        if stage == 3:
            work.drive_qvel[i] = work.mean_qvel[i]
            work.drive_qacc[i] = work.mean_qacc[i]
