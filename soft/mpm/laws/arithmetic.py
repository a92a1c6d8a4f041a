"""The functions of laws, in compiled code."""

import math
from typing import Any

from ....physics.machine.codegen.words import Function
from ....training.compiled.functions import exp, horner, log

_NEAR = 0.25
"""Up to here ln(1 + x) and e^x - 1 are series, which keep the digits of small arguments."""


class Compiled:
    """Arithmetic on numbers and vectors of single precision in a function that is written."""

    def __init__(self, f: Function) -> None:
        self.sqrt, self.select, self.abs = f.sqrt, f.select, f.abs
        self.minimum, self.maximum = f.minimum, f.maximum
        self._f = f

    def exp(self, x: Any) -> Any:
        """Return e^x."""
        return exp(self._f, x)

    def log1p(self, x: Any) -> Any:
        """Return ln(1 + x) to 1e-7 of it, x above -1: near 0 by 2 artanh z (Abramowitz and Stegun, 4.1.27)."""
        f = self._f
        z = x / (x + 2.0)
        near = z * horner(f, z * z, [2 / (2 * k + 1) for k in range(5)])
        return f.select(f.abs(x) < _NEAR, near, log(f, f.maximum(x + 1.0, 1e-30)))

    def expm1(self, x: Any) -> Any:
        """Return e^x - 1 to 1e-7 of it: near 0 by its Taylor series."""
        f = self._f
        near = x * horner(f, x, [1 / math.factorial(k + 1) for k in range(7)])
        return f.select(f.abs(x) < _NEAR, near, exp(f, x) - 1.0)
