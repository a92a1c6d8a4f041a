"""Tables, verdicts and records."""

import csv
import json
from pathlib import Path

from tumble.benchmarks import history
from tumble.benchmarks.main import args_without_path
from tumble.benchmarks.results import Result, Table, Verdict, conditions, save


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
    result = Result([Table("t", {}, [{"seconds": (1.0, 2.0)}])], [Verdict("v", 1.0, 2.0)], ["note"])
    save(file, {**conditions(args_without_path(arguments)), **result.record()})
    record = json.loads(file.read_text(encoding="utf-8"))
    assert record["command"] == "tumble bench physics --rounds 5"
    assert record["tables"][0]["rows"] == [{"seconds": [1.0, 2.0]}]
    assert record["verdicts"][0]["met"] is False
    text = file.read_text(encoding="utf-8")
    assert str(Path.home()) not in text and str(tmp_path) not in text


def test_the_path_is_dropped_in_both_spellings():
    assert args_without_path(["all", "--json=x", "--rounds", "1"]) == ["all", "--rounds", "1"]


def test_a_record_leaves_one_line_in_the_history_of_its_folder(tmp_path):
    first, second = (
        {**conditions(["envs"]), **result.record()}
        for result in (
            Result([], [Verdict("Ant: times envpool's steps, a second", 12.3456, 3.0), Verdict("threads", 2.0, 1.8)]),
            Result([Table("t", {}, [{"stage": "load", "Ant": 0.51239, "all": [1.0]}, {"stage": "step", "Ant": 2.0}])]),
        )
    )
    history.add(tmp_path, first)
    assert not list(tmp_path.iterdir())  # where there is no history, none is begun
    (tmp_path / history.FILE).write_text(",".join(history.COLUMNS) + "\n", encoding="utf-8")
    history.add(tmp_path, first)
    history.add(tmp_path, second)
    with (tmp_path / history.FILE).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["command"] for row in rows] == ["tumble bench envs"] * 2
    assert rows[0]["figures"] == "Ant: times envpool's steps, a second 12.35; threads 2"
    assert rows[1]["figures"] == "load: Ant 0.5124; step: Ant 2"


def test_the_repository_keeps_one_record_of_a_kind():
    """And every record that is kept has its line, the last of its command's."""
    folder = Path(__file__).resolve().parent.parent.parent / "benchmarks" / "results"
    with (folder / history.FILE).open(encoding="utf-8", newline="") as file:
        lines = {tuple(row) for row in csv.reader(file)}
    records = sorted(folder.glob("*.json"))
    assert records and not [path.name for path in records if any(letter.isdigit() for letter in path.stem)]
    for path in records:
        assert tuple(history.line(json.loads(path.read_text(encoding="utf-8")))) in lines, path.name
