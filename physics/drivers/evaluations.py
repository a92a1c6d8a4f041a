"""What evaluations handed out: kept until the state that they belong to changes, so that a second read costs none."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from .interface import Evaluation, Index

_MOST = 4  # blocks kept at once


class Block(NamedTuple):
    """What one evaluation handed out.

    Attributes:
        whole: whether all environments are in it, in their order.
        rows: row of every environment, (num_envs,), -1 for those that are not in it.
        places: columns of every field.
        values: (rows, numbers), spare ones included.
        indices: (groups, integers).
    """

    whole: bool
    rows: np.ndarray
    places: dict[str, slice]
    values: torch.Tensor
    indices: torch.Tensor


Evaluate = Callable[[Sequence[str], Index, bool], Block]
"""(names, index, whether integers are wanted) -> a block."""


class Evaluations:
    """Reads of derived quantities between two changes of the state.

    What was read since the change before is evaluated together with what is asked for: programs read the same
    quantities after every step, and so pay for one evaluation.
    """

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._blocks: list[Block] = []
        self._asked: dict[str, None] = {}
        self._asked_before: dict[str, None] = {}

    def forget(self) -> None:
        """Note that the state of some environment's last evaluation changed."""
        if self._blocks or self._asked_before:
            self._asked_before, self._asked = self._asked, {}
            self._blocks = []

    def fields(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Fields of environments, (k, numbers) each, copies."""
        block = self._covering(names, index, False)
        values = block.values.numpy()
        rows = block.rows if index is None else block.rows[index]
        return {name: torch.from_numpy(values[:, block.places[name]][rows]) for name in names}

    def together(self, names: Sequence[str], index: Index) -> Evaluation:
        """Fields and integers of a block that begins with these environments, which nobody may write to."""
        block = self._covering(names, index, True)
        if index is None or np.array_equal(block.rows[index], np.arange(len(index))):
            return Evaluation({name: block.values[:, block.places[name]] for name in names}, block.indices)
        lanes = len(block.values) // len(block.indices)
        rows = torch.from_numpy(block.rows[index])
        fields = {name: block.values[rows, block.places[name]] for name in names}
        return Evaluation(fields, block.indices[rows // lanes])

    def _covering(self, names: Sequence[str], index: Index, indices: bool) -> Block:
        """A block with all of this, made where there is none."""
        for block in self._blocks:
            if all(name in block.places for name in names) and (block.indices.shape[1] > 0 or not indices):
                if block.whole or (index is not None and np.all(block.rows[index] >= 0)):
                    return block
        wanted = dict.fromkeys(names)
        if not indices:
            wanted |= self._asked_before | self._asked
            self._asked |= dict.fromkeys(names)
        block = self._evaluate(tuple(wanted), index, indices)
        self._blocks = [*self._blocks[1 - _MOST :], block]
        return block
