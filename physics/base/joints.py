"""Joint types: everything that depends on whether a joint is free, ball, slide or hinge. Other files call this one.

A free joint has three translations along the world's axes, then a ball: its coordinates are a position (m) and a
quaternion, its velocities those of the position (m/s) and an angular velocity in the body frame (rad/s). A ball joint
has a quaternion and such an angular velocity, a slide a displacement (m), a hinge an angle (rad). Slides and hinges are
*scalar* joints: they have one coordinate, and its rate is the velocity.
"""

from typing import Any

import mujoco
import numpy as np
import taichi as ti

from .math import Quat, SpatialMotion, Vec3, func
from .math.compensated import move
from .math.lanes import traced
from .math.quaternion import from_axis_angle, integrate, rotation_vector, turn
from .math.trigonometry import sincos

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3
"""The numbers of MuJoCo's mjtJoint."""
BY_NAME = {"free": FREE, "ball": BALL, "slide": SLIDE, "hinge": HINGE}
"""The same by MJCF's names."""
COORDINATES, DOFS = np.array((7, 4, 1, 1)), np.array((6, 3, 1, 1))
"""The numbers that a joint has in qpos and in qvel, by its type."""
QUATERNION = {FREE: 3, BALL: 0}
"""The index of the quaternion among a joint's coordinates."""


@traced
def is_scalar(kind: Any) -> Any:
    """Return True for slides and hinges; `kind` is a joint type, an array of them, or a number in a kernel."""
    return kind > BALL


@traced
def is_free(kind: Any) -> Any:
    """Return True for free joints; `kind` as in `is_scalar`."""
    return kind == FREE


@traced
def is_slide(kind: Any) -> Any:
    """Return True for slides; `kind` as in `is_scalar`."""
    return kind == SLIDE


def rotation_dofs(mjm: mujoco.MjModel) -> np.ndarray:
    """Return True for each dof that is a rotation, (nv,)."""
    return ~is_slide(mjm.jnt_type[mjm.dof_jntid]) & ~fixed_dofs(mjm)


def fixed_dofs(mjm: mujoco.MjModel) -> np.ndarray:
    """Return True for each dof along an axis of the world that never rotates: translations of free joints, (nv,)."""
    return is_free(mjm.jnt_type[mjm.dof_jntid]) & (_place(mjm) < 3)


