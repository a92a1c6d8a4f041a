"""The page docs/training.md is true: its task, its commands, with less training, and its program."""

import importlib.util
import shlex
from pathlib import Path

import pytest

from tumble.training.runs import Run

from ..page_programs import blocks, page

PAGE = page("training")
LESS = "--steps 512 --num-envs 8 --set recurrent_ppo.n_steps=32 --set recurrent_ppo.batch_size=64 --no-progress"


def lines(start: str) -> list[str]:
    """The page's commands that begin so, without comments."""
    return [line.partition("  #")[0].strip() for line in PAGE.splitlines() if line.startswith(start)]


@pytest.mark.skipif(importlib.util.find_spec("sb3_contrib") is None, reason="needs sb3-contrib")
def test_the_page_from_its_task_to_its_file(workshop, command, monkeypatch):
    (task,), (program,) = (blocks("training", kind) for kind in ("python", "py"))
    (workshop.folder / "blind.py").write_text(task)
    (recurrent,) = [line for line in lines("tumble train blind.py") if "--seeds" not in line]
    command(*shlex.split(recurrent)[1:], *shlex.split(LESS), "--out", "run")
    assert Run.find(Path("run")).config.recurrent_ppo.lstm_hidden_size == 32
    (export,) = lines("tumble export")
    words = shlex.split(export.replace("RUN", "run"))[1:]
    files = ("blind.onnx", "blind.pt")
    if any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxscript")):
        start = words.index("--onnx")
        words, files = words[:start] + words[start + 2 :], files[1:]
    printed = command(*words)
    assert all(Path(file).stat().st_size > 1000 for file in files)
    assert "policy (n, 2) float32, hidden_state (1, n, 32) float32, cell_state (1, n, 32) float32" in printed
    if len(files) == 2 and importlib.util.find_spec("onnxruntime") is not None:
        names: dict = {}
        exec(program, names)
        assert names["action"].shape == (1, 1) and names["memory"]["cell_state"].any()
