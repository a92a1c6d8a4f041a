"""Environment steps of suites' tasks beside EnvPool's of the same task, one thread each: seconds of the processor.

EnvPool runs in a Python that has it, in a separate process; both sides take turns, task by task.
"""

import json
import math
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..envs.making import make_vec
from ..envs.registry import suite_rows
from ..physics.machine.runtime import init
from .results import BenchmarkResult, Table, Verdict
from .timing import take_turns

PEER = Path(__file__).with_name("suites_peer.py")
THEIR_ENVS, DIFFERENT_ACTIONS = 32, 16
BARS = {"dm_control": 8.0, "all": 5.0}
"""The least geometric means of the ratios."""
SLOW = 2.0
"""A task with a ratio below it is to be explained."""


def run(models: tuple[str, ...], num_envs: int, steps: int, rounds: int, envpool: str) -> BenchmarkResult:
    """Compare.

    Args:
        models: ids, or suites ("dm_control"); (): all.
        num_envs: environments of Tumble.
        steps: of one timed stretch.
        rounds: of which medians are taken.
        envpool: a Python with EnvPool; "": none, and Tumble's figures only.
    """
    init(threads=1)
    torch.set_num_threads(1)
    columns = {"task": "", "Tumble steps/s": ",.0f", "EnvPool steps/s": ",.0f", "times": ".2f"}
    result = BenchmarkResult([Table("Environment steps a second of a core", columns)])
    ids = [name for name in suite_rows() if not models or name in models or name.split("/")[0] in models]
    peer = _Peer(envpool) if envpool else None
    for identity in ids:
        try:
            row = _row(identity, num_envs, steps, rounds, peer)
        except FileNotFoundError as error:
            result.notes.append(f"{identity} is left out: {error}")
            continue
        result.tables[0].rows.append(row)
    _judge(result)
    return result


def _row(identity: str, num_envs: int, steps: int, rounds: int, peer: "_Peer | None") -> dict[str, Any]:
    """Return the figures of a task."""
    envs = make_vec(identity, num_envs)
    envs.reset(seed=0)
    space: Any = envs.single_action_space
    noise = torch.rand((DIFFERENT_ACTIONS, num_envs, *space.shape), generator=torch.Generator().manual_seed(0))
    low, high = (torch.from_numpy(np.clip(bound, -1, 1)) for bound in (space.low, space.high))
    actions = low + (high - low) * noise

    def ours() -> float:
        began = time.process_time()
        for k in range(steps):
            envs.step(actions[k % DIFFERENT_ACTIONS])
        return (time.process_time() - began) / (steps * num_envs)

    sides = {"Tumble": ours}
    if peer is not None and peer.make(envpool_name(identity)):
        sides["EnvPool"] = peer.seconds_per_step
    samples = take_turns(sides, rounds)
    envs.close()
    row = {"task": identity, "Tumble steps/s": 1 / samples["Tumble"].median}
    if "EnvPool" in samples:
        row["EnvPool steps/s"] = 1 / samples["EnvPool"].median
        row["times"] = samples["Tumble"].times_faster_than(samples["EnvPool"]).median
    return row


def envpool_name(identity: str) -> str:
    """Return EnvPool's id of a task; "" if it has no such suite."""
    suite, _, name = identity.partition("/")
    base, _, version = name.rpartition("-v")
    camel = "".join(part[:1].upper() + part[1:] for part in re.split("[-_]", base))
    names = {
        "dm_control": f"{camel}-v1",
        "gymnasium_robotics": name,
        "metaworld": f"MetaWorld/{camel}-v{version}",
        "myosuite": f"MyoSuite/{name}",
    }
    return names.get(suite, "")


def _judge(result: BenchmarkResult) -> None:
    """Add geometric means, and name tasks that are slow."""
    rows = [row for row in result.tables[0].rows if "times" in row]
    for suite, bar in BARS.items():
        logs = [math.log(row["times"]) for row in rows if suite == "all" or row["task"].startswith(suite)]
        if logs:
            result.verdicts.append(Verdict(f"{suite}: geometric mean of times", math.exp(np.mean(logs)), bar))
    if slow := [f"{row['task']} {row['times']:.2f}" for row in rows if row["times"] < SLOW]:
        result.notes.append(f"below {SLOW} times: {', '.join(slow)}")


class _Peer:
    """EnvPool in another Python.

    Args:
        python: its path.
    """

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, str(PEER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._steps = 0

    def _ask(self, **job: Any) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        while line := self._process.stdout.readline():
            if line.startswith("{"):
                return json.loads(line)
        raise RuntimeError("EnvPool's process has ended")

    def make(self, task: str) -> bool:
        """Make environments of a task; return False if EnvPool has no such task."""
        if not task or "error" in self._ask(task=task, num_envs=THEIR_ENVS):
            return False
        seconds = self._ask(steps=4)["seconds"] / 4
        self._steps = max(4, int(0.3 / max(seconds, 1e-6)))
        return True

    def seconds_per_step(self) -> float:
        """Take steps; return the seconds of one in one environment."""
        return self._ask(steps=self._steps)["seconds"] / (self._steps * THEIR_ENVS)
