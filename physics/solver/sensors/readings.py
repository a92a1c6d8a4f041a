"""All readings of a model's sensors: which can be computed, from which quantities, and MuJoCo's order of them."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import torch

from ...files.mjmodel.flags import disabled
from ...files.mjmodel.sensors import refused_sensors
from ...model.model import Model
from ..readout.derived import sources_of
from . import energy, joints, moving_frames, shapes
from .objects import Frames, Objects
from .reader import Read, Reader, SensedGeoms, SensorView
from .sensor_quantities import SensorQuantities

Tensor = torch.Tensor
_ROOMS = (joints, moving_frames, shapes, energy)
READERS: dict[int, Reader] = {int(kind): reader for room in _ROOMS for kind, reader in room.READERS.items()}
"""By MuJoCo's number of the type of sensor."""
_REAL, _POSITIVE = int(mujoco.mjtDataType.mjDATATYPE_REAL), int(mujoco.mjtDataType.mjDATATYPE_POSITIVE)
_UNBOUNDED = (int(mujoco.mjtSensor.mjSENS_CONTACT), int(mujoco.mjtSensor.mjSENS_GEOMFROMTO))


def sensor_name(mj: mujoco.MjModel, sensor: int) -> str:
    """A sensor's name, or its number where it has none."""
    return mujoco.mj_id2name(mj, mujoco.mjtObj.mjOBJ_SENSOR, sensor) or f"#{sensor}"


class SensorReadings:
    """Reads the sensors of one model.

    Args:
        model: the model.
        chosen: ids of the sensors to read; None: all.

    Attributes:
        refused: sensors of the model that cannot be read, and why.
        sources: fields of the scratch that readings are made of.
        uses_clock: whether the steps taken matter.
        columns: places of the readings in MuJoCo's order, sorted.
    """

    def __init__(self, model: Model, chosen: Sequence[int] | None = None) -> None:
        self._model, mj = model, model.mj
        self.refused = refused_sensors(mj)
        self._off = disabled(mj, mujoco.mjtDisableBit.mjDSBL_SENSOR)
        self._objects = Objects(model)
        self._reads: list[Read] = []
        self._columns: list[np.ndarray] = []
        self._kept: dict[Any, Any] = {}
        names = dict.fromkeys(("xpos", "xquat"))
        wanted = range(mj.nsensor) if chosen is None else chosen
        known = np.array([s for s in wanted if s not in self.refused], int)
        for kind in np.unique(mj.sensor_type[known]) if not self._off else ():
            mine = known[mj.sensor_type[known] == kind]
            self._reads.append(READERS[int(kind)].prepare(model, self._objects, mine))
            places = [mj.sensor_adr[s] + np.arange(mj.sensor_dim[s]) for s in mine]
            self._columns.append(np.concatenate(places))
            names |= dict.fromkeys(READERS[int(kind)].sources)
        self.columns = np.sort(np.concatenate((np.zeros(0, int), *self._columns)))
        names |= dict.fromkeys(self._objects.sources)
        self.sources = sources_of(tuple(names))
        self.uses_clock = bool((mj.sensor_type[known] == int(mujoco.mjtSensor.mjSENS_CLOCK)).any())
        cut = np.repeat(np.where(np.isin(mj.sensor_type, _UNBOUNDED), 0.0, mj.sensor_cutoff), mj.sensor_dim)
        kinds = np.repeat(mj.sensor_datatype, mj.sensor_dim)
        self._high = np.where((cut > 0) & np.isin(kinds, (_REAL, _POSITIVE)), cut, np.inf)
        self._low = np.where((cut > 0) & (kinds == _REAL), -cut, -np.inf)

    def read(self, fields: dict[str, Tensor], own: dict[str, Tensor], scene: SensedGeoms, steps: Tensor) -> Tensor:
        """Present readings (n, nsensordata) in MuJoCo's order; zeros of sensors that are not read, or switched off.

        Args:
            fields: `sources`, (n, numbers) each.
            own: per-environment parameters, (n, ...) each.
            scene: casts rays and measures distances.
            steps: steps taken before the evaluation (n,).
        """
        quantities = SensorQuantities(self._model, fields, own, self._kept)
        count = int(self._model.mj.nsensordata)
        if not self._reads:
            return quantities["xpos"].new_zeros((len(quantities), count))
        frames = Frames(self._objects, quantities) if len(self._objects) else None
        view = SensorView(quantities, frames, scene, steps)  # type: ignore[arg-type]
        found = quantities["xpos"].new_zeros((len(quantities), count))
        for k, (read, columns) in enumerate(zip(self._reads, self._columns, strict=True)):
            found[:, quantities.ids(("columns", k), columns)] = read(view)
        if not np.isfinite(self._high).any():
            return found
        low, high = quantities.constant(
            "cutoffs", lambda: (quantities.tensor(self._low), quantities.tensor(self._high))
        )
        return torch.minimum(torch.maximum(found, low), high)
