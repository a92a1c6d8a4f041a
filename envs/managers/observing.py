"""Observations as sensors give them: noise, bias, limits, scale, delay and history of each term.

Each term goes through the same stages: bias and noise, clip, scale, delay, history. Terms are put side by side in the
order in which they were named, each with its history, oldest first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..arrays import Array, clip
from ..task.noise import Noise
from ..task.task import Task, TaskState
from .delays import Delay
from .ranges import require_bounds

Numbers = float | Sequence[float]


@dataclass(frozen=True)
class Term:
    """Noise, delay, clipping and scaling of one observed quantity (n, k). Numbers are in its unit, before scaling.

    Args:
        noise: of every step: evenly from -noise to noise, or the standard deviation; a number, or k of them.
        distribution: of the noise, "uniform" or "normal".
        bias: of every episode, evenly from -bias to bias; a number, or k of them.
        clip: lowest and highest number.
        scale: by which the quantity is multiplied; a number, or k of them.
        delay: lowest and highest number of steps by which it is late, drawn for each environment.
        hold: probability that a step keeps the delay of the step before; 1: one delay for an episode.
        history: how many of the last values are seen.
    """

    _: KW_ONLY
    noise: Numbers = 0.0
    distribution: str = "uniform"
    bias: Numbers = 0.0
    clip: tuple[float, float] | None = None
    scale: Numbers = 1.0
    delay: tuple[int, int] = (0, 0)
    hold: float = 1.0
    history: int = 1


class Observer:
    """The observation of a task, by terms.

    Make one in `bind`; it begins where values are known, in `begin`, and goes on in `step`:

        def bind(self):
            self.observer = Observer(self, gyro=Term(noise=0.2, scale=0.25), angles=Term(noise=0.01, history=3))

        def begin(self, state):
            memory, observation = self.observer.begin(self.measured(state), state.noise)
            return ResetResult(observation, memory=memory)

        def step(self, state, action):
            state, observation = self.observer.step(state, self.measured(state))

    `clean(values)` is the same without noise, bias, delay and history, as for a critic.

    | memory | shape | what |
    |---|---|---|
    | `name_term_bias` | (n, k) | of the present episode |
    | `name_term_late` | (n, steps, k) | last values, newest first |
    | `name_term_lag` | (n,) int64 | by how many steps they are late |
    | `name_term_history` | (n, history, k) | last values, oldest first |

    Args:
        task: a bound task.
        name: of the memory; another one for each observer of a task.
        terms: by name.

    Raises:
        ValueError: a term has impossible numbers.
        TypeError: a term is not a `Term`.
    """

    def __init__(self, task: Task, *, name: str = "observer", **terms: Term) -> None:
        if not terms:
            raise ValueError("Observer: there are no terms; name some, as in gyro=Term(noise=0.2)")
        self._task = task
        self._terms = {
            term: Sensing(task, f"{name}_{term}", options, f"Observer: {term}") for term, options in terms.items()
        }

    def begin(self, values: Mapping[str, Array], noise: Noise) -> tuple[dict[str, Array], Array]:
        """Return the memory and the observations (n, ...) with which n episodes begin: all of the past is the present.

        Args:
            values: by the terms' names, (n, k) each.
            noise: of the episodes.

        Raises:
            ValueError: values and terms have other names, or numbers of a term do not fit its value.
        """
        self._require(values)
        memory: dict[str, Array] = {}
        parts = [term.begin(values[name], noise, memory) for name, term in self._terms.items()]
        return memory, self._task.xp.concat(parts, axis=1)

    def step(self, state: TaskState, values: Mapping[str, Array]) -> tuple[TaskState, Array]:
        """Return the state with its memory, and the observations (n, ...) after a step; errors as in `begin`."""
        self._require(values)
        memory: dict[str, Array] = {}
        parts = [term.step(values[name], state, memory) for name, term in self._terms.items()]
        return state.remember(**memory), self._task.xp.concat(parts, axis=1)

    def clean(self, values: Mapping[str, Array]) -> Array:
        """Return the readings of a perfect sensor, clipped and scaled, (n, ...); errors as in `begin`."""
        self._require(values)
        return self._task.xp.concat([term.scaled(values[name]) for name, term in self._terms.items()], axis=1)

    def _require(self, values: Mapping[str, Array]) -> None:
        if values.keys() != self._terms.keys():
            raise ValueError(f"Observer: values of {sorted(values)} were given; its terms are {sorted(self._terms)}")


class Sensing:
    """A term of a task, for one quantity.

    Args:
        task: a bound task.
        name: of the memory.
        term: noise, delay and the like.
        owner: of errors.

    Raises:
        ValueError: the term has impossible numbers.
        TypeError: it is not a `Term`.
    """

    def __init__(self, task: Task, name: str, term: Term, owner: str) -> None:
        require_term(owner, term)
        self._task, self._term, self._owner = task, term, owner
        self._bias_name, self._history_name = f"{name}_bias", f"{name}_history"
        self._noise, self._bias, self._scale = (_constant(task, x) for x in (term.noise, term.bias, term.scale))
        self._noisy, self._biased = (bool(np.any(x)) for x in (term.noise, term.bias))
        self._delay = (
            Delay(task, *term.delay, hold=term.hold, name=name, owner=owner) if tuple(term.delay) != (0, 0) else None
        )

    def begin(self, value: Array, noise: Noise, memory: dict[str, Array]) -> Array:
        """Return the first observation, (n, history k); `memory` receives the lasting values."""
        self._require_value(value)
        xp = self._task.xp
        if self._biased:
            bias = self._bias * self._task.array(noise.uniform(-1, 1, value.shape[1]))
            memory[self._bias_name] = bias
            value = value + bias
        seen = self.scaled(self._with_noise(value, noise))
        if self._delay is not None:
            memory.update(self._delay.begin(seen, noise))
        if self._term.history > 1:
            memory[self._history_name] = xp.stack([seen] * self._term.history, axis=1)
            return xp.concat([seen] * self._term.history, axis=1)
        return seen

    def step(self, value: Array, state: TaskState, memory: dict[str, Array]) -> Array:
        """Return the observation after a step, (n, history k); `memory` receives the changes."""
        xp = self._task.xp
        if self._biased:
            value = value + state.memory[self._bias_name]
        seen = self.scaled(self._with_noise(value, state.noise))
        if self._delay is not None:
            changed, seen = self._delay.step(state.memory, seen, state.noise)
            memory.update(changed)
        if self._term.history > 1:
            past = xp.concat((state.memory[self._history_name][:, 1:, :], seen[:, None, :]), axis=1)
            memory[self._history_name] = past
            return xp.reshape(past, (past.shape[0], -1))
        return seen

    def scaled(self, value: Array) -> Array:
        """Return values clipped and scaled."""
        if self._term.clip is not None:
            value = clip(value, *self._term.clip)
        return value * self._scale

    def _require_value(self, value: Array) -> None:
        """Raise ValueError if a value is not (n, k), or numbers of the term are not one, or k of them."""
        if value.ndim != 2:
            needed = "needed is (n, k), such as qpos[:, 2:3]"
            raise ValueError(f"{self._owner}: its value has shape {tuple(value.shape)}; {needed}")
        for what in ("noise", "bias", "scale"):
            if np.shape(getattr(self._term, what)) not in ((), (1,), (value.shape[1],)):
                count = len(getattr(self._term, what))
                raise ValueError(f"{self._owner}: {what} has {count} numbers, and the value {value.shape[1]}")

    def _with_noise(self, value: Array, noise: Noise) -> Array:
        """Return values with the noise of one step."""
        if not self._noisy:
            return value
        k = value.shape[1]
        drawn = noise.normal(k) if self._term.distribution == "normal" else noise.uniform(-1, 1, k)
        return value + self._noise * self._task.array(drawn)


def require_term(owner: str, term: Any) -> None:
    """Raise ValueError if a term has impossible numbers, and TypeError if it is not a Term."""
    if not isinstance(term, Term):
        raise TypeError(f"{owner} is {term!r}; needed is a Term, as in gyro=Term(noise=0.2)")
    if term.distribution not in ("uniform", "normal"):
        raise ValueError(f"{owner}: distribution={term.distribution!r}: there are uniform, normal")
    for what in ("noise", "bias", "scale"):
        numbers = np.asarray(getattr(term, what))
        if numbers.dtype.kind not in "iuf" or numbers.ndim > 1 or not np.isfinite(numbers).all():
            raise ValueError(f"{owner}: {what}={getattr(term, what)!r}: it must be a finite number, or k of them")
        if what != "scale" and not (numbers >= 0).all():
            raise ValueError(f"{owner}: {what}={getattr(term, what)!r}: it must be at least 0")
    if term.clip is not None:
        require_bounds(owner, "clip", term.clip)
    if not isinstance(term.history, int | np.integer) or term.history < 1:
        raise ValueError(f"{owner}: history={term.history}: it counts values, the present one too: 1, 2, ...")
    if not isinstance(term.delay, Sequence | np.ndarray) or len(term.delay) != 2:
        raise ValueError(f"{owner}: delay={term.delay!r}: it must be a pair of steps (low, high)")


def _constant(task: Task, numbers: Any) -> Any:
    """Return a number, or an array (k,) of the task's kind."""
    return float(numbers) if np.ndim(numbers) == 0 else task.array(numbers)
