"""Passive forces: joint springs and dampers, and the forces of mechanisms (`hooks.PASSIVE_FORCES`)."""

import taichi as ti

from ...base.hooks import DAMPER, DAMPER_SLOPE, HAS_SPRING, PASSIVE_FORCES, SPRING, SPRING_REST, TENDON_REST
from ...base.joints import is_free, is_scalar, turn_since
from ...base.math import Quat, Vec3, func
from ...base.stage import stage


@stage(
    reads="qpos qvel",
    updates="qfrc_passive",
    hooks=(DAMPER, HAS_SPRING, SPRING, SPRING_REST, TENDON_REST, PASSIVE_FORCES),
)
def passive_force(model, work):
    """Set qfrc_passive: dampers, joint springs, and the passive forces of mechanisms."""
    for i in range(model.nv):
        work.qfrc_passive[i] = work.qvel[i] * (-damper_constant(model, work, i))
    for j in range(model.njnt):
        if has_spring(model, work, j):
            if is_scalar(model.jnt_type[j]):
                q = model.jnt_qposadr[j]
                stretch = work.qpos[q] - _rest(model, work, j, 0)
                _pull_back(model, work, model.jnt_dofadr[j], stretch, spring_constant(model, j, stretch))
            else:
                if ti.static(model.has.ball_joints):
                    _turning_spring(model, work, j)
    for add in ti.static(PASSIVE_FORCES.of(model.has)):
        add(model, work)


@func
def _rest(model, work, j: ti.i32, c: ti.i32):
    """Return coordinate c at which joint j's spring rests (m, rad, or a number of a quaternion)."""
    find = ti.static(SPRING_REST.around(model.has, _usual_rest))
    return find(model, work, j, model.jnt_qposadr[j] + c, c)


@func
def _usual_rest(model, work, j: ti.i32, q: ti.i32, c: ti.i32):
    return model.qpos_spring[q]


@func
def _pull_back(model, work, dof: ti.i32, stretch, stiffness):
    """Add the force -stiffness * stretch of a spring to qfrc_passive of a dof."""
    force = work.qfrc_passive[dof] - stretch * stiffness
    work.qfrc_passive[dof] = _where_springs(model, stiffness, force, work.qfrc_passive[dof])


@func
def _where_springs(model, stiffness, force, otherwise):
    """Return `force` in lanes with a spring and `otherwise` in the others, whose bits stay the same."""
    result = force
    if ti.static(model.has.parameters):
        result = ti.select(stiffness != 0.0, force, otherwise)
    return result


@func
def _turning_spring(model, work, j: ti.i32):
    """Add the spring force of a ball joint, or of a free joint: translation, then rotation."""
    q = model.jnt_qposadr[j]
    dof = model.jnt_dofadr[j]
    if is_free(model.jnt_type[j]):
        away = Vec3(
            work.qpos[q] - model.qpos_spring[q],
            work.qpos[q + 1] - model.qpos_spring[q + 1],
            work.qpos[q + 2] - model.qpos_spring[q + 2],
        )
        for c in ti.static(range(3)):
            _pull_back(model, work, dof + c, away.parts()[c], spring_constant(model, j, away.norm()))
        q += 3
        dof += 3
    _rotational_spring(model, work, q, dof, j)


@func
def _rotational_spring(model, work, q: ti.i32, dof: ti.i32, j: ti.i32):
    """Add the torque -stiffness * rotation vector from the rest orientation; q and dof belong to the rotation."""
    first = q - model.jnt_qposadr[j]
    rest = Quat(
        work.real(_rest(model, work, j, first)),
        work.real(_rest(model, work, j, first + 1)),
        work.real(_rest(model, work, j, first + 2)),
        work.real(_rest(model, work, j, first + 3)),
    )
    turn = turn_since(work, q, rest)
    stiffness = spring_constant(model, j, turn.norm())
    torque = turn * (-stiffness)
    for c in ti.static(range(3)):
        force = work.qfrc_passive[dof + c]
        work.qfrc_passive[dof + c] = _where_springs(model, stiffness, force + torque.parts()[c], force)


@func
def has_spring(model, work, j: ti.i32):
    """Return True if joint j has a spring in any lane."""
    found = model.any_true(work.lanes, model.jnt_stiffness[j] != 0.0)
    for other in ti.static(HAS_SPRING.of(model.has)):
        found = found or other(model, j)
    return found


@func
def spring_constant(model, j: ti.i32, stretch):
    """Return the force of joint j's spring over its stretch (N/m or N m/rad)."""
    constant_of = ti.static(SPRING.around(model.has, _stiffness))
    return constant_of(model, j, stretch)


@func
def damper_constant(model, work, i: ti.i32):
    """Return the force of dof i's damper over its velocity (N s/m or N m s/rad)."""
    constant_of = ti.static(DAMPER.around(model.has, _damping))
    return constant_of(model, work, i)


@func
def damper_slope(model, work, i: ti.i32):
    """Return the derivative of the force of dof i's damper by its velocity, with its sign turned (N s/m, N m s/rad)."""
    slope_of = ti.static(DAMPER_SLOPE.around(model.has, _damping))
    return slope_of(model, work, i)


@func
def _stiffness(model, j: ti.i32, stretch):
    return model.jnt_stiffness[j]


@func
def _damping(model, work, i: ti.i32):
    return model.dof_damping[i]
