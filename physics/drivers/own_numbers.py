"""The group PARAMETERS of the environments' memory: own numbers, fields of the model that differ by environment."""

from collections.abc import Mapping

import numpy as np
import torch

from ..fields import layout
from ..model.model import Model
from ..state.sizes import PARAMETER_FIELDS
from .columns import Columns
from .outputs import select
from .tiles import Tiles


class OwnNumbers:
    """Fields of the model with separate values in every environment; only these fields take memory.

    Attributes:
        memory: (tiles, numbers, lanes), or (numbers, environments), in double precision.
        rows: of each number its place among the model's flat real numbers, (numbers,) int32.
        count: how many numbers there are.
    """

    def __init__(self, batch: Tiles | Columns) -> None:
        self._batch = batch
        self._places: dict[str, slice] = {}
        self.count = 0
        self.memory = batch.zeros(0, torch.float64)
        self.rows = torch.zeros(1, dtype=torch.int32, device=batch.device)

    def lay_out(self, model: Model, names: set[str]) -> None:
        """Allocate memory for fields, filled with the model's values in every environment."""
        offsets, _ = layout(PARAMETER_FIELDS, model.sizes)
        widths = {field.name: field.length(model.sizes) for field in PARAMETER_FIELDS}
        own = [field.name for field in PARAMETER_FIELDS if field.name in names]
        self._places, self.count, self.rows = select(own, offsets, widths, self._batch.device)
        self.memory = self._batch.zeros(self.count, torch.float64)
        self.write({name: np.reshape(model.values[name], (1, -1)) for name in self._places}, None)

    def write(self, numbers: Mapping[str, np.ndarray], index: np.ndarray | None) -> None:
        """Set own numbers of environments, (k, numbers) for each field, or (1, numbers) for all of them."""
        memory = self._batch.array(self.memory)
        for name, rows in numbers.items():
            place = self._places[name]
            self._batch.write(memory, place.start, rows, place.stop - place.start, index)
