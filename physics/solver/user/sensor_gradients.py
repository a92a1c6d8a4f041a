"""Derivatives of sensor readings: those of the fields that they are made of, times the readings' own gradients."""

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


class SensorGradients:
    """Derivatives of all readings of a model's sensors.

    Args:
        model: the model.

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
        self._readings = SensorReadings(model)  # in double precision, apart from the solver's

    def jacobian(self, steps: Steps, states: torch.Tensor, own: Own | None, numbers: dict[str, Any]) -> torch.Tensor:
        """Return the derivatives of the readings (n, nsensordata, nstate + nu).

        Args:
            steps: derivatives of steps.
            states: rows of the memory (n, rows).
            own: numbers of the model that environments have as their own, for kernels.
            numbers: the same by MuJoCo's names.
        """
        names = self._readings.sources
        values, by_directions = steps.outputs(states, [_AT_EVALUATION.get(name, name) for name in names], own)
        widths = [steps.length(_AT_EVALUATION.get(name, name)) for name in names]
        leaves = [part.clone().requires_grad_() for part in values.split(widths, 1)]
        with torch.enable_grad():
            fields = dict(zip(names, leaves, strict=True))
            readings = self._readings.read(fields, numbers, _NoScene(), torch.zeros(len(values)))
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
