"""The order of the tests, and how wide their solvers are.

Tests that take minutes begin first, so that no worker is left alone with one at the end. `--dist worksteal` gives each
worker one stretch of the list, and takes from the end of the longest one for those who are done: so half of the long
tests stand at the front and half in the middle, where the second of two workers begins.

Solvers have four lanes unless a test asks for others: a full register takes twice as long to compile, and an
environment has the same bits at every width, as `physics/test_widths.py` and the tests that it names prove. So has a
single one in double precision; in single precision it has one lane, as with users. Processes that tests start, such as
the README's programs, have the width of their users.

Bytecode is kept even if the environment says otherwise: a process that a test starts would compile all sources that it
imports anew, which takes half of its time until it begins.
"""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tumble.physics.machine import libraries, runtime
from tumble.physics.machine.machine import default_threads

from .widths import WIDTH


def pytest_configure(config: pytest.Config) -> None:
    """Give solvers their width, in this process; take interrupts, which the background jobs of a shell ignore."""
    for name, value in (libraries.IDLE_THREADS_SLEEP | libraries.NO_GREETING).items():
        os.environ.setdefault(name, value)  # tests, and the processes that they start, import modules behind the doors
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    runtime.default_lanes = lambda precision: WIDTH


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that are marked `long` to the front and the middle, in turn; keep processes that compile."""
    from tumble.physics.solver import solver

    from .compilers_kept import keep_compilers  # here all that it imports is there

    keep_compilers()
    solver.lanes_by_default = lanes_of_tests
    long = [item for item in items if item.get_closest_marker("long")]
    rest = [item for item in items if not item.get_closest_marker("long")]
    middle = len(items) // 2 - len(long[::2])
    items[:] = long[::2] + rest[:middle] + long[1::2] + rest[middle:]


def lanes_of_tests(num_envs: int, runtime: runtime.Runtime, model: Any) -> int:
    """Return the lanes of a solver that is not told: users' one for a single environment in single precision alone."""
    return 1 if num_envs == 1 and runtime.precision == "32" else runtime.lanes


@pytest.fixture(scope="module", autouse=True)
def usual_settings_again() -> Iterator[None]:
    """Give the process its usual settings back after a module that took others: the next one may rely on them."""
    yield
    current, usual = runtime._state.current, ("32", WIDTH, default_threads(), False)
    if current is not None and (current.precision, current.lanes, current.threads, current.columns) != usual:
        runtime.init(precision="32")


PLANTED = """
import os
with open(os.environ["EXECUTED"], "a") as file:
    file.write(__name__ + " ")
raise SystemExit(77)
"""
LIBRARIES = ("tumble", "torch", "taichi", "numpy", "mujoco", "coacd", "tqdm", "gymnasium", "yaml", "typing_extensions")


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fill the present folder with modules of well-known names; each tells in this file that it was executed."""
    folder = tmp_path / "planted"
    folder.mkdir()
    for name in (*sys.stdlib_module_names, *LIBRARIES):
        (folder / f"{name}.py").write_text(PLANTED)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EXECUTED", str(tmp_path / "executed"))
    return tmp_path / "executed"
