"""Train in children that are killed at random moments.

`python -m tests.training.killed_children CONFIG RUN KIND KILLS`; KIND is one of the pendulums in `conftest.KINDS`. A
child that is forked needs no seconds to import torch. Each begins where the one before was killed, and lives for some
iterations and a random part of one more.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from tumble.training.config import RunConfig
from tumble.training.learning.callbacks import CheckpointCallback
from tumble.training.train import resume, train

from .conftest import KINDS


def announcing(pipe: int) -> None:
    """Write a byte before each iteration."""
    original = CheckpointCallback._on_rollout_start

    def start(self: CheckpointCallback) -> None:
        os.write(pipe, b".")
        original(self)

    CheckpointCallback._on_rollout_start = start  # type: ignore[method-assign]


def main(config: RunConfig, run: Path, kind: str, kills: int) -> None:
    """Kill children, one after the other."""
    draws = random.Random()
    between = config.checkpoint.every_steps // (config.num_envs * (config.ppo.n_steps if config.algo == "ppo" else 1))
    for _ in range(kills):
        read, write = os.pipe()
        if not (child := os.fork()):
            announcing(write)
            envs = KINDS[kind](config.num_envs)
            resume(run, progress=False, envs=envs) if run.exists() else train(config, run, progress=False, envs=envs)
            os._exit(0)
        os.close(write)
        assert os.read(read, 1), "the child begins"
        begun, iterations = time.perf_counter(), draws.randint(1, 3 * between // 2)
        for _ in range(iterations):
            assert os.read(read, 1), "the child is not finished yet"
        time.sleep((time.perf_counter() - begun) / iterations * draws.random())
        os.kill(child, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        os.close(read)


if __name__ == "__main__":
    config, run, kind, kills = sys.argv[1:]
    main(RunConfig.load(Path(config)), Path(run), kind, int(kills))
