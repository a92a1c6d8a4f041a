"""The command line: help, one row for each benchmark, and one run from end to end."""

import importlib
import inspect
import json
import subprocess
import sys

import pytest

from tumble.benchmarks.main import BENCHMARKS, OPTIONS, main

from ..cases import cases


def test_without_arguments_it_prints_help(capsys):
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in (*BENCHMARKS, "all"))


@cases("name", BENCHMARKS)
def test_rows_fit_their_benchmarks(name):
    row = BENCHMARKS[name]
    module = importlib.import_module(f"tumble.benchmarks.{row.module}")
    assert set(inspect.signature(module.run).parameters) == set(row.defaults)
    assert set(row.defaults) <= set(OPTIONS)


@cases("name", [*BENCHMARKS, "all"])
def test_each_has_help(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_a_benchmark_from_end_to_end(tmp_path):
    """In a process of its own: a benchmark starts Taichi anew."""
    file = tmp_path / "single.json"
    options = ["--models", "Hopper", "--steps", "3", "--rounds", "2", "--json", str(file)]
    command = [sys.executable, "-m", "tumble.benchmarks.main", "single", *options]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "| Hopper" in run.stdout
    record = json.loads(file.read_text(encoding="utf-8"))
    row = record["tables"][0]["rows"][0]
    assert row["task"] == "Hopper" and row["Tumble us/step"] > 0 and len(row["Gymnasium seconds"]) == 2
