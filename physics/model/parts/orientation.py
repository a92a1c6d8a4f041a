"""Servos for orientations: three torques turn a ball joint, or a site against another one, the shortest way.

MuJoCo documentation, XML reference: orientation. With the wanted and the present orientation, and the velocity v about
the same axes, the torque is kp log(present^-1 wanted) + b0 + b2 v; its size has a limit. The control is a quaternion
or a vector, axis times angle; of the latter there may be activations, which are its integral.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field
from ...base.hooks import ACTUATOR_FORCES, SETPOINTS_END
from ...base.math import Quat, Vec3, func
from ...base.math.quaternion import from_rotation_vector, rotation_vector
from ...base.stage import piece
from ...files.mjmodel.actuators import ORIENTATION
from ...files.mjmodel.flags import UNLIMITED
from ...mechanics.dynamics.actuation import SHORTEST, clamped_control, next_activation
from .part import ActuatorKind, Part

PI = 3.141592653589793
KIND = ActuatorKind(
    gaintype=ORIENTATION,
    biastypes=(int(mujoco.mjtBias.mjBIAS_SO3),),
    gains=(0,),
    biases=(0, 2),
    neutral=lambda mjm, ctrl: _neutral(mjm, ctrl),
)


@piece(reads="trn_length trn_velocity act ctrl acting_ctrl", writes="act_dot", updates="actuator_force actuator_slope")
def orientation_force(model, work, u: ti.i32, length, velocity):
    """Set actuator_force and actuator_slope of all three outputs, and act_dot, if u is the first of them."""
    if model.trn_kind[u] > 0:
        _three_torques(model, work, u)


@func
def _three_torques(model, work, u: ti.i32):
    wanted = _wanted(model, work, u)
    present = from_rotation_vector(work.lanes, Vec3(work.trn_length[u], work.trn_length[u + 1], work.trn_length[u + 2]))
    error = rotation_vector(work.lanes, present.conjugate() * wanted)
    square = work.real(0.0)
    for k in ti.static(range(3)):
        steady = error.parts()[k] * model.actuator_gain.at(u, 0) + model.actuator_bias.at(u, 0)
        force = steady + work.trn_velocity[u + k] * model.actuator_bias.at(u, 2)
        work.actuator_force[u + k] = force
        square += force * force
    size, most = ti.sqrt(square), work.real(0.0) + model.turn_most[model.actuator_servoid[u]]
    share = ti.select(size > most, most / ti.max(size, SHORTEST), work.real(1.0))
    slope = ti.select(size < most, work.real(0.0) + model.actuator_bias.at(u, 2), work.real(0.0))
    for k in ti.static(range(3)):
        work.actuator_force[u + k] = work.actuator_force[u + k] * share
        work.actuator_slope[u + k] = slope


@func
def _wanted(model, work, u: ti.i32):
    """The quaternion of the orientation that is asked for."""
    c = model.actuator_ctrladr[u]
    first, second = clamped_control(model, work, c), clamped_control(model, work, c + 1)
    third, zero = clamped_control(model, work, c + 2), work.real(0.0)
    wanted = Quat(zero, zero, zero, zero)
    if model.turn_by_quat[model.actuator_servoid[u]] == 1:
        wanted = Quat(first, second, third, clamped_control(model, work, c + 3)).normalized()
    else:
        if ti.static(model.has.activation):
            if model.actuator_actadr[u] >= 0:
                first = _integral(model, work, u, first)
                second = _integral(model, work, u + 1, second)
                third = _integral(model, work, u + 2, third)
        wanted = from_rotation_vector(work.lanes, Vec3(first, second, third))
    return wanted


@func
def _integral(model, work, u: ti.i32, control):
    """The activation of output u, whose rate is the control."""
    a = model.actuator_actadr[u]
    work.act_dot[a] = control
    found = work.real(0.0) + work.act[a]
    if model.actuator_actearly[u] == 1:
        found = next_activation(model, a, found, control)
    return found


@piece(updates="act")
def anchor_setpoints(model, work):
    """Bring activations that are axis times angle to the shortest vector of the same orientation."""
    for s in range(model.nturn):
        a = model.turn_act[s]
        if a >= 0:
            vector = Vec3(work.act[a], work.act[a + 1], work.act[a + 2])
            angle = vector.norm()
            shorter = (angle - ti.round(angle * (0.5 / PI)) * (2.0 * PI)) / ti.max(angle, SHORTEST)
            share = ti.select(angle > PI, shorter, work.real(1.0))
            for k in ti.static(range(3)):
                work.act[a + k] = vector.parts()[k] * share


def _neutral(mjm: mujoco.MjModel, ctrl: np.ndarray) -> None:
    """Put the quaternion of no turn into controls that are quaternions."""
    ctrl[mjm.actuator_ctrladr[KIND.actuators(mjm)[_by_quaternion(mjm)]]] = 1.0


def _by_quaternion(mjm: mujoco.MjModel) -> np.ndarray:
    """Return True for every servo that takes a quaternion, four controls."""
    return mjm.actuator_ctrlspec[KIND.actuators(mjm)] == int(mujoco.mjtCtrlChart.mjCHART_QUAT)


def _most_torque(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    """Return the limit of the size of every servo's torque."""
    servos = KIND.actuators(mjm)
    limited = np.asarray(mjm.actuator_forcelimited, bool)[servos]
    return np.where(limited, ranges[:, servos, 1], UNLIMITED)


PART = Part(
    name="orientation",
    doc="some actuators are servos for orientations",
    wanted=lambda model: model.sizes["nturn"] > 0,
    integers=(
        Field("turn_by_quat", ("nturn",), 1, "", "1: a servo for orientations takes a quaternion", small=True),
        Field("turn_act", ("nturn",), 1, "", "first of the three activations; -1: none"),
    ),
    reals=(Field("turn_most", ("nturn",), 1, "N m", "limit of the norm of the torque"),),
    values=lambda mjm: {
        "turn_by_quat": _by_quaternion(mjm).astype(int),
        "turn_act": mjm.actuator_actadr[KIND.actuators(mjm)],
    },
    rules={"turn_most": (("actuator_forcerange",), _most_torque)},
    sizes=lambda mjm, values: {"nturn": len(values["turn_act"])},
    actuator=KIND,
    hooks={ACTUATOR_FORCES: (KIND.gaintype, orientation_force), SETPOINTS_END: anchor_setpoints},
)
