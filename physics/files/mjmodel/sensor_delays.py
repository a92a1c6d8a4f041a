"""Sensors that remember their readings: what they show was read some time ago, or is read only now and then.

MuJoCo documentation, XML reference: sensor, `nsample`, `interp`, `delay` and `interval`. All times here are in steps.
A sensor with samples but without a delay and an interval remembers its readings and shows the present one.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from .flags import disabled
from .history import CUBIC, HOLD, LINEAR, Ring
from .sensors import refused_sensors


class Recorded(NamedTuple):
    """A sensor that has samples of its past readings.

    Attributes:
        sensor: its id.
        interp: what it shows between two samples: HOLD, LINEAR or CUBIC (`mjmodel.history`).
        delay: how old the readings are that it shows, steps; 0: it shows the last one.
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
