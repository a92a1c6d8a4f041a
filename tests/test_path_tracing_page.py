"""The examples of path tracing run, with small pictures of few samples."""

import re
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parents[1] / "examples" / "pictures").glob("*.py"))


def shortened(program: str) -> str:
    """The same program for a sketch, cleaned by our own filter."""
    small, sizes = re.subn(r"\b640,\s+400\b", "48, 30", program)
    quick, counts = re.subn(r"samples=\d+", 'samples=2, denoise="filter"', small)
    assert (sizes, counts) == (1, 1)
    return quick


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(shortened(path.read_text("utf-8")), path.name, "exec"), {"__name__": "__main__"})
    (picture,) = tmp_path.glob("*.png")
    assert picture.stat().st_size > 1000
