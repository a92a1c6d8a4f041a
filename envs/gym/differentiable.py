"""Environments whose observations and rewards torch differentiates by the actions."""

from typing import Any

import torch
from gymnasium.spaces import Box

from ..arguments import time_limit, whole
from ..batch.batch import TaskBatch
from ..batch.differentiable_view import DifferentiableView
from ..batch.seeds import fresh_seed, spread_seeds
from ..registry import TaskLike
from .managed_task import make_managed


class DifferentiableEnvs:
    """A batch of environments of one task, as parts of torch's graph: analytic policy gradients go through it.

    Observations and rewards are functions of the actions and states since the last `detach`, by the derivatives of the
    solver's steps (`RigidSolver.gradients`) and torch's of the task's functions. An episode that ends is followed by
    the next one at once; no gradient flows from it to the one before.

    ```python
    envs = DifferentiableEnvs(task, num_envs=64)
    observation, _ = envs.reset(seed=0)
    for step in range(32):
        observation, reward, terminated, truncated, info = envs.step(policy(observation))
        total = total + reward.sum()
    (-total).backward()
    envs.detach()
    ```

    Attributes:
        num_envs: how many environments.
        task: the task, bound to the model.
        solver: the solver that moves the environments.
        single_observation_space: of one environment.
        single_action_space: of one environment.

    Args:
        task: a name of the table of tasks, a class derived from `Task`, or an instance.
        num_envs: how many environments.
        max_episode_steps: an episode is truncated after so many steps; None: never.
        model_options: options that override the model file's.
        randomize: as in `SimVectorEnv`.
        observe: as in `SimVectorEnv`.
        delay: as in `SimVectorEnv`.
        task_options: the task's options.

    Raises:
        NotImplementedError: the task looks at pictures or rays, has actions that are no real numbers, or a model whose
            steps have no derivatives.
        ValueError, TypeError: an argument is wrong.
    """

    def __init__(
        self,
        task: TaskLike,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        model_options: dict[str, Any] | None = None,
        randomize: Any = None,
        observe: Any = None,
        delay: Any = None,
        **task_options: Any,
    ) -> None:
        self.num_envs, self._limit = whole("num_envs", num_envs), time_limit(max_episode_steps)
        own, managers = make_managed(task, task_options, randomize=randomize, observe=observe, delay=delay)
        made: dict[str, Any] = {"library": "torch", "view": DifferentiableView, "managers": managers}
        self.batch = TaskBatch(own, self.num_envs, model_options, **made)
        self.task, self.solver = self.batch.task, self.batch.solver
        _require_smooth(self.task)
        self.single_observation_space = self.batch.observation_space
        self.single_action_space = self.batch.action_space
        if not isinstance(self.single_action_space, Box) or self.single_action_space.dtype.kind != "f":
            raise NotImplementedError(
                f"differentiable: {type(own).__name__} has the actions {self.single_action_space}; only real numbers "
                "have derivatives"
            )
        self._elapsed = torch.zeros(self.num_envs, dtype=torch.int64, device=self.batch.kind.device)
        self._observation: Any = None

    def reset(self, seed: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes in all environments; seeds as in `SimVectorEnv.reset`."""
        seeds = spread_seeds(seed, self.num_envs)
        if self._observation is None:
            seeds = [fresh_seed() if one is None else one for one in seeds]
        rows = torch.arange(self.num_envs, device=self.batch.kind.device)
        self.batch.seed(seeds, rows)
        result = self.batch.reset(rows)
        self.detach()
        self._elapsed.zero_()
        self._observation = result.observation
        return result.observation, dict(result.info)

    def step(self, actions: torch.Tensor) -> tuple[Any, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Take one step in every environment.

        Args:
            actions: (num_envs, controls).

        Returns:
            Observations, rewards, terminations, truncations, info. Where an episode ended the observation is the first
            of the next one, and info has `final_obs`, the observations before that, and `_final_obs`, the mask.

        Raises:
            RuntimeError: before the first reset.
            ValueError: actions of a wrong shape or that are not finite.
        """
        if self._observation is None:
            raise RuntimeError("differentiable: call reset() before the first step()")
        outcome = self.batch.step(self._checked(actions), self._late())
        self._elapsed += 1
        observation, info = outcome.observation, dict(outcome.info)
        terminated = outcome.terminated
        truncated = self.batch.no_env_mask() if outcome.truncated is None else outcome.truncated
        if outcome.ended:
            info |= {"final_obs": observation, "_final_obs": outcome.done}
            observation = self._next_episodes(observation, outcome.done)
        self._observation = observation
        return observation, outcome.reward, terminated, truncated, info

    def detach(self) -> None:
        """Cut torch's graph: the present states become constants, as at the start of a training horizon.

        Observations that were returned before belong to the old graph: go on from `observation`.
        """
        self.batch.detach()
        if self._observation is not None:
            self._observation = _each(lambda part: part.detach(), self._observation)

    @property
    def observation(self) -> Any:
        """The present observations, constants after `detach`."""
        return self._observation

    def close(self) -> None:
        """Give the solver's memory back."""
        self.solver.close()

    def _late(self) -> torch.Tensor | None:
        """Return where the time limit ends with this step."""
        return None if self._limit is None else self._elapsed + 1 >= self._limit

    def _checked(self, actions: Any) -> torch.Tensor:
        """Return actions in the solver's precision; errors as in `step`."""
        kind, shape = self.batch.kind, (self.num_envs, *(self.single_action_space.shape or ()))
        found = torch.as_tensor(actions).to(kind.device, kind.dtype)
        if tuple(found.shape) != shape:
            raise ValueError(f"actions have shape {tuple(found.shape)}; needed is {shape}, (num_envs, controls)")
        bad = ~found.detach().isfinite().flatten(1).all(1)
        if bad.any():
            raise ValueError(f"actions of environment {int(bad.nonzero()[0])} are not finite")
        return found

    def _next_episodes(self, observation: Any, done: torch.Tensor) -> Any:
        """Begin episodes where others ended; return the observations with the first ones of these."""
        rows = done.nonzero()[:, 0]
        self.batch.unshare()
        first = self.batch.reset(rows).observation
        self._elapsed[rows] = 0
        if isinstance(observation, dict):
            return {name: part.index_copy(0, rows, first[name]) for name, part in observation.items()}
        return observation.index_copy(0, rows, first)


def _require_smooth(task: Any) -> None:
    """Refuse tasks that look at what has no derivatives."""
    for what, found in (("pictures", task.cameras), ("rays", task.rays)):
        if found:
            raise NotImplementedError(
                f"differentiable: {type(task).__name__} looks at {what}, which have no derivatives"
            )


def _each(function: Any, observation: Any) -> Any:
    """Return an observation with a function applied to its arrays."""
    if isinstance(observation, dict):
        return {name: function(part) for name, part in observation.items()}
    return function(observation)
