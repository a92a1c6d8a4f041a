"""Tables, verdicts and records."""

import json
from pathlib import Path

from tumble.benchmarks import history
from tumble.benchmarks.main import args_without_path, main
from tumble.benchmarks.results import BenchmarkResult, Table, Verdict, conditions, save


def test_table_is_aligned_markdown():
    table = Table("speeds", {"model": "", "steps/s": ",.0f"}, [{"model": "Ant", "steps/s": 1234567.8, "raw": [1]}])
    table.rows.append({"model": "Hopper"})
    assert table.text().splitlines() == [
        "speeds",
        "",
        "| model  | steps/s   |",
        "| ------ | --------- |",
        "| Ant    | 1,234,568 |",
        "| Hopper |           |",
    ]


def test_verdicts_know_both_directions():
    assert Verdict("ratio", 4.0, 4.0).met
    assert not Verdict("ratio", 3.9, 4.0).met
    assert Verdict("seconds", 3.9, 4.0, at_least=False).met
    assert "MISSED seconds: 4.1 (target <= 4)" in Verdict("seconds", 4.1, 4.0, at_least=False).text()


def test_record_is_json_without_paths_of_the_machine(tmp_path):
    file = tmp_path / "deep" / "result.json"
    arguments = ["physics", "--json", str(file), "--rounds", "5"]
    result = BenchmarkResult([Table("t", {}, [{"seconds": (1.0, 2.0)}])], [Verdict("v", 1.0, 2.0)], ["note"])
    save(file, {**conditions(args_without_path(arguments)), **result.record()})
    record = json.loads(file.read_text(encoding="utf-8"))
    assert record["command"] == "tumble bench physics --rounds 5"
    assert record["tables"][0]["rows"] == [{"seconds": [1.0, 2.0]}]
    assert record["verdicts"][0]["met"] is False
    text = file.read_text(encoding="utf-8")
    assert str(Path.home()) not in text and str(tmp_path) not in text


def test_the_path_is_dropped_in_both_spellings():
    assert args_without_path(["all", "--json=x", "--rounds", "1"]) == ["all", "--rounds", "1"]


def record(value, command="tumble bench envs --rounds 3"):
    """A record of one figure, on a machine that stays the same."""
    machine = {"processor": "AMD", "cores": 2, "busy before": 0.0}
    head = {"command": command, "date": "2026-11-28", "commit": "0123456789abcdef-dirty", "machine": machine}
    return head | BenchmarkResult([], [Verdict("Ant: times envpool's steps, a second", value, 3.0)]).record()


def test_a_record_leaves_a_row_of_each_figure_in_the_history_of_its_folder(tmp_path):
    assert history.add(tmp_path, record(12.3456)) == []
    assert not list(tmp_path.iterdir())  # where there is no history, none is begun
    (tmp_path / history.FILE).write_text(",".join(history.COLUMNS) + "\n", encoding="utf-8")
    history.add(tmp_path, record(12.3456))
    table = Table("t", {}, [{"stage": "load", "Ant": 0.51239, "all": [1.0]}, {"stage": "step", "Ant": 2.0, "n": 3}])
    history.add(tmp_path, {**record(0, "tumble bench profile"), **BenchmarkResult([table]).record()})
    first, *others = history.read(tmp_path / history.FILE)
    assert first == {
        "date": "2026-11-28",
        "commit": "0123456789-dirty",
        "machine": "AMD, 2 cores",
        "busy": "0.0",
        "benchmark": "envs",
        "options": "--rounds 3",
        "case": "Ant",
        "quantity": "times envpool's steps, a second",
        "value": "12.35",
        "unit": "x",
    }
    assert [(row["case"], row["quantity"], row["value"], row["unit"]) for row in others] == [
        ("load", "Ant", "0.5124", "us"),
        ("step", "Ant", "2", "us"),
    ]


def test_entries_that_are_worse_than_the_last_of_their_kind_are_warned_of(tmp_path, capsys):
    path = tmp_path / history.FILE
    path.write_text(",".join(history.COLUMNS) + "\n", encoding="utf-8")
    assert history.add(tmp_path, record(10.0)) == []
    assert history.add(tmp_path, record(9.6, "tumble bench envs --models Ant Humanoid --rounds 5")) == []
    (warning,) = history.add(tmp_path, record(9.0))
    assert "envs, Ant: times envpool's steps, a second 9 x, 6% worse than 9.6 of 2026-11-28" in warning
    assert history.add(tmp_path, record(5.0, "tumble bench envs --num-envs 16")) == [], "not comparable"
    slower = [{**history.rows(record(1))[0], "quantity": "seconds", "value": value} for value in "12"]
    assert [change.better for change in history.changes(slower)] == [-0.5]
    assert main(["history", "envs", "--file", str(path), "--plot", str(tmp_path / "a.png")]) == 0
    printed = capsys.readouterr().out
    assert "| -6.2%  |" in printed and warning in printed
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert main(["history", "--file", str(tmp_path / "none.csv")]) == 2


def test_the_repository_keeps_one_record_of_a_kind():
    """And every record that is kept has its rows in the history, with the units that they would get today."""
    entries = history.read(history.RESULTS / history.FILE)
    assert all(row["unit"] == history.kind(*(row[n] for n in ("benchmark", "case", "quantity")))[0] for row in entries)
    kept = {tuple(row[name] for name in history.COLUMNS if name != "commit") for row in entries}
    records = sorted(history.RESULTS.glob("*.json"))
    assert records and not [path.name for path in records if any(letter.isdigit() for letter in path.stem)]
    for path in records:
        for row in history.rows(json.loads(path.read_text(encoding="utf-8"))):
            assert tuple(row[name] for name in history.COLUMNS if name != "commit") in kept, path.name
