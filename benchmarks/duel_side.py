"""One side of the duels: a learner trains until its policy reaches a score, in a separate process.

    python -m tumble.benchmarks.duel_side '{"task": "HalfCheetah", "side": "tumble", "score": 6000, ...}'

A separate program, for `tumble bench duels`: prints a line of JSON. The clocks stand still while a policy is judged.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3 import PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecNormalize

from ..training.config import RunConfig
from ..training.learning.learner import Learner, make_model, make_normalizer, stagger
from .plain_ppo import PlainPPO, PlainSettings

Act = Callable[[np.ndarray], np.ndarray]
EPISODES, JUDGES_SEED = 5, 20_000
FIRST, GROWTH = 1.0, 1.2
"""CPU seconds of training before the first judgement, and the factor from one to the next."""
WIDE = {"activation_fn": torch.nn.ReLU, "net_arch": {"pi": [256, 256], "vf": [256, 256]}}
ZOO: dict[str, dict[str, Any]] = {
    "HalfCheetah": {
        "n_steps": 512,
        "batch_size": 64,
        "n_epochs": 20,
        "gamma": 0.98,
        "gae_lambda": 0.92,
        "learning_rate": 2.0633e-5,
        "clip_range": 0.1,
        "ent_coef": 0.000401762,
        "vf_coef": 0.58096,
        "max_grad_norm": 0.8,
        "policy_kwargs": {"log_std_init": -2.0, "ortho_init": False, **WIDE},
    },
    "Ant": {},
    "Hopper": {
        "n_steps": 512,
        "batch_size": 32,
        "n_epochs": 5,
        "gamma": 0.999,
        "gae_lambda": 0.99,
        "learning_rate": 9.80828e-5,
        "clip_range": 0.2,
        "ent_coef": 0.00229519,
        "vf_coef": 0.835671,
        "max_grad_norm": 0.7,
        "policy_kwargs": {"log_std_init": -2.0, "ortho_init": False, **WIDE},
    },
}
"""Numbers of `hyperparams/ppo.yml` in DLR-RM/rl-baselines3-zoo at 22e3ff24, for the tasks `-v4`: one environment with
running normalisation, a million steps. For Ant they are the defaults of Stable-Baselines3's `PPO`."""
ZOO_STEPS = 1_000_000


@dataclass(frozen=True)
class DuelJob:
    """The training of one side.

    Attributes:
        task: such as "Ant".
        side: a name of `SIDES`.
        score: the mean return that ends it.
        limit: CPU seconds of training after which it ends.
        threads: of the solver, of torch and of envpool.
        seed: of the learner and its environments.
    """

    task: str
    side: str
    score: float
    limit: float
    threads: int = 1
    seed: int = 0


class Judge:
    """Plays episodes of Gymnasium's own v5 task by MuJoCo, and counts the seconds of training between.

    Attributes:
        job: the training.
        num_envs: environments that it trains in.
        start: CPU seconds of the process until now: imports, environments and networks.
        curve: a row for each judgement: CPU seconds and seconds of training, steps and mean return.
    """

    def __init__(self, job: DuelJob, num_envs: int) -> None:
        self.job, self.num_envs, self.start = job, num_envs, time.process_time()
        self.curve: list[dict[str, float]] = []
        self.envs = gym.make_vec(
            f"{job.task}-v5",
            num_envs=EPISODES,
            vectorization_mode="sync",
            vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        )
        self._due = FIRST
        self._trained = np.zeros(2)  # CPU seconds and seconds
        self._resumed = _clocks()

    def is_over(self, steps: int, act: Act) -> bool:
        """Return True if the score or the limit is reached; judge the policy if that is due."""
        if not steps or self.seconds()[0] < min(self._due, self.job.limit):
            return False
        self.judge(steps, act)
        last = self.curve[-1]
        self._due = last["cpu"] * GROWTH
        return last["return"] >= self.job.score or last["cpu"] >= self.job.limit

    def seconds(self) -> np.ndarray:
        """Return the CPU seconds and the seconds of training so far."""
        return self._trained + _clocks() - self._resumed

    def judge(self, steps: int, act: Act) -> None:
        """Play the first episode of each environment with the most likely actions."""
        self._trained = self.seconds()
        observations, _ = self.envs.reset(seed=JUDGES_SEED)
        returns, playing = np.zeros(EPISODES), np.ones(EPISODES, dtype=bool)
        while playing.any():
            observations, rewards, terminated, truncated, _ = self.envs.step(act(observations))
            returns += np.where(playing, rewards, 0.0)
            playing &= ~(terminated | truncated)
        cpu, wall = self._trained.tolist()
        self.curve.append({"cpu": cpu, "seconds": wall, "steps": steps, "return": float(returns.mean())})
        self._resumed = _clocks()


