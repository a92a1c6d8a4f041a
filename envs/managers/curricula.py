"""Curricula: numbers that change with the steps an environment has taken, and difficulty that follows success.

Levels of a terrain are `TerrainLevels` (`envs/levels.py`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array, namespace
from ..task import Last, TaskState


class Stages:
    """Numbers by stages: from so many steps on these ones, `Stages({0: (-1.0, 1.0), 50_000: (-1.5, 2.0)})`.

    Steps are those that an environment has taken since it was seeded, over all its episodes (`StepCount`). As all
    environments of a batch step together, they are those of the whole batch too.

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
