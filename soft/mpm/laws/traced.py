"""The arithmetic of laws and shapes in kernels of Taichi, beside `arithmetic.Compiled`.

Laws use their intermediate results several times. Taichi would compute an expression again for each use, so a
`LocalNumber` keeps each result in a local variable of the kernel.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import taichi as ti

from ....physics.base.math.lanes import let, traced

_NEAR, _LOG_TERMS, _EXP_TERMS = 0.25, 5, 7
"""Up to `_NEAR`, ln(1 + x) and e^x - 1 are series of so many terms, as in `physics.machine.codegen.functions`."""


class LocalNumber:
    """A number in a kernel that is traced: single precision, or an integer; a comparison gives Taichi's condition.

    Args:
        value: Taichi's expression, or a literal.
    """

    _data_oriented = True  # makes Taichi keep the object as it is

    def __init__(self, value: Any) -> None:
        self.value = let(value)

    def __add__(self, other: Any) -> "LocalNumber":
        return LocalNumber(self.value + plain(other))

    def __sub__(self, other: Any) -> "LocalNumber":
        return LocalNumber(self.value - plain(other))

    def __mul__(self, other: Any) -> "LocalNumber":
        return LocalNumber(self.value * plain(other))

    def __truediv__(self, other: Any) -> "LocalNumber":
        return LocalNumber(self.value / plain(other))

    def __radd__(self, other: Any) -> "LocalNumber":
        return LocalNumber(other + self.value)

    def __rsub__(self, other: Any) -> "LocalNumber":
        return LocalNumber(other - self.value)

    def __rmul__(self, other: Any) -> "LocalNumber":
        return LocalNumber(other * self.value)

    def __rtruediv__(self, other: Any) -> "LocalNumber":
        return LocalNumber(other / self.value)

    def __lt__(self, other: Any) -> Any:
        return self.value < plain(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= plain(other)


def plain(x: Any) -> Any:
    """Return Taichi's expression of a `LocalNumber`; a literal stays."""
    return x.value if isinstance(x, LocalNumber) else x


def vector(numbers: Sequence[Any]) -> Any:
    """Return a vector of Taichi of some numbers."""
    return ti.Vector([plain(x) for x in numbers])


class KernelArithmetic:
    """Arithmetic on `LocalNumber`s in a kernel that is traced."""

    _data_oriented = True

    def select(self, condition: Any, a: Any, b: Any) -> LocalNumber:
        """Return a where the condition holds, else b."""
        return LocalNumber(ti.select(condition, plain(a), plain(b)))

    def minimum(self, a: Any, b: Any) -> LocalNumber:
        """Return the smaller one; b if one is not a number."""
        return self.select(plain(a) < plain(b), a, b)

    def maximum(self, a: Any, b: Any) -> LocalNumber:
        """Return the larger one; b if one is not a number."""
        return self.select(plain(a) > plain(b), a, b)

    def sqrt(self, x: LocalNumber) -> LocalNumber:
        """Return the square root."""
        return LocalNumber(ti.sqrt(x.value))

    def abs(self, x: LocalNumber) -> LocalNumber:
        """Return |x|."""
        return LocalNumber(ti.abs(x.value))

    def exp(self, x: LocalNumber) -> LocalNumber:
        """Return e^x."""
        return LocalNumber(ti.exp(x.value))

    def log1p(self, x: LocalNumber) -> LocalNumber:
        """Return ln(1 + x), x above -1: near 0 by 2 artanh z (Abramowitz and Stegun, 4.1.27)."""
        z = x / (x + 2.0)
        near = z * _horner(z * z, [2 / (2 * k + 1) for k in range(_LOG_TERMS)])
        return self.select(self.abs(x) < _NEAR, near, ti.log(self.maximum(x + 1.0, 1e-30).value))

    def expm1(self, x: LocalNumber) -> LocalNumber:
        """Return e^x - 1: near 0 by its Taylor series."""
        near = x * _horner(x, [1 / math.factorial(k + 1) for k in range(_EXP_TERMS)])
        return self.select(self.abs(x) < _NEAR, near, self.exp(x) - 1.0)

    def whole(self, x: LocalNumber) -> LocalNumber:
        """Return the largest integer that is not above x."""
        return LocalNumber(ti.cast(ti.floor(x.value), ti.i32))

    def real(self, n: LocalNumber) -> LocalNumber:
        """Return an integer in single precision."""
        return LocalNumber(ti.cast(n.value, ti.f32))


def _horner(x: LocalNumber, coefficients: Sequence[float]) -> LocalNumber:
    """Return c0 + c1 x + c2 x^2 + ..."""
    result: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        result = x * result + c
    return result


def in_kernels(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a Python function on `LocalNumber`s as one that kernels call while they are traced."""
    return traced(function)
