"""The sensors of a solver, as users read them. How they are read is in the room `sensors`."""

from typing import Any

import mujoco
import torch

from ...machine.scalars import as_whole
from ..sensors.readings import sensor_name
from .environments import Environments
from .sensor_reader import SensorReader


class Sensors:
    """The readings of a model's sensors, in all environments.

    They belong to the evaluation that the last step made, before it moved (with Runge-Kutta: to that of its first
    stage); `forward` brings them to the present state.
    """

    def __init__(self, envs: Environments, reader: SensorReader) -> None:
        self._envs, self._reader = envs, reader

    @property
    def data(self) -> torch.Tensor:
        """Readings of all sensors (num_envs, nsensordata), a copy, in MuJoCo's order.

        A sensor with a `delay` shows its reading of so long ago, one with an `interval` its last one;
        sensors that Tumble does not compute, which `Model.notes` lists, are 0.
        """
        return self._reader.all(None)

    def read(self, name: Any, envs_idx: Any = None) -> torch.Tensor:
        """Readings of one sensor (n, dim), a copy.

        Args:
            name: its name or number.
            envs_idx: indices of environments; None for all.

        Raises:
            KeyError: for an unknown name.
            ValueError: `name` is neither a name nor a whole number.
            IndexError: for a sensor or environment that does not exist.
            NotImplementedError: Tumble does not compute this one.
        """
        mj = self._envs.model.mj
        if isinstance(name, str):
            sensor = mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_SENSOR, name)
            if sensor < 0:
                names = ", ".join(sensor_name(mj, known) for known in range(mj.nsensor)) or "none"
                raise KeyError(f"no sensor is named {name!r}; there are {names}")
        else:
            sensor = as_whole("name", name)
            if not 0 <= sensor < mj.nsensor:
                raise IndexError(f"sensor {sensor}: the model has {mj.nsensor}")
        return self._reader.one(sensor, envs_idx)
