"""The example of replay with hindsight trains with and without, and draws."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parent.parent / "examples" / "tasks" / "hindsight.py"


@pytest.mark.slow
def test_the_program_trains_and_draws(tmp_path):
    """With few steps, here; the shares are of 100 episodes each."""
    command = [sys.executable, str(PROGRAM), "--steps", "2000", "--every", "1000"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(?:with hindsight|without) +[01]\.\d\d$", done.stdout, flags=re.MULTILINE)
    assert len(re.findall(r"^[12]000 [01]\.\d+$", done.stdout, flags=re.MULTILINE)) == 4
    assert (tmp_path / "hindsight.png").read_bytes()[1:4] == b"PNG"
