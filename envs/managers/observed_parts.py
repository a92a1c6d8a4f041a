"""Noise, delay and history of a task's observations as they are, by parts and columns: the argument `observe`."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from ..arrays import Array
from ..nearest import nearest
from ..task.noise import Noise
from ..task.observations import parts_of
from ..task.task import Observation, Task, TaskState
from .delays import Delay
from .observing import Sensing, Term

EXACT = ("critic", "achieved_goal", "desired_goal")
"""Parts of an observation that have neither noise nor delay unless they are named."""


class _Columns(NamedTuple):
    """A term for columns `start`, ..., `stop` - 1 of a part; no term: they are shown as they are."""

    start: int
    stop: int
    sensing: Sensing | None
    term: Term

    def bounds(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds of the numbers that are shown, from those of all columns of the task's part, (k,) each."""
        low, high, term = low[self.start : self.stop], high[self.start : self.stop], self.term
        if term.distribution == "normal" and np.any(term.noise):
            low, high = low - np.inf, high + np.inf
        wide = np.asarray(term.noise, float) + np.asarray(term.bias, float)
        low, high = low - wide, high + wide
        if term.clip is not None:
            low, high = np.clip(low, *term.clip), np.clip(high, *term.clip)
        with np.errstate(invalid="ignore"):
            ends = np.nan_to_num(np.stack([low * term.scale, high * term.scale]), posinf=np.inf, neginf=-np.inf)
        return np.tile(ends.min(0), term.history), np.tile(ends.max(0), term.history)


