"""Recursive Newton-Euler at zero joint acceleration: cvel and qfrc_bias (Featherstone 2008, section 5.3)."""

import taichi as ti

from ..kinematics.forward import FREE, HINGE, SLIDE
from ..math import Motion, Vec3


@ti.func
def bias_force(model: ti.template(), work: ti.template()):
    """cvel, cacc, cfrc and qfrc_bias: the joint forces that hold the present velocities, gravity included."""
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    gravity = model.gravity[0]
    work.cvel.put(0, Motion(none, none))
    work.cacc.put(0, Motion(none, Vec3(zero - gravity.x, zero - gravity.y, zero - gravity.z)))
    for b in range(1, model.nbody):
        _propagate(model, work, b)
        inertia = work.cinert[b]
        velocity = work.cvel[b]
        work.cfrc.put(b, inertia.times(work.cacc[b]) + velocity.cross_force(inertia.times(velocity)))
    for k in range(1, model.nbody):
        b = model.nbody - k
        parent = model.body_parentid[b]
        if parent > 0:
            work.cfrc.put(parent, work.cfrc[parent] + work.cfrc[b])
    for i in range(model.nv):
        work.qfrc_bias[i] = work.cdof[i].dot(work.cfrc[model.dof_bodyid[i]])


@ti.func
def _propagate(model: ti.template(), work: ti.template(), b: ti.i32):
    """Velocity and velocity-product acceleration of body b from its parent's."""
    parent = model.body_parentid[b]
    velocity = work.cvel[parent]
    acceleration = work.cacc[parent]
    first = model.body_jntadr[b]
    for j in range(first, first + model.body_jntnum[b]):
        dof = model.jnt_dofadr[j]
        kind = model.jnt_type[j]
        if kind == SLIDE or kind == HINGE:
            step = work.cdof[dof] * work.qvel[dof]
            acceleration = acceleration + velocity.cross_motion(step)
            velocity = velocity + step
        else:
            if kind == FREE:
                velocity = velocity + _three_dofs(work, dof)
                dof += 3
            turn = _three_dofs(work, dof)
            acceleration = acceleration + velocity.cross_motion(turn)
            velocity = velocity + turn
    work.cvel.put(b, velocity)
    work.cacc.put(b, acceleration)


@ti.func
def _three_dofs(work: ti.template(), dof: ti.i32):
    return (
        work.cdof[dof] * work.qvel[dof]
        + work.cdof[dof + 1] * work.qvel[dof + 1]
        + work.cdof[dof + 2] * work.qvel[dof + 2]
    )
