"""What evaluations handed out: kept until the state that they belong to changes, so that a second read costs none."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from .interface import Evaluation, Index

_MOST = 4  # blocks kept at once


class Block(NamedTuple):
    """The result of one evaluation.

    Attributes:
        rows: row of every environment, (num_envs,), -1 for those that are not in it; None: row k is the k-th of the
            environments asked for, or of all.
        places: columns of every field.
        values: (rows, numbers), spare ones included.
        indices: (groups, integers).
    """

    rows: np.ndarray | None
    places: dict[str, slice]
    values: torch.Tensor
    indices: torch.Tensor

    def has(self, names: Iterable[str], indices: bool) -> bool:
        """True if all of these fields are in it, and integers if they are wanted."""
        return all(name in self.places for name in names) and (self.indices.shape[1] > 0 or not indices)


Evaluate = Callable[[Sequence[str], Index, bool], Block]
"""(names, index, True if integers are wanted) -> a block."""


class Evaluations:
    """Reads of derived quantities between two changes of the state.

    Quantities that were read after the change before are evaluated together with the first one that is read now, so a
    loop that reads several quantities after every step pays for one evaluation.

    Environments whose indices are on a device are looked up in evaluations of all environments alone: to compare
    indices would be to wait for the device.

    Args:
        pick: (rows, index) -> a copy of rows of a block's values (`Tiles.pick`).
    """

    def __init__(self, pick: Callable[[torch.Tensor, Index], torch.Tensor]) -> None:
        self._pick = pick
        self._blocks: list[Block] = []
        self._asked: dict[str, None] = {}
        self._asked_before: dict[str, None] = {}

    def forget(self) -> None:
        """Note that the state of some environment's last evaluation changed."""
        if self._blocks or self._asked_before:
            self._asked_before, self._asked = self._asked, {}
            self._blocks = []

    def fields(self, names: Sequence[str], index: Index, evaluate: Evaluate) -> dict[str, torch.Tensor]:
        """Fields of environments, (k, numbers) each, copies."""
        block, rows = self._covering(names, index, False, evaluate)
        return {name: self._pick(block.values[:, block.places[name]], rows) for name in names}

    def together(self, names: Sequence[str], index: Index, evaluate: Evaluate) -> Evaluation:
        """Fields and integers of environments; those of all environments are kept here, so do not write to them."""
        block, rows = self._covering(names, index, True, evaluate)
        values, indices = block.values, block.indices
        if rows is not None:
            chosen = torch.as_tensor(rows, device=values.device)
            lanes = len(values) // len(indices)
            values, indices = values[chosen], indices[chosen // lanes]
        return Evaluation({name: values[:, block.places[name]] for name in names}, indices)

    def _covering(self, names: Sequence[str], index: Index, indices: bool, evaluate: Evaluate) -> tuple[Block, Any]:
        """Return a block with all of this, made if there is none, and the environments' rows there; None: the first."""
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
