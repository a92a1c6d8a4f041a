"""Lane numbers as vectors against the same as numbers, bit by bit: every operation that the engine's code may use.

Whether vectors are kept holds for a whole process, so each form computes everything in one of its own
(`vector_operations.py`). Widths and precisions that are not the drivers' own are slow tests.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .vector_operations import ACTIONS, OPERATIONS

ROOT = Path(__file__).parents[3]
SIGNS_OF_ZERO = ("min", "max", "clamp", "promoted in a maximum")
"""Of 0.0 and -0.0 each is the larger one: LLVM leaves open which it takes (LangRef, llvm.maxnum), and takes others for
vectors than for numbers where one side is a literal."""
ATAN2 = ("atan2", "atan2 of a literal")
"""Taichi takes vectors of doubles apart into atan2 of single precision, so its numbers prove nothing at widths above 1.
The engine does not use it."""


def differs(a, b, zeros_too):
    """Whether any number has other bits.

    NaN is NaN: which of its signs and payloads comes out, LLVM leaves open, and the engine asks only whether it is one.
    """
    same = a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")
    if not zeros_too:
        same |= (a == 0) & (b == 0)
    return not (same | (np.isnan(a) & np.isnan(b))).all()


def computed(folder, precision, widths):
    """The results as vectors, and as numbers; those of plain numbers as well, at width 1."""
    program = [sys.executable, "-W", "ignore", "-m", "tests.physics.codegen.vector_operations"]
    paths = {form: str(folder / f"{form}.npz") for form in ("vectors", "numbers")}
    asked = {"vectors": widths, "numbers": ["1", *widths]}
    runs = [
        subprocess.Popen([*program, form, precision, paths[form], *asked[form]], cwd=ROOT, stdout=subprocess.DEVNULL)
        for form in paths
    ]
    assert [run.wait() for run in runs] == [0, 0]
    return [dict(np.load(path)) for path in paths.values()]


@pytest.mark.parametrize(
    ("precision", "widths"),
    [
        ("32", ["16"]),
        pytest.param("64", ["8"], marks=pytest.mark.slow),
        pytest.param("32", ["4", "8"], marks=pytest.mark.slow),
        pytest.param("64", ["4", "16"], marks=pytest.mark.slow),
    ],
)
def test_vectors_have_the_bits_of_numbers(tmp_path, precision, widths):
    vectors, numbers = computed(tmp_path, precision, widths)
    count = len(OPERATIONS) + 2 * len(ACTIONS)
    given = vectors.pop("given")
    assert len(vectors) == count * len(widths) and len(numbers) == 1 + count * (1 + len(widths))
    wrong = []
    for at_width, result in vectors.items():
        name = at_width.split(" ", 1)[1]
        zeros_too = not name.startswith(SIGNS_OF_ZERO)
        if name not in ATAN2 and differs(result, numbers[at_width], zeros_too):
            wrong.append(at_width)
        if name in OPERATIONS and not name.startswith("any") and differs(result, numbers[f"1 {name}"], zeros_too):
            wrong.append(f"{at_width}, against plain numbers")
        if name not in OPERATIONS and not differs(result, given[: len(result)], True):
            wrong.append(f"{at_width}, as it leaves all numbers as they were")
    assert not wrong
