"""PID controllers: setpoints of position and velocity, and a force (MuJoCo documentation, XML reference: pid).

With length l, velocity v and bias numbers b as of a servo (`actuator_bias`), the force is

    b0 + b1 (l - position) + b2 (v - velocity) + ki integral + force

where an input that the actuator does not have is 0. The setpoint of the position may have a highest speed, and the
integral of the position's error a limit; each is an activation of the actuator.
"""

import taichi as ti

from ..math import func
from ..model.servos import FORCE, INTEGRAL, POSITION, SLEW, VELOCITY
from .activation import next_activation
from .setpoints import held_back, input_of, nearest, slowed


@func
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
