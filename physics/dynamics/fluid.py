"""Forces of a fluid on bodies, as passive forces, and their share in the implicit integrators.

MuJoCo's documentation, Computation: Fluid forces. A body is a box of its inertia, around its centre of mass, or its
geoms are ellipsoids (`ellipsoid_fluid`). Each item has a frame, in which the force is computed.
"""

import taichi as ti

from ..math import Motion, Vec3, func
from ..stage import stage
from .ellipsoid_fluid import ellipsoid_force, ellipsoid_slope
from .newton_euler import along, gather

_MEAN = 0.5  # of a matrix and its transpose


@stage(
    when=lambda has: has.fluid,
    reads="xquat root_offset inertial_offset com_offset anchor_offset cdof cvel",
    writes="qfrc_fluid",
    updates="cfrc",
)
def fluid_force(model, work):
    """qfrc_fluid."""
    if ti.static(model.has.fluid):
        zero = work.real(0.0)
        none = work.precise_lanes.cast(Vec3(zero, zero, zero))
        for b in range(1, model.nbody):
            work.cfrc.put(b, Motion(none, none))
        for k in range(model.nfluid):
            b = model.fluid_bodyid[k]
            axes, offset = _frame(model, work, k)
            velocity = _local_velocity(model, work, b, axes, offset)
            local = _force(model, work, k, velocity)
            force, torque = axes.times(local.lin), axes.times(local.rot)
            torque = torque + (offset - work.inertial_offset[b]).cross(force)
            work.cfrc.put(b, work.cfrc[b] + work.precise_lanes.cast(Motion(torque, force)))
        gather(model, work)
        for i in range(model.nv):
            work.qfrc_fluid[i] = work.lanes.cast(along(model, work, i))


@func
def _frame(model, work, k: ti.i32):
    """Axes of an item, and its centre from the root of its tree (m)."""
    b = model.fluid_bodyid[k]
    body = work.xquat.rounded[b]
    turned = body * model.body_iquat[b]
    offset = work.inertial_offset[b] + Vec3(work.real(0.0), work.real(0.0), work.real(0.0))
    if ti.static(model.has.ellipsoid_fluid):
        g = model.fluid_geomid[k]
        if g >= 0:
            turned = body * model.geom_quat[g]
            offset = work.root_offset.rounded[b] + body.rotate(model.geom_pos[g])
    return turned.matrix(), offset


@func
def _local_velocity(model, work, b: ti.i32, axes, offset):
    """Velocity relative to the fluid, in the frame of the item."""
    velocity = work.lanes.cast(work.cvel[b])
    arm = offset - work.com_offset[model.body_rootid[b]]
    linear = velocity.lin + velocity.rot.cross(arm) - model.wind[0]
    return Motion(axes.transpose_times(velocity.rot), axes.transpose_times(linear))


@func
def _force(model, work, k: ti.i32, velocity):
    w, v = velocity.rot, velocity.lin
    torque, force = w * work.real(0.0), v * work.real(0.0)
    if model.fluid_geomid[k] < 0:
        viscous = model.viscosity[0]
        torque = torque - w * (viscous * model.fluid_shape.at(k, 0)) - _quadratic(model, work, k, 2, w, w)
        force = force - v * (viscous * model.fluid_shape.at(k, 1)) - _quadratic(model, work, k, 5, v, v)
    else:
        if ti.static(model.has.ellipsoid_fluid):
            found = ellipsoid_force(model.fluid_shape, k, model.density[0], model.viscosity[0], velocity)
            torque = found.rot
            force = found.lin
    return Motion(torque, force)


@func
def _quadratic(model, work, k: ti.i32, first, speed, v):
    """Drag of a box: density times its numbers from `first` on, the speed and the velocity, along each axis."""
    density, shape = model.density[0], model.fluid_shape
    return Vec3(
        density * shape.at(k, first) * ti.abs(speed.x) * v.x,
        density * shape.at(k, first + 1) * ti.abs(speed.y) * v.y,
        density * shape.at(k, first + 2) * ti.abs(speed.z) * v.z,
    )


