"""Tables, verdicts and records."""

import json
from pathlib import Path

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
