"""CPU seconds from the shell to the first step of a solver: with an empty cache, and with a filled one.

Every start is a fresh process with one thread, which steps 64 environments once; its child processes count too.
Another version of Tumble, in another checkout, can take turns with it.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..physics.machine.children import python_command
from .results import Table, Verdict
from .start_models import start_models

_CHILD = """
import json, resource, sys
import gymnasium, mujoco, taichi, torch

def used():
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)

others = used()
import tumble
from tumble.physics import Model, RigidSolver

imported = used()
tumble.init(precision=sys.argv[1], threads=1)
RigidSolver(Model.from_mjcf(sys.stdin.read()), 64).step()
print(json.dumps({"all": used(), "own imports": imported - others}))
"""
LIMITS = {
    "Ant": (11, 2.5),
    "Humanoid": (14, 2.5),
    "arm with hulls": (18, 3),
    "hand": (25, 3),
    "everything": (45, 3),
}
"""CPU seconds of a process, cold and warm, that no start may take."""
OWN_IMPORTS = 0.5
"""CPU seconds that importing Tumble itself may take, without the libraries that it needs."""
COLUMNS = {"model": "", "precision": "", "cold s": ".1f", "warm s": ".2f", "own imports s": ".2f"}
_BEFORE = {"cold s before": ".1f", "warm s before": ".2f"}


def table(precisions: Sequence[str], rounds: int, before: str | None) -> tuple[Table, list[Verdict]]:
    """Start every model at every precision.

    Args:
        precisions: "32", "64" or both.
        rounds: of which medians are taken.
        before: folder of a checkout of another version; None: only this one.
    """
    columns = COLUMNS | (_BEFORE if before else {})
    found = Table("CPU seconds of a whole process up to the first step of 64 environments, one thread", columns)
    verdicts = []
    for name, mjcf in start_models().items():
        for precision in precisions:
            row: dict[str, Any] = {"model": name, "precision": precision}
            sides = {"": _package()} | ({" before": Path(before)} if before else {})
            starts: dict[str, list[dict[str, float]]] = {f"{kind} s{side}": [] for side in sides for kind in _KINDS}
            for _ in range(rounds):
                for side, package in sides.items():
                    for kind, marks in zip(_KINDS, _cold_and_warm(package, mjcf, precision), strict=True):
                        starts[f"{kind} s{side}"].append(marks)
            row |= {what: statistics.median(marks["all"] for marks in made) for what, made in starts.items()}
            row["own imports s"] = statistics.median(marks["own imports"] for marks in starts["warm s"])
            found.rows.append({**row, "starts": starts})
            for kind, limit in zip(_KINDS, LIMITS[name], strict=True):
                what = f"{name}, {precision} bits: {kind} start, CPU seconds"
                verdicts.append(Verdict(what, row[f"{kind} s"], limit, at_least=False))
    slowest = max(row["own imports s"] for row in found.rows)
    verdicts.append(Verdict("Tumble's own imports, CPU seconds", slowest, OWN_IMPORTS, at_least=False))
    return found, verdicts


_KINDS = ("cold", "warm")


def _package() -> Path:
    return Path(__file__).resolve().parents[1]


def _cold_and_warm(package: Path, mjcf: str, precision: str) -> tuple[dict[str, float], dict[str, float]]:
    """The marks of two processes that share a cache, empty before the first."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tumble").symlink_to(package, target_is_directory=True)
        variables = {"XDG_CACHE_HOME": f"{folder}/cache", "HOME": folder}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TI_", "TUMBLE_"))}

        def start() -> dict[str, float]:
            command = python_command(_CHILD, precision, path=[folder, *sys.path])
            child = subprocess.run(command, env=kept | variables, input=mjcf, capture_output=True, text=True)
            if child.returncode:
                raise RuntimeError(f"a start of {package} failed:\n{child.stderr}")
            return json.loads(child.stdout.splitlines()[-1])

        return start(), start()
