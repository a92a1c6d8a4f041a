"""The derived quantities that every step delivers, brought up to date where a state was changed from outside."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from . import kernel as driver
from .tiles import Tiles


class Bound(NamedTuple):
    """A kernel bound to its tensors, and the settings it will read at its next launch (`kernel.CALL_LENGTH`)."""

    call: torch.Tensor
    launch: Callable[[], None]


Bind = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, bool], Bound]
"""(memory, counters, values, replay) -> the kernel that fills `values` with the output rows of all tiles."""


class _Side(NamedTuple):
    """Room for a selection of environments, side by side in as few tiles as they need."""

    memory: torch.Tensor
    counters: torch.Tensor
    values: torch.Tensor
    bound: Bound


class Outputs:
    """Rows of the scratch handed out after every evaluation.

    Args:
        names: fields.
        offsets: first row of every field.
        widths: rows of every field.
        tiles: the arrangement of the batch.
        memory: the solver's, (tiles, numbers, lanes).
        counters: the solver's, (tiles, integers, lanes).

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
        memory: torch.Tensor,
        counters: torch.Tensor,
    ) -> None:
        self._tiles, self._memory, self._counters = tiles, memory, counters
        self.places: dict[str, slice] = {}
        rows: list[int] = []
        for name in names:
            self.places[name] = slice(len(rows), len(rows) + widths[name])
            rows += range(offsets[name], offsets[name] + widths[name])
        self.count = len(rows)
        self.rows = torch.tensor(rows or [0], dtype=torch.int32)
        self.values = torch.zeros((tiles.count * tiles.width, max(1, self.count)), dtype=memory.dtype)
        self.current = not self.count
        self._stale = np.ones(tiles.num_envs, np.bool_)
        self._whole: Bound | None = None
        self._side: _Side | None = None

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def __getitem__(self, name: str) -> torch.Tensor:
        """One field of all environments, (environments, numbers), a view."""
        return self.values[:, self.places[name]]

    def mark(self, index: np.ndarray | None) -> None:
        """Note environments whose outputs no longer belong to their last evaluation; None for all."""
        if self.count:
            self._stale[slice(None) if index is None else index] = True
            self.current = False

    def mark_current(self) -> None:
        """Note that a step has just delivered all of them."""
        if not self.current:
            self._stale[:] = False
            self.current = True

    def refresh(self, bind: Bind) -> None:
        """Evaluate the marked environments again at the state of their last evaluation."""
        index = np.flatnonzero(self._stale)
        if len(index) == self._tiles.num_envs:
            self._whole = self._whole or bind(self._memory, self._counters, self.values, True)
            self._whole.launch()
        elif len(index):
            tile, lane = np.divmod(index, self._tiles.width)
            memory, counters = (mine.numpy()[tile, :, lane] for mine in (self._memory, self._counters))
            self.values.numpy()[index] = self._evaluate_beside(memory, counters, bind)
        self.mark_current()

    def _make_side(self, bind: Bind) -> _Side:
        memory, counters, values = map(torch.zeros_like, (self._memory, self._counters, self.values))
        self._side = _Side(memory, counters, values, bind(memory, counters, values, True))
        return self._side

    def at(self, names: Sequence[str], memory: np.ndarray, bind: Bind) -> dict[str, torch.Tensor]:
        """Fields, (k, numbers) each, of environments without faults whose memory (k, numbers) would be this.

        Raises:
            KeyError: a field is not handed out.
        """
        if missing := [name for name in names if name not in self]:
            raise KeyError(f"{', '.join(missing)}: not among this solver's outputs, {', '.join(self.places) or 'none'}")
        if not names:
            return {}
        most = self._tiles.num_envs
        parts = (memory[first : first + most] for first in range(0, len(memory), most))
        shape = self._counters.shape[1]
        found = [self._evaluate_beside(part, np.zeros((len(part), shape), np.int32), bind).copy() for part in parts]
        values = torch.from_numpy(np.concatenate(found)) if found else self.values[:0]
        return {name: values[:, self.places[name]] for name in names}

    def _evaluate_beside(self, memory: np.ndarray, counters: np.ndarray, bind: Bind) -> np.ndarray:
        """Evaluate environments of given memory and counters, (k, numbers) each, at most num_envs, on their own.

        Returns:
            Their outputs (k, n), to be overwritten by the next call.
        """
        side, width = self._side or self._make_side(bind), self._tiles.width
        count = -(-len(memory) // width)
        lanes = np.resize(np.arange(len(memory)), count * width)  # spare ones do as the first
        for given, room in ((memory, side.memory), (counters, side.counters)):
            room.numpy()[:count] = given[lanes].reshape(count, width, -1).transpose(0, 2, 1)
        side.bound.call[driver.TILES] = count
        side.bound.launch()
        return side.values.numpy()[: len(memory)]
