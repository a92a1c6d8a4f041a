"""Sine, cosine and arctangent in lanes, as polynomials: LLVM does not vectorise the mathematical library's functions.

Coefficients and split constants are Cephes' (Moshier, 1989: sinf.c, sin.c, atanf.c, atan.c). Taichi 1.7.4
evaluates `ti.atan2` of double vectors in single precision, which is another reason for this file. Constants are listed
by `Lanes.double`: False for single, True for double precision.
"""

from typing import Any

import taichi as ti

from .elementary import elementary
from .lanes import Lanes, let

# pi/2 as a sum of three parts, so that subtracting a multiple of it loses no digits (Cody and Waite, 1980)
_HALF_PI = {
    False: (1.5703125, 4.837512969970703125e-4, 7.54978995489188216e-8),
    True: (1.57079625129699707031, 7.54978941586159635335e-8, 5.39030285815811905290e-15),
}
_SIN = {
    False: (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1),
    True: (
        1.58962301576546568060e-10,
        -2.50507477628578072866e-8,
        2.75573136213857245213e-6,
        -1.98412698295895385996e-4,
        8.33333333332211858878e-3,
        -1.66666666666666307295e-1,
    ),
}
_COS = {
    False: (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2),
    True: (
        -1.13585365213876817300e-11,
        2.08757008419747316778e-9,
        -2.75573141792967388112e-7,
        2.48015872888517045348e-5,
        -1.38888888888730564116e-3,
        4.16666666666665929218e-2,
    ),
}

_ATAN_NUMERATOR = {
    False: (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1),
    True: (
        -8.750608600031904122785e-1,
        -1.615753718733365076637e1,
        -7.500855792314704667340e1,
        -1.228866684490136173410e2,
        -6.485021904942025371773e1,
    ),
}
_ATAN_DENOMINATOR = (
    1.0,
    2.485846490142306297962e1,
    1.650270098316988542046e2,
    4.328810604912902668951e2,
    4.853903996359136964868e2,
    1.945506571482613964425e2,
)
_ATAN_BEND = {False: 0.4142135623730950, True: 0.66}  # above it atan(t) = pi/4 + atan((t - 1) / (t + 1))
_PI = 3.141592653589793


def _horner(lanes: Lanes, coefficients: tuple, x: Any) -> Any:
    first, *others = (lanes.constant(c) for c in coefficients)
    total = x * first + others[0]
    for c in others[1:]:
        total = total * x + c
    return total


@elementary
def sincos(lanes: Lanes, x: Any) -> tuple:
    """Return (sin x, cos x), x in radians; the error is below 2 units in the last place for |x| < 10^4."""
    # x = quarter * pi/2 + r with |r| <= pi/4
    a, b, c = (lanes.constant(part) for part in _HALF_PI[lanes.double])
    quarter = let(ti.floor(x * 0.6366197723675814 + 0.5))
    r = let(((x - quarter * a) - quarter * b) - quarter * c)
    # polynomials of r
    r2 = let(r * r)
    sine = let(r + r * r2 * _horner(lanes, _SIN[lanes.double], r2))
    cosine = let(1.0 - 0.5 * r2 + r2 * r2 * _horner(lanes, _COS[lanes.double], r2))
    # quadrant: whether sine and cosine change places, and their signs
    half = let(ti.floor(quarter * 0.5))
    odd = let(quarter - 2.0 * half)  # 1 in quadrants where sine and cosine change places
    sin_sign = let(1.0 - 2.0 * (half - 2.0 * ti.floor(half * 0.5)))
    cos_half = let(ti.floor((quarter + 1.0) * 0.5))
    cos_sign = let(1.0 - 2.0 * (cos_half - 2.0 * ti.floor(cos_half * 0.5)))
    return (
        let(ti.select(odd > 0.5, cosine, sine) * sin_sign),
        let(ti.select(odd > 0.5, sine, cosine) * cos_sign),
    )


@elementary
def atan2(lanes: Lanes, y: Any, x: Any) -> Any:
    """Return the angle (rad) of the point (x, y), in [-pi, pi]; 0 at the origin."""
    # t is the smaller of |x| and |y| over the larger, at most 1
    tall = let(ti.abs(y))
    wide = let(ti.abs(x))
    t = let(ti.min(tall, wide) / ti.max(ti.max(tall, wide), 1e-30))
    # arctangent of r = t, or beyond _ATAN_BEND (t - 1) / (t + 1): a polynomial of r^2, in double precision a quotient
    steep = t > _ATAN_BEND[lanes.double]
    r = let(ti.select(steep, (t - 1.0) / (t + 1.0), t))
    z = let(r * r)
    series = _horner(lanes, _ATAN_NUMERATOR[lanes.double], z) * z
    if lanes.double:
        series = series / _horner(lanes, _ATAN_DENOMINATOR, z)
    # the angle in the first octant, then in the first quadrant, the half plane and the full circle
    low = let(r * series + r)
    octant = let(ti.select(steep, low + 0.25 * _PI, low))
    quadrant = let(ti.select(tall > wide, 0.5 * _PI - octant, octant))
    half = let(ti.select(x < 0.0, _PI - quadrant, quadrant))
    return let(ti.select(y < 0.0, -half, half))
