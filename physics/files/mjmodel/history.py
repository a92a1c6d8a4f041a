"""The buffers of samples in MuJoCo's `mjData.history`, and where memory has their numbers.

An actuator or a sensor with n samples has a buffer [user, cursor, times (n), values (n x width)], a ring in which the
cursor is the place of the newest sample; the user slot of a sensor with an interval is the time of its last tick.
"""

from collections.abc import Callable
from typing import NamedTuple

import mujoco

HOLD, LINEAR, CUBIC = range(3)
"""Ways to read between two samples: the older one, or a number on the line or the cubic through them."""
ROUNDING = 1e-6
"""Steps by which a sample may be younger than the delay and count as just as old: ages and delays are rounded."""


class Ring(NamedTuple):
    """One buffer, and the places of its samples in memory.

    Attributes:
        name: name of the actuator or sensor.
        first: address of the buffer.
        nsample: number of samples that it has.
        width: numbers in each sample.
        ages: places of its samples among the ages in memory.
        values: places of their numbers.
        tick: its place among the ticks in memory; -1: a sample is taken in every step.
        interval: steps from tick to tick.
        finite: True if its numbers have to be finite; controls that are not stop their environment instead.
    """

    name: str
    first: int
    nsample: int
    width: int
    ages: slice
    values: slice
    tick: int = -1
    interval: float = 0.0
    finite: bool = False

    def times(self) -> slice:
        """Return the place of the times of its samples in `mjData.history`."""
        return slice(self.first + 2, self.first + 2 + self.nsample)

    def numbers(self) -> slice:
        """Return the place of the numbers of its samples in `mjData.history`."""
        return slice(self.times().stop, self.times().stop + self.nsample * self.width)


class History(NamedTuple):
    """The fields of memory that a part of mjData.history is made of, with the time.

    Attributes:
        rings: (model) -> the buffers.
        ages: field with the ages of the samples.
        values: field with the numbers in them.
        ticks: field with the times since the last ticks; "" if there are none.
    """

    rings: Callable[[mujoco.MjModel], tuple[Ring, ...]]
    ages: str
    values: str
    ticks: str = ""
