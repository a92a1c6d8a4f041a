"""Checks of a task's results, before they are used: errors name the task, its method and the expected value."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from ...physics.solver.readout.derived import sources_of
from ..arrays import Array, ArrayKind
from ..task.inputs import checked_inputs
from ..task.matter import READS, TaskMatter, checked_particles
from ..task.observations import each, parts_of
from ..task.task import Observation, ResetResult, Start, StepResult, Task


class ResultCheck:
    """Checks the results of one task, and brings their numbers to the precision of the batch."""

    def __init__(self, task: Task, kind: ArrayKind, matter: TaskMatter | None = None) -> None:
        self._task, self._kind, self._name, self._matter = task, kind, type(task).__name__, matter
        self._dtype, self._boolean = kind.dtype, kind.boolean
        self._wanted: dict[str, tuple[tuple[int, ...], Any]] = {}  # shape and type of each part of an observation
        self._arrays_of_step: dict[str, tuple[tuple[int, ...], Any]] = {}  # the same, as the batch's library names them

    def reads(self) -> tuple[str, ...]:
        """The derived quantities that the task reads.

        Raises:
            KeyError: there is no such quantity; the message has the nearest names.
        """
        reads = self._known("reads", [name for name in self._task.reads if name not in READS])
        if lost := [name for name in self._task.reads if name in READS] if self._matter is None else []:
            raise KeyError(f"{self._name}.reads: {lost[0]!r}: the task has no matter; return it from `matter`")
        return reads

    def reads_present(self) -> tuple[str, ...]:
        """The derived quantities that the task reads in the state after a step.

        Raises:
            KeyError: there is no such quantity; the message has the nearest names.
            NotImplementedError: the task has matter.
        """
        reads = self._known("reads_present", self._task.reads_present)
        if reads and self._matter is not None:
            raise NotImplementedError(f"{self._name}.reads_present: a task with matter has only `reads`")
        return reads

    def _known(self, attribute: str, rigid: Sequence[str]) -> tuple[str, ...]:
        """Return the names in an attribute of the task, of which `rigid` are known to the rigid solver."""
        reads = getattr(self._task, attribute)
        if isinstance(reads, str):
            raise TypeError(
                f"{self._name}.{attribute} is {reads!r}; needed is a sequence of names, such as ({reads!r},)"
            )
        try:
            sources_of(rigid)
        except KeyError as error:
            raise KeyError(f"{self._name}.{attribute}: {error.args[0]}") from None
        return tuple(reads)

    # -- results ------------------------------------------------------------------------------------------------------

    def start(self, start: Any, n: int) -> tuple[Array, Start]:
        """Check the result of `reset` for n episodes; return coordinates (n, nq + nv) and the rest with checked arrays.

        The solver checks the values of the parameters (`parameters`).

        Raises:
            TypeError, ValueError: it is no `Start`, or a shape is wrong.
            KeyError: there is no input of such a name.
        """
        self._require(start, Start, "reset")
        xp, parts, model = self._kind.xp, [], self._task.model
        for name, width in (("qpos", model.nq), ("qvel", model.nv)):
            values = self._kind.numbers(getattr(start, name))
            if tuple(values.shape) not in ((n, width), (width,)):
                raise ValueError(
                    f"{self._name}.reset: {name} has shape {tuple(values.shape)}; needed is ({n}, {width}), "
                    f"(episodes, model.{'nq' if name == 'qpos' else 'nv'})"
                )
            parts.append(values if values.ndim == 2 else xp.broadcast_to(values, (n, width)))
        if start.act is not None:
            start = start._replace(act=self._kind.numbers(start.act))
            if tuple(start.act.shape) != (n, model.na):
                raise ValueError(
                    f"{self._name}.reset: act has shape {tuple(start.act.shape)}; needed is ({n}, {model.na}), "
                    "(episodes, model.na)"
                )
        self._check_rows("reset", "memory", start.memory, n)
        memory = {name: self._kind.like(value) for name, value in start.memory.items()}
        inputs = self.inputs("reset", start.inputs, n)
        if start.particles:
            particles = checked_particles(f"{self._name}.reset", start.particles, n, self._matter, self._kind)
            start = start._replace(particles=particles)
        qpos, qvel = parts
        return xp.concat(parts, axis=1), start._replace(qpos=qpos, qvel=qvel, memory=memory, inputs=inputs)

    def begun(self, result: Any, n: int) -> ResetResult:
        """Check the result of `begin` for n episodes; errors as in `start`."""
        self._require(result, ResetResult, "begin")
        self._check_rows("begin", "info", result.info, n)
        self._check_rows("begin", "memory", result.memory, n)
        inputs = self.inputs("begin", result.inputs, n)
        return result._replace(observation=self._observation(result.observation, n, "begin"), inputs=inputs)

    def stepped(self, result: Any, n: int) -> StepResult:
        """Check the result of `step` for n environments; errors as in `start`."""
        if type(result) is not StepResult:
            self._require(result, StepResult, "step")
        try:
            fits = self._fits(result, (n,))
        except AttributeError:  # a plain number among the arrays
            fits = False
        result, inputs = result if fits else self._mended(result, n), result.inputs
        self._require_mapping("step", "memory", result.memory)
        if result.parameters or result.qvel is not None or result.qpos is not None:
            result = self._changed(result, n)
        if type(inputs) is dict and not inputs:  # as is nearly always so
            return result
        return result._replace(inputs=self.inputs("step", inputs, n))

    def _fits(self, result: StepResult, shape: tuple[int]) -> bool:
        """Return True if a step's result needs no conversion and has no mistake, as is nearly always so."""
        observation, terms, terminated, info, _, truncated, *_ = result
        dtype = self._dtype
        for term in terms.values():
            if term.shape != shape or term.dtype is not dtype:
                return False
        for value in info.values():
            if value.shape[:1] != shape:
                return False
        if terminated is not None and (terminated.shape != shape or terminated.dtype is not self._boolean):
            return False
        if truncated is not None and (truncated.shape != shape or truncated.dtype is not self._boolean):
            return False
        expected = self._arrays_of_step
        if not isinstance(observation, dict):
            return (observation.shape, observation.dtype) == expected.get("") and len(terms) > 0
        forms = {name: (part.shape, part.dtype) for name, part in observation.items()}
        return forms == expected and len(terms) > 0

    def _mended(self, result: StepResult, n: int) -> StepResult:
        """Convert the numbers of a step's result to the solver's precision; raise if they cannot be used."""
        self._require_mapping("step", "reward_terms", result.reward_terms)
        if not result.reward_terms:
            raise ValueError(f'{self._name}.step: reward_terms is empty; needed is at least one, {{"reward": (n,)}}')
        for name, term in result.reward_terms.items():
            if getattr(term, "shape", None) != (n,):
                raise ValueError(self._shape_message("step", f"reward term {name!r}", term, (n,)))
        terms = {name: self._kind.numbers(term) for name, term in result.reward_terms.items()}
        for flag in ("terminated", "truncated"):
            if (ended := getattr(result, flag)) is None:
                continue
            if getattr(ended, "shape", None) != (n,):
                raise ValueError(self._shape_message("step", flag, ended, (n,)))
            if ended.dtype != self._boolean:
                raise TypeError(f"{self._name}.step: {flag} has dtype {ended.dtype}; needed is bool")
        self._check_rows("step", "info", result.info, n)
        return result._replace(observation=self._observation(result.observation, n, "step"), reward_terms=terms)

    def _changed(self, result: StepResult, n: int) -> StepResult:
        """Check the changes that a step makes: coordinates, and numbers of the model with their environments."""
        if (mask := result.parameters_mask) is not None:
            if getattr(mask, "shape", None) != (n,) or mask.dtype != self._boolean:
                raise ValueError(self._shape_message("step", "parameters_mask", mask, f"({n},), of bool"))
            self._check_rows("step", "parameters", result.parameters, n)
        changed = {}
        for name, width in (("qvel", self._task.model.nv), ("qpos", self._task.model.nq)):
            if (values := getattr(result, name)) is None:
                continue
            if getattr(values, "shape", None) != (n, width):
                raise ValueError(self._shape_message("step", name, values, (n, width)))
            changed[name] = self._kind.numbers(values)
        return result._replace(**changed)

    def inputs(self, method: str, inputs: Any, n: int) -> Mapping[str, Array]:
        """Check the inputs of the solver that a method returned for n environments; return them as arrays.

        Raises:
            TypeError, ValueError: they are no mapping, or a shape is wrong.
            KeyError: there is no input of such a name.
        """
        if type(inputs) is dict and not inputs:
            return inputs
        return checked_inputs(f"{self._name}.{method}", inputs, n, self._task.model, self._kind)

    def parameters(self, error: KeyError | ValueError, method: str) -> KeyError | ValueError:
        """Return the error for model numbers that a method returned and the solver refused."""
        return type(error)(f"{self._name}.{method}: parameters: {error.args[0]}")

    def missing(self, error: KeyError) -> KeyError:
        """Return the error for a name that a method of the task looked for in its state and that is not there.

        A message of another look-up, which is no name, is returned as it is.
        """
        if error.args and " " in str(error.args[0]):
            return error
        return KeyError(
            f"{self._name} asked for {error}, which is not there. If it was asked of state.fields, name it in "
            f"{self._name}.reads, which has {list(self._task.reads)}; if of state.memory, return it in the memory of "
            f"{self._name}.reset or begin; if of state.images, name it in {self._name}.cameras"
        )

    def controls(self, controls: Array, n: int) -> Array:
        """Check the result of `control` for n environments; errors as in `start`."""
        expected = (n, self._task.model.nu)
        if getattr(controls, "shape", None) != expected:
            raise ValueError(self._shape_message("control", "the result", controls, expected))
        return controls

    def require_controls(self) -> None:
        """Refuse actions that are no controls, of a task that does not turn them into controls.

        Raises:
            ValueError: they have another shape than the controls.
        """
        space, expected = self._task.action_space, (self._task.model.nu,)
        if getattr(space, "shape", None) in (None, expected):  # spaces without a shape are refused elsewhere
            return
        raise ValueError(
            f"{self._name}: its action_space is {space}, and controls have the shape {expected}: define "
            "control(state, action), which turns the one into the other"
        )

    # -- observations -------------------------------------------------------------------------------------------------

    def observation_space(self, example: Observation) -> gymnasium.Space:
        """The space of one environment's observations: the task's own in the solver's precision, or one that fits.

        Args:
            example: observations (n, ...) of a first reset.

        Raises:
            TypeError: the task's own is not a `Box` or a `Dict` of boxes of floating-point numbers or bytes.
        """
        space = self._task.observation_space
        if space is None:
            space = each(self._fitting_box, example)
            space = gymnasium.spaces.Dict(space) if isinstance(space, dict) else space
        boxes = dict(space.spaces) if isinstance(space, gymnasium.spaces.Dict) else {"": space}
        for name, box in boxes.items():
            if not isinstance(box, gymnasium.spaces.Box) or not (box.dtype.kind == "f" or box.dtype == np.uint8):
                raise TypeError(
                    f"{self._name}.observation_space: {name or 'it'} is {box}; needed is a Box, or a Dict of boxes, of "
                    "floating-point numbers or uint8"
                )
            if box.dtype.kind == "f":
                dtype = np.float64 if self._kind.dtype == self._kind.xp.float64 else np.float32
                boxes[name] = gymnasium.spaces.Box(box.low.astype(dtype), box.high.astype(dtype), dtype=dtype)
        self._wanted = {name: (tuple(box.shape or ()), box.dtype) for name, box in boxes.items()}
        n = len(next(iter(parts_of(example).values())))
        checked = self._observation(example, n, "begin")
        self._arrays_of_step = {name: (part.shape, part.dtype) for name, part in parts_of(checked).items()}
        return gymnasium.spaces.Dict(boxes) if isinstance(space, gymnasium.spaces.Dict) else boxes[""]

    def _fitting_box(self, part: Array) -> gymnasium.Space:
        """Return the space of all numbers, or of all bytes, in the shape of one environment's part (n, ...)."""
        xp, shape = self._kind.xp, tuple(part.shape[1:])
        if part.dtype == xp.uint8:
            return gymnasium.spaces.Box(0, 255, shape, np.uint8)
        dtype = np.float64 if part.dtype == xp.float64 else np.float32
        return gymnasium.spaces.Box(-np.inf, np.inf, shape, dtype)

    def _observation(self, observation: Observation, n: int, method: str) -> Observation:
        """Check an observation of n environments, and bring its numbers to the solver's precision."""
        xp, expected = self._kind.xp, self._wanted
        if isinstance(observation, Mapping):  # such as state.images
            observation = dict(observation)
        parts = parts_of(observation)
        if not parts:
            raise ValueError(f"{self._name}.{method}: the observation has no blocks; name at least one")
        if expected and parts.keys() != expected.keys():
            raise ValueError(
                f"{self._name}.{method}: the observation has {_blocks(parts)}; needed, as in the observation space, "
                f"is {_blocks(expected)}"
            )
        checked = {}
        for name, part in parts.items():
            what = f"block {name!r} of the observation" if name else "the observation"
            shape = getattr(part, "shape", None)
            if shape is None or len(shape) < 2 or shape[0] != n or (expected and shape[1:] != expected[name][0]):
                needed = (n, *expected[name][0]) if expected else f"({n}, ...), environments in front"
                raise ValueError(self._shape_message(method, what, part, needed))
            floating = part.dtype == self._kind.dtype or xp.isdtype(part.dtype, "real floating")
            if not floating and part.dtype != xp.uint8:
                raise TypeError(
                    f"{self._name}.{method}: {what} has dtype {part.dtype}; needed is floating point, or uint8 for "
                    "pictures: xp.astype(x, xp.float32)"
                )
            if expected and floating != (expected[name][1].kind == "f"):
                raise TypeError(
                    f"{self._name}.{method}: {what} has dtype {part.dtype}; "
                    f"the observation space has {expected[name][1]}"
                )
            checked[name] = part if not floating or part.dtype == self._kind.dtype else self._kind.numbers(part)
        return checked if isinstance(observation, dict) else checked[""]

    # -- messages -----------------------------------------------------------------------------------------------------

    def _require(self, result: Any, record: type, method: str) -> None:
        if not isinstance(result, record):
            raise TypeError(
                f"{self._name}.{method} returned {type(result).__name__}; needed is "
                f"tumble.envs.{record.__name__}({', '.join(inspect.signature(record).parameters)})"
            )

    def _check_rows(self, method: str, what: str, values: Mapping[str, Array], n: int) -> None:
        """Require arrays by name with n environments in front."""
        self._require_mapping(method, what, values)
        for name, value in values.items():
            if tuple(getattr(value, "shape", ()))[:1] != (n,):
                raise ValueError(self._shape_message(method, f"{what} {name!r}", value, f"({n}, ...)"))

    def _require_mapping(self, method: str, what: str, values: Any) -> None:
        if not isinstance(values, Mapping):
            kind = type(values).__name__
            raise TypeError(f"{self._name}.{method}: {what} is {kind}; needed are arrays by name, as in a dict")

    def _shape_message(self, method: str, what: str, value: Any, wanted: Any) -> str:
        shape = getattr(value, "shape", None)
        fault = f"is {type(value).__name__}" if shape is None else f"has shape {tuple(shape)}"
        return f"{self._name}.{method}: {what} {fault}; needed is an array of shape {wanted}"


def _blocks(parts: Mapping[str, Any]) -> str:
    """Name the parts of an observation, for messages."""
    return "one array" if list(parts) == [""] else f"the blocks {sorted(parts)}"
