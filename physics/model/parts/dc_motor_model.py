"""Loading DC motors: their inputs, states and constants, as `dc_motor` reads them."""

import mujoco
import numpy as np

from ...files.mjmodel.flags import UNLIMITED
from ...files.mjmodel.inputs import control_inputs, in_a_row
from ...files.mjmodel.outputs import activation_owners
from ...files.mjmodel.unsupported import Unsupported
from .part import ActuatorKind, Refusal, Rule

SLEW, INTEGRAL, TEMPERATURE, BRISTLE, CURRENT = range(5)
"""Columns of `motor_act`."""
_KI, _CONSTANT = 5, 1
"""Columns of actuator_gainprm: integral gain of the controller, and the motor's constant."""
_TIME, _THERMAL, _STIFFNESS, _SLEW, _MOST = 0, 2, 5, 7, 8
"""Columns of actuator_dynprm; `dc_motor` has all of them."""
KIND = ActuatorKind(
    gaintype=int(mujoco.mjtGain.mjGAIN_DCMOTOR),
    biastypes=(int(mujoco.mjtBias.mjBIAS_DCMOTOR),),
    dyntypes=(int(mujoco.mjtDyn.mjDYN_DCMOTOR),),
)


def motor_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields of motors that no environment may have of its own."""
    motors = KIND.actuators(mjm)
    return {
        "motor_input": control_inputs(mjm, motors, 4),
        "motor_act": np.array([motor_states(mjm, int(a)) for a in motors], int).reshape(-1, 5),
        "motor_dynprm": mjm.actuator_dynprm[motors, :9],
    }


def motor_states(mjm: mujoco.MjModel, a: int) -> list[int]:
    """Return a motor's activations: slowed input, integral, temperature above the ambient one, bristle, current."""
    dynamics, gain = mjm.actuator_dynprm[a], mjm.actuator_gainprm[a]
    has = (dynamics[_SLEW], gain[_KI], dynamics[_THERMAL], dynamics[_STIFFNESS], dynamics[_TIME])
    return in_a_row(int(mjm.actuator_actadr[a]), [bool(number > 0) for number in has])


def broken_motors(mjm: mujoco.MjModel) -> np.ndarray:
    """Return actuators that are a DC motor by their gain, bias or dynamics alone, or whose states do not fit."""
    dynamics = np.isin(mjm.actuator_dyntype, KIND.dyntypes)
    gain, bias = mjm.actuator_gaintype == KIND.gaintype, np.isin(mjm.actuator_biastype, KIND.biastypes)
    whole = gain & bias & (dynamics | (mjm.actuator_dyntype == int(mujoco.mjtDyn.mjDYN_NONE)))
    for a in np.flatnonzero(whole):
        count = sum(adr >= 0 for adr in in_a_row(0, [adr >= 0 for adr in motor_states(mjm, int(a))]))
        whole[a] = count == mjm.actuator_actnum[a] and (count == 0 or mjm.actuator_actadr[a] >= 0)
    return np.flatnonzero((dynamics | gain | bias) & ~whole)


def activation_ranges(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    """Put the ranges of motors' activations into `ranges` (environments, na, 2): only an integral has one."""
    ranges[:, np.isin(activation_owners(mjm), KIND.actuators(mjm))] = [-UNLIMITED, UNLIMITED]
    for a in KIND.actuators(mjm):
        integral, most = motor_states(mjm, int(a))[INTEGRAL], float(mjm.actuator_dynprm[a, _MOST])
        if integral >= 0 and most > 0:
            ranges[:, integral] = [-most, most]
    return ranges


def activation_holds(mjm: mujoco.MjModel, holds: np.ndarray) -> np.ndarray:
    """Put into `holds` (na,) for how long the rate of a motor's current counts: it is an exact filter (s)."""
    for a in KIND.actuators(mjm):
        current, tau = motor_states(mjm, int(a))[CURRENT], float(mjm.actuator_dynprm[a, _TIME])
        if current >= 0:
            holds[current] = tau * -np.expm1(-float(mjm.opt.timestep) / tau)
    return holds


def _gain(mjm: mujoco.MjModel, gainprm: np.ndarray) -> np.ndarray:
    gain = gainprm[:, KIND.actuators(mjm), :8]
    gain[..., 7] = np.where(gain[..., 7] > 0, gain[..., 7], UNLIMITED)  # the highest voltage
    return gain


def _other_states(mjm: mujoco.MjModel, gainprm: np.ndarray) -> np.ndarray:
    """Return a mask of gains that would give a motor an integral or a constant, or take it away."""
    column = np.zeros(gainprm.shape, bool)
    for number in (_KI, _CONSTANT):
        column[:, KIND.actuators(mjm), number] = True
    return column & ((gainprm > 0) != (mjm.actuator_gainprm > 0))


RULES: dict[str, Rule] = {
    "motor_gain": (("actuator_gainprm",), _gain),
    "motor_friction": (("actuator_biasprm",), lambda mjm, bias: bias[:, KIND.actuators(mjm), :6]),
}
UNSUPPORTED = (Unsupported("DC motor in part", "actuator", "gaintype", broken_motors, None),)
REFUSALS = {
    "actuator_gainprm": Refusal(
        _other_states, "whether it is above 0 says what the actuator has: that cannot be changed"
    )
}
