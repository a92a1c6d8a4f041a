"""Environment steps a second of training, the learner included: the packaged PPO for a few iterations.

    python -m tumble.benchmarks.throughput '{"task": "Ant", "num_envs": 4096, "learner_device": "cuda", ...}'

A separate program, for `tumble bench gpu` and `tumble bench learn`: prints a line of JSON.
"""

import json
import sys
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from ..training.config import RunConfig
from ..training.learning.learner import Learner, make_model, make_normalizer


@dataclass(frozen=True)
class ThroughputJob:
    """The training to time.

    Attributes:
        task: such as "Ant"; its packaged PPO is taken.
        device: of the solver: "host" is the processor, "cuda" a GPU; "cpu" is the GPU's driver on the processor.
        learner_device: "cuda" or "cpu".
        num_envs: environments.
        n_steps: of each environment in an iteration.
        batch_size: rows of a minibatch.
        rounds: iterations that count; one before them does not.
        learner: "compiled", as packaged, "lean", or "sb3", Stable-Baselines3's own PPO.
        vector_env: "tumble", or one of Stable-Baselines3's own over Gymnasium's v5 task: "dummy", all environments in
            this process, or "subproc", each in a separate process.
        threads: of the solver and of torch on the processor.
    """

    task: str
    device: str
    learner_device: str
    num_envs: int
    n_steps: int
    batch_size: int
    rounds: int
    learner: str = "compiled"
    vector_env: str = "tumble"
    threads: int = 1


def measure(job: ThroughputJob) -> dict[str, Any]:
    """Return the median, lowest and highest rate of training, environment steps a second."""
    config = RunConfig.packaged(f"tumble/{job.task}-v0", "ppo").replace(
        num_envs=job.num_envs, device=job.learner_device, threads=job.threads
    )
    config = config.change({"ppo.n_steps": job.n_steps, "ppo.batch_size": job.batch_size, "ppo.learner": job.learner})
    if job.vector_env == "tumble":
        _init_runtime(job)
        learner = Learner(config)
        envs, model = learner.normalizer, learner.model
    else:
        torch.set_num_threads(job.threads)
        envs = make_normalizer(_gymnasiums(job), config.normalize, config.ppo.gamma)
        model = make_model(config, envs)
    count, seconds = job.num_envs * job.n_steps, []
    for number in range(1 + job.rounds):
        begun = time.perf_counter()
        model.learn(count, reset_num_timesteps=number == 0)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begun)
    envs.close()
    counted = seconds[1:]
    return {"steps/s": count / median(counted), "low": count / max(counted), "high": count / min(counted)}


def _init_runtime(job: ThroughputJob) -> None:
    """Start Taichi on the solver's device."""
    from ..physics.machine.runtime import init, init_columns

    if job.device == "cuda":
        init("cuda", precision="32")
    elif job.device == "host":
        init(precision="32", threads=job.threads)
    else:
        init_columns(arch=job.device, device=job.device, precision="32")


def _gymnasiums(job: ThroughputJob) -> Any:
    """Stable-Baselines3's own vector environment of Gymnasium's task."""
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    kind: Any = {"dummy": DummyVecEnv, "subproc": SubprocVecEnv}[job.vector_env]
    return make_vec_env(f"{job.task}-v5", job.num_envs, vec_env_cls=kind)


if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    print(json.dumps(measure(ThroughputJob(**wanted))), flush=True)
