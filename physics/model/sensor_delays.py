"""Sensors that remember their readings: what they show was read some time ago, or is read only now and then.

MuJoCo documentation, XML reference: sensor, `nsample`, `interp`, `delay` and `interval`. All times here are in steps.
A sensor with samples but without a delay and an interval remembers its readings and shows the present one.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from ..mjmodel.flags import disabled
from ..mjmodel.history import CUBIC, HOLD, LINEAR
from .sensors import refused_sensors


class Recorded(NamedTuple):
    """A sensor that has samples of its past readings.

    Attributes:
        sensor: its id.
        nsample: how many samples it has.
        dim: numbers of a reading.
        interp: what it shows between two samples: HOLD, LINEAR or CUBIC (`mjmodel.history`).
        delay: how old the readings are that it shows, steps; 0: it shows the last one.
        interval: from one reading to the next, steps; 0: there is one in every step.
        ages: where its samples are among those of all such sensors.
        readings: where the numbers of its samples are, the newest first.
        tick: its place among the sensors with an interval; -1: it has none.
    """

    sensor: int
    nsample: int
    dim: int
    interp: int
    delay: float
    interval: float
    ages: slice
    readings: slice
    tick: int


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
        places = slice(samples, samples + count), slice(numbers, numbers + count * dim), ticks if interval > 0 else -1
        interp, delay = way if way in (HOLD, LINEAR) else CUBIC, float(mj.sensor_delay[sensor]) / step
        found.append(Recorded(sensor, count, dim, interp, delay, interval, *places))
        samples, numbers, ticks = samples + count, numbers + count * dim, ticks + (interval > 0)
    return tuple(found)


def sensor_delay_sizes(mj: mujoco.MjModel) -> dict[str, int]:
    """Samples of all sensors, the numbers in them, and sensors with an interval."""
    found = recorded_sensors(mj)
    return {
        "nsensorsample": sum(sensor.nsample for sensor in found),
        "nsensorhistory": sum(sensor.nsample * sensor.dim for sensor in found),
        "nsensortick": sum(sensor.tick >= 0 for sensor in found),
    }
