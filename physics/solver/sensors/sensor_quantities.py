"""The quantities that sensors read, by MuJoCo's names, each made once, however many sensors ask for it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ...model.model import Model
from ..readout.actuators import chosen
from ..readout.derived import derive

Tensor = torch.Tensor


class SensorQuantities:
    """Quantities of n environments in one evaluation.

    Args:
        model: of all of them.
        fields: the fields from which the quantities are computed, (n, numbers) each.
        own: per-environment parameters, (n, ...) each.
        kept: stores constants from one evaluation to the next.
    """

    def __init__(self, model: Model, fields: dict[str, Tensor], own: dict[str, Tensor], kept: dict[Any, Any]) -> None:
        self.model, self.own = model, own
        self._fields, self._kept = fields, kept
        self._like = next(iter(fields.values()))
        self._found: dict[str, Tensor] = {}

    def __len__(self) -> int:
        return len(self._like)

    def __getitem__(self, name: str) -> Tensor:
        """A quantity, as `RigidSolver.get` has it."""
        if name not in self._found:
            self._found[name] = derive(self.model, name, self._fields | self.own)
        return self._found[name]

    def shaped(self, *names: str) -> dict[str, Tensor]:
        """Return several quantities, and per-environment parameters."""
        return {name: self[name] for name in names} | self.own

    def tensor(self, values: Any) -> Tensor:
        """Numbers in the precision and on the device of the environments'."""
        return torch.as_tensor(np.asarray(values), dtype=self._like.dtype, device=self._like.device)

    def constant(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return a constant; it is made when it is first asked for."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def ids(self, key: Any, values: Any) -> Any:
        """Indices of items on the device, or a slice; kept, as their way to a GPU is waited for."""
        return self.constant(("ids", key), lambda: chosen(values, self._like.device))

    def of_model(self, name: str) -> Tensor:
        """A field of mjModel: the environments' own, or the model's with one environment in front."""
        if name in self.own:
            return self.own[name]
        return self.constant(("model", name), lambda: self.tensor(getattr(self.model.mj, name))[None])
