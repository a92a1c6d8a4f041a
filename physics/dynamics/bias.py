"""Velocities of the bodies, and recursive Newton-Euler: the forces that a motion of the joints needs.

Featherstone 2008, section 5.3, but with the acceleration of a point of the body in place of the spatial one, and with
every body's own inertia about its own centre of mass. Then no term contains the speed of the tree as a whole, which
would only cancel in the end and take the digits of single precision with it.
"""

import taichi as ti

from ..kinematics.forward import FREE, HINGE, SLIDE
from ..math import Motion, Vec3


@ti.func
def body_velocities(model: ti.template(), work: ti.template()):
    """Spatial velocity (cvel) of every body."""
    fine = work.fine
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    fine.cvel.put(0, Motion(none, none))
    for b in range(1, model.nbody):
        velocity = fine.cvel[model.body_parentid[b]]
        for i in range(model.body_dofadr[b], model.body_dofadr[b] + model.body_dofnum[b]):
            velocity = velocity + fine.lanes.rounded(work.cdof[i]) * work.qvel[i]
        fine.cvel.put(b, velocity)


@ti.func
def accelerate_world(model: ti.template(), work: ti.template(), body_acc: ti.template()):
    """body_acc of the world: it rises against gravity, so that bodies at rest need a force."""
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    gravity = model.gravity[0]
    body_acc.put(0, Motion(none, Vec3(zero - gravity.x, zero - gravity.y, zero - gravity.z)))


@ti.func
def inverse_dynamics(model: ti.template(), work: ti.template(), qacc: ti.template(), force: ti.template()):
    """Joint forces for the accelerations `qacc` at the present velocities, gravity and armature included."""
    accelerate_world(model, work, work.body_acc)
    for b in range(1, model.nbody):
        _accelerate(model, work, b, qacc)
        _newton_euler(model, work, b)
    for k in range(1, model.nbody):
        b = model.nbody - k
        parent = model.body_parentid[b]
        if parent > 0:
            work.cfrc.put(parent, work.cfrc[parent] + work.cfrc[b])
    for i in range(model.nv):
        force[i] = work.cdof[i].dot(work.cfrc[model.dof_bodyid[i]]) + model.dof_armature[i] * qacc[i]


@ti.func
def _accelerate(model: ti.template(), work: ti.template(), b: ti.i32, qacc: ti.template()):
    """body_acc of body b from its parent's: each joint adds Coriolis and centripetal terms, and its own acceleration.

    With w the angular velocity before the joint and (s, r) its velocity about the tree's centre of mass, the point
    there gains 2 w x r + s x r, and the angular acceleration w x s.
    """
    parent = model.body_parentid[b]
    acceleration = work.body_acc[parent]
    omega = work.cvel[parent].rot
    first = model.body_jntadr[b]
    for j in range(first, first + model.body_jntnum[b]):
        dof = model.jnt_dofadr[j]
        kind = model.jnt_type[j]
        step = work.cdof[dof] * work.qvel[dof]
        if kind != SLIDE and kind != HINGE:
            if kind == FREE:
                dof += 3
            step = _three_dofs(work, dof)
        turn = omega.cross(step.rot)
        swing = omega.cross(step.lin) * 2.0 + step.rot.cross(step.lin)
        acceleration = acceleration + Motion(turn, swing)
        omega = omega + step.rot
    for i in range(model.body_dofadr[b], model.body_dofadr[b] + model.body_dofnum[b]):
        acceleration = acceleration + work.cdof[i] * qacc[i]
    work.body_acc.put(b, acceleration)


@ti.func
def _newton_euler(model: ti.template(), work: ti.template(), b: ti.i32):
    """What body b alone needs (cfrc): force through its centre of mass and torque about it, moved to the tree's."""
    acceleration = work.body_acc[b]
    omega = work.cvel[b].rot
    arm = work.com_arm[b]
    inertia = work.own_inertia.symmetric(b)
    push = (acceleration.lin + acceleration.rot.cross(arm) + omega.cross(omega.cross(arm))) * model.body_mass[b]
    twist = inertia.times(acceleration.rot) + omega.cross(inertia.times(omega))
    work.cfrc.put(b, Motion(twist + arm.cross(push), push))


@ti.func
def _three_dofs(work: ti.template(), dof: ti.i32):
    return (
        work.cdof[dof] * work.qvel[dof]
        + work.cdof[dof + 1] * work.qvel[dof + 1]
        + work.cdof[dof + 2] * work.qvel[dof + 2]
    )
