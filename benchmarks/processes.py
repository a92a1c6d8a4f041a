"""One run by several processes: steps a second of two on this machine, and what a cluster of more would reach.

The first table is measured. In the second, the pieces of an iteration between exchanges are measured here, and the
speed of the network is assumed. Each of N processes takes the pieces of an iteration drawn at random from those that
were measured, and all wait for the slowest at each exchange, which is a ring: 2 (N - 1) messages, one after the other,
of 1/N of the bytes (Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
2005).
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from torch import Tensor

from ..physics.machine.children import module_command, python_command
from ..training.commands.processes_command import environments_of
from ..training.config import RunConfig
from ..training.distributed import ProcessGroup
from ..training.learning.learner import Learner
from ..training.learning.loggers import read_curve
from .results import BenchmarkResult, Table

ITERATIONS, FIRST = 12, 4
"""Iterations of a measured run, and the first that counts."""
NODES = (1, 2, 4, 8, 16, 32, 64)
MESSAGE = 30e-6
"""Seconds of a message between two machines: an assumption, for processors that are not virtual."""
SIZES = 256, 1_000_000
"""Numbers of two exchanges, whose times give the time of a message and that of a byte."""
DRAWS = 30
"""Iterations of each simulated cluster."""
MEASURED = {
    "task": "",
    "one thread": ",.0f",
    "two threads": ",.0f",
    "two processes": ",.0f",
    "threads' gain": ".2f",
    "processes' gain": ".2f",
}
SIMULATED = {"task": "", "network": "", "exchanges": "d", "kB": ",.0f", **{f"{n} nodes": ".0%" for n in NODES[1:]}}


def run(models: Sequence[str], rounds: int) -> BenchmarkResult:
    """Measure and simulate.

    Args:
        models: tasks.
        rounds: turns, of which medians are taken.
    """
    message, byte = exchange_seconds()
    title = "Environment steps a second of `tumble train`, updates included: one process, and two with a thread each"
    result = BenchmarkResult([Table(title, MEASURED)])
    title = "Simulated: steps a second of N processes on N machines, as a share of N times those of one"
    result.tables.append(Table(title, SIMULATED))
    for task in models:
        ways = {"one thread": (1, 1), "two threads": (1, 2), "two processes": (2, 1)}
        rates = {way: [0.0] * rounds for way in ways}
        for number in range(rounds):
            for way in ways:
                rates[way][number] = trained_rate(task, *ways[way])
        figures: dict[str, Any] = {way: median(rate) for way, rate in rates.items()}
        gains = {"threads' gain": "two threads", "processes' gain": "two processes"}
        pairs = {name: zip(rates[way], rates["one thread"], strict=True) for name, way in gains.items()}
        figures |= {name: median(a / b for a, b in pair) for name, pair in pairs.items()}
        result.tables[0].rows.append({"task": task, **figures})
        intervals, sizes = pieces(task)
        for gigabits, seconds in ((10, MESSAGE), (100, MESSAGE), (100, message)):
            shares = {f"{n} nodes": efficiency(intervals, sizes, n, seconds, byte, gigabits) for n in NODES[1:]}
            network = f"{gigabits} Gbit/s, {1e6 * seconds:.0f} us"
            row = {"task": task, "network": network, "exchanges": len(sizes), "kB": max(sizes) / 1e3}
            result.tables[1].rows.append({**row, **shares})
    result.notes.append(
        f"seconds of a message are assumed, or (last rows) those between two processes here, with gloo; "
        f"a byte takes {1e9 * byte:.2f} ns of software"
    )
    return result


def trained_rate(task: str, processes: int, threads: int) -> float:
    """Return the environment steps a second of the packaged run, each process with as many environments."""
    config = RunConfig.packaged(f"tumble/{task}-v0", "ppo")
    options = {"steps": ITERATIONS * processes * config.num_envs * config.ppo.n_steps, "processes": processes}
    with tempfile.TemporaryDirectory() as folder:
        words = [f"--{name}={value}" for name, value in options.items()]
        command = module_command("tumble", "train", task, *words, "--no-progress", "--out", f"{folder}/run")
        environment = os.environ | {"TUMBLE_THREADS": str(threads)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{task}, {processes} processes: {done.stderr.strip()[-2000:]}")
        rows = read_curve(Path(folder, "run", "progress.jsonl"))[FIRST - 1 :]
    return float((rows[-1]["step"] - rows[0]["step"]) / (rows[-1]["seconds"] - rows[0]["seconds"]))


class RecordingGroup(ProcessGroup):
    """The first of two processes, without the other: an exchange ends at once, and times between them are kept.

    Attributes:
        iterations: of each, the seconds before each exchange, and its bytes.
    """

    size = 2

    def __init__(self) -> None:
        self.iterations: list[list[tuple[float, int]]] = []
        self._ended = 0.0

    def begin(self) -> None:
        """Begin an iteration."""
        self.iterations.append([])
        self._ended = time.perf_counter()

    def add(self, numbers: Tensor) -> None:
        """Keep the seconds since the last exchange."""
        if self.iterations:
            self.iterations[-1].append((time.perf_counter() - self._ended, numbers.nbytes))
        self._ended = time.perf_counter()


class _Iterations(BaseCallback):
    def _on_rollout_start(self) -> None:
        self.model.group.begin()  # type: ignore[attr-defined]

    def _on_step(self) -> bool:
        return True


def pieces(task: str) -> tuple[np.ndarray, list[int]]:
    """Return the seconds between exchanges (iterations, exchanges) with all threads, and the bytes of the exchanges."""
    config = RunConfig.packaged(f"tumble/{task}-v0", "ppo")
    config = config.change({"ppo.batch_size": 2 * config.ppo.batch_size})
    group = RecordingGroup()
    learner = Learner(config, None, group)
    learner.model.set_logger(Logger(None, []))
    learner.model.learn(ITERATIONS * 2 * config.num_envs * config.ppo.n_steps, callback=_Iterations())
    learner.bridge.close()
    kept = [iteration for iteration in group.iterations[FIRST:] if len(iteration) == len(group.iterations[FIRST])]
    return np.array([[seconds for seconds, _ in one] for one in kept]), [size for _, size in kept[0]]


def efficiency(
    intervals: np.ndarray, sizes: Sequence[int], nodes: int, message: float, byte: float, gigabits: float
) -> float:
    """Return the share of N times one process' steps a second that N processes reach, one on each machine.

    Args:
        intervals: seconds between exchanges (iterations, exchanges).
        sizes: bytes of the exchanges.
        nodes: N.
        message: seconds of a message, but for its bytes.
        byte: seconds of software for each byte of an exchange.
        gigabits: of the network, a second.
    """
    random, count = np.random.default_rng(0), len(sizes)
    bits = 8 * np.array(sizes) / (gigabits * 1e9) * 2 * (nodes - 1) / nodes
    exchanges = 2 * (nodes - 1) * message + bits + byte * np.array(sizes)
    drawn = intervals[random.integers(len(intervals), size=(DRAWS, nodes, 1)), np.arange(count)]
    duration = (drawn.max(1) + exchanges).sum(1).mean()
    return float(intervals.sum(1).mean() / duration)


def exchange_seconds() -> tuple[float, float]:
    """Return seconds of a message and of a byte in exchanges of two processes on this machine."""
    program = f"from {__name__} import time_exchanges; time_exchanges()"
    common = environments_of(2)
    children = [
        subprocess.Popen(python_command(program), env=os.environ | one, stdout=subprocess.PIPE, text=True)
        for one in common
    ]
    printed = [child.communicate(timeout=300)[0] for child in children]
    small, large = json.loads(printed[0].splitlines()[-1])
    return small / 2, (large - small) / (4 * (SIZES[1] - SIZES[0]))


def time_exchanges() -> None:
    """Print the seconds of exchanges of both sizes, as one of two processes."""
    torch.distributed.init_process_group("gloo")
    found = []
    for size in SIZES:
        numbers, durations = torch.zeros(size), []
        for _ in range(200):
            begun = time.perf_counter()
            torch.distributed.all_reduce(numbers)
            durations.append(time.perf_counter() - begun)
        found.append(median(durations[20:]))
    print(json.dumps(found), flush=True)
