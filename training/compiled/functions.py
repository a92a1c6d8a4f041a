"""The activations of networks.

An activation is a function of the writer f and of x that returns the value at x and the slope there. `ACTIVATIONS` has
them by name; a new one is a function and its row.
"""

from collections.abc import Callable
from typing import Any

from ...physics.machine.codegen.functions import clip, exp, horner
from ...physics.machine.codegen.words import Function

_TANH_ABOVE = (9.9999999437e-01, 1.3450678735e-01, 3.5790615225e-03, 2.2024413339e-05, 1.5429660119e-08)
_TANH_BELOW = (1.0, 4.6784006752e-01, 2.6192501178e-02, 3.4237651507e-04, 8.5994547647e-07)
"""Coefficients of x^0, x^2, ..., x^8: tanh x = x P(x^2) / Q(x^2) to 3e-7, fitted by least squares on [0, 7.9]."""
_TANH_LIMIT = 7.9
"""From here on tanh is 1 in single precision."""


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
