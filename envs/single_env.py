"""SingleEnv: one environment with numpy in and out, a view on a solver that holds nothing else."""

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle

from .actions import ActionCheck
from .arena import Arena
from .faults import FaultReporter
from .pictures import METADATA, Pictures, check_render_mode
from .registry import make_task
from .seeds import spread_seeds
from .spaces import action_space, observation_space
from .starts import Starts
from .task import Task

_SELF = np.zeros(1, np.int64)  # the index of the only environment


class SingleEnv(gymnasium.Env, EzPickle):
    """One environment of a task, for `gymnasium.make`.

    Seeded with s + i it replays environment i of a `SimVectorEnv` that was seeded with s, to the last bit.
    """

    metadata = METADATA

    def __init__(
        self,
        task: str | Task,
        *,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        camera_id: int | None = None,
        camera_name: str | None = None,
        model_options: dict[str, Any] | None = None,
        **task_options: Any,
    ) -> None:
        """Make the environment; the arguments are those of `SimVectorEnv`."""
        EzPickle.__init__(
            self,
            task,
            render_mode=render_mode,
            width=width,
            height=height,
            camera_id=camera_id,
            camera_name=camera_name,
            model_options=model_options,
            **task_options,
        )
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.arena = Arena(make_task(task, task_options), 1, numpy=True, model_options=model_options)
        self.solver = self.arena.solver
        self.metadata = METADATA | {"render_fps": round(1 / self.arena.task.dt)}
        self.observation_space = observation_space(self.arena)
        self.action_space = action_space(self.arena)
        self._pictures = Pictures(self.arena, width, height, camera_id, camera_name)
        self._actions = ActionCheck(1, self.arena.actuator_names, self.solver.dtype, self.solver.device, numpy=True)
        self._starts = Starts(1, self.arena.draw)
        self._reporter = FaultReporter()
        self._elapsed = -1  # steps of the current episode; -1 before the first

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode: with a seed its first one, without the next one of the seed it had."""
        seeds = spread_seeds(seed, 1)
        super().reset(seed=seeds[0])
        if seeds[0] is None and self._elapsed < 0:
            seeds = [self.np_random_seed]
        self._starts.seed(seeds, _SELF)
        self._elapsed = 0
        start = self._starts.take(_SELF)
        self.arena.restart(_SELF, start)
        return start.observation[0], _plain(start.info)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one step.

        Raises:
            ResetNeeded: before the first reset.
            ValueError, TypeError: the action (actuators,) is not as it should be; nothing has moved.
        """
        if self._elapsed < 0:
            raise ResetNeeded("call reset() before the first step()")
        outcome = self.arena.advance(self._actions.one(action))
        self._elapsed += 1
        info = _plain(outcome.info)
        if outcome.faults is not None:
            fault = int(outcome.faults[0])
            self._reporter.report([(0, fault, self._elapsed)], stacklevel=3)
            info["fault"] = fault
        return outcome.observation[0], float(outcome.reward[0]), bool(outcome.terminated[0]), False, info

    def render(self) -> np.ndarray | None:
        """Picture the environment: uint8 (height, width, 3); None, with Gymnasium's warning, without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called without a render mode: make it with render_mode='rgb_array'")
            return None
        return self._pictures.take(torch.from_numpy(_SELF).to(self.solver.device))[0].cpu().numpy()

    def close(self) -> None:
        """Give the solver's memory back."""
        self.solver.close()


def _plain(info: dict[str, np.ndarray]) -> dict[str, Any]:
    """The info of the only environment: numbers, or small arrays of its own."""
    return {key: value.item() if value.ndim == 1 else value[0].copy() for key, value in info.items()}
