"""The group PARAMETERS of the environments' memory: own numbers, fields of the model that differ by environment."""

from collections.abc import Mapping

import numpy as np
import torch

from ..fields import layout
from ..model.model import Model
from ..state.sizes import PARAMETER_FIELDS
from .columns import Columns
from .tiles import Tiles


class OwnNumbers:
    """Fields of the model with separate values in every environment; only these fields take memory.

    Attributes:
        memory: (tiles, numbers, lanes), or (numbers, environments).
        rows: (numbers,) int32, the position of each number among the model's flat real numbers.
        count: how many numbers an environment has.
    """

    def __init__(self, batch: Tiles | Columns, dtype: torch.dtype) -> None:
        self._batch, self._number = batch, np.float64 if dtype == torch.float64 else np.float32
        self._places: dict[str, slice] = {}
        self.count = 0
        self.memory = batch.zeros(0, dtype)
        self.rows = torch.zeros(1, dtype=torch.int32, device=batch.device)

    def lay_out(self, model: Model, names: set[str]) -> None:
        """Allocate memory for fields, filled with the model's values in every environment."""
        offsets, rows = layout(PARAMETER_FIELDS, model.sizes)[0], list[int]()
        self._places = {}
        for field in PARAMETER_FIELDS:
            if field.name in names:
                length = field.length(model.sizes)
                self._places[field.name] = slice(len(rows), len(rows) + length)
                rows += range(offsets[field.name], offsets[field.name] + length)
        self.count = len(rows)
        self.rows = torch.tensor(rows or [0], dtype=torch.int32, device=self._batch.device)
        self.memory = self._batch.zeros(self.count, self.memory.dtype)
        self.write({name: np.reshape(model.values[name], (1, -1)) for name in self._places}, None)

    def write(self, numbers: Mapping[str, np.ndarray], index: np.ndarray | None) -> None:
        """Set own numbers of environments, (k, numbers) for each field, or (1, numbers) for all of them."""
        memory = self._batch.array(self.memory)
        for name, rows in numbers.items():
            place = self._places[name]
            with np.errstate(over="ignore"):  # numbers that are too large become infinite and stop their environment
                rows = rows.astype(self._number)
            self._batch.write(memory, place.start, rows, place.stop - place.start, index)
