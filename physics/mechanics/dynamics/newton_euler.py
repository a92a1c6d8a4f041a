"""Velocities of the bodies, and inverse dynamics by the recursive Newton-Euler algorithm.

Featherstone 2008, section 5.3, with moments about nearby points. About the tree's centre of mass, the torques and
accelerations of a light limb far from it would be differences of large numbers. Here the acceleration of a body is
taken at
its centre of mass, its moment is about that point, and a joint's moment about its anchor; axes are the
world's. In kernels of mixed precision, velocities, accelerations and forces are in double precision: the rounded
geometry is that of a mechanism that differs in the seventh digit, but rounded forces would not be that mechanism's.
"""

import taichi as ti

from ...base.joints import accelerate, carried
from ...base.math import SpatialMotion, Vec3, func
from ...base.stage import stage


@stage(reads="qvel cdof", updates="cvel")
def body_velocities(model, work):
    """Set cvel, the spatial velocity of every body, from the roots to the leaves."""
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    work.cvel.put(0, SpatialMotion(none, none))
    for b in range(1, model.nbody):
        velocity = work.cvel[model.body_parentid[b]]
        for i in range(model.body_dofadr[b], model.body_dofadr[b] + model.body_dofnum[b]):
            velocity = velocity + work.precise_lanes.cast(work.cdof[i]) * work.qvel[i]
        work.cvel.put(b, velocity)


@func
def inverse_dynamics(model, work, qacc):
    """Set qfrc_inverse: joint forces for the accelerations `qacc` at qvel, with gravity and armature included.

    The product M qacc is not used: the entries of M are rounded, which spoils it if M is ill-conditioned.
    """
    lanes = work.precise_lanes
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    gravity = model.gravity[0]  # the world accelerates against it, so that bodies at rest need a force
    work.body_acc.put(0, SpatialMotion(none, Vec3(zero - gravity.x, zero - gravity.y, zero - gravity.z)))
    # from the roots to the leaves: acceleration, then the inertial torque and force, of every body
    for b in range(1, model.nbody):
        _accelerate(model, work, b, qacc)
        acceleration = work.body_acc[b]
        omega = work.cvel[b].rot
        inertia = lanes.cast(work.own_inertia.symmetric(b))
        twist = inertia.times(acceleration.rot) + omega.cross(inertia.times(omega))
        work.cfrc.put(b, SpatialMotion(twist, acceleration.lin * model.body_mass[b]))
    # from the leaves to the roots: the force of every subtree, projected on each dof
    gather(model, work)
    for i in range(model.nv):
        rotor = lanes.cast(qacc[i]) * model.dof_armature[i]
        work.qfrc_inverse.put(i, rotor + along(model, work, i))


@func
def velocity_accelerations(model, work):
    """Set body_acc to the accelerations caused by velocities, without gravity, and dqacc to 0."""
    zero = work.precise_lanes.real(0.0)
    none = Vec3(zero, zero, zero)
    for i in range(model.nv):
        work.dqacc[i] = work.real(0.0)
    work.body_acc.put(0, SpatialMotion(none, none))
    for b in range(1, model.nbody):
        _accelerate(model, work, b, work.dqacc)


@func
def gather(model, work):
    """Add to the cfrc of every body the cfrc of all bodies below it."""
    for k in range(1, model.nbody):
        b = model.nbody - k
        parent = model.body_parentid[b]
        if parent > 0:
            work.cfrc.put(parent, work.cfrc[parent] + _moved(work, b, work.inertial_offset[parent]))


@func
def along(model, work, i: ti.i32):
    """Return the component along dof i of cfrc, the force on its body and all below it (N or N m)."""
    b = model.dof_bodyid[i]
    share = work.precise_lanes.real(0.0)
    if model.dof_is_rotation[i] == 1:
        share = work.cdof[i].rot.dot(_moved(work, b, work.anchor_offset[model.dof_jntid[i]]).rot)
    else:
        share = work.cdof[i].lin.dot(work.cfrc[b].lin)
    return share


@func
def _moved(work, b: ti.i32, point):
    """Return cfrc of body b with its moment about `point` (m, from the tree's root) instead of b's centre of mass."""
    force = work.cfrc[b]
    return SpatialMotion(force.rot + (_offset(work, b) - point).cross(force.lin), force.lin)


@func
def _offset(work, b: ti.i32):
    """Return the centre of mass of body b relative to the root of its tree (m)."""
    return work.precise_lanes.cast(work.inertial_offset[b])


@func
def _accelerate(model, work, b: ti.i32, qacc):
    """body_acc of body b, at its centre of mass, from its parent's: from anchor to anchor along its joints."""
    parent = model.body_parentid[b]
    before = work.body_acc[parent]
    alpha, linear = before.rot, before.lin
    omega = work.cvel[parent].rot
    point = _offset(work, parent)
    first = model.body_jntadr[b]
    for j in range(first, first + model.body_jntnum[b]):
        accelerate(model, work, j, qacc, point, alpha, omega, linear)
    work.body_acc.put(b, SpatialMotion(alpha, linear + carried(alpha, omega, _offset(work, b) - point)))
