"""A policy that plays, step by step, for films and recordings."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium.vector import VectorEnv

from ..evaluate import make_envs, twin_of, with_options
from ..policy import Policy, newest_policy
from ..runs import Run


class Moment(NamedTuple):
    """The time before a step of some environments.

    Attributes:
        playing: (num_envs,) True while the first episode goes on.
        begun: (num_envs,) True if the step before was the first of an episode, at first for all.
        rewards, infos: of the step before; None at first.
    """

    playing: np.ndarray
    begun: np.ndarray
    rewards: Any
    infos: Mapping[str, Any] | None


class Playing:
    """A policy in environments of a simulator, and Tumble's environments, which show them.

    Args:
        run: the run.
        simulator: Tumble's, or one of MuJoCo's, whose states are copied into Tumble's environments.
        checkpoint: of the run; None: the newest.
        num_envs: number of environments.
        options: of the task, in place of the run's.
        deterministic: whether to take the most likely action, or to sample.
        drawn: arguments of the environments that show it.

    Attributes:
        canvas: the environments that show it.
        policy: the policy.

    Raises:
        EvaluationError: the simulator or the task in it is not there.
        TaskError: a user's task cannot be made.
        CheckpointError: the run has no intact checkpoint.
    """

    def __init__(
        self,
        run: Run,
        simulator: str,
        checkpoint: Path | None,
        num_envs: int,
        options: dict[str, Any] | None,
        deterministic: bool = True,
        **drawn: Any,
    ) -> None:
        config, checkpoint = with_options(run.config, options), checkpoint or newest_policy(run)
        twin = twin_of(config, simulator)
        self.canvas = make_envs(config, "tumble" if twin else simulator, num_envs, **drawn)
        self._stage = make_envs(config, simulator, num_envs) if twin else self.canvas
        self.policy = Policy(config, checkpoint, self._stage.single_observation_space, self._stage.single_action_space)
        self._num_envs, self._deterministic = num_envs, deterministic

    @property
    def is_twin(self) -> bool:
        """True if the canvas shows another simulator's results."""
        return self._stage is not self.canvas

    def moments(self, count: int, seed: int) -> Iterator[Moment]:
        """Play from a reset with a seed until all first episodes have ended, or for a number of moments."""
        stage, canvas = self._stage, self.canvas
        torch.manual_seed(seed)  # as in an evaluation
        canvas.reset(seed=seed)
        observations, _ = stage.reset(seed=seed)
        playing = starts = np.ones(self._num_envs, dtype=bool)
        now = Moment(playing, starts, None, None)
        for _ in range(count):
            if self.is_twin:
                copy_state(stage, canvas)
            yield now
            observations, rewards, terminated, truncated, infos = stage.step(
                self.policy.act(observations, self._deterministic, starts)
            )
            begun, starts = starts, terminated | truncated
            playing = playing & ~starts
            if not playing.any():
                break
            now = Moment(playing, begun, rewards, infos)
        for envs in {stage, canvas}:
            envs.close()


def copy_state(source: VectorEnv, target: VectorEnv) -> None:
    """Put the positions and velocities of Gymnasium's MuJoCo environments into Tumble's."""
    data = [env.unwrapped.data for env in source.envs]  # type: ignore[attr-defined]
    solver = target.unwrapped.solver  # type: ignore[attr-defined]
    rows = {name: np.stack([getattr(one, name) for one in data]) for name in ("qpos", "qvel")}
    solver.set_state(**{name: torch.as_tensor(row, dtype=solver.dtype) for name, row in rows.items()})
    solver.forward()
