"""A solver is taken away while another thread is at work with it: an error for that thread, never a crash.

Each in a process of its own (`at_work.py`), as a crash would end this one.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tumble.physics.run.programs import can_compile_apart

PROGRAM = Path(__file__).with_name("at_work.py")
APART = ("apart", 15)
LONGER = pytest.param("apart", 40, marks=pytest.mark.slow)
COLUMNS = ("columns", 3)
FUSED = pytest.param("fused", 3, marks=pytest.mark.slow)  # a minute of compilation, if the cache does not have it
KINDS = [APART, LONGER, pytest.param(*COLUMNS, marks=pytest.mark.slow), FUSED]
"""Kernels with which a solver is taken away; by default those in columns only where it is closed."""


def at_work(what, kind, rounds):
    if kind == "apart" and not can_compile_apart():
        pytest.skip("units cannot be compiled here")
    place = {**os.environ, **({"TUMBLE_LLVM": "0"} if kind == "fused" else {})}
    command = [sys.executable, "-P", PROGRAM, what, kind, str(rounds)]
    done = subprocess.run(command, env=place, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["well"]), done.stderr
    return done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rounds"), KINDS)
def test_other_settings_are_taken(kind, rounds):
    """`tumble.init` while a thread steps, reads and renders: a StaleRuntimeError in that thread."""
    at_work("init", kind, rounds)


@pytest.mark.parametrize(("kind", "rounds"), [("apart", 40), COLUMNS, FUSED])
@pytest.mark.slow
def test_the_solver_is_closed(kind, rounds):
    at_work("close", kind, 2 * rounds)


@pytest.mark.parametrize(("kind", "rounds"), KINDS)
def test_another_thread_has_the_last_reference(kind, rounds):
    at_work("collect", kind, 2 * rounds)


@pytest.mark.parametrize(("kind", "rounds"), KINDS)
def test_the_process_ends(kind, rounds):
    """With nothing on standard error, twice."""
    for _ in range(2):
        assert at_work("leave", kind, rounds) == ""
