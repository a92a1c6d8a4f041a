"""A GPU: physics and environment steps a second over batch sizes, starts, memory, learning, and MuJoCo Warp.

Time on a GPU is precious, so nothing that fails stops the rest: every part is a child process with a time limit, an
error becomes a row that has its text, and the result is handed out after every part. With `--device cpu` the same
programs run in the GPU driver's columns on the processor, to try them out.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..physics.machine.children import module_command
from .results import BenchmarkResult, Table, Unavailable
from .start import start

DRIVERS_CACHE = "CUDA_CACHE_PATH"
"""Environment variable with the folder of the CUDA driver's cache of kernels."""
START_BATCH = 4096
LONGEST, LONGEST_LEARNING = 150.0, 90.0
"""Seconds that a process may take: one that hangs leaves time to the others."""
HOPELESS = 2
"""So many processes of a part in a row that end without a figure are the last ones."""
LEARNING = (
    {"num_envs": 64, "n_steps": 64, "batch_size": 512},  # as packaged
    {"num_envs": 4096, "n_steps": 16, "batch_size": 8192},
)
OVER = "left out: the time of this run is over"
PEER_BATCHES = (8192, 32768)
MATTER_BATCHES = (64, 256, 1024, 4096)
_SPEED = {"steps/s": ",.0f", "low": ",.0f", "high": ",.0f", "us": ",.0f", "host us": ",.0f"}
_MEMORY = {"peak GiB": ".2f", "used GiB": ".2f"}
TABLES = {
    "device": Table("Device", {"device": "", "GiB": ".1f", "multiprocessors": "d", "torch": "", "CUDA": ""}),
    "start": Table(
        "Seconds from the shell to the end of the first step, the interpreter's start and all imports included; the "
        "first start with empty caches of kernels",
        {"task": "", "environments": "d", "first start s": ".1f", "warm start s": ".2f", "peak MiB": ".0f"},
    ),
    "physics": Table(
        "Physics steps, implicitfast + Newton, float32, from states after random controls; `us` is a step of the whole "
        "batch, `host us` the host's time to launch it",
        {
            "task": "",
            "environments": ",d",
            **_SPEED,
            "rollout steps/s": ",.0f",
            "rollout us": ",.0f",
            "faults": "d",
            **_MEMORY,
        },
    ),
    "envs": Table(
        "Environment steps (v5 settings, random actions, resets included); tensors stay on the device",
        {"task": "", "environments": ",d", **_SPEED, "ends per 1000 steps": ".1f", **_MEMORY},
    ),
    "matter": Table(
        "Matter: 2,000 particles of liquid in a box of 32^3 cells, float32; a step is 20 substeps of 0.5 ms, and `us` "
        "that of the whole batch",
        {"environments": ",d", **_SPEED, "M particle updates/s": ",.1f", "faults": "d", **_MEMORY},
    ),
    "learn": Table(
        "Environment steps of training by the packaged PPO, the learner included",
        {"task": "", "environments": ",d", "learner on": "", "steps/s": ",.0f", "low": ",.0f", "high": ",.0f"},
    ),
    "peer": Table("The peer's physics steps", {"side": "", "task": "", "environments": ",d", **_SPEED, "note": ""}),
}


def run(
    models: Sequence[str],
    batches: Sequence[int],
    steps: int,
    rounds: int,
    device: str,
    parts: Sequence[str],
    limit: float,
) -> Iterator[BenchmarkResult]:
    """Measure part by part; yields the result so far after each.

    Args:
        models: names of tasks that `models.FILES` has, such as "Ant".
        batches: numbers of environments.
        steps: of one timed stretch, at most.
        rounds: of which medians are taken.
        device: "cuda", or "cpu" for the same programs in columns on the processor.
        parts: names of `TABLES`, taken in its order.
        limit: seconds after which nothing more begins; a row lists the parts that were left out.

    Raises:
        Unavailable: torch finds no GPU.
    """
    if device == "cuda":
        _require_gpu()
    with tempfile.TemporaryDirectory() as folder:
        cache = {} if "start" not in parts else _caches(Path(folder, models[0]))
        measure = _Measure(steps, rounds, device, time.monotonic() + limit, cache, Path(folder))
        result = BenchmarkResult()
        for part in (part for part in TABLES if part in parts):
            table = Table(TABLES[part].title, {**TABLES[part].columns, "error": ""})
            result.tables.append(table)
            for rows in measure.rows(part, models, batches):
                table.rows += rows
                print("\n".join(f"{part}: {json.dumps(row)}" for row in rows), flush=True)
                yield result


def _require_gpu() -> None:
    import torch

    if not torch.cuda.is_available():
        raise Unavailable(
            "tumble bench gpu needs a GPU that torch finds, and torch.cuda.is_available() is False here; "
            "--device cpu tries the benchmark out on the processor"
        )


