"""Delays: values and actions that arrive some steps late, by as many in each environment as were drawn for it."""

from collections.abc import Mapping

import numpy as np

from ..arrays import Array, namespace, spread_mask
from ..task.noise import Noise
from ..task.task import Task, TaskState


class Delay:
    """The last values of a quantity, of which one comes out that is some steps old.

    | memory | shape | what |
    |---|---|---|
    | `name_late` | (n, max_lag + 1, ...) | last values, newest first |
    | `name_lag` | (n,) int64 | by how many steps the present one is late; only if that differs |

    Args:
        task: a bound task.
        min_lag: least number of steps.
        max_lag: largest number of steps.
        hold: probability that a step keeps the lag of the step before; else it is resampled uniformly.
        name: of the memory.
        owner: of errors.

    Raises:
        ValueError: the lags are not whole, or not in order, or `hold` is no probability.
    """

    def __init__(
        self, task: Task, min_lag: int, max_lag: int, *, hold: float = 1.0, name: str = "delay", owner: str = "Delay"
    ) -> None:
        whole = all(isinstance(lag, int | np.integer) for lag in (min_lag, max_lag))
        if not whole or not 0 <= min_lag <= max_lag:
            raise ValueError(f"{owner}: delay=({min_lag}, {max_lag}): steps are whole, at least 0, the lower one first")
        if not 0 <= hold <= 1:
            raise ValueError(f"{owner}: hold={hold}: a probability is between 0 and 1")
        self._task, self._min, self._max, self._hold = task, min_lag, max_lag, hold
        self.late, self.lag = f"{name}_late", f"{name}_lag"

    def begin(self, value: Array, noise: Noise) -> dict[str, Array]:
        """Return the memory with which n episodes begin: the past is full of the first value (n, ...)."""
        memory = {self.late: self._task.xp.stack([value] * (self._max + 1), axis=1)}
        if self._min < self._max:
            memory[self.lag] = self._drawn(noise)
        return memory

    def step(self, memory: Mapping[str, Array], value: Array, noise: Noise) -> tuple[dict[str, Array], Array]:
        """Take in the present value (n, ...); return the memory that changes, and the value that comes out."""
        late = self.pushed(memory[self.late], value)
        changed, lag = {self.late: late}, None
        if self._min < self._max:
            lag = changed[self.lag] = self.lag_after(memory, noise)
        return changed, self.pick(late, lag)

    def pushed(self, late: Array, value: Array) -> Array:
        """Return the last values with one more in front, (n, max_lag + 1, ...), without the oldest one."""
        return self._task.xp.concat((value[:, None, ...], late[:, :-1, ...]), axis=1)

    def lag_after(self, memory: Mapping[str, Array], noise: Noise) -> Array:
        """Return the lag of the next step, (n,): kept, or resampled."""
        lag = memory[self.lag]
        if self._hold == 1:
            return lag
        drawn, holds = self._drawn(noise), self._task.array(noise.uniform(0, 1, 1)[:, 0]) < self._hold
        return self._task.xp.where(holds, lag, drawn)

    def pick(self, late: Array, lag: Array | None) -> Array:
        """Return the values (n, ...) of so many steps ago, (n,), out of the last ones."""
        if lag is None:
            return late[:, self._max, ...]
        xp, late_value = namespace(late), late[:, self._min, ...]
        for steps in range(self._min + 1, self._max + 1):
            late_value = xp.where(spread_mask(lag == steps, late_value), late[:, steps, ...], late_value)
        return late_value

    def _drawn(self, noise: Noise) -> Array:
        """Draw lags, (n,) int64."""
        return self._task.xp.asarray(noise.integers(self._min, self._max + 1, 1)[:, 0])


class DelayedAction:
    """Actions that take effect some steps late.

    Make one in `bind`; call it in `control` for the action that acts, and pass it in `step` the action that was given:

        def bind(self):
            self.delayed = DelayedAction(self, 0, 2)

        def reset(self, noise):
            return Start(qpos, qvel, {**self.delayed.begin(noise, rest), ...})

        def control(self, state, action):
            return self.default + 0.25 * self.delayed.acting(state, action)

        def step(self, state, action):
            state = self.delayed.step(state, action)

    | memory | shape | what |
    |---|---|---|
    | `name_late` | (n, max_lag + 1, k) | last actions, newest first |
    | `name_lag` | (n,) int64 | by how many steps the next one will be late; only if that differs |

    Args:
        task: a bound task.
        min_lag: least number of steps.
        max_lag: largest number of steps.
        hold: probability that a step keeps the lag of the step before; 1: one lag for an episode.
        name: of the memory.

    Raises:
        ValueError: the lags are not whole, or not in order, or `hold` is no probability.
    """

    def __init__(
        self, task: Task, min_lag: int, max_lag: int, *, hold: float = 1.0, name: str = "action_delay"
    ) -> None:
        self._delay = Delay(task, min_lag, max_lag, hold=hold, name=name, owner="DelayedAction")
        self._task = task

    def begin(self, noise: Noise, rest: Array) -> dict[str, Array]:
        """Return the memory with which n episodes begin.

        Args:
            noise: of the episodes.
            rest: the action before the first one, (n, k).
        """
        return self._delay.begin(rest, noise)

    def acting(self, state: TaskState, action: Array) -> Array:
        """Return the actions (n, k) that act now, if this one is given."""
        late = state.memory[self._delay.late]
        actions = self._delay.pushed(late, self._task.xp.astype(action, late.dtype))
        return self._delay.pick(actions, state.memory.get(self._delay.lag))

    def step(self, state: TaskState, action: Array) -> TaskState:
        """Return the state with the action that was given in its memory, and with the lag of the next one."""
        late, memory = self._delay.late, {}
        past = state.memory[late]
        memory[late] = self._delay.pushed(past, self._task.xp.astype(action, past.dtype))
        if self._delay.lag in state.memory:
            memory[self._delay.lag] = self._delay.lag_after(state.memory, state.noise)
        return state.remember(**memory)
