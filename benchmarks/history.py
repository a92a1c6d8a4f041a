"""Every figure that a benchmark ever recorded, one a row, in `results/history.csv`; only the newest records stay.

    tumble bench envs --json benchmarks/results/envs.json     replaces the record and adds rows to the history
    tumble bench history envs --plot envs.png                 compares the last entries, and draws all

Columns: `commit` is that of the sources, or, before 2026-11-28, the one that added the entry. `busy` is the share of
the cores' time that other processes took before. `quantity` is measured on `case`, such as a task.
"""

import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..physics.machine.disk import open_own, replacing
from .results import BenchmarkResult, Table, Unavailable

FILE = "history.csv"
RESULTS = Path(__file__).with_name("results")
COLUMNS = ("date", "commit", "machine", "busy", "benchmark", "options", "case", "quantity", "value", "unit")
KINDS = (
    ("time over that on a plane", "x", -1),
    ("MiB more|^profile, .*share|^duels, .*: return", "", 0),
    (": times |over |ratio", "x", 1),
    (": steps/s|a CPU second", "1/s", 1),
    (": (low|high)$", "1/s", 0),
    (r"^profile|microseconds|\bus\b", "us", -1),
    (r"\bms\b", "ms", -1),
    ("seconds", "s", -1),
    ("MiB", "MiB", -1),
    ("", "", 0),
)
"""Words of "benchmark, case: quantity", its unit, and 1 if more is better, -1 if less is, else 0; the first match."""
WORSE = -0.05
"""The change from the last entry of the same machine and case from which an entry is warned of."""
CHOICES = re.compile(r"--(rounds|models|batches|precisions)( (?!--)\S+)+ ?")
"""Options that choose cases, or how often they are measured; entries with different other options are not compared."""


class Change(NamedTuple):
    """The last two entries of a quantity, and how much better the last is: 0.1 if it is 10 % better."""

    before: Mapping[str, str]
    last: Mapping[str, str]
    better: float


def add(folder: Path, record: Mapping[str, Any]) -> list[str]:
    """Append a record's rows to the history of a folder, if it has one; return warnings of slower results."""
    path = folder / FILE
    if not path.exists():
        return []
    new = rows(record)
    with os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND), "a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, COLUMNS, lineterminator="\n").writerows(new)
    return warnings(change for change in changes(read(path)) if change.last in new)


