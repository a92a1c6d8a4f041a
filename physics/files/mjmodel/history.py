"""Samples of past controls and readings: in MuJoCo's `mjData.history`, and in memory.

An actuator or a sensor with n samples has a buffer [user, cursor, times (n), values (n x width)], a ring in which the
cursor is the place of the newest sample; the user slot of a sensor with an interval is the time of its last tick.
In memory samples are in order, the newest first, and have ages: steps since they were taken. Buffers of sensors that
Tumble does not compute are as after a reset.

A sensor that remembers its readings shows one that was read some time ago, or is read only now and then (MuJoCo
documentation, XML reference: sensor, `nsample`, `interp`, `delay` and `interval`; times here are in steps). A sensor
with samples but without a delay and an interval remembers its readings and shows the present one.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from .flags import disabled
from .sensors import refused_sensors

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
        ticks: field with the times since the last ticks; "" without ticks.
    """

    rings: Callable[[mujoco.MjModel], tuple[Ring, ...]]
    ages: str
    values: str
    ticks: str = ""


_ROUNDED = 1e-6
"""Steps: ages as near to a whole number, or to a half, are that; MuJoCo's times are sums of steps, and rounded."""


class Samples(NamedTuple):
    """The contents of the buffers of n environments.

    Attributes:
        ages: (n, samples) steps, the newest sample of a ring first.
        values: (n, numbers).
        ticks: (n, ticks) steps since the last ones.
    """

    ages: np.ndarray
    values: np.ndarray
    ticks: np.ndarray


def put_samples(
    mj: mujoco.MjModel, rings: Sequence[Ring], found: Samples, times: np.ndarray, buffers: np.ndarray
) -> None:
    """Write samples into buffers (n, mj.nhistory) at the present times (n, 1) in seconds, the oldest first."""
    step = float(mj.opt.timestep)
    for ring in rings:
        buffers[:, ring.first + 1] = ring.nsample - 1
        buffers[:, ring.times()] = times - found.ages[:, ring.ages][:, ::-1] * step
        newest_first = found.values[:, ring.values].reshape(len(buffers), ring.nsample, ring.width)
        buffers[:, ring.numbers()] = newest_first[:, ::-1].reshape(len(buffers), -1)
        if ring.tick >= 0:
            buffers[:, ring.first] = times[:, 0] - found.ticks[:, ring.tick] * step


def taken_samples(mj: mujoco.MjModel, rings: Sequence[Ring], buffers: np.ndarray, times: np.ndarray) -> Samples:
    """Return the samples in buffers (n, mj.nhistory) at the present times (n, 1) in seconds.

    Raises:
        ValueError: for an invalid cursor, for times that do not increase, or that are not in the past, and for
            readings that are not finite.
    """
    ages, values, ticks = ([np.zeros((len(buffers), 0))] for _ in range(3))
    for ring in rings:
        cursor = buffers[:, ring.first + 1]
        if not np.isin(cursor, np.arange(ring.nsample)).all():
            raise ValueError(f"history of {ring.name}: its cursor must be a whole number from 0 to {ring.nsample - 1}")
        order = (cursor[:, None].astype(int) - np.arange(ring.nsample)) % ring.nsample
        taken = np.take_along_axis(buffers[:, ring.times()], order, 1)
        if ring.tick >= 0:
            ticks.append(_in_steps(mj, times - buffers[:, ring.first : ring.first + 1]))
        ages.append(checked_ages(_in_steps(mj, times - taken), ring, ticks[-1]))
        rows = buffers[:, ring.numbers()].reshape(-1, ring.nsample, ring.width)
        values.append(np.take_along_axis(rows, order[:, :, None], 1).reshape(len(buffers), -1))
        if ring.finite and not np.isfinite(rows).all():
            raise ValueError(f"history of {ring.name}: its readings must be finite")
    return Samples(*(np.concatenate(parts, 1) for parts in (ages, values, ticks)))


