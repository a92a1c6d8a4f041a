"""A single free body in the integrator implicitfast: its gyroscopic and centrifugal forces are implicit as well.

As in MuJoCo 4 (mjd_freeMhat), the 6x6 system (M - dt dF/dv) a = F of a free body without children is unsymmetric and
solved separately. With w the angular velocity, s the offset of the centre of mass and I the inertia about it, all in
world axes, the bias force is m (w x (w x s)), and its torque m s x (w x (w x s)) + w x I w. This file has their
derivatives by w.
"""

import taichi as ti

from ...base.hooks import FORCE_SLOPES, MOMENT_ROWS, ROW_SLOPES
from ...base.joints import is_free
from ...base.math import Vec3, func
from .dof_control import has_controls
from .passive import damper_slope


@func
def free_body_acceleration(model, work, b: ti.i32, dt):
    """Set the six drive_qacc of free body b: solve (M - dt dF/dv) drive_qacc = M qacc, with F all forces."""
    dof = model.body_dofadr[b]
    # the block of M, the right-hand side M qacc, and the slopes of forces
    for r in range(6):
        for c in range(6):
            end = work.M_pattern.end(dof + ti.max(r, c))
            work.block[r, c] = work.M[work.M_pattern.address(end, dof + ti.min(r, c))]
    _total_force(work, dof, work.drive_qacc)
    _subtract_force_slopes(model, work, dof, dt)
    frame = work.lanes.cast(work.xquat[b]).matrix()
    omega = frame.times(Vec3(work.qvel[dof + 3], work.qvel[dof + 4], work.qvel[dof + 5]))
    mass = model.body_subtreemass[b]
    arm = work.com_offset[b]
    inertia = work.subtree_inertia.symmetric(b)  # of the body and the bodies welded to it
    spin = inertia.times(omega)
    for c in ti.static(range(3)):
        axis = (frame.x, frame.y, frame.z)[c]
        # d/dw of w x (w x s) along the axis
        swing = axis.cross(omega.cross(arm)) + omega.cross(axis.cross(arm))
        twist = arm.cross(swing) * mass + axis.cross(spin) + omega.cross(inertia.times(axis))
        torque = frame.transpose_times(twist)
        _add_column(work, 0, 3 + c, swing * mass * dt)
        _add_column(work, 3, 3 + c, torque * dt)
    _solve_block(work, dof, work.drive_qacc)


@func
def _total_force(work, dof: ti.i32, x):
    """Set the body's six entries of `x` to M qacc, while work.block holds M."""
    for r in range(6):
        total = work.real(0.0)
        for c in range(6):
            total += work.block[r, c] * work.qacc[dof + c]
        x[dof + r] = total


@func
def _add_column(work, r, c, v):
    """Add the vector v to rows r, r + 1, r + 2 of column c of the block."""
    work.block[r, c] = work.block[r, c] + v.x
    work.block[r + 1, c] = work.block[r + 1, c] + v.y
    work.block[r + 2, c] = work.block[r + 2, c] + v.z


@func
def _subtract_force_slopes(model, work, dof: ti.i32, dt):
    """Subtract dt times the slopes of dampers, mechanisms, controls, actuators and tendons on the free joint."""
    # dampers of dofs, and forces of mechanisms
    for r in range(6):
        work.block[r, r] = work.block[r, r] + dt * damper_slope(model, work, dof + r)
        for _, slope_of in ti.static(FORCE_SLOPES.of(model.has)):
            for c in range(6):
                slope = slope_of(model, work, model.dof_bodyid[dof], dof + r, dof + c)
                work.block[r, c] = work.block[r, c] - dt * slope
    # controls of dofs
    if has_controls(model, work):
        for r in range(6):
            work.block[r, r] = work.block[r, r] - dt * work.dof_slope[dof + r]
    # actuators on the free joint
    for u in range(model.nout):
        if model.actuator_dofadr[u] == dof and is_free(model.actuator_type[u]):
            for r in range(6):
                for c in range(6):
                    product = work.moment[u, r] * work.moment[u, c]
                    work.block[r, c] = work.block[r, c] - work.actuator_slope[u] * product * dt
    # rows with separate slopes, such as dampers of tendons; then actuators whose moment is a row
    for count, row_of in ti.static(ROW_SLOPES.of(model.has)):
        for k in range(count(model)):
            first, end, dofs, row, slope = row_of(model, work, k)
            _subtract_row(work, dof, dt, first, end, dofs, row, slope)
    for has_row, row_of in ti.static(MOMENT_ROWS.of(model.has)):
        for u in range(model.nout):
            if has_row(model, u):
                first, end, dofs, row, gear = row_of(model, work, u)
                _subtract_row(work, dof, dt, first, end, dofs, row, work.actuator_slope[u] * gear * gear)


@func
def _subtract_row(work, dof: ti.i32, dt, first: ti.i32, end: ti.i32, dofs, row, slope):
    """Subtract dt J' slope J of a Jacobian row, whose entries from `first` to `end` belong to the dofs in `dofs`."""
    for e in range(first, end):
        for f in range(first, end):
            r, c = dofs[e] - dof, dofs[f] - dof
            if r >= 0 and r < 6 and c >= 0 and c < 6:
                work.block[r, c] = work.block[r, c] - slope * row[e] * row[f] * dt


@func
def _solve_block(work, dof: ti.i32, x):
    """Solve block y = x by Gaussian elimination without pivoting: the symmetric part dominates. y overwrites x."""
    for k in range(6):
        inverse = 1.0 / work.block[k, k]
        for r in range(k + 1, 6):
            ratio = work.block[r, k] * inverse
            for c in range(k + 1, 6):
                work.block[r, c] = work.block[r, c] - ratio * work.block[k, c]
            x[dof + r] = x[dof + r] - ratio * x[dof + k]
    for rr in range(6):
        r = 5 - rr
        total = x[dof + r]
        for c in range(r + 1, 6):
            total -= work.block[r, c] * x[dof + c]
        x[dof + r] = total / work.block[r, r]
