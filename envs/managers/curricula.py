"""Curricula: numbers that change with the steps an environment has taken, and difficulty that follows success.

Levels of a terrain are `TerrainLevels` (`envs/task/levels.py`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array, clip, namespace
from ..task.task import Last, Task, TaskState


class Stages:
    """Numbers by stages: from so many steps on these ones, `Stages({0: (-1.0, 1.0), 50_000: (-1.5, 2.0)})`.

    Steps are counted in each environment since it was seeded, over all its episodes (`StepCount`). As all
    environments of a batch step together, the counts are the whole batch's, too.

    Args:
        stages: number or sequence of numbers by the step from which it holds; the first from 0, later ones later.

    Raises:
        ValueError: there is no stage from step 0, steps are not in order, or stages differ in shape.
    """

    def __init__(self, stages: Mapping[int, Any]) -> None:
        steps = list(stages)
        if not steps or steps[0] != 0 or steps != sorted({*steps}):
            raise ValueError(f"Stages begin at the steps {steps}: list them in order, the first at 0")
        shapes = {step: np.shape(value) for step, value in stages.items()}
        for step, shape in shapes.items():
            if shape != shapes[0]:
                raise ValueError(f"Stages: the one from step {step} has shape {shape}, the first {shapes[0]}")
        self.steps = tuple(steps)
        self.values = np.array([stages[step] for step in steps], np.float64)

    def at(self, steps: Array) -> Array:
        """Return the numbers that hold after so many steps, (n,) integers: (n, *shape) float64."""
        xp = namespace(steps)
        columns = [self._column(steps, values) for values in self.values.reshape(len(self.steps), -1).T.tolist()]
        return xp.reshape(xp.stack(columns, axis=1), (steps.shape[0], *self.values.shape[1:]))

    def _column(self, steps: Array, values: list[float]) -> Array:
        """Return one of the numbers, (n,)."""
        xp = namespace(steps)
        column = xp.full(steps.shape, values[0], dtype=xp.float64, device=steps.device)
        for first, value in zip(self.steps[1:], values[1:], strict=True):
            column = xp.where(steps >= first, value, column)
        return column


class StepCount:
    """The steps that each environment has taken since it was seeded, in the task's memory, over all its episodes.

    Make one in `bind`, put `begin` into the memory of `reset_after`, and call `step` in `step`:

        return start._replace(memory={**start.memory, **self.count.begin(last)})

    Args:
        name: of the memory, (n,) int64.
    """

    def __init__(self, name: str = "step_count") -> None:
        self.name = name

    def begin(self, last: Last) -> dict[str, Array]:
        """Return the memory with which n episodes begin: the count goes on, or starts at 0 where one was seeded."""
        counted, xp = 0 * last.envs, namespace(last.envs)
        if self.name in last.memory:
            counted = xp.where(last.fresh, counted, last.memory[self.name])
        return {self.name: counted}

    def step(self, state: TaskState) -> TaskState:
        """Count a step."""
        return state.remember(**{self.name: state.memory[self.name] + 1})


class Difficulty:
    """A difficulty of each environment, between 0 and 1, that follows from how often it succeeds.

    A moving average of success goes on at each reset. Above `up` the difficulty grows by `change`, below `down` it
    shrinks, and the average then restarts from the middle of both, so that a change is judged before the next:

        def bind(self):
            self.difficulty = Difficulty(self)

        def reset_after(self, last, noise):
            memory = self.difficulty.begin(last, last.memory.get("success"))
            reach = 0.1 + 0.4 * memory["difficulty"]

    | memory | shape | what |
    |---|---|---|
    | `name` | (n,) | difficulty |
    | `name_average` | (n,) | moving average of success |

    Args:
        task: a bound task.
        up: average above which it gets harder.
        down: average below which it gets easier.
        rate: weight of the newest episode in the average.
        change: of the difficulty.
        first: difficulty to begin with.
        name: of the memory.

    Raises:
        ValueError: `down` is above `up`, or a number is not between 0 and 1.
    """

    def __init__(
        self,
        task: Task,
        *,
        up: float = 0.8,
        down: float = 0.3,
        rate: float = 0.2,
        change: float = 0.05,
        first: float = 0.0,
        name: str = "difficulty",
    ) -> None:
        for what, number in {"up": up, "down": down, "rate": rate, "change": change, "first": first}.items():
            if not 0 <= number <= 1:
                raise ValueError(f"Difficulty: {what}={number}: it must be between 0 and 1")
        if down > up:
            raise ValueError(f"Difficulty: down={down} is above up={up}")
        self._task, self._up, self._down, self._rate, self._change, self._first = task, up, down, rate, change, first
        self.name, self._average = name, f"{name}_average"

    def begin(self, last: Last, success: Array | None) -> dict[str, Array]:
        """Return the memory with which n episodes begin.

        Args:
            last: the episodes before; environments that took no step stay as they are.
            success: whether the episodes before were successes, (n,) bool, or how much so, 0 to 1; a value that is not
                a number counts as none; None in a new batch.
        """
        middle = 0.5 * (self._up + self._down)
        zero = self._task.array(0 * last.envs)
        first = {self.name: zero + self._first, self._average: zero + middle}
        if success is None or self.name not in last.memory:
            return first
        xp, before, average = self._task.xp, last.memory[self.name], last.memory[self._average]
        success = self._task.array(success)
        success = xp.where(success == success, success, 0 * zero)
        average = average + self._rate * (success - average)
        harder, easier = average > self._up, average < self._down
        after = clip(before + self._change * (self._task.array(harder) - self._task.array(easier)), 0.0, 1.0)
        average = xp.where(harder | easier, zero + middle, average)
        moved = last.steps > 0
        found = {
            self.name: xp.where(moved, after, before),
            self._average: xp.where(moved, average, last.memory[self._average]),
        }
        return {name: xp.where(last.fresh, first[name], value) for name, value in found.items()}
