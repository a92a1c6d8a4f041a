"""Tumble equals MuJoCo, stage by stage and after a step, in both precisions: every model of the catalogue.

Each precision runs in a process of its own, since a process has one. The default run is the proof in short: 30 states a
model, and in either precision only models with code of their own there (`catalogue.is_among_few`). `-m slow` runs it
whole: 100 states, in which every model must show what it is for, then 1,000 and 200 random models, and the rollouts
without re-sync.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _prove(out: Path, precision: str, *options: str) -> list[dict]:
    command = [sys.executable, "-m", "tests.physics.parity.report", "--precision", precision, "--json", str(out)]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    assert out.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(out.read_text())[precision]


def _verdict(rows: list[dict]) -> str:
    lines = [row["text"] or f"{row['model']}: {row['failures']}" for row in rows if row["failures"]]
    lines += [f"{row['model']}: {', '.join(row['absent'])} did not occur" for row in rows if row["absent"]]
    return "\n".join(lines)


@pytest.mark.long
@pytest.mark.parametrize(("precision", "least"), [("64", 60), pytest.param("32", 40, marks=pytest.mark.slow)])
def test_models_with_code_of_their_own_agree(precision, least, tmp_path):
    rows = _prove(tmp_path / "rows.json", precision, "--states", "30", "--random", "3", "--lanes", "4", "--few")
    assert len(rows) > least
    assert not _verdict(rows), _verdict(rows)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["64", "32"])
def test_every_model_agrees(precision, tmp_path):
    rows = _prove(tmp_path / "rows.json", precision, "--states", "100", "--random", "10", "--lanes", "4")
    assert len(rows) > 100
    assert not _verdict(rows), _verdict(rows)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["64", "32"])
def test_every_model_agrees_in_a_thousand_states_and_without_resync(precision, tmp_path):
    rows = _prove(
        tmp_path / "rows.json", precision, "--states", "1000", "--random", "200", "--rollouts", "--all-integrators"
    )
    assert len(rows) > 240
    assert not _verdict(rows), _verdict(rows)
