"""Springs and dampers of joints whose constants change with stretch and speed (feature `polynomials`).

A spring's constant is stiffness + p0 x + p1 x^2 at a stretch x; that of a ball or free joint goes by the length of what
it is turned or moved by. A damper's is damping + p0 |v| + p1 v^2 at a speed v. Without the feature these functions are
the first number alone, and cost nothing.
"""

import taichi as ti

from ..math import func


@func
def has_spring(model, work, j: ti.i32):
    """Whether joint j has a spring in any lane."""
    found = model.some(work.lanes, model.jnt_stiffness[j] != 0.0)
    if ti.static(model.has.polynomials):
        found = found or model.jnt_stiffnesspoly.at(j, 0) != 0.0 or model.jnt_stiffnesspoly.at(j, 1) != 0.0
    return found


@func
def spring_constant(model, j: ti.i32, stretch):
    """Force of joint j's spring over its stretch (N/m or N m/rad)."""
    constant = _bent_spring(model, j, stretch) if ti.static(model.has.polynomials) else model.jnt_stiffness[j]
    return constant


@func
def _bent_spring(model, j: ti.i32, stretch):
    steeper = stretch * model.jnt_stiffnesspoly.at(j, 1) + model.jnt_stiffnesspoly.at(j, 0)
    return stretch * steeper + model.jnt_stiffness[j]


@func
def damper_constant(model, work, i: ti.i32):
    """Force of dof i's damper over its velocity (N s/m or N m s/rad)."""
    constant = _bent_damper(model, work, i, 1.0, 1.0) if ti.static(model.has.polynomials) else model.dof_damping[i]
    return constant


@func
def damper_slope(model, work, i: ti.i32):
    """Derivative of that force by the velocity, with its sign turned."""
    slope = _bent_damper(model, work, i, 2.0, 3.0) if ti.static(model.has.polynomials) else model.dof_damping[i]
    return slope


@func
def _bent_damper(model, work, i: ti.i32, linear, quadratic):
    """As damping + linear p0 |v| + quadratic p1 v^2."""
    speed = ti.abs(work.qvel[i])
    steeper = speed * (model.dof_dampingpoly.at(i, 1) * quadratic) + model.dof_dampingpoly.at(i, 0) * linear
    return speed * steeper + model.dof_damping[i]
