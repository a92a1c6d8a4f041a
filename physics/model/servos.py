"""Actuators that are more than a gain and a bias: their inputs and their states.

PID controllers, DC motors and servos for orientations. Each kind has a table of its own, in the order of its
actuators. An input or a state that an actuator does not have is number -1 there.
"""

from collections.abc import Callable, Sequence

import mujoco
import numpy as np

from .outputs import ORIENTATION as GAIN_ORIENTATION
from .outputs import activation_owners, owners

_D, _DYN, _GAIN, _BIAS = mujoco.mjtDisableBit, mujoco.mjtDyn, mujoco.mjtGain, mujoco.mjtBias
_INPUT = mujoco.mjtCtrlInput
PLAIN, PID, DC_MOTOR, ORIENTATION, IDLE = range(5)
"""Values of `actuator_servo`; a servo is idle where actuation is off."""
SLEW, INTEGRAL, TEMPERATURE, BRISTLE, CURRENT = range(5)
"""Columns of `pid_act` (the first two) and `motor_act`."""
POSITION, VELOCITY, FORCE, VOLTAGE = range(4)
"""Columns of `pid_input` (the first three) and `motor_input`."""
GAIN_PID, GAIN_MOTOR = int(_GAIN.mjGAIN_PID), int(_GAIN.mjGAIN_DCMOTOR)
BIAS_MOTOR = int(_BIAS.mjBIAS_DCMOTOR)
BIAS_ORIENTATION = int(_BIAS.mjBIAS_SO3)
DYN_PID, DYN_MOTOR = int(_DYN.mjDYN_PID), int(_DYN.mjDYN_DCMOTOR)
_BITS = tuple(int(getattr(_INPUT, f"mjINPUT_{n}")) for n in ("POS", "VEL", "FF", "VOLTAGE"))
_KI, _MOTOR_KI, _MOTOR_CONSTANT = 0, 5, 1
"""Columns of actuator_gainprm: integral gain of a PID controller and of a motor's, and the motor's constant."""
_TIME, _THERMAL, _STIFFNESS, _MOTOR_SLEW, _MOST = 0, 2, 5, 7, 8
"""Columns of a motor's actuator_dynprm; see `motor_dynprm`."""
UNLIMITED = 1e30


def pids(mjm: mujoco.MjModel) -> np.ndarray:
    """Actuators that are PID controllers."""
    return np.flatnonzero(mjm.actuator_gaintype == GAIN_PID)


def motors(mjm: mujoco.MjModel) -> np.ndarray:
    """Actuators that are DC motors."""
    return np.flatnonzero(mjm.actuator_gaintype == GAIN_MOTOR)


def orientations(mjm: mujoco.MjModel) -> np.ndarray:
    """Actuators that are servos for orientations."""
    return np.flatnonzero(mjm.actuator_gaintype == GAIN_ORIENTATION)


def neutral_controls(mjm: mujoco.MjModel) -> np.ndarray:
    """Controls after a reset, (nu,): no turn of those that are quaternions, 0 of all others."""
    ctrl, turns = np.zeros(mjm.nu), orientations(mjm)
    ctrl[mjm.actuator_ctrladr[turns[_by_quaternion(mjm, turns)]]] = 1.0
    return ctrl


def servo_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """The fields of `model.fields` that no environment may have of its own."""
    kind, number = np.zeros(mjm.nactuator, int), np.zeros(mjm.nactuator, int)
    for value, found in ((PID, pids(mjm)), (DC_MOTOR, motors(mjm)), (ORIENTATION, orientations(mjm))):
        kind[found], number[found] = value, np.arange(len(found))
    if int(mjm.opt.disableflags) & int(_D.mjDSBL_ACTUATION):
        kind[kind != PLAIN] = IDLE
    of = owners(mjm)
    return {
        "actuator_servo": kind[of],
        "actuator_servoid": number[of],
        "pid_input": _inputs(mjm, pids(mjm), 3),
        "pid_act": np.array([pid_states(mjm, int(a)) for a in pids(mjm)], int).reshape(-1, 2),
        "pid_limits": mjm.actuator_dynprm[pids(mjm), :2],
        "motor_input": _inputs(mjm, motors(mjm), 4),
        "motor_act": np.array([motor_states(mjm, int(a)) for a in motors(mjm)], int).reshape(-1, 5),
        "motor_dynprm": mjm.actuator_dynprm[motors(mjm), :9],
        "turn_by_quat": _by_quaternion(mjm, orientations(mjm)).astype(int),
        "turn_act": mjm.actuator_actadr[orientations(mjm)],
    }


def servo_sizes(values: dict[str, np.ndarray]) -> dict[str, int]:
    """How many there are of each kind."""
    return {"npid": len(values["pid_input"]), "nmotor": len(values["motor_input"]), "nturn": len(values["turn_act"])}


def motor_states(mjm: mujoco.MjModel, a: int) -> list[int]:
    """Activations of a motor: its slowed input, integral, temperature above the ambient one, bristle and current."""
    dynamics, gain = mjm.actuator_dynprm[a], mjm.actuator_gainprm[a]
    has = (dynamics[_MOTOR_SLEW], gain[_MOTOR_KI], dynamics[_THERMAL], dynamics[_STIFFNESS], dynamics[_TIME])
    return _in_a_row(int(mjm.actuator_actadr[a]), [bool(number > 0) for number in has])


