"""Randomization of a task: numbers of the model, pushes and external wrenches, at starts, resets and intervals."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import torch

from ...physics.model.parameters import checked
from ...physics.model.tables.kernel_numbers import mujoco_numbers
from ..arrays import Array
from ..task.noise import Noise
from ..task.task import Last, Start, Task, TaskState
from .pushes import BoundPush, BoundWrench, Push, Wrench
from .randomize import BoundTerm, Randomize
from .renewal import Renewal, whole_steps
from .scatter import BoundScatter, Scatter

Term = Randomize | Push | Wrench | Scatter


class Randomization:
    """All that a task randomizes, by terms in the order in which they act.

    Make one in `bind`, let it begin in `reset_after`, and ask it in `step`, before the observation is made:

        def bind(self):
            self.randomization = Randomization(self, dr.mass(0.9, 1.1), dr.friction(0.4, 1.0), Push(x=(-0.5, 0.5)))

        def reset_after(self, last, noise):
            return self.randomization.begin(self.reset(noise), last, noise)

        def step(self, state, action):
            ...
            state, changes = self.randomization.step(state)
            return StepResult(self.observation(state), terms, fell, info, state.memory, **changes)

    A push is in the velocities of the state that `step` returns, so that an observation shows it, and not in the
    derived quantities, which belong to the last evaluation. All of it acts from the next step on. Constants of the
    model that depend on changed numbers follow as in MuJoCo's `mj_setConst`. Terms for the same numbers act one after
    the other.

    Memory holds lasting values: `name_0`, `name_1`, ... by the terms' order, or a term's own name, (n, k) each, and
    `..._steps`, the steps until an interval is over.

    Args:
        task: a bound task.
        terms: `Randomize` and the functions in `randomize`, `Push`, `Wrench`, `Scatter`.
        name: of the memory.

    Raises:
        ValueError: a term does not fit the model, or may draw numbers that no model has; the message names it.
        KeyError: no parameter has such a name.
    """

    def __init__(self, task: Task, *terms: Term, name: str = "randomization") -> None:
        self._task, self._model = task, task.model
        self._terms: list[_Drawn] = []
        self._pushes: list[BoundPush] = []
        self._wrenches: list[BoundWrench] = []
        self._scatters: list[BoundScatter] = []
        for k, term in enumerate(terms):
            if isinstance(term, Randomize):
                self._terms.append(_Drawn(task, term.bound(task.model), term.name or f"{name}_{k}"))
            elif isinstance(term, Push):
                self._pushes.append(term.bound(task, f"{name}_{k}"))
            elif isinstance(term, Wrench):
                self._wrenches.append(term.bound(task, f"{name}_{k}"))
            elif isinstance(term, Scatter):
                self._scatters.append(term.bound(task))
            else:
                raise TypeError(f"Randomization: {term!r} is no term; there are Randomize, Push, Wrench and Scatter")
        for drawn in self._terms:
            if [other.name for other in self._terms].count(drawn.name) > 1:
                raise ValueError(f"{drawn.term.term}: name={drawn.name!r}: another term keeps its numbers by that name")
        names = dict.fromkeys(name for drawn in self._terms for name in drawn.term.parameters)
        self._own = {name: mujoco_numbers(task.model, name)[None] for name in names}
        self._at_resets = self._joined(lambda drawn: not drawn.lasts)
        self._at_intervals = self._joined(lambda drawn: drawn.interval)
        for drawn in self._at_intervals:
            drawn.kept = True
        for drawn in self._terms:
            self._require(str(drawn.term.term), [drawn])
        self._require("Randomization, all terms together", self._terms)

    @property
    def parameters(self) -> Set[str]:
        """The numbers of the model that terms change, by MuJoCo's names."""
        return self._own.keys()

    @property
    def lasting(self) -> Set[str]:
        """The terms that some reset does not draw: they are drawn once, or at intervals too."""
        return {name for drawn in self._terms if drawn.lasts or drawn.interval for name in drawn.term.parameters}

    def begin(self, start: Start, last: Last, noise: Noise, onto: bool = False) -> Start:
        """Return starts of n episodes with per-environment model parameters, and with the memory of all terms.

        Args:
            start: of the episodes.
            last: the episodes before: draws at "start" are kept, unless the environment was seeded since.
            noise: of the episodes.
            onto: True: terms change the numbers that the start has, where it has some, in place of the model's.

        Raises:
            ValueError: the task itself gives numbers that terms change, or that terms change at intervals.
        """
        both = [name for name in self._own if name in start.parameters]
        if both and not onto:
            raise ValueError(f"Randomization: {both} are in the parameters of the start too; leave them to one of both")
        if later := [name for drawn in self._at_intervals for name in drawn.term.parameters if name in both]:
            raise ValueError(f"the task gives {later[0]} itself: draw for it at resets or starts, not at intervals")
        memory, draws = dict(start.memory), {}
        for drawn in self._terms:
            draws[drawn], more = drawn.begin(last, noise)
            memory |= more
        acting: list[BoundPush | BoundWrench] = [*self._pushes, *self._wrenches]
        for each in acting:
            memory |= each.begin(noise)
        for scatter in self._scatters:
            start = scatter.begin(start, noise)
        known = last.memory and not _numpy(last.fresh).any()  # all environments have their one-time draws
        terms = self._at_resets if known and not both else self._terms
        given = {name: _numpy(start.parameters[name]) for name in both}
        parameters = self._numbers(terms, [draws[drawn] for drawn in terms], last.envs, given) if terms else {}
        return start._replace(memory=memory, parameters={**start.parameters, **parameters})

    def step(self, state: TaskState) -> tuple[TaskState, dict[str, Any]]:
        """Go on by a step.

        Args:
            state: after the step.

        Returns:
            the state with its memory and, after a push, other velocities; and further fields for the `StepResult`,
            by its names: `parameters` and `parameters_mask`, `inputs`, `qvel`.
        """
        changes: dict[str, Any] = {}
        due = None
        for drawn in self._terms:
            if drawn.interval:
                state, its = drawn.step(state)
                due = its if due is None else due | its
        if due is not None and _numpy(due).any():
            changes["parameters"], changes["parameters_mask"] = self._renewed(state, due), due
        for push in self._pushes:
            state, kicked = push.step(state)
            if kicked:
                changes["qvel"] = state.qvel
        turned = False
        for wrench in self._wrenches:
            state, its = wrench.step(state)
            turned |= its
        if turned:
            changes["inputs"] = {"xfrc_applied": reduce(add, (wrench.spread(state) for wrench in self._wrenches))}
        return state, changes

    def _joined(self, wanted: Callable[["_Drawn"], bool]) -> list["_Drawn"]:
        """Return the wanted terms and all that have a part in the same numbers, also by way of others, in order."""
        terms = [drawn for drawn in self._terms if wanted(drawn)]
        while True:
            names = {name for drawn in terms for name in drawn.term.parameters}
            more = [drawn for drawn in self._terms if names & {*drawn.term.parameters}]
            if len(more) == len(terms):
                return more
            terms = more

    def _renewed(self, state: TaskState, due: Array) -> dict[str, np.ndarray]:
        """Return the numbers (n, ...) that terms at intervals change; rows that are not `due` are zero."""
        rows = _numpy(due).nonzero()[0]
        draws = [_numpy(state.memory[drawn.name])[rows] for drawn in self._at_intervals]
        parameters = {}
        for name, numbers in self._numbers(self._at_intervals, draws, rows).items():
            parameters[name] = np.zeros((due.shape[0], *numbers.shape[1:]))
            parameters[name][rows] = numbers
        return parameters

    def _numbers(
        self,
        terms: list["_Drawn"],
        found: list[Array],
        envs: Array | None = None,
        given: Mapping[str, np.ndarray] | None = None,
    ) -> dict[str, np.ndarray]:
        """Return the changed numbers of the model, (n, ...) each, from the draws of terms, (n, width) each.

        Numbers that differ between environments by the shapes of their scene are taken from the environments `envs`
        (n,), and those in `given` (n, ...) in place of the model's.
        """
        drawn = [_numpy(numbers).astype(np.float64) for numbers in found]
        names = dict.fromkeys(name for each in terms for name in each.term.parameters)
        varied = {} if envs is None else self._task._varied
        values = {
            name: varied[name][_numpy(envs)] if name in varied else np.repeat(self._own[name], len(drawn[0]), axis=0)
            for name in names
        }
        for name, numbers in (given or {}).items():
            values[name] = np.array(np.broadcast_to(numbers, values[name].shape), np.float64)
        for each, numbers in zip(terms, drawn, strict=True):
            each.term.apply(values, numbers)
        return values

    def _require(self, owner: str, terms: list["_Drawn"]) -> None:
        """Raise ValueError if terms may draw numbers that no model has; corners of the ranges are tried."""
        for corner in _corners([drawn.term for drawn in terms]):
            with np.errstate(all="ignore"):
                values = self._numbers(terms, corner)
            for name, numbers in values.items():
                try:
                    checked(self._model, name, numbers, np.zeros(1, int))
                except ValueError as error:
                    message = str(error).replace(" of environment 0", "")
                    raise ValueError(f"{owner}: it may come to this: {message}. Draw from less, or give clip") from None


