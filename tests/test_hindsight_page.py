"""The page about hindsight is true: its program trains with and without, and draws."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "hindsight.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_program_trains_and_draws(tmp_path):
    """With few steps, here; the shares are of 100 episodes each."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "hindsight.py").write_text(program)
    command = [sys.executable, "hindsight.py", "--steps", "2000", "--every", "1000"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(?:with hindsight|without) +[01]\.\d\d$", done.stdout, flags=re.MULTILINE)
    assert len(re.findall(r"^[12]000 [01]\.\d+$", done.stdout, flags=re.MULTILINE)) == 4
    assert (tmp_path / "hindsight.png").read_bytes()[1:4] == b"PNG"
