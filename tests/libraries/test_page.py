"""The page of libraries is true: every program runs as printed and learns, and the table has what was tested."""

import ast
import os
import re
import subprocess
import sys

import pytest

from .page import NEEDS, PROGRAMS, ROOT, TEXT

ROWS = dict(re.findall(r"^\| ([\w-]+)[ ,].*? \| `.*?` \| (\d+) steps upright.*? \|$", TEXT, flags=re.MULTILINE))
OTHERWISE = ("stable-baselines3", "sb3-contrib", "CleanRL")
"""Libraries whose programs only the slow run trains: `test_sb3` and `test_cleanrl` prove how they meet environments."""
UNTRAINED = 8  # steps upright of a policy that has learned nothing, as the page says


def test_every_library_has_its_program_and_row():
    """Each row tells of a policy that has learned something."""
    assert list(PROGRAMS) == list(NEEDS) == list(ROWS)
    assert all(int(steps) > 20 * UNTRAINED for steps in ROWS.values())


def test_versions_are_those_that_are_pinned():
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").replace("_", "-").splitlines()
    named = re.findall(r"^\| ([\w-]+) ([\d.]+) \|", TEXT, flags=re.MULTILINE)
    assert [library for library, _ in named] == [library for library in NEEDS if library != "CleanRL"]
    for library, version in named:
        assert f"{library}=={version}" in pins or f"{library}-lib=={version}" in pins


@pytest.mark.parametrize("library", NEEDS)
def test_threads_do_not_wait_for_each_other(library):
    """Torch has one thread, or idle ones sleep, as tumble sets if it is imported before torch.

    Otherwise a program that takes 15 s alone takes more than 400 s beside others.
    """
    lines = [ast.unparse(statement) for statement in ast.parse(PROGRAMS[library]).body]
    assert lines[0] == "import tumble" or "torch.set_num_threads(1)" in lines


@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=pytest.mark.slow if name in OTHERWISE else ()) for name in NEEDS]
)
def test_the_program_learns_as_printed(library, tmp_path):
    """In a process of its own. Other processors round differently: it need not be as good as its row."""
    pytest.importorskip(NEEDS[library])
    run = subprocess.run(
        [sys.executable, "-c", PROGRAMS[library]],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("OMP_")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    (upright,) = re.findall(r"steps upright: ([\d.]+)", run.stdout)
    assert float(upright) > 10 * UNTRAINED, run.stdout
