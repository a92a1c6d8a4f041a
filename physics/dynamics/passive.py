"""Joint springs, dof dampers, those of tendons, fluids, and gravity compensation that is nobody's force."""

import taichi as ti

from ..kinematics.forward import BALL, FREE
from ..math import Quat
from ..math.quaternion import rotation_vector
from .tendon_forces import tendon_springs


@ti.func
def passive_force(model: ti.template(), work: ti.template()):
    """qfrc_passive."""
    for i in range(model.nv):
        work.qfrc_passive[i] = work.qvel[i] * (-model.dof_damping[i])
    for j in range(model.njnt):
        stiffness = model.jnt_stiffness[j]
        if model.some(work.lanes, stiffness != 0.0):
            if model.jnt_type[j] > BALL:
                _stretch(model, work, model.jnt_qposadr[j], model.jnt_dofadr[j], stiffness)
            else:
                if ti.static(model.has.ball_joints):
                    _turning_spring(model, work, j, stiffness)
    if ti.static(model.has.tendons):
        tendon_springs(model, work)
    if ti.static(model.has.fluid):
        for i in range(model.nv):
            work.qfrc_passive[i] = work.qfrc_passive[i] + work.qfrc_fluid[i]
    if ti.static(model.has.gravcomp):
        for i in range(model.nv):
            if model.jnt_actgravcomp[model.dof_jntid[i]] == 0:
                work.qfrc_passive[i] = work.qfrc_passive[i] + work.qfrc_gravcomp[i]


@ti.func
def _stretch(model: ti.template(), work: ti.template(), q: ti.i32, dof: ti.i32, stiffness: ti.template()):
    force = work.qfrc_passive[dof] - (work.qpos[q] - model.qpos_spring[q]) * stiffness
    work.qfrc_passive[dof] = _where_springs(model, stiffness, force, work.qfrc_passive[dof])


@ti.func
def _where_springs(model: ti.template(), stiffness: ti.template(), force: ti.template(), otherwise: ti.template()):
    """`force` in lanes with a spring, `otherwise` in those beside them, to the sign of a zero."""
    result = force
    if ti.static(model.has.parameters):
        result = ti.select(stiffness != 0.0, force, otherwise)
    return result


@ti.func
def _turning_spring(model: ti.template(), work: ti.template(), j: ti.i32, stiffness: ti.template()):
    q = model.jnt_qposadr[j]
    dof = model.jnt_dofadr[j]
    if model.jnt_type[j] == FREE:
        for c in range(3):
            _stretch(model, work, q + c, dof + c, stiffness)
        q += 3
        dof += 3
    _rotational_spring(model, work, q, dof, stiffness)


@ti.func
def _rotational_spring(model: ti.template(), work: ti.template(), q: ti.i32, dof: ti.i32, stiffness: ti.template()):
    now = Quat(work.qpos[q], work.qpos[q + 1], work.qpos[q + 2], work.qpos[q + 3]).normalized()
    rest = Quat(
        work.real(model.qpos_spring[q]),
        work.real(-model.qpos_spring[q + 1]),
        work.real(-model.qpos_spring[q + 2]),
        work.real(-model.qpos_spring[q + 3]),
    )
    torque = rotation_vector(work.lanes, rest * now) * (-stiffness)
    for c in ti.static(range(3)):
        force = work.qfrc_passive[dof + c]
        work.qfrc_passive[dof + c] = _where_springs(model, stiffness, force + torque.parts()[c], force)