def shifted(mj: mujoco.MjModel, rings: Sequence[Ring], found: Samples, seconds: np.ndarray) -> Samples:
    """Return the samples after a change of the present time by `seconds` (n, 1); their times are kept.

    Raises:
        ValueError: for samples that are not in the past any more.
    """
    ages, ticks = found.ages + seconds / float(mj.opt.timestep), found.ticks + seconds / float(mj.opt.timestep)
    for ring in rings:
        ages[:, ring.ages] = checked_ages(ages[:, ring.ages], ring, ticks[:, ring.tick : ring.tick + 1])
    return Samples(ages, found.values, ticks)


def _in_steps(mj: mujoco.MjModel, seconds: np.ndarray) -> np.ndarray:
    """Return times in steps, without their rounding."""
    ages = seconds / float(mj.opt.timestep)
    halves = np.round(2 * ages) / 2
    return np.where(np.abs(ages - halves) < _ROUNDED, halves, ages)


def checked_ages(ages: np.ndarray, ring: Ring, ticks: np.ndarray) -> np.ndarray:
    """Return the ages (n, count) of the samples of a ring whose last tick is `ticks` steps ago (n, 1).

    Raises:
        ValueError: they do not increase from the newest sample on, or the next sample would not be newer.
    """
    wait = np.maximum(0.0, np.ceil(ring.interval - ticks - _ROUNDED)) if ring.tick >= 0 else 0.0  # for the next one
    if not (ages[:, :1] + wait > 0).all():
        raise ValueError(
            f"history of {ring.name}: its newest sample must be from before the present time; "
            "let the state have mjSTATE_TIME and mjSTATE_HISTORY both"
        )
    if not (np.diff(ages, axis=1) > 0).all():
        raise ValueError(f"history of {ring.name}: times of samples must increase")
    return ages


class Recorded(NamedTuple):
    """A sensor that has samples of its past readings.

    Attributes:
        sensor: its id.
        interp: the interpolation between two samples: HOLD, LINEAR or CUBIC (`mjmodel.history`).
        delay: age of the readings that it shows, steps; 0: it shows the last one.
        ring: its samples: their number, the places of ages and readings in memory, and the interval from one reading to
            the next, steps; 0: there is one in every step.
    """

    sensor: int
    interp: int
    delay: float
    ring: Ring


def recorded_sensors(mj: mujoco.MjModel) -> tuple[Recorded, ...]:
    """All sensors of a model that have samples and can be read, in their order; none where sensors are switched off."""
    remembering = np.flatnonzero(mj.sensor_history[:, 0] > 0).tolist()
    if not remembering or disabled(mj, mujoco.mjtDisableBit.mjDSBL_SENSOR):
        return ()
    found: list[Recorded] = []
    refused, step = refused_sensors(mj), float(mj.opt.timestep)
    samples, numbers, ticks = 0, 0, 0
    for sensor in remembering:
        if sensor in refused:
            continue
        count, way = mj.sensor_history[sensor].tolist()
        dim, interval = int(mj.sensor_dim[sensor]), float(mj.sensor_interval[sensor, 0]) / step
        name, first = mj.sensor(sensor).name or f"sensor {sensor}", int(mj.sensor_historyadr[sensor])
        places = slice(samples, samples + count), slice(numbers, numbers + count * dim), ticks if interval > 0 else -1
        interp, delay = way if way in (HOLD, LINEAR) else CUBIC, float(mj.sensor_delay[sensor]) / step
        found.append(Recorded(sensor, interp, delay, Ring(name, first, count, dim, *places, interval, finite=True)))
        samples, numbers, ticks = samples + count, numbers + count * dim, ticks + (interval > 0)
    return tuple(found)


def rings_of_sensors(mj: mujoco.MjModel) -> tuple[Ring, ...]:
    """Return the buffers of sensors that remember readings."""
    return tuple(sensor.ring for sensor in recorded_sensors(mj))
