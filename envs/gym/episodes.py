"""Episodes of many environments: resets and steps of a batch under a time limit and Gymnasium's autoreset modes."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

from ...physics.machine.normal_mode import in_normal_mode
from ..arrays import Array, any_true, indices, only_rows
from ..batch.actions import ActionCheck
from ..batch.batch import StepOutcome, TaskBatch
from ..batch.infos import InfoBuilder
from ..batch.packing import PackedOutput
from ..batch.reset_options import elapsed_steps, reset_mask, whole_steps
from ..batch.seeds import fresh_seed, spread_seeds
from ..faults import FaultReporter
from ..saved import check_environments
from ..task.observations import each, parts_of
from ..task.task import Observation

_FORMAT = 2  # version of the result of `state_dict`
_NO_LIMIT = torch.iinfo(torch.int64).max


@in_normal_mode
class Episodes:
    """Resets and steps all environments of a batch, and counts the steps of their episodes.

    Attributes:
        batch: the task on its solver.
        autoreset_mode: when environments are reset whose episode has ended.
        observation: of all environments, after the last reset or step; None before the first reset.
        elapsed: steps that the time limit counts, (num_envs,) int64.
        done: True where an episode has ended and its environment waits for a reset, (num_envs,) bool.
        ended: True if any has.
        reporter: warns of faults.
        closed: True after the environments were closed.
    """

    autoreset_mode: AutoresetMode

    def __init__(
        self,
        batch: TaskBatch,
        autoreset_mode: AutoresetMode,
        max_episode_steps: int | None,
        output: PackedOutput,
        show: Callable[[], Any] | None,
    ) -> None:
        """Begin no episode yet.

        Args:
            batch: of all environments.
            autoreset_mode: when environments are reset whose episode has ended.
            max_episode_steps: an episode is truncated after so many steps; None: never.
            output: makes the user's arrays.
            show: is called whenever there is a new observation.
        """
        self.batch, self.autoreset_mode = batch, autoreset_mode
        self._limit = _NO_LIMIT if max_episode_steps is None else max_episode_steps
        self._output, self._show, self._kind, self._num_envs = output, show, batch.kind, batch.num_envs
        self._actions = ActionCheck(self._num_envs, batch.action_space, batch.kind, batch.action_names)
        self.reporter = FaultReporter()
        self.observation: Observation | None = None
        self.elapsed = self._kind.zeros((self._num_envs,), self._kind.xp.int64)
        self.done, self.ended, self.closed = batch.no_env_mask(), False, False

    # -- resets and steps ---------------------------------------------------------------------------------------------

    def reset(self, seeds: Sequence[int | None], options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes; `seeds` has one for each environment, `options` are as in `SimVectorEnv.reset`."""
        mask = reset_mask(options, self._num_envs, self._kind)
        elapsed = elapsed_steps(options, self._num_envs, self._limit, self._kind)
        rows = indices(mask)
        if self.observation is None and len(rows) < self._num_envs:
            raise ResetNeeded("the first reset must be of all environments: call reset() without a reset_mask")
        observation = self.begun()
        self.batch.seed(seeds, rows)
        infos = InfoBuilder({}, self.batch.no_env_mask())
        self._restart(observation, infos, rows, mask)
        self.elapsed[rows] = elapsed[rows]
        self.done[rows] = False
        self.ended = any_true(self.done)
        return self.hand_out(observation, info=infos.info(self._output.array))

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one step in every environment: `SimVectorEnv.step`."""
        resetting = self._check_ready()
        checked = self._actions.many(actions, ignored=resetting)
        elapsed = self.elapsed + 1
        outcome = self.batch.step(checked, elapsed >= self._limit, resetting)
        self.elapsed = elapsed
        if outcome.faults is not None:
            self._warn(outcome.faults if resetting is None else outcome.faults * ~resetting)
        if resetting is not None:
            return self._finish_resetting(outcome, resetting)
        return self._finish(outcome)

    def require_open(self) -> None:
        """Raise ClosedEnvironmentError if the environments were closed."""
        if self.closed:
            raise ClosedEnvironmentError("these environments were closed; make new ones")

    def begun(self) -> Observation:
        """Return the observations; before the first reset, draw missing seeds and return those of the batch's start."""
        if self.observation is None:
            self.draw_seeds()
            self.observation = self.batch.observation
        return self.observation

    def hand_out(self, observation: Observation, *rest: Array, info: dict[str, Any]) -> tuple:
        """Keep the observations, show them, and return the user's copies of all results."""
        self.observation = observation
        if self._show is not None:
            self._show()
        return self._output.result(observation, *rest, info=info)

    def _check_ready(self) -> Array | None:
        """Refuse to step unless all may; return the mask (num_envs,) of environments to reset now, or None."""
        self.require_open()
        if self.observation is None:
            raise ResetNeeded("call reset() before the first step()")
        if self.autoreset_mode is AutoresetMode.SAME_STEP or not self.ended:
            return None
        if self.autoreset_mode is AutoresetMode.DISABLED:
            refuse_finished(self.done)
        return self.done

    def _finish(self, outcome: StepOutcome) -> tuple:
        """End a step in which all environments moved; SAME_STEP resets the finished ones at once."""
        observation, reward, terminated, truncated, values, faults, done, ended_now = outcome
        array = self._output.array
        infos = InfoBuilder(values, ~self.batch.no_env_mask())
        final: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and ended_now:
            rows = indices(done, ended_now)
            final_obs = each(lambda part: only_rows(part, rows), observation)
            ended = infos.split(rows, done)
            ended.put_faults(faults, done)
            self._restart(observation, infos, rows, done)
            final = {"final_obs": each(array, final_obs), "final_info": ended.info(array)}
            final |= dict.fromkeys(("_final_obs", "_final_info"), array(done))
        else:
            self.done, self.ended = done, ended_now > 0
        infos.put_faults(faults)
        return self.hand_out(observation, reward, terminated, truncated, info=infos.info(array) | final)

    def _finish_resetting(self, outcome: StepOutcome, resetting: Array) -> tuple:
        """End a step of NEXT_STEP in which the environments that finished before are reset instead of moved."""
        moved = ~resetting
        rows, reward = indices(resetting), self._kind.xp.where(moved, outcome.reward, 0)
        terminated, truncated = outcome.terminated & moved, outcome.truncated & moved
        infos = InfoBuilder(outcome.info, ~self.batch.no_env_mask())
        infos.split(rows, resetting)
        self._restart(outcome.observation, infos, rows, resetting)
        infos.put_faults(outcome.faults, moved)
        self.done = terminated | truncated
        self.ended = any_true(self.done)
        info = infos.info(self._output.array)
        return self.hand_out(outcome.observation, reward, terminated, truncated, info=info)

    def _restart(self, observation: Observation, infos: InfoBuilder, rows: Array, mask: Array) -> None:
        """Begin an episode in the environments `rows` (k,), which `mask` (num_envs,) marks too.

        Their rows of `observation` (num_envs, ...) and their values in `infos` are overwritten.
        """
        if len(rows):
            result = self.batch.reset(rows)
            begun = parts_of(result.observation)
            for name, part in parts_of(observation).items():
                part[rows] = begun[name]
            self.elapsed[rows] = 0
            infos.put(result.info, rows, mask)

    def _warn(self, faults: Array) -> None:
        """Warn of faults, bit masks (num_envs,), of a kind that has not been warned of."""
        rows = indices(faults)
        steps = self.batch.streams.steps[rows]
        self.reporter.report(zip(rows.tolist(), faults[rows].tolist(), steps.tolist(), strict=True))

    # -- lengths and seeds --------------------------------------------------------------------------------------------

    @property
    def lengths(self) -> Any:
        """Steps of the time limit that the running episodes have taken, (num_envs,) int64.

        Assigned steps count from now on, as with `reset(options={"elapsed_steps": ...})`.
        """
        return self._output.copied(self.elapsed)

    @lengths.setter
    def lengths(self, steps: Any) -> None:
        self.elapsed = whole_steps("episode_lengths", steps, self._num_envs, self._limit, self._kind)

    @property
    def max_steps(self) -> int | None:
        """After how many steps an episode is truncated; None: never."""
        return None if self._limit == _NO_LIMIT else self._limit

    @property
    def seeds(self) -> tuple[int | None, ...]:
        """The seed of every environment, as of Gymnasium's SyncVectorEnv; missing ones are drawn now."""
        self.draw_seeds()
        return tuple(self.batch.streams.seeds)

    def draw_seeds(self) -> None:
        """Seed the environments that have no seed yet, from the machine's entropy."""
        seeds = self.batch.streams.seeds
        if None in seeds:
            fresh = spread_seeds(fresh_seed(), self._num_envs)
            missing = [new if seed is None else None for seed, new in zip(seeds, fresh, strict=True)]
            self.batch.seed(missing, indices(~self.batch.no_env_mask()))

    # -- saved states -------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything that the future depends on, as tensors, numbers and lists: the same actions give the same bits."""
        if self.observation is None:
            raise ResetNeeded("there is no state to save before the first reset()")
        observation = {name: self._saved(part) for name, part in parts_of(self.observation).items()}
        own = {"elapsed": self._saved(self.elapsed), "done": self._saved(self.done), "observation": observation}
        return {"format": _FORMAT, "batch": self.batch.state_dict(), **own}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` of environments made with the same arguments left off; needs no reset.

        Raises:
            TypeError: this is no saved state.
            ValueError: the state is of another task, timestep, frame_skip, precision, number of environments or version
                of Tumble; nothing is changed then.
        """
        check_environments(state, _FORMAT, self.batch, parts_of(self.batch.observation))
        self.batch.load_state_dict(state["batch"])
        observation = {name: self._kind.like(part.clone()) for name, part in state["observation"].items()}
        self.observation = observation[""] if list(observation) == [""] else observation
        self.elapsed, self.done = (self._kind.like(state[name].clone()) for name in ("elapsed", "done"))
        self.ended = any_true(self.done)

    def _saved(self, array: Array) -> torch.Tensor:
        """Return a copy as a tensor."""
        return self._kind.to_tensor(array).clone()


def refuse_finished(done: Array) -> None:
    """Raise ResetNeeded, which names the environments that have finished, (num_envs,) bool."""
    finished = indices(done).tolist()
    raise ResetNeeded(
        f"environments {finished[:8]}{'...' if len(finished) > 8 else ''} have finished; under DISABLED they must be "
        "reset before the next step: reset(options={'reset_mask': terminations | truncations})"
    )
