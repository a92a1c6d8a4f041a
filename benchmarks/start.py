"""From the shell to the first step: with an empty cache of compiled kernels, and with a filled one; peak memory.

Every start is a fresh process whose kernel cache lies in a new folder. Nothing heavy is imported here.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..physics.machine.children import module_command
from . import start_cpu
from .results import BenchmarkResult, Table, Verdict

CACHE_VARIABLE = "TUMBLE_CACHE"
"""Environment variable that names the folder of compiled code."""
FIRST_LIMIT, WARM_LIMIT, MEMORY_LIMIT = 15.0, 4.0, 600.0
MEMORY_BATCH = 1024
"""Number of environments for which MEMORY_LIMIT (MiB) is meant."""
COLUMNS = {
    "task": "",
    "environments": "d",
    "first start s": ".1f",
    "warm start s": ".2f",
    "of it imports s": ".2f",
    "longest warm s": ".2f",
    "peak MiB": ".0f",
    "peak MiB, first start": ".0f",
    "after imports MiB": ".0f",
}


def run(
    models: Sequence[str], batches: Sequence[int], precisions: Sequence[str], rounds: int, before: str | None
) -> BenchmarkResult:
    """Start each task with each number of environments; and solvers of several models, by CPU seconds (`start_cpu`).

    Args:
        models: names of tasks, such as "Humanoid".
        batches: numbers of environments; 1 means `gym.make`. All above 1 share their kernel, so only the first of them
            has a first start.
        precisions: of the solvers.
        rounds: of which medians are taken.
        before: folder of a checkout of another version, whose solvers start in turns with these.
    """
    solvers, verdicts = start_cpu.table(precisions, rounds, before)
    table = Table(
        "Seconds from the shell to the end of the first step, the interpreter's start and all imports included; "
        "peak memory of the process after 20 more steps",
        COLUMNS,
    )
    result = BenchmarkResult([solvers, table], verdicts)
    for task in models:
        found: dict[int, dict[str, list[dict[str, float]]]] = {n: {"first": [], "warm": []} for n in batches}
        for _ in range(rounds):
            _one_round(task, batches, found)
        for num_envs, starts in found.items():
            table.rows.append(row := _row(task, num_envs, starts))
            result.verdicts += _verdicts(row)
    return result


def _one_round(task: str, batches: Sequence[int], found: dict[int, dict[str, list[dict[str, float]]]]) -> None:
    compiled = set()
    with tempfile.TemporaryDirectory() as cache:
        for num_envs in batches:
            if (num_envs > 1) not in compiled:
                compiled.add(num_envs > 1)
                found[num_envs]["first"].append(start(task, num_envs, {CACHE_VARIABLE: cache}))
            found[num_envs]["warm"].append(start(task, num_envs, {CACHE_VARIABLE: cache}))


def start(
    task: str, num_envs: int, variables: Mapping[str, str], driver: str = "cpu", limit: float | None = None
) -> dict[str, float]:
    """The marks of one `first_step` process.

    Args:
        task: such as "Ant".
        num_envs: 1 means `gym.make`.
        variables: of its environment, such as the folder of the kernel cache.
        driver: "cpu", "cuda", or "columns", the GPU's driver on the processor.
        limit: seconds that it may take.

    Raises:
        RuntimeError: the process failed; the message has its output.
        subprocess.TimeoutExpired: it took longer than `limit`.
    """
    command = module_command(f"{__package__}.first_step", task, str(num_envs), repr(time.time()), driver)
    child = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=limit)
    if child.returncode:
        raise RuntimeError(f"{task}, {num_envs} environments: the child process failed:\n{child.stderr}")
    return json.loads(child.stdout.splitlines()[-1])


def _row(task: str, num_envs: int, starts: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    def median(kind: str, name: str) -> float | None:
        return statistics.median(marks[name] for marks in starts[kind]) if starts[kind] else None

    return {
        "task": task,
        "environments": num_envs,
        "first start s": median("first", "first step s"),
        "warm start s": median("warm", "first step s"),
        "of it imports s": median("warm", "imports s"),
        "longest warm s": max(marks["first step s"] for marks in starts["warm"]),
        "peak MiB": median("warm", "end MiB"),
        "peak MiB, first start": median("first", "end MiB"),
        "after imports MiB": median("warm", "imports MiB"),
        "starts": starts,
    }


def _verdicts(row: dict[str, Any]) -> list[Verdict]:
    what = f"{row['task']}, {row['environments']} environments"
    verdicts = [Verdict(f"{what}: warm start, seconds", row["warm start s"], WARM_LIMIT, at_least=False)]
    if row["first start s"] is not None:
        verdicts.append(Verdict(f"{what}: first start, seconds", row["first start s"], FIRST_LIMIT, at_least=False))
    if row["environments"] == MEMORY_BATCH:
        verdicts.append(Verdict(f"{what}: peak memory, MiB", row["peak MiB"], MEMORY_LIMIT, at_least=False))
    return verdicts
