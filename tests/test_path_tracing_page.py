"""The programs of `docs/path_tracing.md` run, with small pictures of few samples."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "path_tracing.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def shortened(program: str) -> str:
    """The same program for a sketch, cleaned by our own filter."""
    small, sizes = re.subn(r"\b640,\s+400\b", "48, 30", program)
    quick, counts = re.subn(r"samples=\d+", 'samples=2, denoise="filter"', small)
    assert (sizes, counts) == (1, 1)
    return quick


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_programs_run(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(shortened(PROGRAMS[number]), "page", "exec"), {"__name__": "__main__"})
    (picture,) = tmp_path.glob("*.png")
    assert picture.stat().st_size > 1000


def test_the_page_shows_its_pictures():
    shown = re.findall(r"\]\((pictures/\w+\.png)\)", PAGE.read_text("utf-8"))
    assert len(shown) == len(PROGRAMS)
    assert all((PAGE.parent / name).stat().st_size < 400_000 for name in shown)
