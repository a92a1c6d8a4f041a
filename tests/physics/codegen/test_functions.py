"""Compiled functions of numbers beside numpy's."""

import ctypes

import numpy as np
import pytest

from tumble.physics.machine.codegen.functions import exp, expm1, log, log1p
from tumble.physics.machine.codegen.llvm import load, optimized_machine_code
from tumble.physics.machine.codegen.words import FLOATS, INT, Module

FUNCTIONS = {function.__name__: function for function in (exp, log, log1p, expm1)}
LANES = 8
TWO_UNITS = 2.4e-7
"""Two units in the last place of single precision, relative."""


@pytest.fixture(scope="module")
def compiled():
    """Call of a function of x (n,) by name."""
    module = Module()
    for name, function in FUNCTIONS.items():
        write = module.function(name, public=True, x=FLOATS, y=FLOATS, n=INT)
        with write as (f, x, y, n), f.loop(0, n, LANES) as i:
            f.store(y + i, function(f, x.vector(i, LANES)))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    functions = dict(zip(FUNCTIONS, map(kind, load(optimized_machine_code(module.text()), *FUNCTIONS)), strict=True))

    def call(name, x):
        x = np.ascontiguousarray(x, np.float32)
        y = np.zeros_like(x)
        functions[name](x.ctypes.data, y.ctypes.data, len(x))
        return y, x.astype(np.float64)

    return call


def test_exp_and_logarithm_are_right_to_rounding(compiled):
    """Over the range of single precision."""
    y, x = compiled("exp", np.linspace(-86, 86, 80_000))
    np.testing.assert_allclose(y, np.exp(x), rtol=TWO_UNITS)
    y, x = compiled("log", np.exp(np.linspace(-80, 80, 80_000)))
    np.testing.assert_allclose(y, np.log(x), rtol=TWO_UNITS, atol=1e-7)


@pytest.mark.parametrize("sign", [1, -1])
def test_small_arguments_keep_their_digits(compiled, sign):
    """Of ln(1 + x) and e^x - 1, from 1e-12 to where they are ln and exp: two units, and what those leave beside 1."""
    x = sign * np.exp(np.linspace(np.log(1e-12), np.log(0.9), 80_000))
    for name, exact in (("log1p", np.log1p), ("expm1", np.expm1)):
        y, x = compiled(name, x)
        near = np.abs(x) < 0.25
        np.testing.assert_allclose(y[near], exact(x[near]), rtol=TWO_UNITS)
        np.testing.assert_allclose(y, exact(x), rtol=1.2e-6)
