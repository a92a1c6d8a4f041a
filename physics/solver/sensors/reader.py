"""The table's entry for a type of sensor: the quantities it needs, and a function that reads all of that type."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import mujoco
import numpy as np
import torch

from ...model.model import Model
from .objects import Frames, Objects
from .sensor_quantities import SensorQuantities

Tensor = torch.Tensor


class SensedGeoms(Protocol):
    """Answers of a solver's about its geoms, at the poses that sensors see."""

    def cast_rays(self, quantities: SensorQuantities, body: int, pnt: Tensor, vec: Tensor) -> tuple[Tensor, Tensor]:
        """Distances (n, k), -1 for none, and normals (n, k, 3) where rays (n, k, 3) hit, ignoring geoms of `body`."""
        ...

    def measure(self, quantities: SensorQuantities, pairs: np.ndarray, distmax: float) -> tuple[Tensor, Tensor]:
        """Distances (n, npairs) of pairs of geoms (npairs, 2), at most `distmax`, and nearest points (n, npairs, 6)."""
        ...


@dataclass
class SensorView:
    """One evaluation of n environments.

    Attributes:
        quantities: quantities by name.
        frames: of the objects that sensors are about.
        scene: casts rays and measures distances.
        steps: steps taken before the evaluation (n,).
    """

    quantities: SensorQuantities
    frames: Frames
    scene: SensedGeoms
    steps: Tensor


Read = Callable[[SensorView], Tensor]
"""Readings (n, numbers) of some sensors side by side."""


@dataclass(frozen=True)
class Reader:
    """The reader of a type of sensor.

    Attributes:
        sources: fields of the scratch or quantities of `derived` that it looks at, beside the objects' frames.
        prepare: (model, objects, ids of sensors) -> the function that reads these.
    """

    sources: tuple[str, ...]
    prepare: Callable[[Model, Objects, np.ndarray], Read]


def flat(values: Tensor) -> Tensor:
    """Readings (n, k, ...) side by side."""
    return values.flatten(1)


def repeated(number: Tensor, sensors: np.ndarray) -> Tensor:
    """The same number (n,) for each of these sensors."""
    return number[:, None].expand(-1, len(sensors))


def column(name: str, of: Callable[[mujoco.MjModel, np.ndarray], Any], unit: bool = False) -> Reader:
    """Sensors that are items of a quantity: `of(model, objects' ids)` says which, (k,) or (k, width).

    With `unit` those of a sensor are a quaternion, which is normalised.
    """

    def prepare(model: Model, objects: Objects, sensors: np.ndarray) -> Read:
        which = of(model.mj, model.mj.sensor_objid[sensors])

        def read(view: SensorView) -> Tensor:
            found = view.quantities[name][:, view.quantities.ids((name, tuple(sensors)), which)]
            return flat(torch.nn.functional.normalize(found, dim=-1) if unit else found)

        return read

    return Reader((name,), prepare)
