"""Functions of floats and of vectors of floats in compiled code: polynomials, exp, logarithm."""

import math
from collections.abc import Sequence
from typing import Any

from .words import INT32, Function

_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
"""ln 2 as a sum whose first part has 9 bits, so that its product with a small whole number is exact (Cody, Waite)."""
_EXP_LIMIT = 87.0
"""Arguments of exp are clipped to this: beyond, single precision overflows or has denormal numbers."""
_EXP_TERMS, _LOG_TERMS = 8, 6
_SQRT_HALF = 0x3F3504F3
"""The bits of the square root of 1/2 in single precision."""
_NEAR = 0.25
"""Up to here ln(1 + x) and e^x - 1 are series, which keep the digits of small arguments."""
_LOG1P_TERMS, _EXPM1_TERMS = 5, 7


def horner(f: Function, x: Any, coefficients: Sequence[float]) -> Any:
    """Return c0 + c1 x + c2 x^2 + ..."""
    *others, result = (f.constant(c, x.type) for c in coefficients)
    for c in reversed(others):
        result = f.fma(result, x, c)
    return result


def clip(f: Function, x: Any, low: Any, high: Any) -> Any:
    """Return x, but at least `low` and at most `high`; `low` if x is not a number."""
    return f.minimum(f.maximum(x, low), high)


def exp(f: Function, x: Any) -> Any:
    """Return e^x to 1e-7 of it: x = n ln 2 + r with |r| <= ln 2 / 2, e^x = 2^n e^r, e^r by its Taylor series."""
    x = clip(f, x, -_EXP_LIMIT, _EXP_LIMIT)
    n = f.floor(f.fma(x, 1 / math.log(2), 0.5))
    r = f.fma(n, -_LN2_LOW, f.fma(n, -_LN2_HIGH, x))
    series = horner(f, r, [1 / math.factorial(k) for k in range(_EXP_TERMS)])
    two_to_n = f.reinterpret((f.convert(n, INT32) + 127) << 23, x.type.scalar)
    return series * two_to_n


def log(f: Function, x: Any) -> Any:
    """Return ln x of a normal number x > 0 to 1e-7: x = 2^n m with m in [sqrt 1/2, sqrt 2), and the series of ln m."""
    shifted = (f.reinterpret(x, INT32) + ((128 << 23) - _SQRT_HALF)) >> 23  # n + 128
    m = f.reinterpret(f.reinterpret(x, INT32) - ((shifted - 128) << 23), x.type.scalar)
    z = (m - 1.0) / (m + 1.0)  # ln m = 2 artanh z, Abramowitz and Stegun, 4.1.27
    series = horner(f, z * z, [2 / (2 * k + 1) for k in range(_LOG_TERMS)])
    return f.fma(f.convert(shifted - 128, x.type.scalar), math.log(2), z * series)


def log1p(f: Function, x: Any) -> Any:
    """Return ln(1 + x) to 1e-7 of it, x above -1: near 0 by 2 artanh z (Abramowitz and Stegun, 4.1.27)."""
    z = x / (x + 2.0)
    near = z * horner(f, z * z, [2 / (2 * k + 1) for k in range(_LOG1P_TERMS)])
    return f.select(f.abs(x) < _NEAR, near, log(f, f.maximum(x + 1.0, 1e-30)))


def expm1(f: Function, x: Any) -> Any:
    """Return e^x - 1 to 1e-7 of it: near 0 by its Taylor series."""
    near = x * horner(f, x, [1 / math.factorial(k + 1) for k in range(_EXPM1_TERMS)])
    return f.select(f.abs(x) < _NEAR, near, exp(f, x) - 1.0)
