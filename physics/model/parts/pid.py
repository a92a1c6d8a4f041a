"""PID controllers: setpoints of position and velocity, and a force (MuJoCo documentation, XML reference: pid).

With length l, velocity v and bias numbers b as of a servo (`actuator_bias`), the force is

    b0 + b1 (l - position) + b2 (v - velocity) + ki integral + force

with 0 for an input that the actuator does not have. The setpoint of the position may have a highest speed, and the
integral of the position's error a limit; each is an activation of the actuator.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field
from ...base.hooks import ACTUATOR_FORCES
from ...base.stage import piece
from ...files.mjmodel.actuators import FORCE, POSITION, VELOCITY, control_inputs, in_a_row
from ...mechanics.dynamics.actuation import held_back, input_of, nearest, next_activation, slowed
from .part import ActuatorKind, Part, Refusal

SLEW, INTEGRAL = range(2)
"""Columns of `pid_act`: the setpoint with a highest speed, and the integral of the position's error."""
_KI = 0
"""Column of actuator_gainprm: gain of the integral."""
_PID = int(mujoco.mjtDyn.mjDYN_PID)
KIND = ActuatorKind(gaintype=int(mujoco.mjtGain.mjGAIN_PID), dyntypes=(_PID,), follows=True)


@piece(reads="act ctrl acting_ctrl", writes="act_dot", updates="actuator_force actuator_slope")
def pid_force(model, work, u: ti.i32, length, velocity):
    """Set actuator_force and actuator_slope of such an output where no range limits them, and its act_dot."""
    p = model.actuator_servoid[u]
    setpoint = input_of(model, work, model.pid_input.at(p, POSITION))
    force = input_of(model, work, model.pid_input.at(p, FORCE)) + model.actuator_bias.at(u, 0)
    if ti.static(model.has.activation):
        slew, integral = model.pid_act.at(p, SLEW), model.pid_act.at(p, INTEGRAL)
        if slew >= 0:
            wanted = nearest(model, work, u, setpoint, work.act[slew])
            setpoint = slowed(model, work, slew, wanted, model.pid_limits.at(p, 1))
        if integral >= 0:
            error = nearest(model, work, u, setpoint, length) - length
            rate = held_back(work, integral, error, model.pid_limits.at(p, 0))
            work.act_dot[integral] = rate
            total = work.real(0.0) + work.act[integral]
            if model.actuator_actearly[u] == 1:
                total = next_activation(model, integral, total, rate)
            force += total * model.pid_integral[p]
    behind = length - nearest(model, work, u, setpoint, length)
    slower = velocity - input_of(model, work, model.pid_input.at(p, VELOCITY))
    work.actuator_force[u] = force + behind * model.actuator_bias.at(u, 1) + slower * model.actuator_bias.at(u, 2)
    work.actuator_slope[u] = work.real(0.0) + model.actuator_bias.at(u, 2)


def _states(mjm: mujoco.MjModel, a: int) -> list[int]:
    """Return the activations of controller `a`: its slowed setpoint, and the integral of the error."""
    has = (mjm.actuator_dynprm[a, 1] > 0, mjm.actuator_gainprm[a, _KI] > 0)
    return in_a_row(int(mjm.actuator_actadr[a]), [bool(mjm.actuator_dyntype[a] == _PID) and bool(h) for h in has])


def _values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    found = KIND.actuators(mjm)
    return {
        "pid_input": control_inputs(mjm, found, 3),
        "pid_act": np.array([_states(mjm, int(a)) for a in found], int).reshape(-1, 2),
        "pid_limits": mjm.actuator_dynprm[found, :2],
    }


def _other_states(mjm: mujoco.MjModel, gainprm: np.ndarray) -> np.ndarray:
    """Return a mask of gains that would give a controller an integral, or take it away."""
    column = np.zeros(gainprm.shape, bool)
    column[:, KIND.actuators(mjm), _KI] = True
    return column & ((gainprm > 0) != (mjm.actuator_gainprm > 0))


PART = Part(
    name="pid",
    doc="some actuators are PID controllers",
    wanted=lambda model: model.sizes["npid"] > 0,
    integers=(
        Field("pid_input", ("npid",), 3, "", "controls: position, velocity and force; -1: none"),
        Field("pid_act", ("npid",), 2, "", "activations: slowed setpoint and integral of the error; -1: none"),
    ),
    reals=(
        Field("pid_integral", ("npid",), 1, "", "gain of the error's integral"),
        Field("pid_limits", ("npid",), 2, "", "limit of the integral (0: none), highest speed of the setpoint"),
    ),
    values=_values,
    rules={"pid_integral": (("actuator_gainprm",), lambda mjm, gain: gain[:, KIND.actuators(mjm), _KI])},
    sizes=lambda mjm, values: {"npid": len(values["pid_input"])},
    actuator=KIND,
    hooks={ACTUATOR_FORCES: (KIND.gaintype, pid_force)},
    refusals={
        "actuator_gainprm": Refusal(
            _other_states, "whether it is above 0 determines the actuator's states: that cannot be changed"
        )
    },
)
