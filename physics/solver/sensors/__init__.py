"""The sensors of a model, read in all environments at once, in torch, on the solver's device.

MuJoCo's `sensordata`: its order, cutoffs, and timing. After a step readings are those of the evaluation that the step
made, before it moved (with Runge-Kutta: of its first stage); `forward` brings them to the present state.

Readings are computed when they are asked for, and cost nothing otherwise. Most are a few numbers out of quantities that
a step computes anyway, so that one vectorised function a type of sensor is enough, and kernels stay small. Frames of
objects are made once, however many sensors read them. Only contacts and limits are read in the kernel, in launches
that ask for them, as only a kernel knows them: their number changes from step to step
(`contact_readings.py` and `motion_readings.py` of `physics/mechanics/sensor_kernels`), and accelerations of bodies, the
forces between them and momenta of subtrees (`motion_readings.py`). Sums along the tree took torch longer
than a step of ants.

A solver made with outputs=("sensordata",) has its steps hand out all that readings are made of; for any other the first
reading after a step costs an evaluation. With Runge-Kutta it always does: a step's last evaluation is not the one that
sensors see.

Sensors that remember their readings (`nsample`, and with it `delay` and `interval`) are read in every step, each of
which is then a separate launch (`delays.py`). Their samples are a part of the state.
"""

from collections.abc import Sequence

from ...files.mjmodel.history import recorded_sensors
from ...model.model import Model
from ..readout.derived import SENSORDATA
from .readings import SensorReadings

__all__ = ["sensor_sources"]


def sensor_sources(model: Model, outputs: Sequence[str]) -> tuple[str, ...]:
    """Fields that steps have to hand out where sensordata is among the outputs, or sensors remember their readings."""
    if model.sizes["nstart"]:
        return ()
    recorded = [sensor.sensor for sensor in recorded_sensors(model.mj)]
    chosen = None if SENSORDATA in outputs else recorded
    return () if chosen == [] else SensorReadings(model, chosen).sources
