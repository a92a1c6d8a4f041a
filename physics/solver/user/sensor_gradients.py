"""Derivatives of sensor readings: those of the fields that they are made of, times the readings' own gradients."""

from collections.abc import Mapping
from typing import Any

import mujoco
import torch

from ...gradients.steps import Own, Steps
from ...model.model import Model
from ..sensors.readings import SensorReadings, sensor_name

_S = mujoco.mjtSensor
_WITHOUT = frozenset(
    int(kind) for kind in (_S.mjSENS_RANGEFINDER, _S.mjSENS_GEOMDIST, _S.mjSENS_GEOMNORMAL, _S.mjSENS_GEOMFROMTO)
)
"""Types of sensors that cast rays or measure distances, in kernels without tangents."""
_AT_EVALUATION = {"qpos": "eval_qpos", "qvel": "eval_qvel", "act": "eval_act"}
"""The names of coordinates at the evaluation with which a step begins; the step moves the others."""


class SmoothReadings:
    """The readings of a model's sensors as functions of fields that torch differentiates.

    Args:
        model: the model.

    Attributes:
        sources: fields of the scratch that readings are made of, at an evaluation.

    Raises:
        NotImplementedError: a sensor's readings have no derivatives; the message names it.
    """

    def __init__(self, model: Model) -> None:
        mj = model.mj
        without = [sensor for sensor in range(mj.nsensor) if int(mj.sensor_type[sensor]) in _WITHOUT]
        if without:
            names = ", ".join(repr(sensor_name(mj, sensor)) for sensor in without)
            raise NotImplementedError(f"gradients: sensors {names} cast rays or measure distances, without derivatives")
        if model.sizes["nsensorsample"] or model.sizes["nstart"]:
            reason = "delayed" if model.sizes["nsensorsample"] else "read at the first evaluation of a Runge-Kutta step"
            raise NotImplementedError(f"gradients: readings that are {reason} have no derivatives")
        self._readings = SensorReadings(model)
        self._names = {name: _AT_EVALUATION.get(name, name) for name in self._readings.sources}
        self.sources = tuple(self._names.values())

    def read(self, fields: Mapping[str, torch.Tensor], numbers: dict[str, Any]) -> torch.Tensor:
        """Return the readings (n, nsensordata) from `sources`, (n, numbers) each, and the model's numbers by name."""
        found = {name: fields[source] for name, source in self._names.items()}
        return self._readings.read(found, numbers, _NoScene(), torch.zeros(len(next(iter(found.values())))))

    def jacobian(self, steps: Steps, states: torch.Tensor, own: Own | None, numbers: dict[str, Any]) -> torch.Tensor:
        """Return the derivatives of the readings (n, nsensordata, nstate + nu).

        Args:
            steps: derivatives of steps.
            states: rows of the memory (n, rows).
            own: numbers of the model that environments have as their own, for kernels.
            numbers: the same by MuJoCo's names.
        """
        values, by_directions = steps.outputs(states, self.sources, own)
        leaves = [part.clone().requires_grad_() for part in values.split(list(map(steps.length, self.sources)), 1)]
        with torch.enable_grad():
            readings = self.read(dict(zip(self.sources, leaves, strict=True)), numbers)
        rows = [_gradient(readings[:, column], leaves) for column in range(readings.shape[1])]
        by_fields = torch.stack(rows, 1) if rows else values.new_zeros((len(values), 0, values.shape[1]))
        return by_fields @ by_directions


def _gradient(reading: torch.Tensor, leaves: list[torch.Tensor]) -> torch.Tensor:
    """Return the gradient of a reading (n,) by the fields side by side (n, numbers)."""
    if not reading.requires_grad:
        return torch.cat([torch.zeros_like(leaf) for leaf in leaves], 1)
    found = torch.autograd.grad(reading.sum(), leaves, retain_graph=True, allow_unused=True)
    return torch.cat([torch.zeros_like(x) if g is None else g for g, x in zip(found, leaves, strict=True)], 1)


class _NoScene:
    """The geoms of environments for readings that need none (`sensors.reader.SensedGeoms`)."""

    def cast_rays(self, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Refuse."""
        raise AssertionError("a sensor that casts rays was not refused")

    def measure(self, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Refuse."""
        raise AssertionError("a sensor that measures distances was not refused")
