"""SimVectorEnv: many environments of one task on one solver, as a Gymnasium VectorEnv."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ..physics import RigidSolver
from ..physics.process.normal_mode import in_normal_mode
from ..physics.process.runtime import ensure_runtime_near
from .actions import ActionCheck
from .arguments import parse_autoreset_mode, time_limit, torch_device, whole
from .arrays import Array, copy, host, indices, only_rows, some
from .attributes import SharedAttributes
from .batch import StepOutcome, TaskBatch
from .copying import Copied
from .faults import FaultReporter
from .goals import GoalMethods
from .infos import InfoBuilder
from .observations import each, parts_of
from .packing import Packer
from .pictures import METADATA, Pictures, SharedPictures, check_render_mode
from .registry import TaskLike, make_task
from .reset_options import KNOWN, elapsed_steps, require_known, reset_mask, whole_steps
from .saved import check_environments
from .seeds import fresh_seed, spread_seeds
from .snapshots import Branched
from .task import Observation
from .window import Window

OUTPUTS = ("torch", "numpy")
RENDER_MODES = ("human", *METADATA["render_modes"])
_FORMAT = 2  # version of what `state_dict` returns
_NO_LIMIT = torch.iinfo(torch.int64).max


@in_normal_mode
class SimVectorEnv(GoalMethods, SharedAttributes, SharedPictures, Copied, Branched, VectorEnv):
    """A batch of environments that step together: torch tensors (or numpy arrays) in and out.

    Behaves as Gymnasium's `SyncVectorEnv` of the v5 task would, step by step, but for these:

    - the autoreset mode is SAME_STEP unless chosen otherwise;
    - observations, rewards and infos are in the solver's precision, which `tumble.init` decides;
    - `final_obs` is one dense tensor (num_envs, ...), or one for each name of a `Dict`, with the mask `_final_obs`, as
      every other info is; keys that speak of the same environments share one mask;
    - `options` is not changed by `reset`, masks may be torch or numpy, and an all-False mask resets no environment;
    - stepping a finished environment under DISABLED raises `ResetNeeded`, and a closed one `ClosedEnvironmentError`;
    - actions that are not finite are refused, with the environment and the actuator;
    - under NEXT_STEP the action of an environment that is being reset is ignored and not checked;
    - `reset(options={"elapsed_steps": ...})` begins episodes part of the way to their time limit;
    - there are no single environments inside: `set_attr` sets one value for all, `call` refuses `reset` and `step`, and
      no environment draws from `np_random`;
    - `render` pictures `render_envs` and raises without a render mode; no mode collects a `_list` of pictures.

    Gymnasium's own vector wrappers are numpy code. Those that remember something, those that go through observations
    one by one and `DictInfoToList` need output="numpy"; all wrappers of observations need NEXT_STEP or DISABLED too,
    and `NormalizeObservation` NEXT_STEP. Those that go through actions one by one take numpy actions, with either
    output. The wrappers in `tumble.wrappers` take both outputs and all modes.

    An environment whose state stops being finite is terminated and marked in `info["fault"]`, a bit mask (see
    `faults`). Returned tensors are the caller's own: no later step writes to them.

    `copy.deepcopy` and `pickle` give environments of their own that go on from the same state, as of a `SingleEnv`:
    they are made by the same arguments, and then load the state. Closed ones are refused.

    Attributes:
        device: where returned tensors lie, a `torch.device`; the CPU with numpy output. skrl learns there.

    Args:
        task: a name of the table of tasks, such as "Ant"; or a class derived from `Task`, or an instance of one.
        num_envs: how many environments.
        max_episode_steps: an episode is truncated after so many steps; None or -1: never.
        autoreset_mode: SAME_STEP, NEXT_STEP or DISABLED, as a member or by name.
        output: the library, "torch" or "numpy", of all arrays that `reset` and `step` return, in infos too. Actions may
            be of either library at any time.
        device: where returned tensors lie; None: where the solver lies, which `tumble.init` decides. If nothing has
            called it and no environment was made before, "cuda" puts the solver on the GPU too, for numpy output as
            well. From a solver that lies elsewhere all that is returned is copied.
        render_mode: "rgb_array"; "depth_array", metres along the optical axis; "human", a window that shows every step
            (needs pygame); or None.
        render_envs: the environments that `render` shows; None: the first 16 at most. Gymnasium's vector `RecordVideo`
            and `HumanRendering` want a picture of each: give `range(num_envs)` where there are more than 16.
        width: of a picture, in pixels.
        height: of a picture, in pixels.
        camera_id: number of the model's camera to look through.
        camera_name: name of the model's camera to look through.
        renderer: "rays"; "path", for path tracing; or a dict of the options of `PathTracer`, such as {"samples": 256}.
        model_options: options that override the model file's, e.g. {"timestep": 0.005}.
        simulator: "tumble"; or "mujoco", where MuJoCo's C moves the same task, in double precision on the processor.
        task_options: the task's own options; of the registered ones, those of the v5 task.

    Raises:
        ValueError, TypeError: an argument is wrong; the message says what is allowed.
    """

    metadata = METADATA | {"render_modes": list(RENDER_MODES)}

    def __init__(
        self,
        task: TaskLike,
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
        renderer: str | Mapping[str, Any] = "rays",
        model_options: dict[str, Any] | None = None,
        simulator: str = "tumble",
        **task_options: Any,
    ) -> None:
        """Make the environments; the arguments are described above."""
        check_render_mode(render_mode, RENDER_MODES)
        if output not in OUTPUTS:
            raise ValueError(f"output={output!r}: there is {' and '.join(OUTPUTS)}")
        self.num_envs = num_envs = whole("num_envs", num_envs)
        limit = time_limit(max_episode_steps)
        abroad = None if device is None else torch_device(device)
        if abroad is not None:
            ensure_runtime_near(str(abroad))
        self.render_mode = render_mode
        self.autoreset_mode = parse_autoreset_mode(autoreset_mode)
        self.batch = TaskBatch(make_task(task, task_options), num_envs, model_options, simulator)
        self.task, self.solver = self.batch.task, cast("RigidSolver", self.batch.solver)
        self._kind = self.batch.kind
        abroad = abroad or self.solver.device
        self.device = torch.device("cpu") if output == "numpy" else abroad
        self._in_torch = output == "torch"
        self._pack = None if self._kind.lies_on(self.device) else Packer(self.device, not self._in_torch)
        # Makes an array of the batch the caller's; nothing is to be done where all are packed together at last.
        self._export = (lambda array: array) if self._pack else self._kind.to_tensor if self._in_torch else host
        self._limit = _NO_LIMIT if limit is None else limit
        self._describe()
        self._pictures = Pictures(self.batch, width, height, camera_id, camera_name, renderer)
        self.render_envs = render_envs
        self._window = Window() if render_mode == "human" else None
        self._actions = ActionCheck(num_envs, self.single_action_space, self._kind, self.batch.action_names)
        self._reporter = FaultReporter()
        self._elapsed = self._kind.zeros((num_envs,), self._kind.xp.int64)  # steps, as the time limit counts them
        self._done, self._ended = self._nobody(), False  # (num_envs,) bool: finished, and not reset yet; if any is
        self._observation: Observation | None = None  # what the last reset or step returned

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
                that begin together then end at different times, which makes training steadier.

        Returns:
            Observations of all environments (num_envs, ...) and the info of those that were reset.
        """
        self._check_open()
        require_known(options, KNOWN, "vector environments")
        seeds = spread_seeds(seed, self.num_envs)
        mask = reset_mask(options, self.num_envs, self._kind)
        elapsed = elapsed_steps(options, self.num_envs, self._limit, self._kind)
        rows = indices(mask)
        if seeds[0] is not None:
            super().reset(seed=seeds[0])
        if self._observation is None:
            if len(rows) < self.num_envs:
                raise ResetNeeded("the first reset must be of all environments: call reset() without a reset_mask")
            self._draw_seeds()
            self._observation = self.batch.observation
        self.batch.seed(seeds, rows)
        infos = InfoBuilder({}, self._nobody())
        self._restart(self._observation, infos, rows, mask)
        self._elapsed[rows] = elapsed[rows]
        self._done[rows] = False
        self._ended = some(self._done)
        return self._hand_out(self._observation, info=infos.info(self._export))

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one step in every environment.

        Args:
            actions: (num_envs, controls), torch on any device or numpy.

        Returns:
            Observations, rewards, terminations, truncations, info; each (num_envs, ...). Rewards have the precision of
            the observations' numbers, the solver's.

        Raises:
            ResetNeeded: before the first reset; or under DISABLED for environments that have finished.
            ValueError, TypeError: the actions are not as they should be; nothing has moved.
        """
        resetting = self._check_ready()
        checked = self._actions.many(actions, ignored=resetting)
        elapsed = self._elapsed + 1
        outcome = self.batch.step(checked, elapsed >= self._limit, resetting)
        self._elapsed = elapsed
        if outcome.faults is not None:
            self._warn(outcome.faults if resetting is None else outcome.faults * ~resetting)
        if resetting is not None:
            return self._finish_resetting(outcome, resetting)
        return self._finish(outcome)

    def close_extras(self, **kwargs: Any) -> None:
        """Give the solver's memory back, and close the window."""
        self.solver.close()
        if self._window is not None:
            self._window.close()

    def __del__(self) -> None:
        """Close nothing, as with Gymnasium 1.4; 1.2 closes what is collected, even if its constructor has failed."""

    @property
    def episode_lengths(self) -> Any:
        """Steps of the time limit that the running episodes have taken, (num_envs,) int64.

        What is assigned counts from now on, as with `reset(options={"elapsed_steps": ...})`.
        """
        return self._pack(self._elapsed) if self._pack else self._export(copy(self._elapsed))

    @episode_lengths.setter
    def episode_lengths(self, steps: Any) -> None:
        self._elapsed = whole_steps("episode_lengths", steps, self.num_envs, self._limit, self._kind)

    @property
    def max_episode_steps(self) -> int | None:
        """After how many steps an episode is truncated; None: never."""
        return None if self._limit == _NO_LIMIT else self._limit

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]  # one for each, like SyncVectorEnv
        """The seed of every environment, as SyncVectorEnv gives them; drawn now where there was none yet."""
        self._draw_seeds()
        return tuple(self.batch.streams.seeds)

    def _draw_seeds(self) -> None:
        """Seed the environments that have no seed yet, from the machine's entropy."""
        seeds = self.batch.streams.seeds
        if None in seeds:
            fresh = spread_seeds(fresh_seed(), self.num_envs)
            missing = [new if seed is None else None for seed, new in zip(seeds, fresh, strict=True)]
            self.batch.seed(missing, indices(~self._nobody()))

    def state_dict(self) -> dict[str, Any]:
        """Everything that the future depends on, as tensors, numbers and lists: the same actions give the same bits."""
        if self._observation is None:
            raise ResetNeeded("there is no state to save before the first reset()")
        observation = {name: self._saved(part) for name, part in parts_of(self._observation).items()}
        own = {"elapsed": self._saved(self._elapsed), "done": self._saved(self._done), "observation": observation}
        return {"format": _FORMAT, "batch": self.batch.state_dict(), **own}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` of an environment made with the same arguments left off; needs no reset.

        Raises:
            TypeError: this is no saved state.
            ValueError: the state is of another task, timestep, frame_skip, precision, number of environments or version
                of Tumble; nothing is changed then.
        """
        check_environments(state, _FORMAT, self.batch, parts_of(self.batch.observation))
        self.batch.load_state_dict(state["batch"])
        observation = {name: self._kind.like(part.clone()) for name, part in state["observation"].items()}
        self._observation = observation[""] if list(observation) == [""] else observation
        self._elapsed, self._done = (self._kind.like(state[name].clone()) for name in ("elapsed", "done"))
        self._ended = some(self._done)

    def _moment(self) -> dict[str, Any]:
        """Return where the episodes are, or only the seeds if none has begun, and which environments are shown."""
        self._check_open()
        state = None if self._observation is None else self.state_dict()
        return {"state": state, "streams": self.batch.streams.state_dict(), "shown": self.render_envs.tolist()}

    def _go_on(self, moment: dict[str, Any]) -> None:
        """Go on where `_moment` was."""
        self.render_envs = moment["shown"]
        if moment["state"] is not None:
            self.load_state_dict(moment["state"])
        else:
            self.batch.take_streams(moment["streams"])

    def _saved(self, array: Array) -> torch.Tensor:
        """Return a copy as a tensor."""
        return self._kind.to_tensor(array).clone()

    # -- Making -------------------------------------------------------------------------------------------------------

    def _describe(self) -> None:
        """Set what Gymnasium's tools read: metadata and spaces."""
        self.metadata = dict[str, Any](
            render_modes=list(RENDER_MODES),
            render_fps=round(1 / self.task.dt),
            autoreset_mode=self.autoreset_mode,
            torch=self._in_torch,
        )
        self.single_observation_space = self.batch.observation_space
        self.single_action_space = self.batch.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _nobody(self) -> Array:
        """A mask (num_envs,) that is False everywhere."""
        return self._kind.zeros((self.num_envs,), self._kind.xp.bool)

    # -- Between episodes ---------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("these environments were closed; make new ones")

    def _check_ready(self) -> Array | None:
        """Refuse to step unless all may; return the mask (num_envs,) of those to reset now, None for none."""
        self._check_open()
        if self._observation is None:
            raise ResetNeeded("call reset() before the first step()")
        if self.autoreset_mode is AutoresetMode.SAME_STEP or not self._ended:
            return None
        if self.autoreset_mode is AutoresetMode.DISABLED:
            finished = indices(self._done).tolist()
            raise ResetNeeded(
                f"environments {finished[:8]}{'...' if len(finished) > 8 else ''} have finished; under DISABLED they "
                "must be reset before the next step: reset(options={'reset_mask': terminations | truncations})"
            )
        return self._done

    def _finish(self, outcome: StepOutcome) -> tuple:
        """End a step in which all environments moved; SAME_STEP resets the finished ones at once."""
        observation, reward, terminated, truncated, values, faults, done, ended_now = outcome
        infos = InfoBuilder(values, ~self._nobody())
        final: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and ended_now:
            rows = indices(done, ended_now)
            final_obs = each(lambda part: only_rows(part, rows), observation)
            ended = infos.split(rows, done)
            ended.put_faults(faults, done)
            self._restart(observation, infos, rows, done)
            final = {"final_obs": each(self._export, final_obs), "final_info": ended.info(self._export)}
            final |= dict.fromkeys(("_final_obs", "_final_info"), self._export(done))
        else:
            self._done, self._ended = done, ended_now > 0
        infos.put_faults(faults)
        return self._hand_out(observation, reward, terminated, truncated, info=infos.info(self._export) | final)

    def _finish_resetting(self, outcome: StepOutcome, resetting: Array) -> tuple:
        """End a step of NEXT_STEP in which the environments that finished before are reset instead of moved."""
        moved = ~resetting
        rows, reward = indices(resetting), self._kind.xp.where(moved, outcome.reward, 0)
        terminated, truncated = outcome.terminated & moved, outcome.truncated & moved
        infos = InfoBuilder(outcome.info, ~self._nobody())
        infos.split(rows, resetting)
        self._restart(outcome.observation, infos, rows, resetting)
        infos.put_faults(outcome.faults, moved)
        self._done = terminated | truncated
        self._ended = some(self._done)
        return self._hand_out(outcome.observation, reward, terminated, truncated, info=infos.info(self._export))

    def _restart(self, observation: Observation, infos: InfoBuilder, rows: Array, mask: Array) -> None:
        """Begin an episode in the environments `rows` (k,), which `mask` (num_envs,) marks too.

        Their rows of `observation` (num_envs, ...) and their values in `infos` are overwritten.
        """
        if len(rows):
            result = self.batch.reset(rows)
            begun = parts_of(result.observation)
            for name, part in parts_of(observation).items():
                part[rows] = begun[name]
            self._elapsed[rows] = 0
            infos.put(result.info, rows, mask)

    def _warn(self, faults: Array) -> None:
        """Warn of faults, bit masks (num_envs,), of a kind that has not been warned of."""
        rows = indices(faults)
        steps = self.batch.streams.steps[rows]
        self._reporter.report(zip(rows.tolist(), faults[rows].tolist(), steps.tolist(), strict=True))

    # -- In and out ---------------------------------------------------------------------------------------------------

    def _hand_out(self, observation: Observation, *rest: Array, info: dict[str, Any]) -> tuple:
        """Keep the observations, and give the caller copies on the wished device, as tensors or arrays."""
        self._observation = observation
        if self._window is not None:
            self.render()
        if self._pack is not None:
            return self._pack((observation, *rest, info))
        return each(lambda part: self._export(copy(part)), observation), *map(self._export, rest), info
