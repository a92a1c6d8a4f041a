"""Latency between an agent and a task: actions that act late, and observations that are shown late."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any

import gymnasium

from ..arrays import Array, spread_mask
from ..task.noise import Noise
from ..task.task import Task
from .delays import Delay
from .ranges import require_ranges

Lag = float | tuple[float, float]
UNITS = ("steps", "seconds")


@dataclass(frozen=True)
class Latency:
    """Delays of what an agent does and sees, drawn for each environment: the argument `delay` of `make_vec`.

    Args:
        action: how late actions act: a number, or the lowest and the highest one.
        observation: how late observations are shown; parts called critic, achieved_goal or desired_goal are not.
        unit: "steps" of the environment; "seconds", which are rounded to whole steps.
        hold: probability that a step keeps the delay of the step before; 1: one delay for an episode.

    Raises:
        ValueError, TypeError: a delay is no number or pair of numbers of the unit, below 0, or not in order.
    """

    _: KW_ONLY
    action: Lag = 0
    observation: Lag = 0
    unit: str = "steps"
    hold: float = 1.0

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"delay.unit is {self.unit!r}; there are {' and '.join(UNITS)}")
        if not isinstance(self.hold, Real) or not 0 <= self.hold <= 1:
            raise ValueError(f"delay.hold is {self.hold!r}; a probability is between 0 and 1")
        for what in ("action", "observation"):
            lag = getattr(self, what)
            pair = (lag, lag) if isinstance(lag, Real) else lag
            require_ranges("delay", {what: pair})
            if self.unit == "steps" and not all(isinstance(number, Integral) for number in pair):
                raise ValueError(f"delay.{what} is {lag!r}; steps are whole numbers: give some, or unit='seconds'")
            if pair[0] < 0:
                raise ValueError(f"delay.{what} is {lag!r}; it must be at least 0")

    def steps(self, what: str, dt: float) -> tuple[int, int]:
        """Return the least and the largest delay of "action" or "observation" in steps of `dt` s."""
        lag: Any = getattr(self, what)
        low, high = (lag, lag) if isinstance(lag, Real) else lag
        unit = dt if self.unit == "seconds" else 1.0
        return round(float(low) / unit), round(float(high) / unit)


class LateActions:
    """Actions of an agent that reach the task some steps late. Before an episode's first action it had acted already.

    | memory | shape | what |
    |---|---|---|
    | `delay_action_late` | (n, largest delay + 1, ...) | last actions, newest first |
    | `delay_action_lag` | (n,) int64 | by how many steps the last one was late; only if that differs |
    | `delay_action_first` | (n,) bool | whether there was no action yet |

    Args:
        task: a bound task.
        lag: least and largest number of steps.
        hold: probability that a step keeps the delay of the step before.
        space: of one environment's actions.
    """

    def __init__(self, task: Task, lag: tuple[int, int], hold: float, space: gymnasium.Space) -> None:
        self._delay = Delay(task, *lag, hold=hold, name="delay_action", owner="delay.action")
        self._task, self._first, self._shape = task, "delay_action_first", tuple(space.shape or ())
        self._floating = isinstance(space, gymnasium.spaces.Box) and space.dtype.kind == "f"

    def begin(self, n: int, noise: Noise) -> dict[str, Array]:
        """Return the memory with which n episodes begin."""
        kind = self._task._kind
        none = kind.zeros((n, *self._shape), None if self._floating else kind.xp.int64)
        return {**self._delay.begin(none, noise), self._first: kind.zeros((n,), kind.xp.bool) == 0}

    def step(self, memory: Mapping[str, Array], action: Array, noise: Noise) -> tuple[dict[str, Array], Array]:
        """Take in the actions that were given, (n, ...); return the memory that changes, and the ones that act."""
        xp, late, first = self._task.xp, memory[self._delay.late], memory[self._first]
        given = xp.astype(action, late.dtype)
        past: dict[str, Any] = {
            **memory,
            self._delay.late: xp.where(spread_mask(first, late), given[:, None, ...], late),
        }
        changed, acting = self._delay.step(past, given, noise)
        return {**changed, self._first: xp.zeros_like(first)}, xp.astype(acting, action.dtype)