def _caches(folder: Path) -> dict[str, str]:
    """Variables of a process whose caches of kernels lie in a folder."""
    return {"TI_OFFLINE_CACHE_FILE_PATH": str(folder / "taichi"), DRIVERS_CACHE: str(folder / "driver")}


class _Measure:
    """The parts, each in separate processes; a part's rows come in portions, after each of which may be saved.

    Args:
        steps, rounds, device: as in `run`.
        until: when nothing more shall begin, in seconds of `time.monotonic`.
        cache: variables that name the caches of kernels that all parts but the starts share.
        folder: for files.
    """

    def __init__(self, steps: int, rounds: int, device: str, until: float, cache: dict[str, str], folder: Path) -> None:
        self._job = {"steps": steps, "rounds": rounds, "device": device}
        self._until, self._cache, self._folder = until, cache, folder

    def rows(self, part: str, models: Sequence[str], batches: Sequence[int]) -> Iterator[list[dict[str, Any]]]:
        """The rows of a part."""
        if part == "device":
            yield self._over_batches(part, "", [0])
        elif part == "learn":
            yield from self._learning(models[0])
        elif part == "matter":
            yield self._over_batches(part, "", [n for n in MATTER_BATCHES if n <= max(batches)] or [max(batches)])
        elif part == "peer":
            chosen = [n for n in PEER_BATCHES if n <= max(batches)] or [max(batches)]
            yield from (self._over_batches(part, task, chosen) for task in models[-1:])
        elif part == "start":
            yield from ([self._start(task, min(START_BATCH, max(batches)))] for task in models)
        else:
            yield from (self._over_batches(part, task, batches) for task in models)

    def _over_batches(self, part: str, task: str, batches: Sequence[int]) -> list[dict[str, Any]]:
        """A child process for all batches; if it ends early, a row with its error, and one for the remaining ones."""
        rows: list[dict[str, Any]] = []
        left, in_vain = list(batches), 0
        while left and in_vain < HOPELESS:
            job = {**self._job, "part": part, "task": task, "batches": left}
            found, error = self._child("tumble.benchmarks.gpu_parts", job, LONGEST)
            rows += found
            left, in_vain = left[len(found) :] if error else [], 0 if found else in_vain + 1
            if error:
                rows.append({"task": task, "environments": left[0] if left else None, "error": error})
            left = left[1:]
        return rows + [{"task": task, "environments": n, "error": f"left out after: {error}"} for n in left]

    def _learning(self, task: str) -> Iterator[list[dict[str, Any]]]:
        """Training with the learner on the processor and on the device."""
        device = self._job["device"]
        for sizes in LEARNING if device == "cuda" else ({"num_envs": 4, "n_steps": 8, "batch_size": 16},):
            for where in dict.fromkeys(("cpu", device)):
                job = {"task": task, "device": device, "learner_device": where, "rounds": 2, **sizes}
                found, error = self._child("tumble.benchmarks.throughput", job, LONGEST_LEARNING)
                head = {"task": task, "environments": sizes["num_envs"], "learner on": where}
                yield [{**head, **({"error": error} if error else {}), **sizes, **(found[0] if found else {})}]

    def _start(self, task: str, num_envs: int) -> dict[str, Any]:
        """The first start of a task with empty caches, and one with full ones."""
        variables, head = _caches(self._folder / task), {"task": task, "environments": num_envs}
        driver = "cuda" if self._job["device"] == "cuda" else "columns"
        seconds = min(LONGEST, self._seconds_left())
        if seconds <= 0:
            return {**head, "error": OVER}
        try:
            marks = [start(task, num_envs, variables, driver, seconds) for _ in range(2)]
        except subprocess.TimeoutExpired:
            return {**head, "error": f"took more than {seconds:.0f} s"}
        except RuntimeError as error:
            return {**head, "error": _last_line(str(error))}
        first, warm = (mark["first step s"] for mark in marks)
        return {**head, "first start s": first, "warm start s": warm, "peak MiB": marks[1]["end MiB"], "starts": marks}

    def _child(self, module: str, job: dict[str, Any], most: float) -> tuple[list[dict[str, Any]], str]:
        """The rows that a child process printed in `most` seconds, and why it ended early ("" where it did not)."""
        seconds = min(most, self._seconds_left())
        if seconds <= 0:
            return [], OVER
        out, complaints = self._folder / "rows", self._folder / "complaints"
        command = module_command(module, json.dumps(job))
        with out.open("wb") as rows, complaints.open("wb") as text:
            try:
                ended = subprocess.run(
                    command, env=os.environ | self._cache, stdout=rows, stderr=text, timeout=seconds, check=False
                )
                error = ""
                if ended.returncode:
                    error = _last_line(complaints.read_text(errors="replace")) or f"exit code {ended.returncode}"
            except subprocess.TimeoutExpired:
                error = f"took more than {seconds:.0f} s"
        lines = out.read_text(errors="replace").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")], error

    def _seconds_left(self) -> float:
        return self._until - time.monotonic()


def _last_line(text: str) -> str:
    """Return the last line of an error's traceback."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
