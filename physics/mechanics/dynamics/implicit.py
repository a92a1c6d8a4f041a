"""The integrator `implicit`: all forces but the constraints' are taken at the velocities at the end of the step.

MuJoCo documentation, Computation: Numerical integration. With D = d(qfrc_passive + qfrc_actuator - qfrc_bias) / d qvel,
(nv, nv) in N s/m or N m s/rad, the matrix M - dt D replaces M. It is unsymmetric and has entries for every dof with
itself, its ancestors and its descendants. The unknown is drive_qacc - qacc, so that drive_qacc keeps the
digits of qacc: (M - dt D) (drive_qacc - qacc) = dt D qacc.

A passive force that depends on velocities adds its part of D by `hooks.FORCE_SLOPES`. As in MuJoCo, entries between
two dofs of which neither is an ancestor of the other are left out.

Unsymmetric matrices have the pattern of `tree_matrix`. If entry e of row i belongs to the ancestor j, `low[e]` is A_ij
and `up[e]` is A_ji; the diagonal is in `low` only. Dofs are eliminated from the leaves to the roots without pivoting:
there is no fill-in (Featherstone 2008, section 6.5, without the symmetry).
"""

import taichi as ti

from ...base.hooks import FORCE_SLOPES, MOMENT_ROWS, ROW_SLOPES
from ...base.joints import dofs_of_ball_or_free, is_scalar
from ...base.math import func
from ...files.mjmodel.actuators import TENDON
from .actuation import has_slope
from .bias_slopes import bias_slope, bias_slopes_of, prepare_bias_slopes
from .dof_control import has_controls
from .passive import damper_slope
from .tendon_forces import entry_of


@func
def implicit_change(model, work, dt):
    """Set drive_qacc to drive_qacc - qacc."""
    # L and U hold the lower and upper triangle of M - dt D, drive_qacc the right-hand side dt D qacc
    for e in range(model.nM):
        work.L[e] = work.M[e]
        work.U[e] = work.M[e]
    for i in range(model.nv):
        work.drive_qacc[i] = work.real(0.0)
    _force_slopes(model, work, dt)
    _bias_slopes(model, work, dt)
    factor_unsymmetric(model.nv, work.M_pattern, work.L, work.U, work.D_inv)
    solve_unsymmetric(model.nv, work.M_pattern, work.L, work.U, work.D_inv, work.drive_qacc)


@func
def add_slope(work, i: ti.i32, j: ti.i32, slope):
    """Add `slope` to dt D_ij: i is the dof of the force, j that of the velocity.

    Args:
        work: the scratch.
        i: a dof.
        j: i itself, an ancestor or a descendant of i. A symmetric part of D needs both calls, (i, j) and (j, i).
        slope: dt times the derivative of the force on i by the velocity of j (kg or kg m^2).
    """
    if i >= j:
        entry = work.M_pattern.address(work.M_pattern.end(i), j)
        work.L[entry] = work.L[entry] - slope
    else:
        entry = work.M_pattern.address(work.M_pattern.end(j), i)
        work.U[entry] = work.U[entry] - slope
    work.drive_qacc[i] = work.drive_qacc[i] + slope * work.qacc[j]


@func
def _force_slopes(model, work, dt):
    """Add the slopes of dampers of dofs and tendons, controls of dofs, mechanisms, and actuators."""
    # dampers and controls of dofs
    for i in range(model.nv):
        add_slope(work, i, i, work.real(damper_slope(model, work, i) * -dt))
    if has_controls(model, work):
        for i in range(model.nv):
            add_slope(work, i, i, work.dof_slope[i] * dt)
    # rows with separate slopes, such as dampers of tendons; then forces of mechanisms
    for count, row_of in ti.static(ROW_SLOPES.of(model.has)):
        for k in range(count(model)):
            first, end, dofs, row, slope = row_of(model, work, k)
            _add_row(work, first, end, dofs, row, slope * dt)
    for prepare, slope_of in ti.static(FORCE_SLOPES.of(model.has)):
        prepare(model, work)
        _add_passive(model, work, dt, slope_of)
    # actuators: moment' slope moment
    for u in range(model.nout):
        if has_slope(model, work, u):
            dof, kind = model.actuator_dofadr[u], model.actuator_type[u]
            slope = work.actuator_slope[u] * dt
            for has_row, row_of in ti.static(MOMENT_ROWS.of(model.has)):
                if has_row(model, u):
                    first, end, dofs, row, gear = row_of(model, work, u)
                    _add_row(work, first, end, dofs, row, slope * (gear * gear))
            if is_scalar(kind) and kind < TENDON:
                gear = model.actuator_gear.at(u, 0)
                add_slope(work, dof, dof, slope * (gear * gear))
            elif not is_scalar(kind):
                if ti.static(model.has.ball_joints):
                    count = dofs_of_ball_or_free(kind)
                    for entry in range(count * count):
                        a, b = entry // count, entry % count
                        add_slope(work, dof + a, dof + b, slope * (work.moment[u, a] * work.moment[u, b]))


