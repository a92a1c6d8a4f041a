"""Duels: learners train the same task until their policies reach scores, one after the other, on one machine.

Gymnasium's own v5 task judges every policy, by episodes from the same starts with the most likely actions, after one
CPU second of training and whenever training has taken a fifth longer. Judging does not count, nor does the start:
imports, environments and networks. `duel_side` is one side, `duels_page` the page.
"""

import json
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..physics.machine.children import module_command
from .peers import has_envpool
from .results import BenchmarkResult, Table, Unavailable

SCORES = {"HalfCheetah": (2000.0, 4000.0, 6000.0), "Ant": (2000.0, 3000.0, 4000.0), "Hopper": (1000.0, 2000.0, 2500.0)}
"""Mean returns of each task; the last one ends training."""


class Contender(NamedTuple):
    """A learner with its environments; `name` is that of `duel_side.SIDES`."""

    name: str
    environments: str
    learner: str


SIDES = (
    Contender("tumble", "Tumble", "Tumble, compiled, as packaged"),
    Contender("sb3 as packaged", "Gymnasium in DummyVecEnv", "Stable-Baselines3, with Tumble's numbers"),
    Contender("sb3", "Gymnasium in DummyVecEnv", "Stable-Baselines3, with RL Zoo's numbers"),
    Contender("plain", "Gymnasium in SyncVectorEnv", "single file of torch"),
    Contender("plain on envpool", "envpool", "single file of torch"),
)
HEAD = {"environments": "", "learner": "", "num_envs": "d"}
TAIL = {"CPU seconds": ",.1f", "seconds": ",.1f", "steps": ",d", "return": ",.0f", "steps a CPU second": ",.0f"}


def run(models: Sequence[str], limit: float, threads: int, seed: int) -> Iterator[BenchmarkResult]:
    """Train every task in each way.

    Args:
        models: names of tasks that have a score, such as "Ant".
        limit: CPU seconds of training after which a side ends without the last score.
        threads: of Tumble's solver and update, of torch and of envpool.
        seed: of the learners.

    Raises:
        Unavailable: a task has no score.
    """
    unknown = [task for task in models if task not in SCORES]
    if unknown:
        raise Unavailable(f"no score for {', '.join(unknown)}: there is {', '.join(SCORES)}")
    title = f"{{}}: training with {threads} threads, seed {seed}, for at most {limit:,.0f} CPU seconds"
    result = BenchmarkResult()
    if not has_envpool():
        result.notes.append("envpool is not installed, so its side was left out")
    for task in models:
        times = {name(score): ",.1f" for score in SCORES[task]}
        table = Table(title.format(task), HEAD | times | TAIL)
        result.tables.append(table)
        for side in SIDES:
            if side.environments != "envpool" or has_envpool():
                table.rows.append(_row(task, side, _train(task, side.name, limit, threads, seed)))
                yield result


def name(score: float) -> str:
    """Return the name of the CPU seconds to a score."""
    return f"CPU seconds to {score:,.0f}"


def _row(task: str, side: Contender, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a side; a score that was not reached has no time."""
    row = {"task": task, "environments": side.environments, "learner": side.learner, "num_envs": figures["num_envs"]}
    curve = figures["curve"]
    for score in SCORES[task]:
        reached = [point["cpu"] for point in curve if point["return"] >= score]
        row |= {name(score): reached[0]} if reached else {}
    last = curve[-1]
    row |= {"CPU seconds": last["cpu"], "seconds": last["seconds"], "steps": last["steps"], "return": last["return"]}
    return row | {"steps a CPU second": last["steps"] / last["cpu"], "start": figures["start"], "curve": curve}


def _train(task: str, side: str, limit: float, threads: int, seed: int) -> dict[str, Any]:
    """Return the figures of a side, trained in a process."""
    job = {"task": task, "side": side, "score": SCORES[task][-1], "limit": limit, "threads": threads, "seed": seed}
    command = module_command("tumble.benchmarks.duel_side", json.dumps(job))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{task}, {side}: {done.stderr.strip()[-2000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures
