"""The program for the day of a GPU runs, on the processor, and sees what is wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from . import on_device

ROOT = Path(__file__).parents[2]


def run(*options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "tests.cuda.on_device", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_it_runs_on_a_processor(tmp_path):
    """There the driver has the bits of a processor with one lane."""
    file = tmp_path / "parity.json"
    small = ["--states", "10", "--steps", "2", "--json", str(file)]
    done = run("--device", "cpu", "--models", "gymnasium ant", "--precisions", "32", *small)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(file.read_text())["rows"]
    assert row["wrong"] == [] and "error" not in row
    for part in ("qpos", "qvel"):
        assert row["processor"][part] == {"median": 0.0, "99 %": 0.0, "largest": 0.0, "beyond": 0.0}
    assert 0 < row["MuJoCo"]["step, implicitfast"] < 1e-3


def test_what_is_left_out_is_a_failure():
    done = run("--device", "cpu", "--models", "gymnasium ant", "--precisions", "64", "--limit", "0")
    assert done.returncode == 1 and "ERROR gymnasium ant, 64 bits: left out" in done.stdout


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so():
    done = run()
    assert done.returncode == 2 and "torch finds no GPU" in done.stderr


class Solver:
    """Goes where it is told, but for the velocities of some environments."""

    device = torch.device("cpu")

    def __init__(self, wrong: int) -> None:
        self.wrong = wrong
        self.model = type("Model", (), {"mj": type("Mj", (), {"nq": 2})})

    def load_state_dict(self, state: torch.Tensor) -> None:
        self.reached = state.clone()
        self.reached[: self.wrong, 2] += 1e-3

    def step(self, substeps: int) -> None:
        self.faults = torch.zeros(on_device.NUM_ENVS, dtype=torch.int32)

    def coordinates(self) -> torch.Tensor:
        return self.reached

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("wrong", "said"), [(0, []), (1, []), (64, ["qvel: 25.0% beyond 1e-12"])])
def test_errors_of_many_environments_are_seen(monkeypatch, wrong, said):
    monkeypatch.setattr(on_device, "make_solver", lambda name: Solver(wrong))
    reached, row = torch.ones((on_device.NUM_ENVS, 4), dtype=torch.float64), {"wrong": []}
    on_device.compare_with_processor(row, "ant", [(reached, torch.zeros(1), reached)], on_device.LIMITS["64"])
    assert row["wrong"] == said
    assert row["processor"]["qpos"]["largest"] == 0.0
    assert row["processor"]["qvel"]["beyond"] == wrong / on_device.NUM_ENVS