def group_starts(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the first dof of each dof's group, (nv,); the axes of a group are moved by the dofs before it.

    Groups are the three dofs of a ball, three translations and three rotations of a free joint, one dof of a scalar
    joint.
    """
    return np.arange(mjm.nv) - _place(mjm) % 3


def _place(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the index of each dof among the dofs of its joint, (nv,)."""
    return np.arange(mjm.nv) - mjm.jnt_dofadr[mjm.dof_jntid]


@func
def dof_groups(kind: ti.i32):
    """Return the number of groups of dofs (`group_starts`) of a joint, and the number of dofs in each."""
    parts, count = 1, 1
    if kind == FREE:
        parts = 2
    if kind <= BALL:
        count = 3
    return parts, count


@func
def dofs_of_ball_or_free(kind: ti.i32):
    """Return the number of dofs of a joint that is not scalar."""
    return 6 if kind == FREE else 3


@func
def unit_quaternion(lanes, qpos, q: ti.i32):
    """Return the unit quaternion from the four numbers qpos[q] to qpos[q + 3]; the identity if they are 0."""
    return Quat(
        lanes.cast(qpos[q]), lanes.cast(qpos[q + 1]), lanes.cast(qpos[q + 2]), lanes.cast(qpos[q + 3])
    ).normalized()


@func
def coordinate(model, work, lanes, q: ti.i32):
    """Return coordinate q at which positions are evaluated: qpos[q], in mixed precision qpos[q] + eval_rest[q]."""
    value = lanes.cast(work.qpos[q])
    if ti.static(model.has.mixed_precision):
        value += lanes.cast(work.eval_rest[q])
    return value


@func
def stage_vector(model, work, lanes, q: ti.i32):
    """Return the vector of coordinates q to q + 2."""
    x, y = coordinate(model, work, lanes, q), coordinate(model, work, lanes, q + 1)
    return Vec3(x, y, coordinate(model, work, lanes, q + 2))


@func
def stage_quaternion(model, work, lanes, q: ti.i32):
    """Return the unit quaternion of coordinates q to q + 3."""
    rest = stage_vector(model, work, lanes, q + 1)
    return Quat(coordinate(model, work, lanes, q), rest.x, rest.y, rest.z).normalized()


@func
def free_frame(model, work, lanes, q: ti.i32):
    """Return position (m) and orientation in the world of a body whose free joint has the coordinates from q on."""
    return stage_vector(model, work, lanes, q), stage_quaternion(model, work, lanes, q + 3)


@func
def move_frame(model, work, j: ti.i32, pos, quat):
    """Move a frame, the variables `pos` (m) and `quat`, by joint j, which is not free; set xaxis and anchor_offset."""
    lanes = work.precise_lanes
    axis = quat.rotate(model.jnt_axis[j])
    offset = model.jnt_pos[j]
    anchor = pos.copy()
    if model.jnt_at_origin[j] == 0:
        anchor = pos + quat.rotate(offset)
    # A slide moves the origin; a hinge or ball rotates the frame about the anchor.
    work.anchor_offset.put(j, work.lanes.cast(anchor))
    work.xaxis.put(j, work.lanes.cast(axis))
    q = model.jnt_qposadr[j]
    if model.jnt_type[j] == SLIDE:
        pos._assign(pos + axis * (coordinate(model, work, lanes, q) - model.qpos0[q]))
    else:
        if model.jnt_type[j] == HINGE:
            quat._assign(
                quat * from_axis_angle(lanes, model.jnt_axis[j], coordinate(model, work, lanes, q) - model.qpos0[q])
            )
        else:
            quat._assign(quat * stage_quaternion(model, work, lanes, q))
        if model.jnt_at_origin[j] == 0:
            pos._assign(anchor - quat.rotate(offset))


@func
def leave_frame(model, work, j: ti.i32, point, axis):
    """Transform a point (m) and an axis, variables of double lanes, from the frame after joint j to that before it.

    In double precision in all kernels, from the model's precise numbers; joint j is not free.
    """
    lanes = work.double_lanes
    q = model.jnt_qposadr[j]
    along = model.precise.jnt_axis[j]
    # Translate along a slide; rotate about the anchor of a hinge or ball.
    if model.jnt_type[j] == SLIDE:
        way = coordinate(model, work, lanes, q) - model.precise.qpos0[q]
        point._assign(point + Vec3(way * along.x, way * along.y, way * along.z))
    else:
        anchor = model.precise.jnt_pos[j]
        quat = Quat(lanes.real(1.0), lanes.real(0.0), lanes.real(0.0), lanes.real(0.0))
        if model.jnt_type[j] == HINGE:
            angle = coordinate(model, work, lanes, q) - model.precise.qpos0[q]
            quat._assign(from_axis_angle(lanes, along, angle))
        if model.jnt_type[j] == BALL:
            quat._assign(stage_quaternion(model, work, lanes, q))
        point._assign(quat.rotate(point - anchor) + anchor)
        axis._assign(quat.rotate(axis))


@func
def motion_subspace(model, work, b: ti.i32, j: ti.i32):
    """Set cdof of joint j of body b, about the tree's centre of mass; rotations are about the joint's anchor."""
    zero = work.real(0.0)
    one = work.real(1.0)
    none = Vec3(zero, zero, zero)
    offset = work.com_offset[model.body_rootid[b]] - work.anchor_offset[j]
    dof = model.jnt_dofadr[j]
    # Rotation axis e at the anchor: (e, e x offset), with the offset from the anchor to the tree's centre of mass.
    kind = model.jnt_type[j]
    if kind == SLIDE:
        work.cdof.put(dof, SpatialMotion(none, work.xaxis[j]))
    elif kind == HINGE:
        axis = work.xaxis[j]
        work.cdof.put(dof, SpatialMotion(axis, axis.cross(offset)))
    else:
        if kind == FREE:
            work.cdof.put(dof, SpatialMotion(none, Vec3(one, zero, zero)))
            work.cdof.put(dof + 1, SpatialMotion(none, Vec3(zero, one, zero)))
            work.cdof.put(dof + 2, SpatialMotion(none, Vec3(zero, zero, one)))
            dof += 3
        axes = work.lanes.cast(work.xquat[b]).matrix()
        work.cdof.put(dof, SpatialMotion(axes.x, axes.x.cross(offset)))
        work.cdof.put(dof + 1, SpatialMotion(axes.y, axes.y.cross(offset)))
        work.cdof.put(dof + 2, SpatialMotion(axes.z, axes.z.cross(offset)))


@func
def accelerate(model, work, j: ti.i32, qacc, point, alpha, omega, linear):
    """Propagate velocity and acceleration, variables, from the body before joint j to the body after it.

    Args:
        model: the model.
        work: the scratch.
        j: the joint.
        qacc: accelerations of all dofs.
        point: point where `linear` holds, from the root of the tree (m); becomes the joint's anchor, unless it is a
            slide.
        alpha: angular acceleration (rad/s^2).
        omega: angular velocity (rad/s).
        linear: linear acceleration of the point (m/s^2).
    """
    lanes = work.precise_lanes
    dof = model.jnt_dofadr[j]
    kind = model.jnt_type[j]
    if kind == SLIDE:
        # Along a slide: qacc and the Coriolis term 2 omega x (axis qvel).
        axis = lanes.cast(work.cdof[dof].lin)
        linear._assign(linear + (axis * qacc[dof] + omega.cross(axis * work.qvel[dof]) * 2.0))
    else:
        # Move the point to the anchor, then add the joint's angular velocity and acceleration.
        anchor = lanes.cast(work.anchor_offset[j])
        linear._assign(linear + carried(alpha, omega, anchor - point))
        point._assign(anchor)
        if kind == FREE:
            linear._assign(linear + Vec3(qacc[dof], qacc[dof + 1], qacc[dof + 2]))
            dof += 3
        axis = lanes.cast(work.cdof[dof].rot)
        spin = axis * work.qvel[dof]
        push = axis * qacc[dof]
        if kind != HINGE:
            for k in range(dof + 1, dof + 3):
                other = lanes.cast(work.cdof[k].rot)
                spin += other * work.qvel[k]
                push += other * qacc[k]
        alpha._assign(alpha + (push + omega.cross(spin)))
        omega._assign(omega + spin)


@func
def carried(alpha, omega, arm):
    """Return the acceleration of a point relative to another of the same body, from which it is `arm` (m) away."""
    return alpha.cross(arm) + omega.cross(omega.cross(arm))


@func
def advance_joint(model, work, j: ti.i32, velocity, dt, last: ti.i32):
    """Set qpos of joint j to start_qpos, integrated for dt (s) at `velocity` (mj_integratePos)."""
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
    error = move(work.lanes, work.qpos, work.start_qpos, work.qpos_rest, q, change, last)
    if ti.static(model.has.mixed_precision):
        if last == 0:
            work.eval_rest[q] = error


@func
def _rotate(model, work, q: ti.i32, omega, dt, last: ti.i32):
    """Set the quaternion at qpos[q] to that at start_qpos[q], rotated for dt (s) at `omega` (rad/s, body frame)."""
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


@func
def exponential_rate(model, work, j: ti.i32, reached):
    """Set drive_qvel of joint j to qvel; for a rotation to du/dt, with the rotation vector u = reached * drive_qvel.

    du/dt = w + u x w / 2 + c u x (u x w) with c = (1 - (a/2) cot(a/2)) / a^2, a = |u|, or its series if a is small. The
    angular velocity w is in the body frame.
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
        # The rate of u by the formula above.
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


@func
def coordinate_rates(model, j: ti.i32, qpos, velocity, rates):
    """Set the rates of joint j's coordinates at `qpos` that its velocities cause; of a quaternion q it is q w / 2."""
    q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
    kind = model.jnt_type[j]
    if kind == FREE:
        for c in range(3):
            rates[q + c] = velocity[v + c]
        q += 3
        v += 3
    if kind <= BALL:
        at, w = (
            Quat(qpos[q], qpos[q + 1], qpos[q + 2], qpos[q + 3]),
            Vec3(velocity[v], velocity[v + 1], velocity[v + 2]),
        )
        rate = at * Quat(w.x * 0.0, w.x * 0.5, w.y * 0.5, w.z * 0.5)
        for c in ti.static(range(4)):
            rates[q + c] = rate.parts()[c]
    else:
        rates[q] = velocity[v]


@func
def velocities_of_rates(model, j: ti.i32, qpos, rates, velocity):
    """Set the velocities of joint j at which the coordinates `qpos` change at `rates`."""
    q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
    kind = model.jnt_type[j]
    if kind == FREE:
        for c in range(3):
            velocity[v + c] = rates[q + c]
        q += 3
        v += 3
    if kind <= BALL:
        at = Quat(qpos[q], qpos[q + 1], qpos[q + 2], qpos[q + 3])
        w = at.conjugate() * Quat(rates[q], rates[q + 1], rates[q + 2], rates[q + 3])
        scale = 2.0 / (at.w * at.w + at.x * at.x + at.y * at.y + at.z * at.z)
        for c in ti.static(range(3)):
            velocity[v + c] = w.vector.parts()[c] * scale
    else:
        velocity[v] = rates[q]


@func
def turn_since(work, q: ti.i32, rest):
    """Return the rotation vector (rad) from the unit quaternion `rest` to that at qpos[q], in the frame of `rest`."""
    now = unit_quaternion(work.lanes, work.qpos, q)
    return rotation_vector(work.lanes, rest.conjugate() * now)


@func
def turning_transmission(model, work, u: ti.i32):
    """Return length and velocity of output u on a ball joint (3 gears) or a free joint (6), and set its moment.

    The gears are a torque axis, or a force axis and a torque axis.
    """
    dof = model.actuator_dofadr[u]
    q = model.actuator_qposadr[u]
    zero = work.real(0.0)
    gear = model.actuator_gear[u]
    force_axis = Vec3(zero + gear.rot.x, zero + gear.rot.y, zero + gear.rot.z)
    turn_axis = Vec3(zero + gear.lin.x, zero + gear.lin.y, zero + gear.lin.z)
    length = zero
    velocity = zero
    # The torque axis, in the body frame.
    if model.actuator_type[u] == FREE:
        q += 3
    quat = unit_quaternion(work.lanes, work.qpos, q)
    if model.actuator_type[u] == BALL:
        turn_axis = force_axis
    if model.actuator_inparent[u] == 1:
        turn_axis = quat.conjugate().rotate(turn_axis)
    # Length and velocity are along the gears; a free joint has no length.
    if model.actuator_type[u] == FREE:
        velocity = work.qvel[dof] * force_axis.x + work.qvel[dof + 1] * force_axis.y + work.qvel[dof + 2] * force_axis.z
        dof += 3
    else:
        length = rotation_vector(work.lanes, quat).dot(turn_axis)
    velocity += work.qvel[dof] * turn_axis.x + work.qvel[dof + 1] * turn_axis.y + work.qvel[dof + 2] * turn_axis.z
    if model.actuator_type[u] == BALL:
        force_axis = turn_axis
    for c in ti.static(range(3)):
        work.moment[u, c] = force_axis.parts()[c]
        work.moment[u, 3 + c] = turn_axis.parts()[c]
    return length, velocity
