"""Derivative of qfrc_bias by qvel: Coriolis, centrifugal and gyroscopic forces (mjd_rne_vel).

Dof x moves a subtree of bodies; so does its ancestor j. Unit velocity of j changes the inertial force and torque of the
subtree by three terms (Echeandia and Wensing 2021, "Numerical methods to compute the Coriolis matrix", with moments
about the subtree's centre of mass). With w the rotation axis of dof j, m, P and I the subtree's mass, momentum and
inertia, and T the tensor subtree_turning,

    force 2 w x P + m a,    torque T w + I alpha,    T = sum of 2 [omega] I_b - tr(I_b) [omega] + 2 m_b ((r.v) 1 - v r')

where the sum is over the subtree's bodies b, with inertia I_b about the body's centre of mass, which is at r from the
subtree's and moves at v. The motion (alpha, a) is dof_bend, the change of dof j's axis S_j at fixed joint velocities,
(v- + v+) x S_j, with the spatial velocities v- before the joint and v+ after it. As in MuJoCo, the dofs of a ball
joint count as one joint, and the dofs of a free joint as two.
"""

import taichi as ti

from ...base.joints import dof_groups
from ...base.math import Mat3, SpatialMotion, Vec3, func


@func
def prepare_bias_slopes(model, work):
    """Set subtree_momentum, subtree_turning and dof_bend."""
    for b in range(1, model.nbody):
        _own_part(model, work, b)
        _bend(model, work, b)
    # from the leaves to the roots: add each subtree's momentum and tensor to its parent's
    for k in range(1, model.nbody):
        b = model.nbody - k
        parent = model.body_parentid[b]
        if parent > 0:
            momentum = work.subtree_momentum[b]
            arm = work.com_offset[b] - work.com_offset[parent]
            _add_turning(work, parent, _turning(work, b), arm, momentum)
            work.subtree_momentum.put(parent, work.subtree_momentum[parent] + momentum)


@func
def _own_part(model, work, b: ti.i32):
    """Momentum and turning tensor of body b without its subtree, about the centre of mass of its subtree."""
    motion = work.lanes.cast(work.cvel[b])
    omega = motion.rot
    from_root = work.inertial_offset[b] - work.com_offset[model.body_rootid[b]]
    momentum = (motion.lin + omega.cross(from_root)) * model.body_mass[b]
    inertia = work.own_inertia.symmetric(b)
    trace = inertia.xx + inertia.yy + inertia.zz
    zero, one = work.real(0.0), work.real(1.0)
    # the first two terms of T, column by column
    x, y, z = Vec3(one, zero, zero), Vec3(zero, one, zero), Vec3(zero, zero, one)
    work.subtree_momentum.put(b, momentum)
    tensor = Mat3(
        _turn(inertia, omega, trace, x),
        _turn(inertia, omega, trace, y),
        _turn(inertia, omega, trace, z),
    )
    # the third term of T, with the body's centre of mass relative to its subtree's
    none = Vec3(zero, zero, zero)
    work.subtree_turning.put(b, Mat3(none, none, none))
    _add_turning(work, b, tensor, work.inertial_offset[b] - work.com_offset[b], momentum)


@func
def _turn(inertia, omega, trace, axis):
    """Return the product of the first two terms of T with an axis."""
    return omega.cross(inertia.times(axis)) * 2.0 - omega.cross(axis) * trace


@func
def _turning(work, b: ti.i32):
    """Return the tensor T of body b's subtree, by columns."""
    t = work.subtree_turning
    return Mat3(
        Vec3(t.at(b, 0), t.at(b, 1), t.at(b, 2)),
        Vec3(t.at(b, 3), t.at(b, 4), t.at(b, 5)),
        Vec3(t.at(b, 6), t.at(b, 7), t.at(b, 8)),
    )