class ObservedParts:
    """Shows an agent the observations of a task through terms, and late.

    Keys of terms say what a term is for:

    | key | columns |
    |---|---|
    | "" | all of an observation that is one array; of one with parts all parts of numbers but `EXACT` |
    | "policy" | a part |
    | "3:6", "7", "33:" | columns of an observation that is one array |
    | "policy[3:6]" | columns of a part |

    Numbers of all other columns are shown as they are. Parts that are late are late as a whole, pictures too.

    Args:
        task: a bound task.
        terms: by key.
        lag: least and largest number of steps by which parts are late, all but `EXACT`.
        hold: probability that a step keeps the delay of the step before.
    """

    def __init__(self, task: Task, terms: Mapping[str, Term], lag: tuple[int, int], hold: float) -> None:
        self._task, self._terms, self._lag, self._hold = task, terms, lag, hold
        self._columns: dict[str, list[_Columns]] = {}
        self._delays: dict[str, Delay] = {}
        self._made = False  # it is made when the first observation is known

    def begin(self, observation: Observation, noise: Noise) -> tuple[dict[str, Array], Observation]:
        """Return the memory and the observations with which n episodes begin: all of the past is the present.

        Raises:
            ValueError: a key names no part or column, or a term does not fit it.
        """
        self.learn(observation)
        memory: dict[str, Array] = {}
        parts = self._sensed(observation, lambda sensing, value: sensing.begin(value, noise, memory))
        for name, delay in self._delays.items():
            memory |= delay.begin(parts[name], noise)
        return memory, parts if isinstance(observation, dict) else parts[""]

    def step(self, state: TaskState, observation: Observation) -> tuple[dict[str, Array], Observation]:
        """Return the memory that changes, and the observations after a step, of a state with memory and noise."""
        memory: dict[str, Array] = {}
        parts = self._sensed(observation, lambda sensing, value: sensing.step(value, state, memory))
        for name, delay in self._delays.items():
            changed, parts[name] = delay.step(state.memory, parts[name], state.noise)
            memory |= changed
        return memory, parts if isinstance(observation, dict) else parts[""]

    def space(self, space: gymnasium.Space) -> gymnasium.Space:
        """Return the space of one environment's observations as they are shown, from the task's."""
        boxes: dict[str, Any] = dict(space.spaces) if isinstance(space, gymnasium.spaces.Dict) else {"": space}
        for name, columns in self._columns.items():
            box = boxes[name]
            ends = [one.bounds(box.low.astype(float), box.high.astype(float)) for one in columns]
            low, high = (np.concatenate(side).astype(box.dtype) for side in zip(*ends, strict=True))
            boxes[name] = gymnasium.spaces.Box(low, high, dtype=box.dtype)
        return gymnasium.spaces.Dict(boxes) if isinstance(space, gymnasium.spaces.Dict) else boxes[""]

    def _sensed(self, observation: Observation, sense: Callable[[Sensing, Array], Array]) -> dict[str, Array]:
        """Return the parts of an observation by name, with columns through their terms."""
        parts = dict(parts_of(observation))
        for name, columns in self._columns.items():
            whole = [(one.sensing, parts[name][:, one.start : one.stop]) for one in columns]
            shown = [value if sensing is None else sense(sensing, value) for sensing, value in whole]
            parts[name] = self._task.xp.concat(shown, axis=1)
        return parts

    def learn(self, observation: Observation) -> None:
        """Find the columns that terms are for in a first observation of the task; errors as in `begin`."""
        if self._made:
            return
        parts = parts_of(observation)
        named: dict[str, list[tuple[str, slice]]] = {}
        for key in self._terms:
            for name, places in self._meant(key, parts):
                named.setdefault(name, []).append((key, places))
        for name, meant in named.items():
            self._columns[name] = self._side_by_side(name, meant, parts[name].shape[1])
        if self._lag != (0, 0):
            for name in (name for name in parts if name not in EXACT):
                memory = f"observe_{name}" if name else "observe"
                self._delays[name] = Delay(self._task, *self._lag, hold=self._hold, name=memory, owner="delay")
        self._made = True

    def _meant(self, key: str, parts: Mapping[str, Array]) -> list[tuple[str, slice]]:
        """Return the parts of numbers that a key means, with the columns."""
        own = re.fullmatch(r"(.*?)\[([^\[\]]*)\]", key)
        only_columns = re.fullmatch(r"\d+|\d*:\d*", key) is not None
        name, written = (own[1], own[2]) if own else ("", key) if only_columns else (key, ":")
        if not key and "" not in parts:
            shown = [
                part for part in parts if part not in EXACT and part not in self._terms and self._rows(parts[part])
            ]
            if not shown:
                raise ValueError(f"observe: no part has rows of numbers to add to; there are {', '.join(parts)}")
            return [(part, slice(0, parts[part].shape[1])) for part in shown]
        if name not in parts:
            if "" in parts:
                hint = "the observation is one array: give columns, such as '0:3', or one Term for all"
            else:
                hint = f"there {nearest(name, list(parts))}" + (", as in 'policy[3:6]'" if only_columns else "")
            raise ValueError(f"observe: no part of the observation is called {name!r}; {hint}")
        if not self._rows(parts[name]):
            shape = tuple(parts[name].shape[1:])
            raise ValueError(
                f"observe[{key!r}]: the part has shape {shape} and is no row of numbers, as pictures are not"
            )
        return [(name, _range(key, written, parts[name].shape[1]))]

    def _rows(self, part: Array) -> bool:
        """Return True for rows of real numbers, (n, k)."""
        return part.ndim == 2 and self._task.xp.isdtype(part.dtype, "real floating")

    def _side_by_side(self, name: str, places: list[tuple[str, slice]], width: int) -> list[_Columns]:
        """Return the terms of a part in the order of its columns, with the columns between them."""
        found: list[_Columns] = []
        end, before, plain = 0, "", Term()
        for key, columns in sorted(places, key=lambda place: place[1].start):
            if columns.start < end:
                raise ValueError(f"observe: {before!r} and {key!r} both have column {columns.start}")
            if columns.start > end:
                found.append(_Columns(end, columns.start, None, plain))
            term = self._terms[key]
            memory = f"observe_{name}{'_' if name else ''}{columns.start}:{columns.stop}"
            sensing = Sensing(self._task, memory, term, f"observe[{key!r}]" if key else "observe")
            found.append(_Columns(columns.start, columns.stop, sensing, term))
            end, before = columns.stop, key
        if end < width:
            found.append(_Columns(end, width, None, plain))
        return found


def _range(key: str, written: str, width: int) -> slice:
    """Return the columns that are written as "3:6", "3:", ":6", ":" or "3".

    Raises:
        ValueError: they are no columns of a part with so many.
    """
    first, colon, last = (word.strip() for word in written.partition(":"))
    if all(word.isdecimal() or (colon and not word) for word in ((first, last) if colon else (first,))):
        start = int(first or 0)
        stop = int(last or width) if colon else start + 1
        if start < stop <= width:
            return slice(start, stop)
    raise ValueError(f"observe[{key!r}]: columns are written as 0:3, and the part has 0 to {width - 1}")
