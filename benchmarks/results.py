"""The results of a benchmark: tables for people, verdicts against targets, JSON for the record."""

import datetime
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..physics.machine.cores import usable_cores
from ..physics.machine.disk import replacing
from ..physics.machine.machine import commit, installed_versions, processor_name

_PACKAGES = ("tumble", "taichi", "torch", "numpy", "mujoco-core", "gymnasium", "stable-baselines3", "envpool")


class Unavailable(RuntimeError):
    """A benchmark's requirement is not on this machine; the message names it."""


@dataclass
class Table:
    """Rows of named values.

    Attributes:
        title: the quantity that the rows measure, with the conditions that all share.
        columns: heading -> format specification, such as ".2f"; keys of the rows that are not named stay in the JSON.
        rows: one dictionary each.
    """

    title: str
    columns: Mapping[str, str]
    rows: list[dict[str, Any]] = field(default_factory=list)

    def text(self) -> str:
        """Markdown with aligned columns."""
        body = [[_cell(row.get(name), form) for name, form in self.columns.items()] for row in self.rows]
        widths = [max(len(line[i]) for line in [list(self.columns), *body]) for i in range(len(self.columns))]
        lines = [list(self.columns), ["-" * width for width in widths], *body]
        marked = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines]
        return "\n".join([self.title, "", *marked])


@dataclass(frozen=True)
class Verdict:
    """A target and the measured value.

    Attributes:
        what: the quantity.
        value: the measured value.
        target: the value that it had to reach.
        at_least: whether larger is better; otherwise the target is an upper bound.
    """

    what: str
    value: float
    target: float
    at_least: bool = True

    @property
    def met(self) -> bool:
        """True if the target was reached."""
        return self.value >= self.target if self.at_least else self.value <= self.target

    def text(self) -> str:
        """One line."""
        sign = ">=" if self.at_least else "<="
        return f"{'met   ' if self.met else 'MISSED'} {self.what}: {self.value:.4g} (target {sign} {self.target:g})"


@dataclass
class BenchmarkResult:
    """Everything that one benchmark found."""

    tables: list[Table] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Tables, then notes, then verdicts."""
        parts = [table.text() for table in self.tables]
        parts += ["\n".join(self.notes)] if self.notes else []
        parts += ["\n".join(verdict.text() for verdict in self.verdicts)] if self.verdicts else []
        return "\n\n".join(parts)

    def record(self) -> dict[str, Any]:
        """Plain data."""
        verdicts = [{**vars(verdict), "met": verdict.met} for verdict in self.verdicts]
        tables = [{"title": table.title, "rows": table.rows} for table in self.tables]
        return {"tables": tables, "verdicts": verdicts, "notes": self.notes}


def conditions(command: Sequence[str]) -> dict[str, Any]:
    """Command, date, commit, machine and versions; no names and no paths of the machine."""
    return {
        "command": " ".join(["tumble", "bench", *command]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": {"processor": processor_name(), "cores": usable_cores(), "busy before": busy_share()},
        "versions": installed_versions(_PACKAGES),
    }


def busy_share(seconds: float = 0.5) -> float | None:
    """Share of the cores' time that others use while this process sleeps; None where the system does not say."""
    try:
        before = _core_times()
        time.sleep(seconds)
        after = _core_times()
    except OSError:
        return None
    passed = [b - a for a, b in zip(before, after, strict=True)]
    idle = passed[3] + passed[4]  # idle, and waiting for a disk
    return round(1 - idle / max(1, sum(passed)), 3)


def _core_times() -> list[int]:
    first = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0]
    return [int(number) for number in first.split()[1:9]]


def save(path: Path, record: Mapping[str, Any]) -> None:
    """Write JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        unfinished.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _cell(value: Any, form: str) -> str:
    if value is None:
        return ""
    return format(value, form)
