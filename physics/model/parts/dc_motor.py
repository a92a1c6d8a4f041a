"""DC motors (MuJoCo documentation, XML reference: dcmotor): a voltage drives a current, which makes a torque.

    force = K i,  L di/dt = V - R i - K v

with length l and velocity v of the actuator; without inductance i is (V - K v) / R. The resistance R may grow with the
temperature of the winding. V is a control, or a controller's: that asks for a torque, as a PID controller does, and
for the voltage at which the motor has it. Cogging A sin(n l + phase) and the friction of bristles, which bend as
dz/dt = v - s |v| z / g(v) (LuGre: Canudas de Wit et al. 1995), act on the shaft: no range of the force limits them.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field
from ...base.hooks import ACTIVATION_END, ACTIVATION_START, ACTUATOR_FORCES, SHAFT_FORCES
from ...base.math import func
from ...base.math.trigonometry import sincos
from ...base.stage import piece
from ...files.mjmodel.actuators import FORCE, POSITION, VELOCITY, VOLTAGE, activation_owners, control_inputs, in_a_row
from ...files.mjmodel.flags import UNLIMITED
from ...files.mjmodel.unsupported import Unsupported
from ...mechanics.dynamics.actuation import SHORTEST, held_back, input_of, next_activation, slowed
from .part import ActuatorKind, Part, Refusal, Rule


@piece(
    reads="act ctrl acting_ctrl",
    writes="act_dot motor_speed motor_shaft",
    updates="actuator_force actuator_slope",
)
def motor_force(model, work, u: ti.i32, length, velocity):
    """Set actuator_force and actuator_slope of a motor where no range limits them, motor_shaft, and its act_dot."""
    m = model.actuator_servoid[u]
    voltage, drive = _voltage(model, work, m, length, velocity)
    constant, warm = model.motor_gain.at(m, 1), work.real(0.0) + model.motor_gain.at(m, 0)
    if ti.static(model.has.activation):
        if model.motor_act.at(m, TEMPERATURE) >= 0:
            above = (
                work.act[model.motor_act.at(m, TEMPERATURE)] + model.motor_dynprm.at(m, 4) - model.motor_gain.at(m, 3)
            )
            warm = warm * (1.0 + above * model.motor_gain.at(m, 2))
    current = (voltage - velocity * constant) / warm
    present, slope = current, (drive - constant) / warm
    if ti.static(model.has.activation):
        c = model.motor_act.at(m, CURRENT)
        if c >= 0:
            present = work.real(0.0) + work.act[c]
            rate = (current - present) / model.motor_dynprm.at(m, 0)
            fastest = model.motor_dynprm.at(m, 1)
            slope = slope * (model.act_hold[c] / model.motor_dynprm.at(m, 0))
            if fastest > 0.0:
                slope = ti.select(ti.abs(rate) < fastest, slope, work.real(0.0))
                rate = ti.min(ti.max(rate, -fastest), fastest)
            work.act_dot[c] = rate
            current = next_activation(model, c, present, rate)
        _warm_up(model, work, m, warm, present)
    work.motor_speed[m] = velocity
    work.actuator_force[u] = current * constant
    work.actuator_slope[u] = slope * constant
    work.motor_shaft[m] = _on_the_shaft(model, work, m, length, velocity)


@func
def _voltage(model, work, m: ti.i32, length, velocity):
    """V: the controller's, within its limits, and the one that is given; and dV/dv. Sets act_dot of their states.

    `motor_gain` has the resistance, the motor's constant, the temperature's coefficient and reference, and of the
    controller the gains of position, integral and velocity, and the highest voltage. `motor_dynprm` has the electrical
    time constant, the fastest change of the current, thermal resistance and capacity, the ambient temperature, the
    bristles' stiffness and damping, and of the controller the fastest change of its first input and the integral's
    limit.
    """
    gain = model.motor_gain
    first = POSITION
    position = input_of(model, work, model.motor_input.at(m, POSITION))
    speed = input_of(model, work, model.motor_input.at(m, VELOCITY))
    push = input_of(model, work, model.motor_input.at(m, FORCE))
    if model.motor_input.at(m, POSITION) < 0:
        first = VELOCITY if model.motor_input.at(m, VELOCITY) >= 0 else FORCE
    if ti.static(model.has.activation):
        slew = model.motor_act.at(m, SLEW)
        if slew >= 0:
            wanted = position
            if first == VELOCITY:
                wanted = speed
            elif first == FORCE:
                wanted = push
            reached = slowed(model, work, slew, wanted, model.motor_dynprm.at(m, 7))
            if first == POSITION:
                position = reached
            elif first == VELOCITY:
                speed = reached
            else:
                push = reached
    voltage, slope = work.real(0.0), work.real(0.0)
    if model.motor_input.at(m, first) >= 0:
        torque = (position - length) * gain.at(m, 4) + (speed - velocity) * gain.at(m, 6) + push
        if ti.static(model.has.activation):
            integral = model.motor_act.at(m, INTEGRAL)
            if integral >= 0:
                torque += work.act[integral] * gain.at(m, 5)
                work.act_dot[integral] = held_back(work, integral, position - length, model.motor_dynprm.at(m, 8))
        voltage = torque * gain.at(m, 0) / gain.at(m, 1) + velocity * gain.at(m, 1)
        free = ti.abs(voltage) < gain.at(m, 7)
        voltage = ti.min(ti.max(voltage, -gain.at(m, 7)), gain.at(m, 7))
        slope = ti.select(free, slope + gain.at(m, 1) - gain.at(m, 6) * gain.at(m, 0) / gain.at(m, 1), slope)
    return voltage + input_of(model, work, model.motor_input.at(m, VOLTAGE)), slope


@func
def _warm_up(model, work, m: ti.i32, resistance, current):
    """act_dot of the winding's temperature above the ambient one: the current's heat, less the heat that flows off."""
    t = model.motor_act.at(m, TEMPERATURE)
    if t >= 0:
        flow = work.act[t] / model.motor_dynprm.at(m, 2)
        work.act_dot[t] = (resistance * current * current - flow) / model.motor_dynprm.at(m, 3)


@func
def _on_the_shaft(model, work, m: ti.i32, length, velocity):
    """Cogging and friction; sets act_dot of the bristles' bend.

    `motor_friction` has cogging's amplitude, periods in a turn and phase, Coulomb's and static friction, and the speed
    at which the one becomes the other.
    """
    sine, _cosine = sincos(work.lanes, length * model.motor_friction.at(m, 1) + model.motor_friction.at(m, 2))
    force = sine * model.motor_friction.at(m, 0)
    if ti.static(model.has.activation):
        z = model.motor_act.at(m, BRISTLE)
        if z >= 0:
            rate = _relaxation(model, work, m, velocity) * work.act[z] + velocity
            work.act_dot[z] = rate
            force -= work.act[z] * model.motor_dynprm.at(m, 5) + rate * model.motor_dynprm.at(m, 6)
    return force


@piece(reads="motor_shaft", updates="actuator_force actuator_slope")
def add_shaft(model, work, u: ti.i32):
    """Add the shaft's forces to actuator_force and actuator_slope; that bristles move more slowly is left out."""
    m = model.actuator_servoid[u]
    work.actuator_force[u] = work.actuator_force[u] + work.motor_shaft[m]
    if model.motor_dynprm.at(m, 5) > 0.0:
        work.actuator_slope[u] = work.actuator_slope[u] - model.motor_dynprm.at(m, 6)


