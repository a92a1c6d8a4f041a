"""The functions that laws call besides operators, in compiled code."""

from functools import partial

from ....physics.machine.codegen.functions import exp, expm1, log1p
from ....physics.machine.codegen.words import Function


class Compiled:
    """Arithmetic on numbers and vectors of single precision in a function that is written."""

    def __init__(self, f: Function) -> None:
        self.sqrt, self.select, self.abs = f.sqrt, f.select, f.abs
        self.minimum, self.maximum = f.minimum, f.maximum
        self.exp, self.log1p, self.expm1 = (partial(function, f) for function in (exp, log1p, expm1))