def pid_states(mjm: mujoco.MjModel, a: int) -> list[int]:
    """Activations of a PID controller: its slowed setpoint, and the integral of the error."""
    has = (mjm.actuator_dynprm[a, 1] > 0, mjm.actuator_gainprm[a, _KI] > 0)
    return _in_a_row(int(mjm.actuator_actadr[a]), [bool(mjm.actuator_dyntype[a] == DYN_PID) and bool(h) for h in has])


def broken_motors(mjm: mujoco.MjModel) -> np.ndarray:
    """Actuators that are a DC motor in part, by their gain, bias or dynamics alone, or whose states do not fit."""
    dynamics = mjm.actuator_dyntype == DYN_MOTOR
    gain, bias = mjm.actuator_gaintype == GAIN_MOTOR, mjm.actuator_biastype == BIAS_MOTOR
    whole = gain & bias & (dynamics | (mjm.actuator_dyntype == int(_DYN.mjDYN_NONE)))
    for a in np.flatnonzero(whole):
        count = sum(adr >= 0 for adr in _in_a_row(0, [adr >= 0 for adr in motor_states(mjm, int(a))]))
        whole[a] = count == mjm.actuator_actnum[a] and (count == 0 or mjm.actuator_actadr[a] >= 0)
    return np.flatnonzero((dynamics | gain | bias) & ~whole)


def fixed_signs(mjm: mujoco.MjModel) -> np.ndarray:
    """Which numbers of actuator_gainprm say by being above zero what an actuator has: states, or a controller."""
    found: np.ndarray = np.zeros(mjm.actuator_gainprm.shape, bool)
    found[pids(mjm), _KI] = True
    found[motors(mjm), _MOTOR_KI] = True
    found[motors(mjm), _MOTOR_CONSTANT] = True
    return found


def state_limits(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    """Put the ranges of motors' activations into `ranges` (environments, na, 2): only an integral has one."""
    ranges[:, np.isin(activation_owners(mjm), motors(mjm))] = [-UNLIMITED, UNLIMITED]
    for a in motors(mjm):
        integral, most = motor_states(mjm, int(a))[INTEGRAL], float(mjm.actuator_dynprm[a, _MOST])
        if integral >= 0 and most > 0:
            ranges[:, integral] = [-most, most]
    return ranges


def current_holds(mjm: mujoco.MjModel, holds: np.ndarray) -> np.ndarray:
    """Put into `holds` (na,) for how long the rate of a motor's current counts: it is an exact filter (s)."""
    for a in motors(mjm):
        current, tau = motor_states(mjm, int(a))[CURRENT], float(mjm.actuator_dynprm[a, _TIME])
        if current >= 0:
            holds[current] = tau * -np.expm1(-float(mjm.opt.timestep) / tau)
    return holds


def _by_quaternion(mjm: mujoco.MjModel, actuators: np.ndarray) -> np.ndarray:
    """Which of these servos for orientations are told a quaternion, by four controls."""
    return mjm.actuator_ctrlspec[actuators] == int(mujoco.mjtCtrlChart.mjCHART_QUAT)


def _most_torque(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    """What the size of a servo's torque is limited to."""
    servos = orientations(mjm)
    limited = np.asarray(mjm.actuator_forcelimited, bool)[servos]
    return np.where(limited, ranges[:, servos, 1], UNLIMITED)


def _inputs(mjm: mujoco.MjModel, actuators: np.ndarray, count: int) -> np.ndarray:
    """Controls of the inputs that these actuators have, (n, count)."""
    given = [[bool(mjm.actuator_ctrlspec[a] & bit) for bit in _BITS[:count]] for a in actuators]
    rows = [_in_a_row(int(mjm.actuator_ctrladr[a]), has) for a, has in zip(actuators, given, strict=True)]
    return np.array(rows, int).reshape(-1, count)


def _in_a_row(first: int, there: Sequence[bool]) -> list[int]:
    """Numbers from `first` on of what is there, -1 of what is not."""
    before = np.cumsum([0, *there])
    return [first + int(before[k]) if has and first >= 0 else -1 for k, has in enumerate(there)]


def _motor_gain(mjm: mujoco.MjModel, gainprm: np.ndarray) -> np.ndarray:
    gain = gainprm[:, motors(mjm), :8]
    gain[..., 7] = np.where(gain[..., 7] > 0, gain[..., 7], UNLIMITED)  # the highest voltage
    return gain


SERVO_RULES: dict[str, tuple[tuple[str, ...], Callable[..., np.ndarray]]] = {
    "pid_integral": (("actuator_gainprm",), lambda mjm, gain: gain[:, pids(mjm), _KI]),
    "motor_gain": (("actuator_gainprm",), _motor_gain),
    "turn_most": (("actuator_forcerange",), _most_torque),
    "motor_friction": (("actuator_biasprm",), lambda mjm, bias: bias[:, motors(mjm), :6]),
}
"""How fields of `model.fields` follow from MuJoCo's numbers (`kernel_numbers.RULES`)."""
