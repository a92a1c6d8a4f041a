"""The GPU's benchmark: whatever fails is a row, and the same programs run small on the processor."""

import contextlib
import io
import json
import time

import pytest
import torch

import tumble
from tumble.benchmarks import columns, gpu, gpu_parts, throughput
from tumble.benchmarks.gpu_job import Job, row_of
from tumble.benchmarks.main import GPU_PARTS, main
from tumble.physics.machine import runtime as settings

from ..physics.starts import run_in_columns


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["gpu"]) == 2
    assert "needs a GPU that torch finds" in capsys.readouterr().err


def test_the_command_line_names_every_part():
    assert tuple(gpu.TABLES) == GPU_PARTS


@pytest.fixture
def one_process(monkeypatch):
    """The parts run in this process, which has the kernels, and not in children of their own."""

    def child(measure, module, job, most):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if module == throughput.__name__:
                print(json.dumps(throughput.measure(throughput.ThroughputJob(**job))))
            else:
                gpu_parts.main(Job(**job))
        return [json.loads(line) for line in printed.getvalue().splitlines()], ""

    def begin(arch, device, precision):
        assert arch == device == "cpu"
        run_in_columns(precision)

    for module in (columns, settings):
        monkeypatch.setattr(module, "init_columns", begin)
    monkeypatch.setattr(gpu._Measure, "_child", child)
    yield
    tumble.init(precision="32")


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["one process", "children"])
def processes(request):
    """How the parts of the benchmark run."""
    if not request.param:
        request.getfixturevalue("one_process")


@pytest.mark.usefixtures("processes")
def test_all_parts_run_on_a_processor(tmp_path, capsys):
    """In columns, and small; starts, which compile everything twice, are left out."""
    file = tmp_path / "gpu.json"
    parts = [part for part in GPU_PARTS if part != "start"]
    sizes = ["--models", "Ant", "--batches", "1", "3", "--steps", "2", "--rounds", "2"]
    assert main(["gpu", "--device", "cpu", "--parts", *parts, *sizes, "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    device, physics, envs, matter, learn, peer = (table["rows"] for table in json.loads(file.read_text())["tables"])
    assert "the processor" in device[0]["device"] and "| Ant " in printed
    for rows in (physics, envs):
        assert [(row["task"], row["environments"]) for row in rows] == [("Ant", 1), ("Ant", 3)]
    for row in (*physics, *envs, *matter, *learn):
        assert "error" not in row, row
        assert row["low"] <= row["steps/s"] <= row["high"]
    assert all(row["rollout steps/s"] > 0 and row["faults"] == 0 for row in physics)
    assert peer[0]["side"].startswith("MuJoCo Warp") and ("error" in peer[0] or peer[0]["steps/s"] > 0)


def test_after_an_error_another_process_takes_the_batches_that_are_left(monkeypatch, tmp_path):
    """As an error may leave a GPU's context useless; what has been measured stays."""
    asked = []

    def child(module, job, most):
        asked.append(job["batches"])
        if 16 not in job["batches"]:
            return [{"environments": n} for n in job["batches"]], ""
        return [{"environments": n} for n in job["batches"] if n < 16], "CUDA error: out of luck"

    measure = gpu._Measure(1, 1, "cpu", time.monotonic() + 60, {}, tmp_path)
    monkeypatch.setattr(measure, "_child", child)
    (rows,) = measure.rows("physics", ["Ant"], [1, 4, 16, 64])
    assert asked == [[1, 4, 16, 64], [64]]
    assert [row["environments"] for row in rows] == [1, 4, 16, 64]
    assert [row.get("error") for row in rows] == [None, None, "CUDA error: out of luck", None]


def test_a_part_that_fails_again_and_again_is_given_up(monkeypatch, tmp_path):
    """Each process takes seconds of a GPU that is lent for minutes."""
    asked = []
    measure = gpu._Measure(1, 1, "cpu", time.monotonic() + 60, {}, tmp_path)
    monkeypatch.setattr(measure, "_child", lambda module, job, most: (asked.append(job["batches"]) or [], "no luck"))
    (rows,) = measure.rows("envs", ["Ant"], [1, 4, 16, 64])
    assert asked == [[1, 4, 16, 64], [4, 16, 64]]
    assert [row["error"] for row in rows] == [
        "no luck",
        "no luck",
        "left out after: no luck",
        "left out after: no luck",
    ]


def test_a_process_that_fails_leaves_its_last_words(tmp_path):
    measure = gpu._Measure(1, 1, "cpu", time.monotonic() + 60, {}, tmp_path)
    rows, error = measure._child("tumble.benchmarks.gpu_parts", {"no such": "option"}, 60.0)
    assert rows == [] and error.startswith("TypeError") and "no such" in error


def test_when_the_time_is_over_rows_say_so():
    results = list(gpu.run(["Ant", "Humanoid"], [1, 4], 1, 1, "cpu", ["start", "physics", "learn"], limit=0.0))
    rows = [row for table in results[-1].tables for row in table.rows]
    assert len(rows) == 2 + 4 + 1 and all("time of this run is over" in row["error"] for row in rows)


def test_a_batch_without_memory_is_a_row():
    def refuse():
        raise MemoryError("num_envs=65,536: the solver needs 100 GiB\nmore")

    row = row_of(Job("physics", "Ant", device="cpu"), 65536, refuse)
    assert row == {
        "task": "Ant",
        "environments": 65536,
        "error": "MemoryError: num_envs=65,536: the solver needs 100 GiB",
    }
