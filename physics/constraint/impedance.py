"""MuJoCo's position-dependent impedance d(x) (MuJoCo documentation, Modeling: Solver parameters)."""

import taichi as ti

MINIMUM = 1e-15  # MuJoCo's mjMINVAL


@ti.func
def impedance(
    model: ti.template(),
    lanes: ti.template(),
    dmin: ti.template(),
    dmax: ti.template(),
    width: ti.template(),
    midpoint: ti.template(),
    power: ti.template(),
    depth: ti.template(),
):
    """Impedance in (0, 1) at `depth` (m or rad) from the margin, for the parameters of a `solimp`."""
    result = lanes.real(0.5 * (dmin + dmax))
    if dmin != dmax and width > MINIMUM:
        x = ti.min(ti.abs(depth) / width, 1.0)
        y = x
        if power == 2.0:
            y = ti.select(x <= midpoint, x * x / midpoint, 1.0 - (1.0 - x) * (1.0 - x) / (1.0 - midpoint))
        if ti.static(model.has.rare):
            if power != 1.0 and power != 2.0:
                rise = ti.pow(x, power) / ti.pow(midpoint, power - 1.0)
                fall = 1.0 - ti.pow(1.0 - x, power) / ti.pow(1.0 - midpoint, power - 1.0)
                y = ti.select(x <= midpoint, rise, fall)
        result = y * (dmax - dmin) + dmin
    return result


@ti.func
def regularizer(impedance_value: ti.template(), diagonal: ti.template()):
    """R of a row: (1 - d) / d times the approximate diagonal of the inverse constraint-space inertia."""
    return ti.max((1.0 - impedance_value) * diagonal / impedance_value, MINIMUM)