def _clocks() -> np.ndarray:
    return np.array([time.process_time(), time.perf_counter()])


class Over(Exception):
    """Ends a training of Stable-Baselines3 between two iterations."""


class Judged(BaseCallback):
    """Has the policy judged before iterations."""

    def __init__(self, judge: Judge, act: Act) -> None:
        super().__init__()
        self.judge, self.act = judge, act

    def _on_rollout_start(self) -> None:
        if self.judge.is_over(self.model.num_timesteps, self.act):
            raise Over

    def _on_step(self) -> bool:
        return True


def _learn(model: BaseAlgorithm, normalizer: VecNormalize, job: DuelJob, total: int) -> Judge:
    """Train a model of Stable-Baselines3, Tumble's learners among them."""
    model.set_logger(Logger(None, []))

    def act(observations: np.ndarray) -> np.ndarray:
        seen: Any = normalizer.normalize_obs(observations)
        return model.predict(seen, deterministic=True)[0]

    judge = Judge(job, normalizer.num_envs)
    try:
        model.learn(total, callback=Judged(judge, act))
        judge.judge(model.num_timesteps, act)
    except Over:
        pass
    return judge


def _packaged(job: DuelJob, learner: str) -> RunConfig:
    config = RunConfig.packaged(f"tumble/{job.task}-v0", "ppo")
    return config.replace(seed=job.seed, threads=job.threads).change({"ppo.learner": learner})


def train_tumble(job: DuelJob) -> Judge:
    """Train Tumble's compiled PPO on Tumble's environments, as `tumble train` does."""
    from ..physics.machine.runtime import init

    init(precision="32", threads=job.threads)
    config = _packaged(job, "compiled")
    learner = Learner(config)
    if config.stagger:
        stagger(learner.bridge)
    return _learn(learner.model, learner.normalizer, job, config.total_steps)


def train_sb3_as_packaged(job: DuelJob) -> Judge:
    """Train Stable-Baselines3's PPO on Gymnasium's environments, with the numbers of Tumble's configuration."""
    config = _packaged(job, "sb3")
    envs: Any = make_vec_env(f"{job.task}-v5", config.num_envs, seed=job.seed)
    normalizer = make_normalizer(envs, config.normalize, config.ppo.gamma)
    return _learn(make_model(config, normalizer), normalizer, job, config.total_steps)


def train_sb3(job: DuelJob) -> Judge:
    """Train Stable-Baselines3's PPO on a Gymnasium environment, with published numbers."""
    numbers = ZOO[job.task]
    envs = make_vec_env(f"{job.task}-v5", 1, seed=job.seed)
    normalizer = VecNormalize(envs, gamma=numbers.get("gamma", 0.99))
    model = PPO("MlpPolicy", normalizer, device="cpu", seed=job.seed, **numbers)
    return _learn(model, normalizer, job, ZOO_STEPS)


def train_plain(job: DuelJob, pool: bool) -> Judge:
    """Train the PPO of a single file on Gymnasium's environments, or on envpool's."""
    settings = PlainSettings()
    name, n = f"{job.task}-v5", settings.num_envs
    envs: Any
    if pool:
        import envpool

        envs = envpool.make(name, env_type="gymnasium", num_envs=n, num_threads=job.threads, seed=job.seed)
        learner = PlainPPO(envs, envs.action_space, settings, job.seed, {})
    else:
        envs = gym.make_vec(name, num_envs=n, vectorization_mode="sync")
        learner = PlainPPO(envs, envs.single_action_space, settings, job.seed, {"seed": job.seed})
    judge = Judge(job, n)
    learner.train(judge.is_over)
    if not judge.curve or judge.curve[-1]["steps"] < learner.steps:
        judge.judge(learner.steps, learner.act)
    return judge


SIDES: dict[str, Callable[[DuelJob], Judge]] = {
    "tumble": train_tumble,
    "sb3 as packaged": train_sb3_as_packaged,
    "sb3": train_sb3,
    "plain": lambda job: train_plain(job, pool=False),
    "plain on envpool": lambda job: train_plain(job, pool=True),
}


def main(job: DuelJob) -> dict[str, Any]:
    """Train a side; return its batch, the CPU seconds of its start, and all judgements."""
    torch.set_num_threads(job.threads)
    judge = SIDES[job.side](job)
    return {"num_envs": judge.num_envs, "start": judge.start, "curve": judge.curve}


if __name__ == "__main__":
    print(json.dumps(main(DuelJob(**json.loads(sys.argv[1])))), flush=True)
