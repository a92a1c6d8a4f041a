"""One line for every benchmark that was ever recorded, in `results/history.csv`; of the records only the newest stay.

tumble bench envs --json benchmarks/results/envs.json     replaces the record and adds a line to the history
"""

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..physics.process.disk import open_own

FILE = "history.csv"
COLUMNS = ("date", "command", "processor", "cores", "busy before", "figures")


def add(folder: Path, record: Mapping[str, Any]) -> None:
    """Append a line on a record to the history of a folder, where it has one."""
    path = folder / FILE
    if path.exists():
        with os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND), "a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(line(record))


def line(record: Mapping[str, Any]) -> list[str]:
    """The cells of a record's line, in the order of `COLUMNS`; a record is what `tumble bench --json` writes."""
    machine = record["machine"]
    own = [machine["processor"], str(machine["cores"]), str(machine["busy before"])]
    return [record["date"], record["command"], *own, figures(record)]


def figures(record: Mapping[str, Any]) -> str:
    """Return the quantities that have a target, or every number of the tables if none has."""
    if record["verdicts"]:
        return "; ".join(f"{verdict['what']} {verdict['value']:.4g}" for verdict in record["verdicts"])
    rows = [row for table in record["tables"] for row in table["rows"]]
    return "; ".join(" ".join(_words(row)) for row in rows)


def _words(row: Mapping[str, Any]) -> list[str]:
    label, *numbers = row.items()
    return [f"{label[1]}:", *(f"{name} {value:.4g}" for name, value in numbers if isinstance(value, float))]
