"""Environment steps a second of training, the learner included: the packaged PPO for a few iterations.

    python -m tumble.benchmarks.stretch '{"task": "Ant", "num_envs": 4096, "learner_device": "cuda", ...}'

A program of its own, for `tumble bench gpu` and `tumble bench learn`: prints a line of JSON.
"""

import json
import sys
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from ..training.config import RunConfig
from ..training.learner import Learner, make_model, make_normalizer


@dataclass(frozen=True)
class Stretch:
    """The stretch to time.

    Attributes:
        task: such as "Ant"; its packaged PPO is taken.
        device: of the solver: "host" is the processor, "cuda" a GPU; "cpu" is the GPU's driver on the processor.
        learner_device: "cuda" or "cpu".
        num_envs: environments.
        n_steps: of each environment in an iteration.
        batch_size: rows of a minibatch.
        rounds: iterations that count; one before them does not.
        learner: "lean", as packaged, or "sb3", Stable-Baselines3's own PPO.
        vector_env: "tumble", or one of Stable-Baselines3's own over Gymnasium's v5 task: "dummy", all environments in
            this process, or "subproc", each in a process of its own.
        threads: of the solver and of torch on the processor.
    """

    task: str
    device: str
    learner_device: str
    num_envs: int
    n_steps: int
    batch_size: int
    rounds: int
    learner: str = "lean"
    vector_env: str = "tumble"
    threads: int = 1


def measure(what: Stretch) -> dict[str, Any]:
    """The rate of training, and what it was."""
    config = RunConfig.packaged(f"tumble/{what.task}-v0", "ppo").replace(
        num_envs=what.num_envs, device=what.learner_device, threads=what.threads
    )
    config = config.change(
        {"ppo.n_steps": what.n_steps, "ppo.batch_size": what.batch_size, "ppo.learner": what.learner}
    )
    if what.vector_env == "tumble":
        _place(what)
        learner = Learner(config)
        envs, model = learner.normalizer, learner.model
    else:
        torch.set_num_threads(what.threads)
        envs = make_normalizer(_gymnasiums(what), config.normalize, config.ppo.gamma)
        model = make_model(config, envs)
    count, seconds = what.num_envs * what.n_steps, []
    for number in range(1 + what.rounds):
        begun = time.perf_counter()
        model.learn(count, reset_num_timesteps=number == 0)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begun)
    envs.close()
    counted = seconds[1:]
    return {"steps/s": count / median(counted), "low": count / max(counted), "high": count / min(counted)}


def _place(what: Stretch) -> None:
    """Start Taichi where the solver is to be."""
    from ..physics.process.runtime import init, init_columns

    if what.device == "cuda":
        init("cuda", precision="32")
    elif what.device == "host":
        init(precision="32", threads=what.threads)
    else:
        init_columns(arch=what.device, device=what.device, precision="32")


def _gymnasiums(what: Stretch) -> Any:
    """Stable-Baselines3's own vector environment of Gymnasium's task."""
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    kind: Any = {"dummy": DummyVecEnv, "subproc": SubprocVecEnv}[what.vector_env]
    return make_vec_env(f"{what.task}-v5", what.num_envs, vec_env_cls=kind)


if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    print(json.dumps(measure(Stretch(**wanted))), flush=True)
