"""Sensors that remember their readings: they show a past reading, or read only now and then.

MuJoCo documentation, XML reference: sensor, `nsample`, `interp`, `delay` and `interval`. The part is their memory,
which changes after a step, where readings are made (`solver/sensors/delays.py`).
"""

import mujoco
import numpy as np

from ...base.fields import Field
from ...files.mjmodel.allowed import FINITE, AllowedNumbers
from ...files.mjmodel.history import History, rings_of_sensors, taken_samples
from .part import Memory, Part


def _sizes(mjm: mujoco.MjModel, values: object) -> dict[str, int]:
    """Return the numbers of samples of all sensors, of numbers in them, and twice that of sensors with an interval."""
    rings = rings_of_sensors(mjm)
    return {
        "nsensorsample": sum(ring.nsample for ring in rings),
        "nsensorhistory": sum(ring.nsample * ring.width for ring in rings),
        "nsensortick": 2 * sum(ring.tick >= 0 for ring in rings),
    }


def _kept(field: Field, part: str) -> Memory:
    """Return the memory of a field that begins with a part of the samples in MuJoCo's own buffers."""

    def first(mjm: mujoco.MjModel) -> np.ndarray:
        rings = rings_of_sensors(mjm)
        buffers = np.array(mujoco.MjData(mjm).history)[None] if rings else np.zeros((1, 0))
        found = getattr(taken_samples(mjm, rings, buffers, np.zeros((1, 1))), part)
        return np.stack((found, 0.0 * found), -1) if part == "ticks" else found

    return Memory(field, ((), first), guarded=False)


PART = Part(
    name="sensor_delays",
    doc="some sensors remember their readings",
    wanted=lambda model: model.sizes["nsensorsample"] > 0,
    sizes=_sizes,
    memory=(
        _kept(Field("sensor_age", ("nsensorsample",), 1, "steps", "ages of samples, the newest first"), "ages"),
        _kept(Field("sensor_history", ("nsensorhistory",), 1, "", "the readings in them, by sensors"), "values"),
        _kept(Field("sensor_tick", ("nsensortick",), 1, "steps", "time since a tick, and its rounding"), "ticks"),
    ),
    mujoco="sensor_delay sensor_interval sensor_history sensor_historyadr",
    allowed={
        "sensor_delay": AllowedNumbers(FINITE, "a delay; one below 0 asks for a time after the newest sample"),
        "sensor_interval": AllowedNumbers(FINITE, "a period and a phase"),
    },
    history=History(rings_of_sensors, "sensor_age", "sensor_history", "sensor_tick"),
)