@func
def _add_row(work, first: ti.i32, end: ti.i32, dofs, row, slope):
    """Add J' slope J of a Jacobian row, whose entries from `first` to `end` belong to `dofs`, where D has entries."""
    for e in range(first, end):
        for f in range(first, end):
            i, j = dofs[e], dofs[f]
            if entry_of(work, ti.max(i, j), ti.min(i, j)) >= 0:
                add_slope(work, i, j, slope * (row[e] * row[f]))


@func
def _add_passive(model, work, dt, slope_of):
    """Add the slopes of a mechanism's force for each dof with itself, its ancestors and its descendants."""
    for i in range(model.nv):
        b, start = model.dof_bodyid[i], work.M_pattern.start(i)
        for k in range(work.M_pattern.count[i]):
            j = work.M_pattern.column(start, k)
            for way in range(2 if k > 0 else 1):
                of, by = i, j
                if way == 1:
                    of, by = j, i
                add_slope(work, of, by, slope_of(model, work, b, of, by) * dt)


@func
def _bias_slopes(model, work, dt):
    """Subtract the slopes of qfrc_bias, which enters D with the opposite sign."""
    prepare_bias_slopes(model, work)
    for x in range(model.nv):
        wrench, momentum, response = bias_slopes_of(model, work, x)
        start = work.M_pattern.start(x)
        for p in range(work.M_pattern.count[x]):
            y = work.M_pattern.column(start, p)
            of_x, of_y = bias_slope(model, work, x, y, wrench, momentum, response)
            work.L[start + p] = work.L[start + p] + of_x * dt
            work.drive_qacc[x] = work.drive_qacc[x] - of_x * dt * work.qacc[y]
            if p > 0:
                work.U[start + p] = work.U[start + p] + of_y * dt
                work.drive_qacc[y] = work.drive_qacc[y] - of_y * dt * work.qacc[x]


@func
def factor_unsymmetric(n: ti.i32, pattern, low, up, inverse):
    """Factor A in place by eliminating all n dofs; set `inverse` (n,) to the reciprocals of the pivots."""
    for kk in range(n):
        k = n - 1 - kk
        base, count = pattern.start(k), pattern.count[k]
        inv = 1.0 / low[base]
        inverse[k] = inv
        # subtract dof k's contribution from the rows and columns of its ancestors
        for p in range(1, count):
            to = pattern.start(pattern.column(base, p))
            down, across = up[base + p] * inv, low[base + p] * inv
            low[to] = low[to] - down * low[base + p]
            for q in range(1, count - p):
                low[to + q] = low[to + q] - down * low[base + p + q]
                up[to + q] = up[to + q] - across * up[base + p + q]


@func
def solve_unsymmetric(n: ti.i32, pattern, low, up, inverse, x):
    """Overwrite `x` by the solution y of A y = x, given the output of `factor_unsymmetric`."""
    # from the leaves to the roots, then from the roots to the leaves
    for kk in range(n):
        k = n - 1 - kk
        base = pattern.start(k)
        share = x[k] * inverse[k]
        for p in range(1, pattern.count[k]):
            j = pattern.column(base, p)
            x[j] = x[j] - up[base + p] * share
    for i in range(n):  # ancestors have smaller numbers, so they come first
        base = pattern.start(i)
        value = x[i]
        for p in range(1, pattern.count[i]):
            value -= low[base + p] * x[pattern.column(base, p)]
        x[i] = value * inverse[i]
