"""Sine, cosine and arctangent in lanes, as polynomials: LLVM does not vectorise the library's own.

Coefficients and split constants are those of Cephes (Moshier, 1989: sinf.c, sin.c, atanf.c).
"""

from typing import Any

import taichi as ti

from .lanes import Lanes, let, traced

# pi/2 in three parts, so that subtracting a multiple of it loses nothing (Cody and Waite, 1980)
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


def _horner(coefficients: tuple, x: Any) -> Any:
    total = x * coefficients[0] + coefficients[1]
    for c in coefficients[2:]:
        total = total * x + c
    return total


@traced
def sincos(lanes: Lanes, x: Any) -> tuple:
    """(sin x, cos x), x in radians; error below 2 units in the last place for |x| < 10^4."""
    a, b, c = _HALF_PI[lanes.double]
    quarter = let(ti.floor(x * 0.6366197723675814 + 0.5))
    r = let(((x - quarter * a) - quarter * b) - quarter * c)
    r2 = let(r * r)
    sine = let(r + r * r2 * _horner(_SIN[lanes.double], r2))
    cosine = let(1.0 - 0.5 * r2 + r2 * r2 * _horner(_COS[lanes.double], r2))
    half = let(ti.floor(quarter * 0.5))
    odd = let(quarter - 2.0 * half)  # 1 in the quadrants where sine and cosine change places
    sin_sign = let(1.0 - 2.0 * (half - 2.0 * ti.floor(half * 0.5)))
    cos_half = let(ti.floor((quarter + 1.0) * 0.5))
    cos_sign = let(1.0 - 2.0 * (cos_half - 2.0 * ti.floor(cos_half * 0.5)))
    return (
        let(ti.select(odd > 0.5, cosine, sine) * sin_sign),
        let(ti.select(odd > 0.5, sine, cosine) * cos_sign),
    )
