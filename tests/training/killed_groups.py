"""Train one run by groups of two processes, one of which is killed at a random moment.

`python -m tests.training.killed_groups CONFIG RUN KILLS`: each group begins where the one before ended; after KILLS
groups one may finish. Processes are forked, so that they need no seconds to import torch. The moment is in the start,
an iteration, a checkpoint or an evaluation; the other process must end with one sentence that names the killed one.
"""

import os
import random
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tumble.training import best, processes
from tumble.training.best import EvaluationCallback
from tumble.training.commands.processes_command import environments_of
from tumble.training.config import RunConfig
from tumble.training.errors import TumbleUserError
from tumble.training.learning.callbacks import CheckpointCallback
from tumble.training.train import resume, train

from .conftest import PendulumVectorEnv

MOMENTS = {"start": 0.6, "join": 0.3, "iteration": 0.05, "checkpoint": 0.03, "evaluation": 0.1}
"""The moments that a process announces, and the seconds until it is killed after that, at most."""
MINUTE = 60.0


class EvaluatedPendulums(PendulumVectorEnv):
    """Pendulums with arrays, and one seed for all, as evaluations need them."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Begin episodes."""
        observations, info = super().reset(seed=range(seed, seed + self.num_envs), options=options)
        return observations.numpy(), info

    def step(self, actions: Any) -> Any:
        """Take a step."""
        *results, info = super().step(torch.as_tensor(actions))
        return *(result.numpy() for result in results), info


def announce(owner: Any, name: str, moment: str, pipe: int, rank: int) -> None:
    """Write to a pipe whenever a method is called."""
    original: Callable[..., Any] = getattr(owner, name)

    def call(*arguments: Any, **options: Any) -> Any:
        os.write(pipe, bytes([rank, list(MOMENTS).index(moment)]))
        return original(*arguments, **options)

    setattr(owner, name, call)


def work(rank: int, config: RunConfig, run: Path, pipe: int) -> int:
    """Train as one of the processes; return the exit code."""
    processes.BEAT, processes.SILENCE, processes.LAST = 0.5, 10.0, 5.0
    torch.set_num_threads(1)
    best.make_envs = lambda config, simulator, episodes: EvaluatedPendulums(episodes)  # type: ignore[assignment]
    announce(processes, "meet", "start", pipe, rank)
    announce(processes.Processes, "broadcast", "join", pipe, rank)
    announce(CheckpointCallback, "_on_rollout_start", "iteration", pipe, rank)
    announce(CheckpointCallback, "_write", "checkpoint", pipe, rank)
    announce(EvaluationCallback, "play_policy", "evaluation", pipe, rank)
    envs = PendulumVectorEnv(config.num_envs)
    try:
        if (run / "config.toml").exists():
            resume(run, progress=False, envs=envs)
        else:
            train(config, run, progress=False, envs=envs)
    except TumbleUserError as error:
        print(f"error: {error}", flush=True)
        return 2
    except SystemExit as stop:
        return int(str(stop.code))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        return 130
    return 0


class Group:
    """Two forked processes, with a file of what each prints."""

    def __init__(self, config: RunConfig, run: Path) -> None:
        self.logs = [run.with_name(f"{run.name}-{rank}.txt") for rank in range(2)]
        self.pipe, write = os.pipe()
        self.children: list[int] = []
        for rank, variables in enumerate(environments_of(2)):
            if not (child := os.fork()):
                os.environ.update(variables | {"TUMBLE_THREADS": "1"})
                for stream in (1, 2):
                    os.dup2(os.open(self.logs[rank], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
                code = 1
                try:
                    code = work(rank, config, run, write)
                except BaseException:
                    traceback.print_exc()
                os._exit(code)
            self.children.append(child)
        os.close(write)

    def wait_for(self, moment: str, count: int) -> bool:
        """Wait until processes have come to a moment so many times; False if they have ended before."""
        while count and (word := os.read(self.pipe, 2)):
            count -= list(MOMENTS)[word[1]] == moment
        return not count

    def end(self, rank: int, seconds: float = MINUTE) -> int:
        """Wait until a process has ended; return its exit code."""
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            pid, status = os.waitpid(self.children[rank], os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        raise AssertionError(f"process {rank} has not ended in {seconds:.0f} s")


def kill_one(group: Group, draws: random.Random) -> str:
    """Kill a process of a group at a random moment, and check the end of the other; return what was done."""
    moment, who = draws.choice(list(MOMENTS)), draws.randrange(2)
    count = draws.randint(1, 4) if moment == "iteration" else 1
    assert group.wait_for(moment, count), "the run is long enough"
    time.sleep(draws.random() * MOMENTS[moment])
    os.kill(group.children[who], signal.SIGKILL)
    assert group.end(who) == -signal.SIGKILL
    begun, as_torchrun = time.monotonic(), draws.random() < 0.5 or moment == "start"
    if as_torchrun:  # it sends SIGTERM to all processes as soon as one has ended
        os.kill(group.children[1 - who], signal.SIGTERM)
    code, said = group.end(1 - who), group.logs[1 - who].read_text()
    done = f"process {who} killed in {moment}, {as_torchrun=}: {code}, {said!r} after {time.monotonic() - begun:.1f} s"
    names = f"process {who} on {socket.gethostname()}" in said
    early = code in (130, -signal.SIGTERM) or "reach process 0 at" in said or "before all processes came" in said
    is_early = early and moment == "start"
    assert is_early or (code == 2 and names and said.count("error:") == 1 and "Traceback" not in said), done
    return done


def main(config: RunConfig, run: Path, kills: int) -> None:
    """Kill one process of each group, then finish."""
    seed = random.randrange(10**6)
    draws = random.Random(seed)
    print(f"seed {seed}", flush=True)
    for _ in range(kills):
        group = Group(config, run)
        print(kill_one(group, draws), flush=True)
        os.close(group.pipe)
    group = Group(config, run)
    assert [group.end(rank, 10 * MINUTE) for rank in range(2)] == [0, 0], [log.read_text() for log in group.logs]


if __name__ == "__main__":
    config, run, kills = sys.argv[1:]
    main(RunConfig.load(Path(config)), Path(run), int(kills))
