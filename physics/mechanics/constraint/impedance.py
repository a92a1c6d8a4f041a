"""MuJoCo's position-dependent impedance d(x) (MuJoCo documentation, Modeling: Solver parameters)."""

import taichi as ti

from ...base.math import func

MINIMUM = 1e-15  # MuJoCo's mjMINVAL


@func
def impedance(model, lanes, dmin, dmax, width, midpoint, power, depth):
    """Return the impedance in (0, 1) at `depth` (m or rad) from the margin, for the five parameters of a `solimp`."""
    result = lanes.real(0.5 * (dmin + dmax))
    # Lanes may differ in the parameters: no branch on them.
    if ti.static(model.has.parameters):
        x = ti.min(ti.abs(depth) / ti.max(width, MINIMUM), 1.0)
        y = _curve(model, lanes, x, midpoint, power) * (dmax - dmin) + dmin
        result = ti.select((dmin != dmax) & (width > MINIMUM), y, result)
    elif dmin != dmax and width > MINIMUM:
        x = ti.min(ti.abs(depth) / width, 1.0)
        y = x
        if power == 2.0:
            y = ti.select(x <= midpoint, x * x / midpoint, 1.0 - (1.0 - x) * (1.0 - x) / (1.0 - midpoint))
        if ti.static(model.has.hulls):
            if power != 1.0 and power != 2.0:
                rise = ti.pow(x, power) / ti.pow(midpoint, power - 1.0)
                fall = 1.0 - ti.pow(1.0 - x, power) / ti.pow(1.0 - midpoint, power - 1.0)
                y = ti.select(x <= midpoint, rise, fall)
        result = y * (dmax - dmin) + dmin
    return result


@func
def impedance_of(model, work, solimp, i: ti.i32, depth):
    """Return the impedance at `depth` (m or rad) for item i of `solimp`, a field of the model."""
    dmin, dmax, width = solimp.at(i, 0), solimp.at(i, 1), solimp.at(i, 2)
    return impedance(model, work.lanes, dmin, dmax, width, solimp.at(i, 3), solimp.at(i, 4), depth)


@func
def _curve(model, lanes, x, midpoint, power):
    """Return the impedance curve, from 0 at x = 0 to 1 at x = 1, if lanes have per-environment parameters."""
    y = ti.select(x <= midpoint, x * x / midpoint, 1.0 - (1.0 - x) * (1.0 - x) / (1.0 - midpoint))
    y = ti.select(power == 1.0, x, y)
    if ti.static(model.has.hulls):
        other = lanes.mask((power != 1.0) & (power != 2.0))
        if lanes.any(other):
            rise = ti.pow(x, power) / ti.pow(midpoint, power - 1.0)
            fall = 1.0 - ti.pow(1.0 - x, power) / ti.pow(1.0 - midpoint, power - 1.0)
            y = ti.select(other > 0.5, ti.select(x <= midpoint, rise, fall), y)
    return y


@func
def regularizer(impedance_value, diagonal):
    """Return R of a row: (1 - d) / d times the diagonal approximation of the inverse constraint-space inertia."""
    return ti.max((1.0 - impedance_value) * diagonal / impedance_value, MINIMUM)
