"""Compiled activations beside torch's."""

import ctypes

import numpy as np
import pytest
import torch

from tumble.physics.machine.codegen.llvm import load, optimized_machine_code
from tumble.physics.machine.codegen.words import FLOATS, INT, Module
from tumble.training.compiled.functions import ACTIVATIONS

TORCH = {"tanh": torch.tanh, "relu": torch.relu, "elu": torch.nn.functional.elu, "silu": torch.nn.functional.silu}
LANES = 8


@pytest.fixture(scope="module")
def compiled():
    """Call of an activation of x (n,) by name; it returns values and slopes."""
    module = Module()
    for name, function in ACTIVATIONS.items():
        write = module.function(name, public=True, x=FLOATS, y=FLOATS, slope=FLOATS, n=INT)
        with write as (f, x, y, slope, n), f.loop(0, n, LANES) as i:
            value, derivative = function(f, x.vector(i, LANES))
            f.store(y + i, value)
            f.store(slope + i, derivative)
    kind = ctypes.CFUNCTYPE(None, *([ctypes.c_void_p] * 3), ctypes.c_int64)
    functions = dict(
        zip(ACTIVATIONS, map(kind, load(optimized_machine_code(module.text()), *ACTIVATIONS)), strict=True)
    )

    def call(name, x):
        x = np.ascontiguousarray(x, np.float32)
        y, slope = np.zeros_like(x), np.zeros_like(x)
        functions[name](x.ctypes.data, y.ctypes.data, slope.ctypes.data, len(x))
        return y, slope

    return call


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_those_of_torch(compiled, name):
    """Values to 4e-7, slopes, which are products of values, to 1e-6; the fit of tanh is good to 3e-7."""
    x = np.concatenate([np.linspace(-12, 12, 80_000), [0.0, -0.0, 1e-30, -1e-30, 100, -100, 60, -60]])
    exact = torch.tensor(x.astype(np.float32), dtype=torch.float64, requires_grad=True)
    value = TORCH[name](exact)
    value.sum().backward()
    y, slope = compiled(name, x)
    np.testing.assert_allclose(y, value.detach(), rtol=2.4e-7, atol=4e-7)
    np.testing.assert_allclose(slope, exact.grad, rtol=2.4e-7, atol=1e-6)
