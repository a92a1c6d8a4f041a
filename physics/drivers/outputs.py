"""The derived quantities that every step delivers, brought up to date where a state was changed from outside."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from .bound_kernel import BoundKernel
from .interface import Index
from .settings import Setting
from .tiles import Tiles


class Batch(NamedTuple):
    """What environments are: their memory, counters, and fields of the model of their own, (tiles, n, lanes) each."""

    memory: torch.Tensor
    counters: torch.Tensor
    own: torch.Tensor

    def gather(self, index: np.ndarray, tiles: Tiles, room: "Batch | None" = None) -> "Batch":
        """Copies of some environments side by side, in as few tiles as they need; to the front of `room`."""
        width = tiles.width
        count = -(-len(index) // width)
        if room is None:
            room = Batch(*(torch.empty((count, *tensor.shape[1:]), dtype=tensor.dtype) for tensor in self))
        tile, lane = np.divmod(np.resize(index, count * width), width)  # spare lanes do as the first ones
        for mine, theirs in zip(self, room, strict=True):
            rows = mine.numpy()[tile, :, lane].reshape(count, width, mine.shape[1])
            theirs.numpy()[:count] = rows.transpose(0, 2, 1)
        return room


class Outputs:
    """Rows of the scratch handed out after every evaluation.

    Args:
        names: fields.
        offsets: first row of every field.
        widths: rows of every field.
        tiles: the arrangement of the batch.
        batch: the driver's.
        bind: (batch, values, outputs) -> the kernel that fills `values` with the output rows of a batch's last
            evaluations.

    Attributes:
        rows: the rows handed out, (n,) int32.
        values: what they held at the last evaluation, (environments, n), spare ones of the last tile included.
        current: whether that is so in all environments.
    """

    def __init__(
        self,
        names: Sequence[str],
        offsets: Mapping[str, int],
        widths: Mapping[str, int],
        tiles: Tiles,
        batch: Batch,
        bind: Callable[[Batch, torch.Tensor, "Outputs"], BoundKernel],
    ) -> None:
        self._tiles, self._batch, self._bind = tiles, batch, bind
        self.places: dict[str, slice] = {}
        rows: list[int] = []
        for name in names:
            self.places[name] = slice(len(rows), len(rows) + widths[name])
            rows += range(offsets[name], offsets[name] + widths[name])
        self.count = len(rows)
        self.rows = torch.tensor(rows or [0], dtype=torch.int32)
        self.values = torch.zeros((tiles.count * tiles.width, max(1, self.count)), dtype=batch.memory.dtype)
        self.current = not self.count
        self._stale = np.ones(tiles.num_envs, np.bool_)
        self._whole: BoundKernel | None = None
        self._beside: tuple[Batch, torch.Tensor, BoundKernel] | None = None

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def differ(self, batch: Batch) -> None:
        """Go on with another batch: environments have other fields of their own."""
        self._batch, self._whole, self._beside = batch, None, None
        self.mark(None)

    def mark(self, index: Index) -> None:
        """Note environments whose outputs no longer belong to their last evaluation."""
        if self.count:
            self._stale[slice(None) if index is None else index] = True
            self.current = False

    def mark_current(self) -> None:
        """Note that a step has just delivered all of them."""
        if not self.current:
            self._stale[:] = False
            self.current = True

    def refresh(self, index: Index) -> None:
        """Evaluate the marked ones of these environments again at the state of their last evaluation."""
        stale = np.flatnonzero(self._stale) if index is None else np.unique(index[self._stale[index]])
        if len(stale) == self._tiles.num_envs:
            self._whole = self._whole or self._bind(self._batch, self.values, self)
            self._whole()
        elif len(stale):
            self._evaluate_beside(stale)
        self._stale[stale] = False
        self.current = not self._stale.any()

    def _evaluate_beside(self, index: np.ndarray) -> None:
        if self._beside is None:
            room = Batch(*map(torch.zeros_like, self._batch))
            values = torch.zeros_like(self.values)
            self._beside = room, values, self._bind(room, values, self)
        room, values, bound = self._beside
        self._batch.gather(index, self._tiles, room)
        bound.call[Setting.TILES] = -(-len(index) // self._tiles.width)
        bound()
        self.values.numpy()[index] = values.numpy()[: len(index)]

    def bound(self) -> list[BoundKernel]:
        """The kernels bound so far."""
        return [bound for bound in (self._whole, self._beside and self._beside[2]) if bound]


def side_by_side(names: Sequence[str], widths: Mapping[str, int]) -> tuple[dict[str, slice], int]:
    """Columns of every field, and how many there are."""
    places, first = {}, 0
    for name in names:
        places[name] = slice(first, first + widths[name])
        first += widths[name]
    return places, first
