"""The functions that laws and shapes call besides operators, in compiled code; `traced` has those of Taichi."""

from functools import partial
from typing import Any

from ....physics.machine.codegen.functions import exp, expm1, log1p
from ....physics.machine.codegen.words import FLOAT, INT, Function


class Compiled:
    """Arithmetic on numbers and vectors of single precision in a function that is written."""

    def __init__(self, f: Function) -> None:
        self.sqrt, self.select, self.abs = f.sqrt, f.select, f.abs
        self.minimum, self.maximum = f.minimum, f.maximum
        self.exp, self.log1p, self.expm1 = (partial(function, f) for function in (exp, log1p, expm1))
        self._f = f

    def whole(self, x: Any) -> Any:
        """Return the largest integer that is not above x."""
        return self._f.convert(self._f.floor(x), INT)

    def real(self, n: Any) -> Any:
        """Return an integer in single precision."""
        return self._f.convert(n, FLOAT)
