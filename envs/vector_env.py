"""SimVectorEnv: many environments of one task on one solver, as a Gymnasium VectorEnv."""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .actions import ActionCheck
from .arena import Arena, Outcome
from .arrays import Array, blank, copy, host, indices, nobody, some, where
from .faults import FaultReporter
from .infos import Sheet, tell_faults
from .pictures import METADATA, Pictures, check_render_mode
from .registry import make_task
from .seeds import fresh_seed, spread_seeds
from .spaces import action_space, observation_space
from .starts import Starts
from .task import Task

OUTPUTS = ("torch", "numpy")
MOST_IN_NUMPY = 16384  # environments; of more, torch's threads make up for what its operations cost
MOST_PICTURES = 16  # environments that render() shows unless told otherwise
_SAVED = ("clock", "done", "observation")
_NO_LIMIT = torch.iinfo(torch.int64).max


class SimVectorEnv(VectorEnv):
    """A batch of environments that step together: torch tensors (or numpy arrays) in and out.

    Behaves as Gymnasium's `SyncVectorEnv` of the v5 task would, step by step, but for these:

    - the autoreset mode is SAME_STEP unless chosen otherwise;
    - `final_obs` is one dense tensor (num_envs, ...) with the mask `_final_obs`, like every other info; keys that speak
      of the same environments share one mask;
    - `options` is not changed by `reset`, masks may be torch or numpy, and an all-False mask resets nobody;
    - stepping a finished environment under DISABLED raises `ResetNeeded`;
    - under NEXT_STEP the action of an environment that is being reset is ignored and not checked;
    - `reset(options={"elapsed_steps": ...})` begins episodes part of the way to their time limit.

    An environment whose state stops being finite is terminated and marked in `info["fault"]`, a bit mask (see
    `faults`). Returned tensors are the caller's own: no later step writes to them.

    Args:
        task: a name of the registry, such as "Ant", or a task.
        num_envs: how many.
        max_episode_steps: an episode is truncated after so many steps; None or -1: never.
        autoreset_mode: SAME_STEP, NEXT_STEP or DISABLED, as a member or by name.
        output: "torch" or "numpy".
        device: where returned tensors lie; None: where the solver lies.
        render_mode: "rgb_array" or None.
        render_envs: the environments that `render` shows; None: the first 16 at most. Gymnasium's vector `RecordVideo`
            wants a picture of each: give it `range(num_envs)` where there are more.
        width: of a picture, in pixels.
        height: of a picture, in pixels.
        camera_id: of the model's camera to look through.
        camera_name: of the model's camera to look through.
        model_options: options that override the model file's, e.g. {"timestep": 0.005}.
        task_options: the task's own options, those of the v5 task.

    Raises:
        ValueError, TypeError: an argument has no meaning; the message says what has.
    """

    metadata = METADATA

    def __init__(
        self,
        task: str | Task,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        output: str = "torch",
        device: str | torch.device | None = None,
        render_mode: str | None = None,
        render_envs: Sequence[int] | None = None,
        width: int = 480,
        height: int = 480,
        camera_id: int | None = None,
        camera_name: str | None = None,
        model_options: dict[str, Any] | None = None,
        **task_options: Any,
    ) -> None:
        """Make the environments; the arguments are described above."""
        check_render_mode(render_mode)
        if output not in OUTPUTS:
            raise ValueError(f"output={output!r}: there is {' and '.join(OUTPUTS)}")
        if num_envs < 1:
            raise ValueError(f"num_envs={num_envs}: at least one environment is needed")
        if max_episode_steps is not None and max_episode_steps < 1 and max_episode_steps != -1:
            raise ValueError(f"max_episode_steps={max_episode_steps}: at least 1, or -1 for no limit")
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = parse_autoreset_mode(autoreset_mode)
        judge_in_numpy = num_envs <= MOST_IN_NUMPY  # as long as solvers lie on CPUs only
        self.arena = Arena(make_task(task, task_options), num_envs, numpy=judge_in_numpy, model_options=model_options)
        self.solver = self.arena.solver
        self._export = _exporter(output, judge_in_numpy, self.solver.device, torch.device(device or self.solver.device))
        self._limit = max_episode_steps if max_episode_steps not in (None, -1) else _NO_LIMIT
        self._describe()
        self.render_envs = self._checked_render_envs(render_envs)
        self._pictures = Pictures(self.arena, width, height, camera_id, camera_name)
        self._actions = ActionCheck(
            num_envs, self.arena.actuator_names, self.solver.dtype, self.solver.device, numpy=judge_in_numpy
        )
        self._starts = Starts(num_envs, self.arena.draw)
        self._reporter = FaultReporter()
        # In the arena's array kind, like all that follows from a step until it is handed out:
        self._clock = self._zeros(2, num_envs, dtype=torch.int64)  # how long the current episodes last:
        self._elapsed, self._head_start = self._clock  # steps as the time limit counts them; of these, not taken
        self._done = self._zeros(num_envs, dtype=torch.bool)  # finished, and not reset yet
        self._observation: Array | None = None  # what the caller was shown last

    # -- Gymnasium's face ---------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes.

        Args:
            seed: None goes on with each environment's seed, to the next episode's noise; a number s gives environment i
                the seed s + i; a list gives each its own, None in it leaves that one as it is.
            options: {"reset_mask": (num_envs,) bool, torch or numpy} resets only where it is True.
                {"elapsed_steps": (num_envs,) integers} counts so many steps of the time limit as taken: episodes
                that begin together then end one after the other, which training is the better for.

        Returns:
            Observations of all environments (num_envs, ...) and the info of those that were reset.
        """
        self._check_open()
        seeds = spread_seeds(seed, self.num_envs)
        mask, elapsed = self._mask_of(options), self._elapsed_of(options)
        rows = indices(mask)
        if seeds[0] is not None:
            super().reset(seed=seeds[0])
        if self._observation is None:
            if len(rows) < self.num_envs:
                raise ResetNeeded("the first reset must be of all environments: call reset() without a reset_mask")
            fresh = spread_seeds(fresh_seed(), self.num_envs)
            seeds = [new if given is None else given for given, new in zip(seeds, fresh, strict=True)]
            self._observation = self._zeros(self.num_envs, self.arena.task.observation_size, dtype=self.solver.dtype)
        self._starts.seed(seeds, host(rows))
        sheet = Sheet({}, nobody(mask))
        self._restart(self._observation, sheet, rows, mask)
        self._clock[:, rows] = elapsed[rows]
        self._done[rows] = False
        return self._hand_out(self._observation, info=sheet.info(self._export))

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one step in every environment.

        Args:
            actions: (num_envs, actuators), torch on any device or numpy.

        Returns:
            Observations, rewards, terminations, truncations, info; each (num_envs, ...).

        Raises:
            ResetNeeded: before the first reset; or under DISABLED for environments that have finished.
            ValueError, TypeError: the actions are not as they should be; nothing has moved.
        """
        resetting = self._check_ready()
        checked = self._actions.many(actions, ignored=resetting)
        outcome = self.arena.advance(checked)
        self._elapsed += 1
        truncated = self._elapsed >= self._limit
        if outcome.faults is not None:
            self._warn(outcome.faults if resetting is None else where(resetting, 0, outcome.faults))
        if resetting is not None:
            return self._finish_resetting(outcome, truncated, resetting)
        return self._finish(outcome, truncated)

    def render(self) -> tuple[np.ndarray, ...]:
        """Picture the environments in `render_envs`: one uint8 array (height, width, 3) each."""
        if self.render_mode is None:
            raise gymnasium.error.Error(
                "there are no pictures without a render mode: make it with render_mode='rgb_array'"
            )
        return tuple(self._pictures.take(self.render_envs).cpu().numpy())

    def render_tensor(self, envs_idx: Sequence[int] | torch.Tensor | None = None) -> torch.Tensor:
        """Picture the environments `envs_idx` (k,), by default `render_envs`: uint8 (k, height, width, 3)."""
        chosen = self.render_envs if envs_idx is None else self._checked_render_envs(envs_idx)
        return self._pictures.take(chosen)

    def close_extras(self, **kwargs: Any) -> None:
        """Give the solver's memory back."""
        self.solver.close()

    @property
    def max_episode_steps(self) -> int | None:
        """After how many steps an episode is truncated; None: never."""
        return None if self._limit == _NO_LIMIT else self._limit

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]  # one for each, like SyncVectorEnv
        """The seed of every environment, as SyncVectorEnv gives them; None before the first reset."""
        return tuple(self._starts.seeds)

    def state_dict(self) -> dict[str, Any]:
        """Everything that the future depends on, as tensors, numbers and lists: the same actions give the same bits."""
        if self._observation is None:
            raise ResetNeeded("there is no state to save before the first reset()")
        return {
            "arena": self.arena.state_dict(),
            "streams": self._starts.state_dict(),
            **{name: torch.as_tensor(copy(getattr(self, f"_{name}"))) for name in _SAVED},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` of an environment made with the same arguments left off; needs no reset."""
        self.arena.load_state_dict(state["arena"])
        self._starts.load_state_dict(state["streams"])
        for name in _SAVED:
            setattr(self, f"_{name}", self.arena.array(state[name].clone().to(self.solver.device)))
        self._elapsed, self._head_start = self._clock

    # -- Making -------------------------------------------------------------------------------------------------------

    def _describe(self) -> None:
        """Set what Gymnasium's tools read: metadata and spaces."""
        self.metadata = METADATA | {
            "render_fps": round(1 / self.arena.task.dt),
            "autoreset_mode": self.autoreset_mode,
            "torch": self._export is not host,
        }
        self.single_observation_space = observation_space(self.arena)
        self.single_action_space = action_space(self.arena)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _zeros(self, *shape: int, dtype: torch.dtype) -> Array:
        """Zeros of the arena's array kind."""
        return self.arena.array(torch.zeros(shape, dtype=dtype, device=self.solver.device))

    # -- Between episodes ---------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("these environments were closed; make new ones")

    def _check_ready(self) -> Array | None:
        """Refuse to step what is not ready; return the environments that this step resets instead, None for none."""
        self._check_open()
        if self._observation is None:
            raise ResetNeeded("call reset() before the first step()")
        if self.autoreset_mode is AutoresetMode.SAME_STEP or not some(self._done):
            return None
        if self.autoreset_mode is AutoresetMode.DISABLED:
            finished = indices(self._done).tolist()
            raise ResetNeeded(
                f"environments {finished[:8]}{'...' if len(finished) > 8 else ''} have finished; under DISABLED they "
                "must be reset before the next step: reset(options={'reset_mask': terminations | truncations})"
            )
        return self._done

    def _finish(self, outcome: Outcome, truncated: Array) -> tuple:
        """End a step in which all environments moved; SAME_STEP resets the finished ones at once."""
        observation, reward, terminated, values, faults = outcome
        done = terminated | truncated
        sheet = Sheet(values, ~nobody(done))
        final: dict[str, Any] = {}
        rows = indices(done)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and len(rows):
            final_obs = blank(observation, self.num_envs)
            final_obs[rows] = observation[rows]
            ended = sheet.cut(rows, done)
            tell_faults(ended, faults, done)
            self._restart(observation, sheet, rows, done)
            final = {"final_obs": self._export(final_obs), "final_info": ended.info(self._export)}
            final |= dict.fromkeys(("_final_obs", "_final_info"), self._export(done))
        else:
            self._done = done
        tell_faults(sheet, faults)
        return self._hand_out(observation, reward, terminated, truncated, info=sheet.info(self._export) | final)

    def _finish_resetting(self, outcome: Outcome, truncated: Array, resetting: Array) -> tuple:
        """End a step of NEXT_STEP in which the environments that finished before are reset instead of moved."""
        moved = ~resetting
        rows, reward = indices(resetting), where(moved, outcome.reward, 0)
        terminated, truncated = outcome.terminated & moved, truncated & moved
        sheet = Sheet(outcome.info, ~nobody(moved))
        sheet.cut(rows, resetting)
        self._restart(outcome.observation, sheet, rows, resetting)
        tell_faults(sheet, outcome.faults, moved)
        self._done = terminated | truncated
        return self._hand_out(outcome.observation, reward, terminated, truncated, info=sheet.info(self._export))

    def _restart(self, observation: Array, sheet: Sheet, rows: Array, mask: Array) -> None:
        """Begin an episode in the environments `rows` (k,), the same as `mask` (num_envs,).

        Their part of everyone's observations and of the sheet is written there.
        """
        if len(rows):
            start = self._starts.take(rows)
            self.arena.restart(rows, start)
            observation[rows] = start.observation
            self._clock[:, rows] = 0
            sheet.put(start.info, rows, mask)

    def _warn(self, faults: Array) -> None:
        """Warn of faults that are new."""
        rows = indices(faults)
        steps = (self._elapsed - self._head_start)[rows]
        self._reporter.report(zip(rows.tolist(), faults[rows].tolist(), steps.tolist(), strict=True), stacklevel=4)

    # -- In and out ---------------------------------------------------------------------------------------------------

    def _mask_of(self, options: dict[str, Any] | None) -> Array:
        """Which environments `reset` is to reset, (num_envs,) bool, an array of our own.

        Raises:
            TypeError, ValueError: the mask is not a bool array (num_envs,).
        """
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return ~nobody(self._done)
        if not isinstance(mask, torch.Tensor | np.ndarray):
            raise TypeError(f"options['reset_mask'] must be a torch tensor or numpy array, got {type(mask).__name__}")
        if tuple(mask.shape) != (self.num_envs,):
            raise ValueError(f"options['reset_mask'] must have shape ({self.num_envs},), got {tuple(mask.shape)}")
        if mask.dtype not in (torch.bool, np.bool_):
            raise TypeError(f"options['reset_mask'] must be of bool, got {mask.dtype}")
        return copy(self.arena.array(torch.as_tensor(mask, device=self.solver.device)))

    def _elapsed_of(self, options: dict[str, Any] | None) -> Array:
        """At which step of the time limit `reset` is to begin, (num_envs,).

        Raises:
            TypeError, ValueError: not integers (num_envs,) from 0 to below the limit.
        """
        given = (options or {}).get("elapsed_steps")
        if given is None:
            return self._zeros(self.num_envs, dtype=torch.int64)
        steps = torch.as_tensor(given, device=self.solver.device)
        if steps.dtype.is_floating_point or steps.dtype.is_complex or steps.dtype == torch.bool:
            raise TypeError(f"options['elapsed_steps'] must be integers, got {steps.dtype}")
        steps = steps.to(torch.int64)
        if tuple(steps.shape) != (self.num_envs,):
            raise ValueError(f"options['elapsed_steps'] must have shape ({self.num_envs},), got {tuple(steps.shape)}")
        outside = ((steps < 0) | (steps >= self._limit)).nonzero()[:, 0]
        if len(outside):
            env = int(outside[0])
            raise ValueError(
                f"options['elapsed_steps'] of environment {env} is {int(steps[env])}; it must be at least 0 and below "
                f"max_episode_steps, {self._limit}"
            )
        return self.arena.array(steps)

    def _hand_out(self, observation: Array, *rest: Array, info: dict[str, Any]) -> tuple:
        """Keep the observations, and give the caller copies on the wished device, as tensors or arrays."""
        self._observation = observation
        return self._export(copy(observation)), *map(self._export, rest), info

    def _checked_render_envs(self, envs: Sequence[int] | torch.Tensor | None) -> torch.Tensor:
        """The environments to picture, (k,) indices on the solver's device.

        Raises:
            IndexError: an environment that does not exist.
        """
        if envs is None:
            return torch.arange(min(MOST_PICTURES, self.num_envs), device=self.solver.device)
        rows = torch.as_tensor(envs, dtype=torch.int64, device=self.solver.device).reshape(-1)
        wrong = rows[(rows < 0) | (rows >= self.num_envs)]
        if len(wrong):
            raise IndexError(f"there is no environment {int(wrong[0])} to picture; they are 0 to {self.num_envs - 1}")
        return rows


def parse_autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Return the mode that is meant by a member, its name ("SAME_STEP") or its value ("SameStep").

    Raises:
        ValueError: no such mode.
    """
    for member in AutoresetMode:
        if mode in (member, member.name, member.value):
            return member
    raise ValueError(f"autoreset_mode={mode!r}: there is {', '.join(member.name for member in AutoresetMode)}")


def _exporter(output: str, in_numpy: bool, home: torch.device, abroad: torch.device) -> Callable[[Array], Any]:
    """How an array of the arena's kind becomes what the caller wants: numpy, or torch on the device `abroad`."""
    if output == "numpy":
        return host
    if not in_numpy:
        return lambda tensor: tensor.to(abroad)
    if home == abroad:
        return torch.from_numpy
    return lambda array: torch.from_numpy(array).to(abroad)
