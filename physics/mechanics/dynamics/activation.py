"""The activation dynamics that all kinds of actuators share (MuJoCo documentation, Computation: Actuation model)."""

import taichi as ti

from ...base.math import func

INTEGRATOR, FILTER, FILTEREXACT, MUSCLE = 1, 2, 3, 4
"""Values of `actuator_dyntype`; 0 is none."""
SHORTEST = 1e-15  # MuJoCo's mjMINVAL, in seconds


@func
def next_activation(model, a: ti.i32, act, rate):
    """Return activation a at the end of the step: act + rate * act_hold[a], clamped to act_range.

    act_hold[a] (s) is the time step, or for an exact filter the time that gives the same result.
    """
    return ti.min(ti.max(act + rate * model.act_hold[a], model.act_range.at(a, 0)), model.act_range.at(a, 1))