@func
def _slope(model, work, k: ti.i32, velocity, change):
    """Derivative of `_force` along a change of the velocity."""
    w, v, dw, dv = velocity.rot, velocity.lin, change.rot, change.lin
    torque, force = dw * work.real(0.0), dv * work.real(0.0)
    if model.fluid_geomid[k] < 0:
        viscous = model.viscosity[0]
        torque = torque - dw * (viscous * model.fluid_shape.at(k, 0)) - _quadratic(model, work, k, 2, w, dw) * 2.0
        force = force - dv * (viscous * model.fluid_shape.at(k, 1)) - _quadratic(model, work, k, 5, v, dv) * 2.0
    else:
        if ti.static(model.has.ellipsoid_fluid):
            found = ellipsoid_slope(model.fluid_shape, k, model.density[0], model.viscosity[0], velocity, change)
            torque = found.rot
            force = found.lin
    return Motion(torque, force)


@func
def fluid_slopes(model, work):
    """Set fluid_slope of every body: d(wrench)/d(motion) of the body and all below it, about their tree's com.

    Row 6 b + c is the wrench for a unit of motion c. What implicitfast solves by a symmetric matrix is made symmetric
    by whoever reads it; a free body and what is welded to it is solved unsymmetric, as is everything by implicit.
    """
    for row in range(6, 6 * model.nbody):
        for c in range(6):
            work.fluid_slope[row, c] = work.real(0.0)
    for k in range(model.nfluid):
        b = model.fluid_bodyid[k]
        axes, offset = _frame(model, work, k)
        velocity = _local_velocity(model, work, b, axes, offset)
        arm = offset - work.com_offset[model.body_rootid[b]]
        for c in range(6):
            turn, slide = _unit(work, c), _unit(work, c - 3)
            point = slide + turn.cross(arm)
            local = _slope(model, work, k, velocity, Motion(axes.transpose_times(turn), axes.transpose_times(point)))
            force = axes.times(local.lin)
            torque = axes.times(local.rot) + arm.cross(force)
            for a in ti.static(range(3)):
                work.fluid_slope[6 * b + c, a] = work.fluid_slope[6 * b + c, a] + torque.parts()[a]
                work.fluid_slope[6 * b + c, 3 + a] = work.fluid_slope[6 * b + c, 3 + a] + force.parts()[a]
    for kk in range(1, model.nbody):
        b = model.nbody - kk
        parent = model.body_parentid[b]
        if parent > 0:
            for r in range(6):
                for c in range(6):
                    own, across = work.fluid_slope[6 * b + r, c], work.fluid_slope[6 * b + c, r]
                    passed = (own + across) * _MEAN
                    if model.body_is_single_free[model.body_rootid[b]] == 1 or ti.static(model.has.implicit_full):
                        passed = own
                    work.fluid_slope[6 * parent + r, c] = work.fluid_slope[6 * parent + r, c] + passed


@func
def _unit(work, c: ti.i32):
    """The c-th axis of the world; zero for another c."""
    one, zero = work.real(1.0), work.real(0.0)
    return Vec3(ti.select(c == 0, one, zero), ti.select(c == 1, one, zero), ti.select(c == 2, one, zero))


@func
def fluid_entry(work, b: ti.i32, i: ti.i32, j: ti.i32):
    """d(force on dof i) / d(velocity of dof j) by the fluid on body b and all below it, which both dofs move."""
    on, by = work.cdof[i], work.cdof[j]
    total = work.real(0.0)
    for c in ti.static(range(6)):
        speed = by.numbers()[c]
        for r in ti.static(range(6)):
            total = total + on.numbers()[r] * work.fluid_slope[6 * b + c, r] * speed
    return total


@func
def symmetric_entry(work, b: ti.i32, i: ti.i32, j: ti.i32):
    """The mean of `fluid_entry` both ways."""
    total = work.real(0.0)
    for way in range(2):
        total = total + fluid_entry(work, b, ti.select(way == 0, i, j), ti.select(way == 0, j, i)) * _MEAN
    return total
