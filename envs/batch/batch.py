"""A task on a solver: the batch moves all environments at once. It knows neither time limits nor Gymnasium."""

import reprlib
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from ...physics.base.arguments import CheckedEnvs
from ...physics.files.mjmodel.actuators import control_names
from ...physics.machine.normal_mode import in_normal_mode
from ..arrays import Array, copy, counts, equal, finite_or_zero, host, indices, owns_data
from ..faults import NON_FINITE
from ..managers.options import ManagerOptions
from ..saved import require_parts, require_tensor
from ..simulators import kind_in, make_solver
from ..task.memory import TaskMemory, Varied
from ..task.noise import Noise, Streams
from ..task.observations import each
from ..task.scans import poses_for
from ..task.task import Last, Observation, ResetResult, Task, load, numbers_loaded
from .checks import ResultCheck
from .managed import Managers, ModelChange
from .views import BatchView, make_view, sensed_by_steps


class StepOutcome(NamedTuple):
    """The result of one environment step for all environments."""

    observation: Observation
    reward: Array  # (num_envs,)
    terminated: Array  # (num_envs,) bool
    truncated: Array  # (num_envs,) bool: cut short by the task or out of time; None where neither was asked
    info: dict[str, Array]  # each (num_envs, ...)
    faults: Array | None  # (num_envs,) bit masks of the solver; None if there are none
    done: Array  # (num_envs,) bool: terminated or truncated
    ended: int  # how many are done