def rows(record: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the rows of a record, as `tumble bench --json` writes it."""
    machine, (_, _, benchmark, *options) = record["machine"], record["command"].split()
    head = {
        "date": record["date"],
        "commit": "-".join(part[:10] for part in (record.get("commit") or "").split("-")),
        "machine": f"{machine['processor']}, {machine['cores']} cores",
        "busy": str(machine["busy before"]),
        "benchmark": benchmark,
        "options": " ".join(options),
    }
    return [
        {**head, "case": c, "quantity": q, "value": f"{value:.4g}", "unit": kind(benchmark, c, q)[0]}
        for c, q, value in figures(record)
    ]


def figures(record: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Return (case, quantity, value) of each figure that has a target, or of each number of the tables if none has."""
    if record["verdicts"]:
        names = [verdict["what"].rpartition(": ") for verdict in record["verdicts"]]
        values = [verdict["value"] for verdict in record["verdicts"]]
        return [(case, quantity, value) for (case, _, quantity), value in zip(names, values, strict=True)]
    found = []
    for row in (row for table in record["tables"] for row in table["rows"]):
        case = ", ".join(value for value in row.values() if isinstance(value, str))
        found += [(case, name, value) for name, value in row.items() if isinstance(value, float)]
    return found


def kind(benchmark: str, case: str, quantity: str) -> tuple[str, int]:
    """Return the unit of a quantity, and 1 if more is better, -1 if less is better, else 0."""
    text = f"{benchmark}, {case}: {quantity}"
    return next((unit, sign) for words, unit, sign in KINDS if re.search(words, text))


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a history, oldest first."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def changes(entries: Iterable[Mapping[str, str]]) -> list[Change]:
    """Return the last change of every quantity that has a better direction and two entries of one machine."""
    last: dict[tuple[str, ...], Mapping[str, str]] = {}
    found: dict[tuple[str, ...], Change] = {}
    for row in entries:
        name, sign = series(row), kind(row["benchmark"], row["case"], row["quantity"])[1]
        before = last.get(name)
        if before is not None and sign and min(values := (float(row["value"]), float(before["value"]))) > 0:
            found[name] = Change(before, row, (values[0] / values[1]) ** sign - 1)
        last[name] = row
    return list(found.values())


def series(row: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fields that two comparable rows have in common."""
    names = ("benchmark", "quantity", "case", "machine")
    return *(row[name] for name in names), CHOICES.sub("", f"{row['options']} ")


def warnings(found: Iterable[Change]) -> list[str]:
    """Return a line for each change for the worse beyond `WORSE`."""
    return [
        f"warning: {before['benchmark']}, {last['case']}: {last['quantity']} {last['value']} {last['unit']}, "
        f"{-better:.0%} worse than {before['value']} of {before['date'][:10]} ({last['machine']})"
        for before, last, better in found
        if better < WORSE
    ]


def compare(benchmarks: Sequence[str], path: Path, picture: Path | None) -> BenchmarkResult:
    """Return the last change of every quantity of some benchmarks, of all if none is named; draw them into a PNG.

    Raises:
        Unavailable: There is no history, or matplotlib is missing.
    """
    if not path.exists():
        raise Unavailable(f"{path}: there is no history of benchmarks")
    entries = [row for row in read(path) if not benchmarks or row["benchmark"] in benchmarks]
    found = changes(entries)
    names = ("benchmark", "options", "machine", "case", "quantity", "before", "last", "unit")
    table = Table("The last change of each quantity on one machine", dict.fromkeys(names, "") | {"better": "+.1%"})
    table.rows = [{**last, "before": b["value"], "last": last["value"], "better": r} for b, last, r in found]
    if picture is not None:
        draw(entries, picture)
    return BenchmarkResult([table], notes=warnings(found))


def draw(entries: Iterable[Mapping[str, str]], path: Path) -> None:
    """Draw a history as a PNG: a panel for each quantity of a benchmark, a line for each case and machine.

    Raises:
        Unavailable: matplotlib is missing.
    """
    try:
        from matplotlib.dates import ConciseDateFormatter, datestr2num
        from matplotlib.figure import Figure
    except ImportError:
        raise Unavailable("a picture of the history needs matplotlib: pip install matplotlib") from None
    panels: dict[tuple[str, str], dict[str, list[Mapping[str, str]]]] = {}
    for row in entries:
        if kind(row["benchmark"], row["case"], row["quantity"])[1]:
            lines = panels.setdefault((row["benchmark"], row["quantity"]), {})
            lines.setdefault(f"{row['case']} ({row['machine']})", []).append(row)
    height = max(1, -(-len(panels) // 2))
    figure = Figure(figsize=(16.0, 4.5 * height), layout="constrained")
    axes: Any = figure.subplots(height, 2, squeeze=False)
    for place, ((benchmark, quantity), lines) in zip(axes.flat, panels.items(), strict=False):
        for label, line in lines.items():
            dates = datestr2num([row["date"] for row in line])
            place.plot(dates, [float(row["value"]) for row in line], marker=".", linewidth=1.0, label=label)
        place.xaxis_date()
        place.xaxis.set_major_formatter(ConciseDateFormatter(place.xaxis.get_major_locator()))
        place.set(title=f"{benchmark}: {quantity}", ylabel=line[0]["unit"], yscale="log")
        place.legend(fontsize=6, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for place in axes.flat[len(panels) :]:
        place.remove()
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=120, format="png")
