"""The rules of derivatives against mpmath's derivatives, operation by operation, and the operations without a rule."""

import json
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest

from .rule_operations import ACTIONS, REFUSED, SECOND, TIES, WIDTHS, memory_for, of_width, points

ROOT = Path(__file__).parents[3]
DIGITS = 50
EXACT = 1e-14
"""Relative to the sum of the parts of a tangent that come from each operand, which may cancel."""


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """All results, by width and operation."""
    path = tmp_path_factory.mktemp("rules") / "results.npz"
    command = [sys.executable, "-W", "ignore", "-m", "tests.physics.gradients.rule_operations", str(path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return dict(np.load(path))


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workdps(DIGITS):
        yield


def partial_derivatives(function, numbers):
    """The derivatives of a function of real numbers by each of them, by differences in DIGITS digits."""
    numbers = [mpmath.mpf(number) for number in numbers]
    for place in range(len(numbers)):

        def along(s, place=place):
            return mpmath.mpf(function(*numbers[:place], s, *numbers[place + 1 :]))

        yield mpmath.diff(along, numbers[place])


def error_of(tangents, parts):
    """The largest error of tangents, relative to the sum of the absolute values of their parts (n, operands)."""
    exact, sizes = ([mpmath.fsum(map(take, row)) for row in parts] for take in (mpmath.mpf, abs))
    errors = (abs(mpmath.mpf(t) - e) / s if s else abs(t) for t, e, s in zip(tangents, exact, sizes, strict=True))
    return float(max(errors))


@pytest.mark.parametrize("width", WIDTHS)
def test_every_operation(computed, width):
    wrong = {}
    for name, operation in of_width(width).items():
        values, plain, tangents = computed[f"{width} {name}"]
        assert np.array_equal(values, plain), f"{name}: tangents change values"
        x, y, dx, dy = points(operation.domain)
        parts = [
            [d * t for d, t in zip(partial_derivatives(operation.oracle, at), rates, strict=True)]
            for at, rates in zip(zip(x, y, strict=True), zip(dx, dy, strict=True), strict=True)
        ]
        if not error_of(tangents, parts) <= EXACT:
            wrong[name] = error_of(tangents, parts)
    assert not wrong


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TIES)
def test_where_a_function_has_no_derivative(computed, width, name):
    values, plain, tangents = computed[f"{width} tie {name}"]
    expected = TIES[name][-1](*points("any")[2:, :4])
    assert np.array_equal(values, plain) and np.array_equal(tangents, expected)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["field", "array"])
@pytest.mark.parametrize("name", ACTIONS)
def test_memory_with_twins(computed, width, kind, name):
    """Every number that an action leaves, along the direction that the twins had before."""
    numbers, rates = memory_for(width)
    assert numbers.shape[0] > SECOND
    left, exact = computed[f"{width} {kind} {name}"], np.vectorize(mpmath.mpf, otypes=[object])

    def along(s):
        rows = exact(numbers) + s * exact(rates)
        ACTIONS[name][1](rows, width, width // 2)
        return rows

    h = mpmath.mpf(10) ** -15
    expected = (along(h) - along(-h)) / (2 * h)
    assert np.abs(along(mpmath.mpf(0)) - left[0]).max() <= EXACT
    assert float(np.abs(expected - left[1]).max()) <= EXACT * 10
    assert np.abs(left - [numbers, rates]).max() > 0.01


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", REFUSED)
def test_operations_without_a_rule_are_refused_by_name(computed, width, name):
    message = json.loads(str(computed["refused"]))[str(width)][name]
    assert f"{name!r} has no derivative" in message
