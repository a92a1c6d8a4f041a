"""The program of one process of a group, for `test_processes.py`: `python -m tests.training.process_worker CASE.json`.

The case names pendulums and their numbers, how a run is trained, and what goes wrong; results go to FOLDER/RANK.pt.
"""

import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from gymnasium import spaces

from tumble.training import processes
from tumble.training.cli import stop
from tumble.training.config import CheckpointConfig, PolicyConfig, PPOConfig, RunConfig, SACConfig, TD3Config
from tumble.training.errors import TumbleUserError
from tumble.training.learning import learner as learners
from tumble.training.learning.compiled_ppo import CompiledPPO
from tumble.training.train import resume, train

from .conftest import PendulumVectorEnv, ToldApartPendulumVectorEnv, choosing

RANK = int(os.environ.get("RANK", "0"))


class Failing(PendulumVectorEnv):
    """Pendulums; at step 40 of the process that a case names something happens: a word of `failing`."""

    word = ""
    max_episode_steps = None

    def step(self, actions: Any) -> Any:
        self.taken = getattr(self, "taken", 0) + 1
        if self.taken == 40 and self.word:
            if self.word == "raise":
                raise ZeroDivisionError("the bob fell off")
            if self.word == "hang":
                time.sleep(1000)
            elif self.word == "full disk":
                import resource  # not on Windows

                resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000))
            else:
                os.kill(os.getpid(), getattr(signal, self.word))
        return super().step(actions)


def configuration(case: dict[str, Any]) -> RunConfig:
    """Iterations of 16 steps, in minibatches of 96 rows: the last one of an epoch is smaller.

    SAC and TD3 begin with random actions, and their buffer forgets the first steps of 10 iterations.
    """
    ppo = PPOConfig(n_steps=16, batch_size=96, n_epochs=2, learning_rate_end=0.0, learner="compiled", ent_coef=0.01)
    n, steps = case["envs"], 16 * case["all"]
    seen = {"buffer_size": 8 * steps, "learning_starts": steps, "batch_size": 96, "learner": "compiled"}
    seen |= {"train_freq": 4, "gradient_steps": 2}
    return RunConfig(
        task="test/Pendulum-v0",
        algo=case.get("algo", "ppo"),
        sac=SACConfig(**seen),
        td3=TD3Config(**seen),
        num_envs=n,
        total_steps=steps * case["iterations"],
        policy=PolicyConfig(hidden=(16, 16)),
        ppo=replace(ppo, **case.get("ppo", {})),
        checkpoint=CheckpointConfig(every_steps=2 * steps),
    )


def in_double_precision() -> None:
    """Let rollouts and updates be torch's, in double precision."""
    torch.set_default_dtype(torch.float64)
    CompiledPPO.reason = lambda self: "a test in double precision"  # type: ignore[method-assign]
    CompiledPPO._collects = lambda self, env: True  # type: ignore[method-assign]
    learners.require_shareable = lambda *_: None


def learn(case: dict[str, Any], folder: Path) -> None:
    """Learn, and keep weights, statistics and episodes."""
    config = configuration(case)
    dtype = torch.float32
    if case.get("double"):
        in_double_precision()
        dtype = torch.float64
    with processes.joined(config) as group:
        kinds = {"told apart": ToldApartPendulumVectorEnv}
        if "space" in case:
            kinds["choices"] = choosing(PendulumVectorEnv, getattr(spaces, case["space"])(3))
        kind = kinds.get(case.get("kind", ""))
        envs = kind(config.num_envs) if kind else PendulumVectorEnv(config.num_envs, dtype)
        learner = learners.Learner(config, envs, group)
        model = learner.model
        model._stats_window_size = 10**6  # all episodes
        model.learn(config.total_steps)
        episodes = [(episode["r"], episode["l"]) for episode in model.ep_info_buffer or ()]
        weights = torch.cat([weights.detach().flatten() for weights in model.policy.parameters()])
        moments = [learner.normalizer.ret_rms, *learners.parts_of(learner.normalizer.obs_rms).values()]
        numbers = [x for one in moments for x in (one.mean, one.var, one.count)]
        statistics = torch.cat([torch.as_tensor(x, dtype=torch.float64).flatten() for x in numbers])
        result = {"weights": weights, "statistics": statistics, "episodes": episodes, "steps": model.num_timesteps}
        torch.save(result, folder / f"{RANK}.pt")


def main() -> None:
    """Do what the case says, as the command line does."""
    path = Path(sys.argv[1])
    case, folder = json.loads(path.read_text()), path.parent
    for name in ("SILENCE", "BEAT", "LAST"):
        setattr(processes, name, case.get(name, getattr(processes, name)))
    envs = Failing(case["envs"])
    if case.get("who") == RANK:
        envs.word = case["failing"]
        if case["failing"] == "config":
            case["ppo"] = {"learning_rate": 1e-3}
        if case["failing"] == "torch":
            torch.__version__ = "1.0"
    try:
        if case["do"] == "learn":
            learn(case, folder)
        elif case["do"] == "train":
            outcome = train(configuration(case), folder / "run", progress="lines" if RANK == 0 else False, envs=envs)
            print("stands at", outcome.step, "finished", outcome.finished)
        else:
            outcome = resume(folder / "run", case.get("total"), progress=False, envs=envs)
            print("stands at", outcome.step, "finished", outcome.finished)
    except TumbleUserError as error:
        stop(str(error))


if __name__ == "__main__":
    main()
