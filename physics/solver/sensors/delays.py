"""Sensors with samples: how they show past readings, and how their samples grow older, in torch.

MuJoCo's rules (mj_readSensor and mj_step), in steps instead of seconds. At an evaluation a sensor with a delay shows
its reading of so long ago: a sample, or a mean of two of them. A sensor with an interval ticks if its last
tick is at least that long ago; without a delay it shows the present reading then, else its newest sample. After the
evaluation of a step a sensor without an interval, or one that ticks, keeps the reading that it would show without a
delay and an interval as its newest sample, and forgets its oldest one. Its ticks stay on a fixed grid of times, so
that an interval of two and a half steps gives readings after three, two, three ... steps.
"""

from typing import NamedTuple

import torch

from ...files.mjmodel.history import CUBIC, HOLD, ROUNDING, Ring, recorded_sensors
from ...model.model import Model
from ...model.state.snapshot import LARGEST

Tensor = torch.Tensor


class Past(NamedTuple):
    """The past readings of n environments.

    Attributes:
        ages: how long ago samples were taken, the newest first, (n, nsensorsample) steps.
        readings: the numbers in them, (n, nsensorhistory).
        ticks: how long ago sensors with an interval ticked, (n, nsensortick) steps, float64.
    """

    ages: Tensor
    readings: Tensor
    ticks: Tensor

    def of(self, ring: Ring) -> tuple[Tensor, Tensor]:
        """Ages (n, count) and readings (n, count, dim) of one sensor."""
        return self.ages[:, ring.ages], self.readings[:, ring.values].unflatten(1, (ring.nsample, ring.width))

    def ticking(self, ring: Ring) -> Tensor:
        """Return True where a sensor is read in this evaluation (n,)."""
        if ring.tick < 0:
            return torch.ones_like(self.ages[:, 0], dtype=torch.bool)
        return self.ticks[:, ring.tick] >= ring.interval - ROUNDING


class DelayedReadings:
    """The rules of a model's sensors that have samples.

    Attributes:
        sensors: all of them.
    """

    def __init__(self, model: Model) -> None:
        self.sensors = recorded_sensors(model.mj)
        first = model.mj.sensor_adr
        self._columns = [slice(int(first[s.sensor]), int(first[s.sensor]) + s.ring.width) for s in self.sensors]

    def shown(self, present: Tensor, past: Past) -> Tensor:
        """Return the displayed readings of all sensors (n, nsensordata), from present and remembered readings."""
        found = present.clone()
        for sensor, columns in zip(self.sensors, self._columns, strict=True):
            if sensor.delay > 0:
                found[:, columns] = _between(*past.of(sensor.ring), sensor.delay, sensor.interp)
            elif sensor.ring.interval > 0:
                newest = past.of(sensor.ring)[1][:, 0]
                found[:, columns] = torch.where(past.ticking(sensor.ring)[:, None], present[:, columns], newest)
        return found

    def after_step(self, present: Tensor, past: Past, moved: Tensor) -> Past:
        """Return the remembered readings after a step.

        Args:
            present: readings (n, nsensordata) of the step's evaluation, without delays.
            past: the readings that were remembered before it.
            moved: environments that the step moved (n,); of all others nothing changes.
        """
        ages, readings, ticks = past.ages.clone(), past.readings.clone(), past.ticks.clone()
        for sensor, columns in zip(self.sensors, self._columns, strict=True):
            ring = sensor.ring
            ticking = past.ticking(ring) & moved
            old_ages, old_readings = past.of(ring)
            taken = present[:, None, columns].clamp(-LARGEST, LARGEST)
            rows = torch.cat((taken, old_readings[:, :-1]), 1)
            ages[:, ring.ages] = _where(ticking, torch.cat((0 * old_ages[:, :1], old_ages[:, :-1]), 1), old_ages)
            readings[:, ring.values] = _where(ticking, rows.flatten(1), past.readings[:, ring.values])
            if ring.tick >= 0:
                ticks[:, ring.tick] -= ring.interval * ticking.double()
        return Past(ages + _as(moved, ages), readings, ticks + _as(moved, ticks))


def _where(mask: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    return torch.where(mask[:, None], yes, no)


def _as(mask: Tensor, like: Tensor) -> Tensor:
    return mask[:, None].to(like.dtype)


def _between(ages: Tensor, readings: Tensor, delay: float, interp: int) -> Tensor:
    """Readings (n, dim) of `delay` steps ago, from samples: ages (n, count) and readings (n, count, dim).

    HOLD: the youngest sample that is as old as the delay. Otherwise a point on the line, or on the cubic with slopes of
    Catmull and Rom, from that sample to the next. Beyond the newest and the oldest sample: that one (mju_historyRead).
    """
    count = ages.shape[1]
    younger = (ages < delay - ROUNDING).sum(1)  # samples too young
    if interp == HOLD or count == 1:
        return _pick(readings, younger.clamp(max=count - 1))
    older = younger.clamp(1, count - 1)
    newer = older - 1
    age, start, end = _pick(ages, older), _pick(readings, older), _pick(readings, newer)
    way = age - _pick(ages, newer)
    x = ((age - delay) / way).clamp(0.0, 1.0)[:, None]
    if interp != CUBIC:
        return start + (end - start) * x
    before, behind = (older + 1).clamp(max=count - 1), (newer - 1).clamp(min=0)
    started = (end - _pick(readings, before)) / (_pick(ages, before) - _pick(ages, newer))[:, None]
    ended = (_pick(readings, behind) - start) / (age - _pick(ages, behind))[:, None]
    started, ended = started * _as(older < count - 1, x), ended * _as(newer > 0, x)  # 0 at the newest and the oldest
    found = start + (end - start) * (x * x * (3.0 - 2.0 * x))
    return found + way[:, None] * x * (1.0 - x) * (started * (1.0 - x) - ended * x)


def _pick(rows: Tensor, which: Tensor) -> Tensor:
    """Entry `which` (n,) of every row of (n, count) or (n, count, dim)."""
    return rows[torch.arange(len(rows), device=rows.device), which]
