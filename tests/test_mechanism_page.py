"""The page about mechanisms is true: its part, added to a copy of the package as the page says, passes its test."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .page_programs import ROOT, blocks, execute
from .widths import WIDTH

PAGE = "your_own_mechanism"


def package_with(part: str, folder: Path) -> None:
    """A copy of the package with one more part, and its row."""
    shutil.copytree(
        ROOT, folder / "tumble", ignore=lambda path, names: {n for n in names if Path(path) == ROOT and is_left(n)}
    )
    parts = folder / "tumble" / "physics" / "model" / "parts"
    (parts / "friction_motor.py").write_text(part)
    table = (parts / "__init__.py").read_text()
    row, count = re.subn(r"_MODULES = \(([^)]*)\)", r"_MODULES = (\1, friction_motor)", table)
    assert count == 1
    assert row.count("\nfrom .part import") == 1
    (parts / "__init__.py").write_text(row.replace("\nfrom .part", "\nfrom . import friction_motor\nfrom .part"))


def is_left(name: str) -> bool:
    """True for what is no part of the package: the repository's tests, pages, tools and environments."""
    return name.startswith(".") or name in ("tests", "docs", "gpu", "runs", "site", "build", "dist", "__pycache__")


def run(program: list[str], folder: Path) -> str:
    """Run Python in a folder whose `tumble` is the copy."""
    outcome = subprocess.run(
        [sys.executable, *program],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert outcome.returncode == 0, f"{outcome.stdout}\n{outcome.stderr}"
    return outcome.stdout


@pytest.mark.long
def test_the_motor_of_the_page_passes_the_test_of_the_page(tmp_path):
    (model,), (part, test, _) = blocks(PAGE, "xml"), blocks(PAGE)
    assert len(part.splitlines()) <= 75
    package_with(part, tmp_path)
    (tmp_path / "arm.xml").write_text(model)
    (tmp_path / "test_friction_motor.py").write_text(test)
    narrow = f"from tumble.physics.machine import runtime\nruntime.default_lanes = lambda precision: {WIDTH}\n"
    (tmp_path / "conftest.py").write_text(narrow)  # all stages are compiled anew, in half the time
    assert str(tmp_path) in run(["-c", "import tumble; print(tumble.__file__)"], tmp_path)
    assert "7 passed" in run(["-m", "pytest", "-q", "test_friction_motor.py"], tmp_path)


def test_the_other_program_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    execute(blocks(PAGE)[-1])
