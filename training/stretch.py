"""Environment steps a second of training, the learner included: the packaged PPO for a few iterations.

    python -m tumble.training.stretch '{"task": "Ant", "num_envs": 4096, "learner_device": "cuda", ...}'

A program of its own, for `tumble bench gpu`: prints a line of JSON.
"""

import json
import sys
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from .config import RunConfig
from .learner import Learner


@dataclass(frozen=True)
class Stretch:
    """The stretch to time.

    Attributes:
        task: such as "Ant"; its packaged PPO is taken.
        device: of the solver: "cuda" or "cpu", there in the GPU driver's columns.
        learner_device: "cuda" or "cpu".
        num_envs: environments.
        n_steps: of each environment in an iteration.
        batch_size: rows of a minibatch.
        rounds: iterations that count; one before them does not.
    """

    task: str
    device: str
    learner_device: str
    num_envs: int
    n_steps: int
    batch_size: int
    rounds: int


def measure(what: Stretch) -> dict[str, Any]:
    """The rate of training, and what it was."""
    from ..physics.process.runtime import init, init_columns

    if what.device == "cuda":
        init("cuda", precision="32")
    else:
        init_columns(arch=what.device, device=what.device, precision="32")
    config = RunConfig.packaged(f"tumble/{what.task}-v0", "ppo").replace(
        num_envs=what.num_envs, device=what.learner_device
    )
    config = config.change({"ppo.n_steps": what.n_steps, "ppo.batch_size": what.batch_size})
    learner, count = Learner(config), what.num_envs * what.n_steps
    seconds = []
    for number in range(1 + what.rounds):
        begun = time.perf_counter()
        learner.model.learn(count, reset_num_timesteps=number == 0)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begun)
    learner.bridge.close()
    counted = seconds[1:]
    return {"steps/s": count / median(counted), "low": count / max(counted), "high": count / min(counted)}


if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    print(json.dumps(measure(Stretch(**wanted))), flush=True)
