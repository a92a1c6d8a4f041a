"""Spring and damper constants of joints: jnt_stiffness and dof_damping, or those of a mechanism that replaces them."""

import taichi as ti

from ...base.hooks import DAMPER, DAMPER_SLOPE, HAS_SPRING, SPRING
from ...base.math import func


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
