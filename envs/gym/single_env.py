"""SingleEnv: one environment, numpy in and out, on a separate solver."""

from collections.abc import Mapping
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from ...physics import RigidSolver
from ..arrays import host
from ..batch.actions import ActionCheck
from ..batch.batch import TaskBatch
from ..batch.reset_options import require_known
from ..batch.seeds import spread_seeds
from ..faults import FaultReporter
from ..registry import TaskLike
from ..task.observations import each
from ..task.task import Observation
from .base_env import BaseEnv
from .managed_task import make_managed
from .pictures import METADATA, Pictures, check_render_mode

_CLOSED = "the environment was closed: reset() opens it again"


class SingleEnv(BaseEnv, gymnasium.Env):
    """One environment of a task, for `gymnasium.make`.

    Seeded with s + i it replays environment i of a `SimVectorEnv` that was seeded with s, to the last bit.

    `copy.deepcopy` and `pickle` give an independent environment that goes on from the same state, in the middle of an
    episode too, as a search over actions needs it; the wrappers of `gymnasium.make` are copied with it. It is made by
    the same arguments, options of the task are as they are now, and the task's `bind` is called again.
    The copy of a closed environment waits for `reset`. A pickle is loaded under the precision that it was made with.
    """

    metadata = METADATA

    def __init__(
        self,
        task: TaskLike,
        *,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        camera_id: int | None = None,
        camera_name: str | None = None,
        renderer: str | Mapping[str, Any] = "rays",
        model_options: dict[str, Any] | None = None,
        simulator: str = "tumble",
        randomize: Any = None,
        observe: Any = None,
        delay: Any = None,
        **task_options: Any,
    ) -> None:
        """Make the environment; the arguments as in `SimVectorEnv`."""
        check_render_mode(render_mode)
        self.render_mode = render_mode
        view = width, height, camera_id, camera_name, renderer
        managed = make_managed(task, task_options, randomize=randomize, observe=observe, delay=delay)
        self._asked = managed, (model_options, simulator), view
        self._open()
        self.metadata = METADATA | {"render_fps": round(1 / self.task.dt)}
        self.observation_space, self.action_space = self.batch.observation_space, self.batch.action_space
        self._reporter = FaultReporter()
        self._begun = self._closed = False

    def _open(self) -> None:
        """Make the solver, and the parts of this environment that use it."""
        (task, managers), solving, view = self._asked
        self.batch = TaskBatch(task, 1, *solving, managers=managers)
        self.task, self.solver = self.batch.task, cast("RigidSolver", self.batch.solver)
        self._pictures = Pictures(self.batch, *view)
        self._actions = ActionCheck(1, self.batch.action_space, self.batch.kind, self.batch.action_names)
        self._self = self.batch.kind.zeros((1,), self.batch.kind.xp.int64)  # the index of the only environment

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode: with a seed its first one, without the next one of the seed it had.

        A closed environment is opened again, and goes on with its seed, at the next episode. Memory of a task that
        lasts over episodes is reset, such as counts of steps, levels, and numbers that are drawn once.

        Raises:
            ValueError: `options` is not empty; there are no options.
            gymnasium.error.Error: the seed is no whole number, or negative.
        """
        require_known(options, (), "single environments")
        seeds = spread_seeds(seed, 1)
        if self._closed:
            streams = self.batch.streams.state_dict()
            self._open()
            self.batch.take_streams(streams)
            self._closed = False
        super().reset(seed=seeds[0])
        if seeds[0] is None and self.batch.streams.seeds[0] is None:
            seeds = [self.np_random_seed]
        self.batch.seed(seeds, self._self)
        self._begun = True
        result = self.batch.reset(self._self)
        return _first(result.observation), _plain(result.info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step.

        Raises:
            ResetNeeded: before the first reset, and after `close`.
            ValueError, TypeError: the action is not as it should be; nothing has moved.
        """
        if not self._begun:
            raise ResetNeeded(_CLOSED if self._closed else "call reset() before the first step()")
        outcome = self.batch.step(self._actions.one(action))
        info = _plain(outcome.info)
        if outcome.faults is not None:
            fault = int(outcome.faults[0])
            self._reporter.report([(0, fault, int(self.batch.streams.steps[0]))])
            info["fault"] = fault
        truncated = outcome.truncated is not None and bool(outcome.truncated[0])
        return _first(outcome.observation), float(outcome.reward[0]), bool(outcome.terminated[0]), truncated, info

    def render(self) -> np.ndarray | None:
        """Picture the environment: uint8 (height, width, 3), or float32 (height, width) m for "depth_array".

        None, with Gymnasium's warning, without a render mode.

        Raises:
            ResetNeeded: after `close`.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called without a render mode: make it with render_mode='rgb_array'")
            return None
        if self._closed:
            raise ResetNeeded(_CLOSED)
        return self._pictures.take(None, self.render_mode)[0].cpu().numpy()

    def close(self) -> None:
        """Give the solver's memory back; `reset` takes it again."""
        self.solver.close()
        self._begun, self._closed = False, True

    def _snapshot(self) -> dict[str, Any]:
        """Return the present state, or only the seed and the number of the next episode if none has begun."""
        state = self.batch.state_dict() if self._begun else None
        return {"state": state, "streams": self.batch.streams.state_dict(), "reporter": self._reporter}

    def _restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a state that `_snapshot` returned."""
        self._reporter, self._begun = snapshot["reporter"], snapshot["state"] is not None
        if self._begun:
            self.batch.load_state_dict(snapshot["state"])
        else:
            self.batch.take_streams(snapshot["streams"])


def _first(observation: Observation) -> Any:
    """Return the observation of the only environment, without the axis of environments."""
    if isinstance(observation, np.ndarray):
        return observation[0]
    return each(lambda part: host(part)[0], observation)


def _plain(info: Any) -> dict[str, Any]:
    """Return the info of the only environment: Python numbers, or copies of small arrays."""
    return {key: value.item() if value.ndim == 1 else host(value)[0].copy() for key, value in info.items()}