@func
def _relaxation(model, work, m: ti.i32, velocity):
    """-s |v| / g(v): how fast the bristles' bend approaches that of steady sliding (1/s)."""
    coulomb, static = model.motor_friction.at(m, 3), model.motor_friction.at(m, 4)
    ratio = velocity / ti.max(model.motor_friction.at(m, 5), SHORTEST)
    steady = ti.exp(-(ratio * ratio)) * (static - coulomb) + coulomb
    return ti.abs(velocity) * -model.motor_dynprm.at(m, 5) / ti.max(steady, SHORTEST)


@piece(reads="motor_speed", writes="motor_start")
def keep_speeds(model, work):
    """Keep the velocities of the first evaluation of a step."""
    for m in range(model.nmotor):
        work.motor_start[m] = work.motor_speed[m]


@piece(reads="motor_start start_act")
def bend(model, work, a: ti.i32, act):
    """Activation a after a step: `act`, and of bristles the exact solution at the velocity where it began."""
    found, u = work.real(0.0) + act, model.act_outid[a]
    if model.actuator_servo[u] == KIND.gaintype:
        m = model.actuator_servoid[u]
        if model.motor_act.at(m, BRISTLE) == a:
            velocity = work.motor_start[m]
            rate = _relaxation(model, work, m, velocity)
            after = ti.exp(rate * model.timestep[0])
            moves = ti.abs(rate) > SHORTEST
            reach = ti.select(
                moves, (after - 1.0) / ti.select(moves, rate, work.real(1.0)), work.real(model.timestep[0])
            )
            found = after * work.start_act[a] + velocity * reach
    return found


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
    """Return the fields of motors that cannot be set per environment."""
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
    """Return actuators that are a DC motor only by their gain, bias or dynamics, or whose states do not fit."""
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
        _other_states, "whether it is above 0 determines the actuator's states: that cannot be changed"
    )
}


PART = Part(
    name="dc_motor",
    doc="some actuators are DC motors",
    wanted=lambda model: model.sizes["nmotor"] > 0,
    integers=(
        Field("motor_input", ("nmotor",), 4, "", "controls: position, velocity, torque and voltage; -1: none"),
        Field(
            "motor_act",
            ("nmotor",),
            5,
            "",
            "activations: slowed input, integral, temperature, bristles, current; or -1",
        ),
    ),
    reals=(
        Field("motor_gain", ("nmotor",), 8, "", "of the winding and the controller (`dc_motor`)"),
        Field("motor_friction", ("nmotor",), 6, "", "of cogging and friction (`dc_motor`)"),
        Field("motor_dynprm", ("nmotor",), 9, "", "of the states (`dc_motor`)"),
    ),
    values=motor_values,
    rules=RULES,
    amends={"act_range": activation_ranges, "act_hold": activation_holds},
    sizes=lambda mjm, values: {"nmotor": len(values["motor_input"])},
    scratch=(
        Field("motor_speed", ("nmotor",), 1, "rad/s or m/s", "velocity of a DC motor"),
        Field("motor_start", ("nmotor",), 1, "rad/s or m/s", "motor_speed at the start of the step"),
        Field("motor_shaft", ("nmotor",), 1, "N m or N", "cogging torque and friction of the motor's shaft"),
    ),
    actuator=KIND,
    hooks={
        ACTUATOR_FORCES: (KIND.gaintype, motor_force),
        SHAFT_FORCES: (KIND.gaintype, add_shaft),
        ACTIVATION_START: keep_speeds,
        ACTIVATION_END: bend,
    },
    refusals=REFUSALS,
    unsupported=UNSUPPORTED,
)
