"""Environment steps a second inside a training loop: Tumble's beside Stable-Baselines3's own vector environments.

Every side is the packaged PPO with the same network, rows of an iteration and minibatches, in separate processes that
take turns. Only the environments differ, and the learner if a row says so.
"""

import json
import subprocess
from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from ..physics.machine.children import module_command
from .results import BenchmarkResult, Table

ROWS = 8192
"""Environment steps of an iteration, of all environments together."""
COLUMNS = {
    "task": "",
    "environments": "",
    "learner": "",
    "num_envs": "d",
    "steps/s": ",.0f",
    "low": ",.0f",
    "high": ",.0f",
    "ratio": ".2f",
}


class Side(NamedTuple):
    """One way to train: where environments come from, which learner, and how many environments there are."""

    environments: str
    vector_env: str
    learner: str
    num_envs: int


SIDES = (
    Side("Tumble", "tumble", "compiled", 64),
    Side("Tumble", "tumble", "lean", 64),
    Side("Tumble", "tumble", "sb3", 64),
    Side("Gymnasium in DummyVecEnv", "dummy", "sb3", 64),
    Side("Gymnasium in SubprocVecEnv", "subproc", "sb3", 8),
)
"""The first is the learner of `tumble train`. More than a few processes on two cores are slower, so the last has 8."""


def run(models: Sequence[str], rounds: int, threads: int) -> BenchmarkResult:
    """Train every task for a few iterations in each way.

    Args:
        models: names of tasks that Gymnasium has too, such as "Ant".
        rounds: turns, of which medians are taken; each is a process that trains for three iterations and counts two.
        threads: of the solver and of torch.
    """
    title = (
        f"Environment steps a second while PPO learns, updates included; {ROWS:,} steps an iteration, minibatches as "
        f"packaged, {threads} threads"
    )
    result = BenchmarkResult([Table(title, COLUMNS)])
    for task in models:
        rates: dict[Side, list[float]] = {side: [] for side in SIDES}
        for number in range(rounds):
            for side in SIDES if number % 2 == 0 else SIDES[::-1]:
                rates[side].append(_train(task, side, threads))
        result.tables[0].rows += [_row(task, side, rates) for side in SIDES]
    return result


def _row(task: str, side: Side, rates: dict[Side, list[float]]) -> dict[str, Any]:
    """One side's figures; `ratio` says how many times as fast the first side is, turn by turn."""
    learner = "Stable-Baselines3" if side.learner == "sb3" else f"Tumble, {side.learner}"
    head = {"task": task, "environments": side.environments, "learner": learner, "num_envs": side.num_envs}
    ours, own = rates[SIDES[0]], rates[side]
    ratio = median(first / other for first, other in zip(ours, own, strict=True))
    return {**head, "steps/s": median(own), "low": min(own), "high": max(own), "ratio": ratio}


def _train(task: str, side: Side, threads: int) -> float:
    """Steps a second of one process."""
    job = {
        "task": task,
        "device": "host",
        "learner_device": "cpu",
        "num_envs": side.num_envs,
        "n_steps": ROWS // side.num_envs,
        "batch_size": 512,
        "rounds": 2,
        "learner": side.learner,
        "vector_env": side.vector_env,
        "threads": threads,
    }
    command = module_command("tumble.benchmarks.throughput", json.dumps(job))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{task}, {side.environments}: {done.stderr.strip()[-2000:]}")
    return float(json.loads(done.stdout.splitlines()[-1])["steps/s"])
