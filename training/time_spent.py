"""The time of training by its use: physics, the task's code, copies, acting, and updates."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from .best import EvaluationCallback
from .learning.learner import Learner

clock = time.perf_counter


class Stopwatch:
    """Seconds spent in a method of an object, while it is replaced by one that measures.

    Args:
        owner: the object.
        name: of the method.
    """

    def __init__(self, owner: Any, name: str) -> None:
        self.seconds = 0.0
        self._owner, self._name, self._method = owner, name, getattr(owner, name)
        self._own = vars(owner).get(name)
        setattr(owner, name, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method, and add its time."""
        begun = clock()
        try:
            return self._method(*args, **kwargs)
        finally:
            self.seconds += clock() - begun

    def remove(self) -> None:
        """Put the method back."""
        if self._own is None:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._own)


class TimeSpent(BaseCallback):
    """Logs shares of the time of training so far, which add up to 1 but for the time between iterations.

    | name | what |
    |---|---|
    | `time/physics` | steps of the solver |
    | `time/task` | the rest of a step of the environments: observations, rewards, resets |
    | `time/copies` | tensors to arrays and back, normalisation, lists of infos; 0 if rollouts are compiled |
    | `time/acting` | the rest of a rollout: the policy, the buffer |
    | `time/updating` | gradients and optimizer |
    | `time/evaluating` | evaluations, if there are any |
    """

    def __init__(self, learner: Learner, evaluation: EvaluationCallback | None = None) -> None:
        super().__init__()
        self._learner, self._evaluation = learner, evaluation
        self._watches: dict[str, Stopwatch] = {}
        self._begun = self._turned = clock()
        self._first = 0
        self._rolling = self._updating = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Measure inside of the block."""
        envs = self._learner.bridge.envs
        places = {"physics": (getattr(envs.unwrapped, "solver", None), "step"), "envs": (envs, "step")}
        places["vec_env"] = (self._learner.normalizer, "step_wait")
        places["evaluating"] = (self._evaluation, "play_policy")
        self._watches = {name: Stopwatch(*place) for name, place in places.items() if place[0] is not None}
        self._begun = self._turned = clock()
        try:
            yield
        finally:
            for watch in reversed(self._watches.values()):
                watch.remove()

    def shares(self) -> dict[str, float]:
        """Return the share of each part."""
        physics, envs = self._seconds("physics"), self._seconds("envs")
        vec_env = max(self._seconds("vec_env"), envs)  # compiled rollouts step the environments themselves
        parts = {"physics": physics, "task": envs - physics, "copies": vec_env - envs}
        evaluating = self._seconds("evaluating")
        parts |= {"acting": self._rolling - vec_env, "updating": self._updating - evaluating}
        parts |= {"evaluating": evaluating} if "evaluating" in self._watches else {}
        whole = max(clock() - self._begun, 1e-9)
        return {name: max(seconds, 0.0) / whole for name, seconds in parts.items()}

    def rate(self) -> float:
        """Return environment steps a second; evaluations do not count."""
        return (self.num_timesteps - self._first) / max(clock() - self._begun - self._seconds("evaluating"), 1e-9)

    def _seconds(self, name: str) -> float:
        return self._watches[name].seconds if name in self._watches else 0.0

    def _on_step(self) -> bool:
        return True

    def _turn(self) -> float:
        """Return the seconds since the last turn."""
        before, self._turned = self._turned, clock()
        return self._turned - before

    def _on_training_start(self) -> None:
        self._first = self.model.num_timesteps
        self._turn()

    def _on_rollout_start(self) -> None:
        self._updating += self._turn()

    def _on_rollout_end(self) -> None:
        self._rolling += self._turn()
        for name, share in self.shares().items():
            self.logger.record(f"time/{name}", share)

    def _on_training_end(self) -> None:
        self._updating += self._turn()