@func
def _add_turning(work, b: ti.i32, tensor, arm, momentum):
    """Add a tensor about a point at `arm` (m) from body b's subtree's centre of mass, of bodies with this momentum."""
    before = _turning(work, b)
    across = arm.dot(momentum) * 2.0
    for c in ti.static(range(3)):
        column = before.parts()[c] + tensor.parts()[c] - momentum * (arm.parts()[c] * 2.0)
        for r in ti.static(range(3)):
            along = column.parts()[r] + across if ti.static(r == c) else column.parts()[r]
            work.subtree_turning.at(b, 3 * c + r)._assign(along)


@func
def _bend(model, work, b: ti.i32):
    """dof_bend of the dofs of body b: alpha, and a at the joint's anchor."""
    velocity = work.lanes.cast(work.cvel[model.body_parentid[b]])
    center = work.com_offset[model.body_rootid[b]]
    zero = work.real(0.0)
    for j in range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b]):
        parts, count = dof_groups(model.jnt_type[j])
        for part in range(parts):
            first = model.jnt_dofadr[j] + 3 * part
            # v+, the velocity after the joint, and v- + v+ at its anchor
            behind = velocity.copy()
            for i in range(first, first + count):
                behind = behind + work.cdof[i] * work.qvel[i]
            both = velocity + behind
            speed = both.lin + both.rot.cross(work.anchor_offset[j] - center)
            # (v- + v+) x S_j
            for i in range(first, first + count):
                if model.dof_is_rotation[i] == 1:
                    axis = work.cdof[i].rot
                    work.dof_bend.put(i, SpatialMotion(both.rot.cross(axis), speed.cross(axis)))
                else:
                    work.dof_bend.put(i, SpatialMotion(Vec3(zero, zero, zero), both.rot.cross(work.cdof[i].lin)))
            velocity = behind


@func
def bias_slopes_of(model, work, x: ti.i32):
    """Return the terms of dof x that `bias_slope` combines with each ancestor.

    Returns:
        (wrench, momentum, response): the derivative, by the velocity of x, of torque and force of the bodies that x
        moves; their momentum at unit velocity of x, about their centre of mass; and a vector whose scalar product with
        the rotation axis of an ancestor is a part of the derivative of bias_x by that ancestor's velocity.
    """
    b = model.dof_bodyid[x]
    com, mass, inertia = work.com_offset[b], model.body_subtreemass[b], work.subtree_inertia.symmetric(b)
    momentum, tensor = work.subtree_momentum[b], _turning(work, b)
    axis, slide = work.cdof[x].rot, work.cdof[x].lin
    arm = com - work.anchor_offset[model.dof_jntid[x]]
    if model.dof_is_rotation[x] == 1:
        slide = axis.cross(arm)
    bend = work.dof_bend[x]
    force = axis.cross(momentum) * 2.0 + (bend.lin + bend.rot.cross(arm)) * mass
    torque = tensor.times(axis) + inertia.times(bend.rot)
    response = tensor.transpose_times(axis) + momentum.cross(slide) * 2.0
    return SpatialMotion(torque, force), SpatialMotion(inertia.times(axis), slide * mass), response


@func
def bias_slope(model, work, x: ti.i32, y: ti.i32, wrench, momentum, response):
    """Return (d bias_x / d qvel_y, d bias_y / d qvel_x) of dof x and y, which is an ancestor of x or x itself."""
    arm = work.com_offset[model.dof_bodyid[x]] - work.anchor_offset[model.dof_jntid[y]]
    bend, axis = work.dof_bend[y], work.cdof[y].rot
    of_x = bend.rot.dot(momentum.rot) + momentum.lin.dot(bend.lin + bend.rot.cross(arm))
    of_y = work.real(0.0)
    if model.dof_is_rotation[y] == 1:
        of_x += axis.dot(response)
        of_y = axis.dot(wrench.rot + arm.cross(wrench.lin))
    else:
        of_y = work.cdof[y].lin.dot(wrench.lin)
    return of_x, of_y
