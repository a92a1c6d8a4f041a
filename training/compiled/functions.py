"""Functions of floats and of vectors of floats: exp, logarithm, and the activations of networks.

An activation is a function of the writer f and of x that returns the value at x and the slope there. `ACTIVATIONS` has
them by name; a new one is a function and its row.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...physics.machine.codegen.words import INT32, Function

_TANH_ABOVE = (9.9999999437e-01, 1.3450678735e-01, 3.5790615225e-03, 2.2024413339e-05, 1.5429660119e-08)
_TANH_BELOW = (1.0, 4.6784006752e-01, 2.6192501178e-02, 3.4237651507e-04, 8.5994547647e-07)
"""Coefficients of x^0, x^2, ..., x^8: tanh x = x P(x^2) / Q(x^2) to 3e-7, fitted by least squares on [0, 7.9]."""
_TANH_LIMIT = 7.9
"""From here on tanh is 1 in single precision."""
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
"""ln 2 as a sum whose first part has 9 bits, so that its product with a small whole number is exact (Cody, Waite)."""
_EXP_LIMIT = 87.0
"""Arguments of exp are clipped to this: beyond, single precision overflows or has denormal numbers."""
_EXP_TERMS, _LOG_TERMS = 8, 6
_SQRT_HALF = 0x3F3504F3
"""The bits of the square root of 1/2 in single precision."""


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


def tanh(f: Function, x: Any) -> tuple[Any, Any]:
    """Return tanh x and its slope 1 - tanh^2 x."""
    x = clip(f, x, -_TANH_LIMIT, _TANH_LIMIT)
    square = x * x
    y = x * horner(f, square, _TANH_ABOVE) / horner(f, square, _TANH_BELOW)
    return y, 1.0 - y * y


def elu(f: Function, x: Any) -> tuple[Any, Any]:
    """Return x if x > 0, else e^x - 1; the slope is 1 or e^x."""
    positive, e = x > 0.0, exp(f, f.minimum(x, 0.0))
    return f.select(positive, x, e - 1.0), f.select(positive, 1.0, e)


def relu(f: Function, x: Any) -> tuple[Any, Any]:
    """Return max(x, 0); the slope is 1 or 0."""
    return f.maximum(x, 0.0), f.select(x > 0.0, f.constant(1.0, x.type), 0.0)


def silu(f: Function, x: Any) -> tuple[Any, Any]:
    """Return x s with s = 1 / (1 + e^-x); the slope is s (1 + x (1 - s))."""
    s = 1.0 / (exp(f, -x) + 1.0)
    return x * s, s * f.fma(x, 1.0 - s, 1.0)


ACTIVATIONS: dict[str, Callable[[Function, Any], tuple[Any, Any]]] = {
    "tanh": tanh,
    "relu": relu,
    "elu": elu,
    "silu": silu,
}
"""Activations by name; the index of one is its number in a layer."""
