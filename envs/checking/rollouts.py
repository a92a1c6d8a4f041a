"""Episodes of vector environments: numpy copies, and the original objects."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from .trees import as_numpy, difference


class RecordedStep(NamedTuple):
    """One step of all environments, in numpy."""

    actions: Any
    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: Any
    waiting: np.ndarray  # (num_envs,) bool: finished in the step before; under NEXT_STEP this step resets them
    after: tuple[Any, Any] | None  # observation and info of the reset that followed, under DISABLED

    @property
    def done(self) -> np.ndarray:
        """True where an episode ended, (num_envs,)."""
        return np.asarray(self.terminated, bool) | np.asarray(self.truncated, bool)

    @property
    def said(self) -> tuple[Any, Any, Any, Any]:
        """Observation, reward and flags."""
        return self.observation, self.reward, self.terminated, self.truncated


@dataclass
class Rollout:
    """A reset and steps.

    Attributes:
        mode: the autoreset mode of the environments.
        limit: after how many steps their episodes are cut short, as far as it is known.
        reset: the observation and info of the reset.
        steps: the results of the steps after it.
        kept: the original objects, each with a copy and its origin.
    """

    mode: AutoresetMode | None
    limit: int | None
    reset: tuple[Any, Any] = (None, None)
    steps: list[RecordedStep] = field(default_factory=list)
    kept: list[tuple[str, Any, Any]] = field(default_factory=list)

    @property
    def observations(self) -> list[Any]:
        """All observations of all environments that were returned."""
        observations = [self.reset[0]]
        for step in self.steps:
            observations += [step.observation] if step.after is None else [step.observation, step.after[0]]
        return observations

    @property
    def infos(self) -> list[Any]:
        """All infos that were returned."""
        infos = [self.reset[1]]
        for step in self.steps:
            infos += [step.info] if step.after is None else [step.info, step.after[1]]
        return infos

    @property
    def ends(self) -> int:
        """The number of episodes that ended."""
        return sum(int(step.done.sum()) for step in self.steps)

    @property
    def changes(self) -> bool:
        """True if an observation of an environment ever changes: where none does, a reset cannot be seen."""
        observations = self.observations
        return any(difference({"": observations[0]}, {"": other}) is not None for other in observations[1:])


class Misreturned(Exception):
    """A reset or step did not return the tuple that it should."""


def play(
    envs: VectorEnv,
    actions: list[Any],
    *,
    mode: AutoresetMode | None,
    seed: Any,
    limit: int | None = None,
    before_step: Callable[[int], None] | None = None,
) -> Rollout:
    """Reset environments, and take a step under each of some actions; under DISABLED finished ones are reset.

    Args:
        envs: the environments to step.
        actions: batched actions, one for each step.
        mode: their autoreset mode.
        seed: of the reset.
        limit: their time limit, as far as it is known.
        before_step: called with each step's number before it is taken.
    """
    rollout = Rollout(mode, limit)
    rollout.reset = _kept(rollout, "reset", _two(envs.reset(seed=seed)))
    waiting = np.zeros(envs.num_envs, bool)
    for number, action in enumerate(actions):
        if before_step is not None:
            before_step(number)
        result = _kept(rollout, f"step {number}", _five(envs.step(copy.deepcopy(action))))
        observation, reward, terminated, truncated, info = result
        step = RecordedStep(action, observation, reward, terminated, truncated, info, waiting, None)
        waiting = step.done
        if mode is AutoresetMode.DISABLED and waiting.any():
            again = _two(envs.reset(options={"reset_mask": waiting.copy()}))
            step = step._replace(after=_kept(rollout, f"the reset after step {number}", again))
        rollout.steps.append(step)
    return rollout


def mode_of(envs: VectorEnv) -> AutoresetMode | None:
    """Return the autoreset mode that environments state, or None."""
    mode = (envs.metadata or {}).get("autoreset_mode")
    return mode if isinstance(mode, AutoresetMode) else None


def _kept(rollout: Rollout, where: str, result: tuple) -> tuple:
    """Return copies of results, and keep both."""
    copies = tuple(as_numpy(part) for part in result)
    names = (
        ("observation", "reward", "terminations", "truncations", "info")
        if len(result) == 5
        else ("observation", "info")
    )
    for name, very, copied in zip(names, result, copies, strict=True):
        rollout.kept.append((f"{name} of {where}", very, copied))
    return copies


def _two(result: Any) -> tuple:
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], dict):
        raise Misreturned(f"reset returned {_kind(result)}; it is to be (observations, info), the info a dict")
    return result


def _five(result: Any) -> tuple:
    if not isinstance(result, tuple) or len(result) != 5 or not isinstance(result[4], dict):
        raise Misreturned(
            f"step returned {_kind(result)}; it is to be (observations, rewards, terminations, truncations, info), the "
            "info a dict"
        )
    return result


def _kind(result: Any) -> str:
    if isinstance(result, tuple | list):
        return f"a {type(result).__name__} of {', '.join(type(part).__name__ for part in result)}"
    return f"one {type(result).__name__}"
