"""Activations of actuators, as far as all kinds of actuators share them (MuJoCo documentation, Actuation model)."""

import taichi as ti

from ..math import func

INTEGRATOR, FILTER, FILTEREXACT, MUSCLE = 1, 2, 3, 4
"""Values of `actuator_dyntype`; 0: none."""
SHORTEST = 1e-15  # seconds: MuJoCo's mjMINVAL


@func
def next_activation(model, a: ti.i32, act, rate):
    """Return activation a a step later: `act_hold` is the step (s), or the time that an exact filter takes for it."""
    return ti.min(ti.max(act + rate * model.act_hold[a], model.act_range.at(a, 0)), model.act_range.at(a, 1))