class _Drawn:
    """A term with its place in the memory.

    Attributes:
        term: the term to draw.
        name: of the memory.
        interval: whether it is resampled within episodes.
        lasts: whether it is drawn once for an environment.
        kept: whether the memory keeps its draws.
    """

    def __init__(self, task: Task, term: BoundTerm, name: str) -> None:
        self.term, self.name = term, name
        self._task, self._steps = task, f"{name}_steps"
        when = term.term.when
        self._time = (0.0, 0.0) if isinstance(when, str) else when
        self.interval = not isinstance(when, str)
        self.lasts = when == "start"
        self.kept = self.interval or self.lasts or term.term.name is not None
        self._renewal = Renewal(self._draw)

    def begin(self, last: Last, noise: Noise) -> tuple[Array, dict[str, Array]]:
        """Return numbers (n, width) with which episodes begin, and the memory of them."""
        memory = self._draw(noise)
        if self.lasts and self.name in last.memory:
            fresh = self._task.xp.reshape(last.fresh, (-1, 1))
            memory[self.name] = self._task.xp.where(fresh, memory[self.name], last.memory[self.name])
        return memory[self.name], memory if self.kept else {}

    def step(self, state: TaskState) -> tuple[TaskState, Array]:
        """Resample environments whose interval is over; return the state, and the mask of them (n,)."""
        steps = state.memory[self._steps] - 1
        due = steps <= 0
        memory = {self.name: state.memory[self.name], self._steps: steps}
        return state.remember(**self._renewal(state.noise, due, memory)), due

    def _draw(self, noise: Noise) -> dict[str, Array]:
        """Draw numbers, rounded to the solver's precision as memory keeps them; and the time until the next."""
        memory = {self.name: self._task.array(self.term.draw(noise))}
        if self.interval:
            seconds = self._task.array(noise.uniform(*self._time, 1)[:, 0])
            memory[self._steps] = whole_steps(seconds, self._task.dt)
        return memory


def _corners(terms: Sequence[BoundTerm]) -> list[list[np.ndarray]]:
    """Return extreme draws (1, width) of terms, a list of them for each corner that is tried.

    They are all lowest and all highest numbers; every other axis lowest and the rest highest, which bring the ends of a
    range across each other, and the reverse; and, as two terms may do that too, each term at one end and the rest at
    the other.
    """
    ends = [term.extremes() for term in terms]
    mixed = [term.mixed_extremes() for term in terms]
    corners = [[both[end] for both in pairs] for pairs in (ends, mixed) for end in (0, 1)]
    if len(terms) > 1:
        for single in range(len(terms)):
            corners += [[both[end ^ (k == single)] for k, both in enumerate(ends)] for end in (0, 1)]
    return corners if terms else []


def _numpy(array: Any) -> np.ndarray:
    """Return an array of any library in numpy."""
    return array.cpu().numpy() if isinstance(array, torch.Tensor) else np.asarray(array)
