"""The operations that are timed compute what their names say, in lanes as in numpy."""

import numpy as np
import pytest

from tumble.benchmarks.lanes import Words, numpy_result, random_operands
from tumble.benchmarks.models import load
from tumble.benchmarks.operations import OPERATIONS, numpy_tree_factor


@pytest.fixture(scope="module")
def humanoid():
    return load("Humanoid")


@pytest.mark.parametrize("width", [1, 8])
def test_lanes_agree_with_numpy(runtime, humanoid, width):
    operands = random_operands(humanoid, np.float32)
    words = Words(runtime, humanoid, width, operands)
    for number in range(len(OPERATIONS)):
        words.check(number, numpy_result(number, operands, humanoid))


def test_a_wrong_result_is_noticed(runtime, humanoid):
    operands = random_operands(humanoid, np.float32)
    words = Words(runtime, humanoid, 8, operands)
    with pytest.raises(AssertionError, match="rotate and shift a point, W = 8, 32 bits: differs from numpy by"):
        words.check(0, numpy_result(0, operands, humanoid) * 1.01)


def test_numpy_tree_factor_multiplies_out(humanoid):
    matrix = random_operands(humanoid, np.float64)["matrix"][..., 0]
    factored = numpy_tree_factor(matrix[..., None], humanoid.dof_paths())[..., 0]
    lower = np.tril(factored, -1) + np.eye(len(matrix))
    product = lower.T @ np.diag(np.diag(factored)) @ lower
    np.testing.assert_allclose(np.tril(product), np.tril(matrix), atol=1e-12)