@in_normal_mode
class TaskBatch:
    """A batch of environments that all do the same task.

    Attributes:
        task: a copy of the given task that is bound to the model; the given one stays as it was.
        kind: library, precision and device of all arrays.
        solver: the solver that moves the environments.
        streams: the random numbers of every environment.
        managers: randomization, noise and delays around the task's methods.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int,
        model_options: Mapping[str, Any] | None = None,
        simulator: str = "tumble",
        library: str | None = None,
        view: Callable[..., BatchView] = make_view,
        managers: ManagerOptions | None = None,
    ) -> None:
        """Load the model, make the solver, and begin an episode in every environment, to see that the task can.

        Args:
            task: the task of all environments.
            num_envs: how many environments.
            model_options: options that override the model file's, e.g. {"timestep": 0.005, "tolerance": 1e-10}.
            simulator: "tumble", or "mujoco" for MuJoCo's C.
            library: of the task's arrays; None: as the task has it.
            view: makes the view of the solver.
            managers: run around the task's methods; None: only those of the task.

        Raises:
            ValueError, TypeError, KeyError: the task does not fit its model, or gives something wrong.
            NotImplementedError: MuJoCo lacks a feature of the model or the task.
        """
        self.num_envs = num_envs
        self.whole: tuple[int, int] | None = None  # see `Last`
        if not isinstance(model_options, Mapping | None):
            raise TypeError(f"model_options={model_options!r}: expected options by name, as in a dict")
        self._model_options = dict(model_options or {})
        model, variants, matter = load(task, self._model_options)
        self.kind = kind_in(simulator, library or task.array_library)
        self._varied = Varied(model.mj, num_envs)
        particles = None if matter is None else matter.slices
        self.task = task = task.bound(model.mj, self.kind, self._varied, particles)
        self._check = ResultCheck(task, self.kind, matter)
        reads, present = self._check.reads(), self._check.reads_present()
        outputs = [*reads, *poses_for(task.rays), *sensed_by_steps(present, model.mj)]
        self.solver = make_solver(simulator, model, num_envs, outputs, matter)
        for shapes in variants:
            self._varied |= shapes.apply(self.solver)
        self._view = view(self.solver, reads, task.cameras, task.rays, self.kind, present)
        self.managers = Managers(task, managers or ManagerOptions())
        self._follows = type(task).reset_after is not Task.reset_after or self.managers.randomizes
        self._gone = False  # True: the episodes before the next reset are not known
        self._left: Last | None = None  # the ends of environments that are reset after the present step
        self._drives = type(task).drive is not Task.drive
        self._maps_actions = type(task).control is not Task.control or task.control_each_substep or self._drives
        if type(task).control is Task.control:
            self._check.require_controls()
        self.streams = Streams(num_envs, self.kind)
        self._memory = TaskMemory(type(task).__name__, self.kind)
        everyone = self.kind.xp.arange(num_envs, device=self.kind.device)
        self._task_space: Any = None  # of observations as the task returns them
        self._example: Observation  # one of these
        self.observation = self.reset(everyone).observation  # of a first episode, which no user sees
        self.action_space, self.observation_space = task.action_space, self.managers.space(self._task_space)

    @property
    def action_names(self) -> list[str]:
        """The controls' names, `control_names`; nothing where the task turns actions into controls."""
        model = self.task.model
        if self._maps_actions:
            return []
        return control_names(model)

    def check_task(self, task: Task) -> None:
        """Refuse a task of other options that these environments cannot go on with; nothing is changed.

        Args:
            task: bound to the same model.

        Raises:
            ValueError, TypeError, KeyError: its model, spaces, memory or reads are others, or its episodes do
                not begin.
        """
        for name in ("reads", "reads_present", "cameras", "rays"):
            if not equal(getattr(task, name), getattr(self.task, name)):
                raise ValueError(f"the task's {name} are then others, and are read when environments are made")
        options = self._model_options
        loaded = numbers_loaded(self.task, options)
        differs = not equal(numbers_loaded(task, options), loaded)
        if differs and equal(numbers_loaded(self.task, options), loaded):  # else the task draws its model at random
            raise ValueError("the task's model is then another, and is loaded when environments are made")
        for name in ("action_space", "observation_space"):
            if (now := getattr(task, name)) != (before := getattr(self.task, name)):
                raise ValueError(f"the {name} is then {now}, and was {before}")
        self._check_memory(task, Managers(task, self.managers.options))

    def check_managers(self, managers: Managers) -> None:
        """Refuse managers that these environments cannot go on with; nothing is changed.

        Raises:
            ValueError: they have other memory, other terms drawn at "start", or show other observations.
        """
        if not equal(managers.options.drawn_once, self.managers.options.drawn_once):
            raise ValueError('terms that draw at "start" are then others, and environments keep what they have drawn')
        self._check_memory(self.task, managers)
        if (now := managers.space(self._task_space)) != self.observation_space:
            raise ValueError(f"the observation_space is then {now}, and was {self.observation_space}")

    def renew_managers(self, options: ManagerOptions | None = None) -> None:
        """Bind managers to the task as it is now; None: of the same options. `check_managers` has found them to fit."""
        self.managers = Managers(self.task, self.managers.options if options is None else options)
        self.managers.learn(self._example)
        self._follows = type(self.task).reset_after is not Task.reset_after or self.managers.randomizes

    def _check_memory(self, task: Task, managers: Managers) -> None:
        """Refuse a task, or managers, that have other memory than those here."""
        first = self.kind.xp.arange(1, device=self.kind.device)
        noise, follows = self.streams.present(first), self._follows or managers.randomizes
        last = self._last(first) if follows else None
        drawn = task.reset(noise) if last is None else self._ask(task.reset_after, last, noise)
        _, start = self._check.start(drawn, 1)
        _, start = managers.start(start, last, noise, 1)
        result = self._check.begun(self._ask(task.begin, self._view.look(start.memory, noise, first)), 1)
        shown, _ = managers.shown_first(result.observation, noise)
        now, before = (
            {name: tuple(array.shape[1:]) for name, array in memory.items()}
            for memory in ({**start.memory, **result.memory, **shown}, self._memory.arrays)
        )
        if other := [name for name in {**before, **now} if now.get(name) != before.get(name)]:
            shapes = [shape.get(other[0], "absent") for shape in (now, before)]
            raise ValueError(f"the memory {other[0]!r} is then {shapes[0]} in each environment, and was {shapes[1]}")

    def no_env_mask(self) -> Array:
        """A mask (num_envs,) that is False everywhere."""
        return self.kind.zeros((self.num_envs,), self.kind.xp.bool)

    def seed(self, seeds: Sequence[int | None], rows: Array) -> None:
        """Seed the environments in `rows` from the list of all environments' seeds; None leaves one as it is."""
        self.streams.seed(seeds, rows)

    def reset(self, rows: Array) -> ResetResult:
        """Begin an episode in the environments `rows` (k,); return their observations and infos, each (k, ...)."""
        self.solver.runtime.require()
        last = (self._left or self._last(rows)) if self._follows else None
        self._left, self._gone = None, False
        noise, task, check = self.streams.begin(rows), self.task, self._check
        drawn = task.reset(noise) if last is None else self._ask(task.reset_after, last, noise)
        coordinates, start = check.start(drawn, len(rows))
        if self.managers:
            coordinates, start = self.managers.start(start, last, noise, len(rows))
        if start.parameters:
            self._set_env_parameters(start.parameters, rows, "reset")
        try:
            state = self._view.restart(rows, coordinates, start, noise)
        except ValueError as error:
            raise ValueError(f"{type(task).__name__}.reset: {error}") from error
        result = check.begun(self._ask(task.begin, state), len(rows))
        if self._task_space is None:
            self._task_space = check.observation_space(result.observation)
            self._example = each(lambda part: copy(part[:1]), result.observation)
        shown, observation = self.managers.shown_first(result.observation, noise)
        self._memory.begin({**start.memory, **result.memory, **shown}, rows)
        if result.inputs:
            self._view.drive(result.inputs, rows)
            self.solver.forward(CheckedEnvs(rows))
        if len(rows) == self.num_envs:
            self._coordinates = coordinates  # (num_envs, nq + nv), as the last step or reset left them
        else:
            self._coordinates[rows] = coordinates
        self._edits = self.solver.edits
        return result._replace(observation=each(self._own, observation))

    def step(self, action: Array, late: Array | None = None, leaving: Array | None = None) -> StepOutcome:
        """Take one environment step.

        Args:
            action: checked actions (num_envs, ...).
            late: True where the time limit ends with this step, (num_envs,) bool; None: nowhere.
            leaving: True for environments whose episode ended before, (num_envs,) bool; None: no environment. A reset
                of these follows at once, and starts from the ends that they have now.
        """
        left = self._last(indices(leaving)) if leaving is not None and self._follows else None
        task, solver = self.task, self.solver
        if solver.edits != self._edits:
            self._notice_edits()
        noise, managers = self.streams.advance(), self.managers
        changes: list[ModelChange] = []
        given, action = managers.acting(self._memory.arrays, action, noise)
        if self._maps_actions:
            self._drive(action, noise)
        else:
            self._view.step(task.frame_skip, action)
        self._edits = solver.edits
        state = self._view.look(self._memory.arrays, noise)
        result = self._check.stepped(self._ask(task.step, state, action), self.num_envs)
        if managers:
            result, changes = managers.stepped(state, result, given)
        self._memory.update(result.memory)
        if result.inputs:
            self._view.drive(result.inputs)
        self._coordinates = state.coordinates
        observation, terms = result.observation, result.reward_terms
        observation = each(self._own, observation) if isinstance(observation, dict) else self._own(observation)
        reward = reduce(add, terms.values()) if len(terms) > 1 else copy(*terms.values())
        terminated = self.no_env_mask() if result.terminated is None else self._own(result.terminated)
        info = {**result.info, **terms}
        truncated = late if result.truncated is None else result.truncated if late is None else result.truncated | late
        done = terminated if truncated is None else terminated | truncated
        faults = self._view.faults()
        if result.parameters:
            self._vary(result.parameters, result.parameters_mask)
        for change in changes:
            self._vary(*change)
        if (pushed := self._view.push(result, state)) is not None:
            self._coordinates, self._edits = pushed, solver.edits
        self._left = left  # only now: a step that failed is not followed by its reset
        faulty, ended = (0, *counts(done)) if faults is None else counts(faults, done)
        outcome = StepOutcome(observation, reward, terminated, truncated, info, faults if faulty else None, done, ended)
        return self._held(outcome, faults) if faulty else outcome

    def detach(self) -> None:
        """Cut the graph of a differentiable batch: states and memory become constants."""
        self._view.detach()
        self._memory.arrays = {name: array.detach() for name, array in self._memory.arrays.items()}
        self._coordinates = self._coordinates.detach()

    def unshare(self) -> None:
        """Copy the arrays that a reset overwrites in place: the graph of a differentiable batch needs the old ones."""
        self._memory.arrays = {name: copy(array) for name, array in self._memory.arrays.items()}
        self._coordinates = copy(self._coordinates)

    def state_dict(self) -> dict[str, Any]:
        """The solver's state, the task's memory and the streams of noise, as tensors, numbers and lists."""
        memory = {name: self.kind.to_tensor(array).clone() for name, array in self._memory.arrays.items()}
        state: dict[str, Any] = {
            "solver": self.solver.state_dict(),
            "memory": memory,
            "streams": self.streams.state_dict(),
            "frame_skip": self.task.frame_skip,
        }
        if self._varied:
            state["varied"] = self._varied.state_dict()
        if self.solver.edits != self._edits:  # the next step is to notice what a user changed, wherever it is taken
            state["coordinates"] = self.kind.to_tensor(self._coordinates).clone()
        return state

    def check_state(self, state: Any) -> dict[str, Array]:
        """Return the memory in a saved state, once memory and noise are known to fit; nothing is changed.

        Raises:
            TypeError, ValueError: the state is of another task, frame_skip or number of environments, or none at all.
        """
        where = f"{type(self.task).__name__}, saved state"
        optional = ("coordinates", "varied", "frame_skip")  # old states lack the last
        require_parts(where, state, ("solver", "memory", "streams"), optional)
        self._varied.check_state(where, state.get("varied", {}))
        if "coordinates" in state:
            require_tensor(f"{where}: coordinates", state["coordinates"], tuple(self._view.coordinates().shape))
        for name, value in dict(state["memory"]).items():
            require_tensor(f"the saved memory {name!r}", value, tuple(getattr(value, "shape", ())))
        memory = self._memory.fitting({name: self.kind.like(tensor) for name, tensor in state["memory"].items()})
        self._check_frame_skip(state.get("frame_skip", self.task.frame_skip))
        self.streams.check_state(state["streams"])
        return memory

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off; all of it is taken or nothing.

        Raises:
            ValueError: the state is of another task, model, timestep, frame_skip, precision or number of environments.
        """
        memory = self.check_state(state)
        self.solver.load_state_dict(state["solver"])  # raises before it writes anything
        self._memory.load(memory)
        if "varied" in state:
            self._varied.put({name: host(numbers) for name, numbers in state["varied"].items()}, slice(None))
        self._gone = False
        self.streams.load_state_dict(state["streams"])
        self._coordinates, self._edits = self._view.coordinates(), self.solver.edits
        if "coordinates" in state:
            self._coordinates, self._edits = self.kind.like(state["coordinates"].clone()), -1

    def take_streams(self, state: dict[str, Any]) -> None:
        """Continue the random streams of a previous batch; the next reset is the first one of a new batch.

        Raises:
            TypeError, ValueError: it is no state of the streams of as many environments.
        """
        self.streams.load_state_dict(state)
        self._gone = True

    def states(self, rows: Array | None) -> dict[str, Any]:
        """Return all that the future of the environments `rows` (k,), or of all, depends on: `put_states` takes it."""
        rows_idx = slice(None) if rows is None else rows
        return {
            "solver": self.solver.state.state_dict(None if rows is None else CheckedEnvs(rows)),
            "memory": {name: copy(array[rows_idx]) for name, array in self._memory.arrays.items()},
            "streams": self.streams.states(rows),
            "frame_skip": self.task.frame_skip,
            "coordinates": copy(self._coordinates[rows_idx]),
            "edited": self.solver.edits != self._edits,
            "varied": self._varied.of(rows_idx),
        }

    def check_states(self, states: Mapping[str, Any], count: int) -> None:
        """Refuse states of `count` environments that are of another task, model, frame_skip or precision.

        Raises:
            ValueError, TypeError: a part does not fit; the message names it.
        """
        self._check_frame_skip(states["frame_skip"])
        self._memory.fitting({name: self.kind.like(array) for name, array in states["memory"].items()}, count)
        self.solver.state.check_state_dict(states["solver"], count)

    def put_states(self, states: Mapping[str, Any], rows: Array | None, keep_noise: bool) -> None:
        """Continue environments from states that `check_states` found to fit: one state each, or one for all.

        Args:
            states: the result of `states`.
            rows: numbers of environments (k,); None for all.
            keep_noise: True: they keep their seeds, and the noise of their episodes.
        """
        rows_idx = slice(None) if rows is None else rows
        self._gone = False
        edited = states["edited"] or self.solver.edits != self._edits
        self.solver.state.load_state_dict(states["solver"], None if rows is None else CheckedEnvs(rows))
        for name, array in self._memory.arrays.items():
            array[rows_idx] = self.kind.like(states["memory"][name])
        self.streams.put_states(states["streams"], rows, steps_alone=keep_noise)
        self._varied.put(states["varied"], rows_idx)
        self._coordinates[rows_idx] = self.kind.like(states["coordinates"])
        self._edits = -1 if edited else self.solver.edits

    def _check_frame_skip(self, saved: Any) -> None:
        """Refuse states whose environment steps are of another number of physics steps."""
        task = self.task
        if not isinstance(saved, int) or saved != task.frame_skip:
            raise ValueError(
                f"the state of {type(task).__name__} was saved with frame_skip={reprlib.repr(saved)}, and here it is "
                f"{task.frame_skip}: its steps take another time; use the same frame_skip"
            )

    def _set_env_parameters(self, parameters: Mapping[str, Any], rows: Array, method: str) -> None:
        """Set per-environment model parameters, for the environments `rows`, that a method of the task returned."""
        try:
            self._view.set_env_parameters(parameters, rows)
        except (KeyError, ValueError) as error:
            raise self._check.parameters(error, method) from error

    def _vary(self, parameters: Mapping[str, Any], mask: Array | None) -> None:
        """Give environments the numbers of the model that a step returned."""
        rows = indices(~self.no_env_mask() if mask is None else mask)
        if len(rows):
            if mask is not None:
                envs = host(rows)
                parameters = {name: host(value)[envs] for name, value in parameters.items()}
            self._set_env_parameters(parameters, rows, "step")

    def _last(self, rows: Array) -> Last:
        """Return the last state of the environments `rows` (k,), for their next reset."""
        coordinates, nq = self._view.coordinates()[rows], self.task.model.nq
        memory = {name: array[rows] for name, array in self._memory.arrays.items()}
        fresh, steps = self.streams.fresh(rows), self.streams.steps[rows]
        if self._gone:
            memory, fresh, steps = {}, self.kind.xp.ones_like(fresh), 0 * steps
        return Last(rows, self.num_envs, fresh, steps, coordinates[:, :nq], coordinates[:, nq:], memory, self.whole)

    def _ask(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Call a method of the task; if it reads a name that its state does not have, the error says what to do."""
        try:
            return method(*arguments)
        except KeyError as error:
            if (clearer := self._check.missing(error)) is error:
                raise
            raise clearer from error

    def _drive(self, action: Array, noise: Noise) -> None:
        """Take the physics steps under controls that the task makes of the actions, once or before each of them."""
        task = self.task
        times, steps = (task.frame_skip, 1) if task.control_each_substep else (1, task.frame_skip)
        for _ in range(times):
            state = self._view.look_ahead(self._memory.arrays, noise)
            inputs = self._ask(task.drive, state, action) if self._drives else {}
            controls = self._ask(task.control, state, action)
            if inputs:
                self._view.drive(self._check.inputs("drive", inputs, self.num_envs))
            self._view.step(steps, self._check.controls(controls, self.num_envs))

    def _notice_edits(self) -> None:
        """Find states that a user changed through the solver; `begin` renews the memory and the inputs there."""
        self._edits = self.solver.edits
        rows = self._view.moved(self._coordinates)
        if len(rows):
            self.solver.forward(CheckedEnvs(rows))
            noise = self.streams.present(rows)
            memory = {name: array[rows] for name, array in self._memory.arrays.items()}
            result = self._ask(self.task.begin, self._view.look(memory, noise, rows))
            self._memory.write(result.memory, rows)
            if inputs := self._check.inputs("begin", result.inputs, len(rows)):
                self._view.drive(inputs, rows)

    def _own(self, array: Array) -> Array:
        """Return an array that its receiver may write to: a copy if this one is part of another or of the memory."""
        if owns_data(array):
            for kept in self._memory.arrays.values():
                if array is kept:
                    return copy(array)
            return array
        return copy(array)

    def _held(self, outcome: StepOutcome, faults: Array) -> StepOutcome:
        """End the episodes whose state did not stay finite; in their results replace numbers that are not by zero."""
        broken = (faults & NON_FINITE) != 0
        done = outcome.done | broken
        return outcome._replace(
            done=done,
            ended=counts(done)[0],
            observation=each(lambda part: finite_or_zero(part, broken), outcome.observation),
            reward=finite_or_zero(outcome.reward, broken),
            terminated=outcome.terminated | broken,
            info={name: finite_or_zero(value, broken) for name, value in outcome.info.items()},
        )
