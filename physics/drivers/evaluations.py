"""Results of evaluations, kept until the state that they belong to changes, so that a second read costs nothing."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from .interface import Evaluation, Index

_MOST = 4  # blocks kept at once


class Block(NamedTuple):
    """The result of one evaluation.

    Attributes:
        rows: (num_envs,), the row of every environment, -1 for those that were not evaluated; None: row k is the k-th
            of the environments asked for, or of all.
        places: columns of every field.
        values: (rows, numbers), rows of spare lanes included.
        indices: (groups, integers).
    """

    rows: np.ndarray | None
    places: dict[str, slice]
    values: torch.Tensor
    indices: torch.Tensor

    def has(self, names: Iterable[str], indices: bool) -> bool:
        """Return True if the block has all of these fields, and integers if they are wanted."""
        return all(name in self.places for name in names) and (self.indices.shape[1] > 0 or not indices)


Evaluate = Callable[[Sequence[str], Index, bool], Block]
"""A function of (names, index, True if integers are wanted) that returns a block."""


class Evaluations:
    """A cache of the derived quantities that are read between two changes of the state.

    Quantities read after the previous change are evaluated together with the first that is read after this one, so a
    loop that reads several quantities after every step pays for one evaluation.

    Environments whose indices are on a device are only looked up in evaluations of all environments: comparing indices
    would wait for the device.

    Args:
        pick: (rows, index) -> a copy of rows of a block's values (`Tiles.pick`).
    """

    def __init__(self, pick: Callable[[torch.Tensor, Index], torch.Tensor]) -> None:
        self._pick = pick
        self._blocks: list[Block] = []
        self._asked: dict[str, None] = {}
        self._asked_before: dict[str, None] = {}

    def forget(self) -> None:
        """Drop all blocks, because the state of some environment's last evaluation changed."""
        if self._blocks or self._asked_before:
            self._asked_before, self._asked = self._asked, {}
            self._blocks = []

    def fields(self, names: Sequence[str], index: Index, evaluate: Evaluate) -> dict[str, torch.Tensor]:
        """Return copies of fields of environments, (k, numbers) each."""
        block, rows = self._covering(names, index, False, evaluate)
        return {name: self._pick(block.values[:, block.places[name]], rows) for name in names}

    def together(self, names: Sequence[str], index: Index, evaluate: Evaluate) -> Evaluation:
        """Return fields and integers of environments; do not write to them, as the cache may share them."""
        block, rows = self._covering(names, index, True, evaluate)
        values, indices = block.values, block.indices
        if rows is not None:
            chosen = torch.as_tensor(rows, device=values.device)
            lanes = len(values) // len(indices)
            values, indices = values[chosen], indices[chosen // lanes]
        return Evaluation({name: values[:, block.places[name]] for name in names}, indices)

    def _covering(self, names: Sequence[str], index: Index, indices: bool, evaluate: Evaluate) -> tuple[Block, Any]:
        """Return a block with all of this, evaluated if there is none, and the environments' rows in it.

        Rows of None mean the first rows of the block.
        """
        on_host = index is None or isinstance(index, np.ndarray)
        for block in self._blocks:
            if block.has(names, indices):
                if block.rows is None:
                    return block, index
                if on_host and index is not None and np.all((rows := block.rows[index]) >= 0):
                    return block, rows
        wanted = dict.fromkeys(names)
        if on_host and not indices:
            wanted |= self._asked_before | self._asked
            self._asked |= dict.fromkeys(names)
        block = evaluate(tuple(wanted), index, indices)
        if index is None:
            self._blocks = [kept for kept in self._blocks if not block.has(kept.places, kept.indices.shape[1] > 0)]
        if index is None or block.rows is not None:
            self._blocks = [*self._blocks[1 - _MOST :], block]
        return block, None if block.rows is None else block.rows[index]
