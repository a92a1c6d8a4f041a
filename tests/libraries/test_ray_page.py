"""The programs of the page of Ray run, with fewer steps."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..page_programs import blocks

pytest.importorskip("ray", reason="Ray is not installed")

RLLIB, TUNE = blocks("ray")
SHORTER = {"range(245)": "range(1)", '"200000"': '"4096"', "[1e-4, 1e-3]": "[1e-3]"}


@pytest.mark.slow
@pytest.mark.parametrize(("program", "results"), [(RLLIB, 1), (TUNE, 2)], ids=["RLlib", "Tune"])
def test_the_program_runs(program, results, tmp_path):
    """Each program runs in a separate process. That of Ray Tune runs twice: the second time it finds its runs."""
    for whole, part in SHORTER.items():
        program = program.replace(whole, part)
    paths = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
    for _ in range(results):
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | paths, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert len(re.findall(r"return: (?:\d|None)", done.stdout)) == results
