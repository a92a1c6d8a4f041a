"""The layout of a batch in memory on a CPU: tiles of W environments, with each number of all W contiguous.

Numpy moves the numbers, as it transposes and scatters in half of torch's time: `array` is a view of a tensor. `Columns`
has the same methods.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch


class Tiles:
    """The arrangement of `num_envs` environments in tensors (tiles, numbers, lanes).

    Args:
        num_envs: number of environments.
        width: lanes of a tile; the last tile may have spare lanes.

    Attributes:
        axis: dimension of the tensors along which the numbers of an environment lie; the others are tiles and lanes.
        device: the device of the tensors.
        count: number of tiles.
        used: bool (tiles, 1, lanes), False in spare lanes.
    """

    axis, device = 1, torch.device("cpu")

    def __init__(self, num_envs: int, width: int) -> None:
        self.num_envs, self.width = num_envs, width
        self.count = -(-num_envs // width)
        self.used = (torch.arange(self.count * width) < num_envs).reshape(self.count, 1, width)
        self._tile, self._lane = np.divmod(np.arange(num_envs), width)

    def zeros(self, numbers: int, dtype: torch.dtype) -> torch.Tensor:
        """Return zeros for `numbers` of every environment, at least one number."""
        return torch.zeros((self.count, max(1, numbers), self.width), dtype=dtype)

    def array(self, tensor: torch.Tensor) -> Any:
        """Return a tensor in the form that `read` and `write` take: a numpy view."""
        return tensor.numpy()

    def given(self, rows: np.ndarray) -> torch.Tensor:
        """Return user input as a contiguous argument of a kernel."""
        return torch.from_numpy(np.ascontiguousarray(rows))

    def repeated(self, row: np.ndarray, count: int) -> Any:
        """Return `count` copies of numbers (n,) as (count, n), for `write`."""
        rows = np.empty((count, len(row)), row.dtype)
        rows[:] = row
        return rows

    def read(self, tiled: np.ndarray, index: np.ndarray | None = None, numbers: slice = slice(None)) -> torch.Tensor:
        """Copy numbers of the environments `index` (None: all): (tiles, numbers, lanes) -> (environments, numbers)."""
        source = tiled[:, numbers]
        if index is not None:
            return torch.from_numpy(source[self._tile[index], :, self._lane[index]])
        rows = source.transpose(0, 2, 1).copy().reshape(len(source) * self.width, source.shape[1])
        return torch.from_numpy(rows[: self.num_envs])

    def read_columns(self, tiled: np.ndarray, numbers: np.ndarray, index: np.ndarray | None) -> torch.Tensor:
        """Copy single numbers (k,) of the environments `index` (None: all), (environments, k); no others are read."""
        if index is not None:
            return torch.from_numpy(tiled[self._tile[index][:, None], numbers, self._lane[index][:, None]])
        rows = tiled[:, numbers].transpose(0, 2, 1).reshape(self.count * self.width, len(numbers))
        return torch.from_numpy(rows[: self.num_envs])

    def write_columns(self, tiled: np.ndarray, numbers: np.ndarray, rows: Any, index: np.ndarray | None) -> None:
        """Write `rows`, broadcast to (environments, k), to single numbers (k,) for `index` (None: all)."""
        if isinstance(rows, torch.Tensor):
            rows = rows.detach().cpu().numpy()
        if index is None:
            tiled[:, numbers] = self._whole(rows, len(numbers))
        else:
            tiled[self._tile[index][:, None], numbers, self._lane[index][:, None]] = rows

    def _whole(self, rows: np.ndarray, width: int) -> np.ndarray:
        """Return rows of all environments as tiles (tiles, width, lanes); spare lanes repeat the first environment."""
        shape = (self.num_envs, width)
        full = rows if rows.shape == shape else np.broadcast_to(rows, shape)
        if spare := self.count * self.width - self.num_envs:
            full = np.concatenate((full, np.broadcast_to(full[:1], (spare, width))))
        return full.reshape(self.count, self.width, width).transpose(0, 2, 1)

    def columns(self, tiled: np.ndarray, numbers: slice) -> torch.Tensor:
        """Copy numbers of all environments, with each number of all environments contiguous.

        This is quicker than `read`, and so are computations over all environments with one number or a few.
        """
        by_column = tiled[:, numbers].transpose(1, 0, 2).copy()
        return torch.from_numpy(by_column.reshape(by_column.shape[0], -1)[:, : self.num_envs].T)

    def any(self, tiled: np.ndarray, number: int) -> bool:
        """Return True if a number is nonzero in any environment; this is quicker than reading it."""
        return bool(np.count_nonzero(tiled[:, number])) and bool(self.columns(tiled, slice(number, number + 1)).any())

    def write(self, tiled: np.ndarray, first: int, rows: Any, width: int, index: np.ndarray | None) -> None:
        """Write `rows`, broadcast to (environments, width), from number `first` on for `index` (None: all)."""
        if not isinstance(rows, np.ndarray):
            rows = rows.detach().cpu().numpy() if isinstance(rows, torch.Tensor) else np.asarray(rows)
        target = tiled[:, first : first + width]
        if index is None:
            target[:] = self._whole(rows, width)
        else:
            target[self._tile[index], :, self._lane[index]] = rows

    def mask(self, index: np.ndarray | None) -> torch.Tensor:
        """Return bool (tiles, 1, lanes), True for the environments `index`; None: for all, and for spare lanes."""
        mask = np.full((self.count, 1, self.width), index is None)
        if index is not None:
            mask[self._tile[index], 0, self._lane[index]] = True
        return torch.from_numpy(mask)

    def marks(self) -> np.ndarray:
        """Return a mark for every environment, all True; the host reads them."""
        return np.ones(self.num_envs, np.bool_)

    def marked(self, marks: np.ndarray, index: np.ndarray | None) -> np.ndarray | None:
        """Return the environments of `index` (None: of all) that have a mark; None if every environment has."""
        marked = np.flatnonzero(marks) if index is None else np.unique(index[marks[index]])
        return None if len(marked) == self.num_envs else marked

    def in_place(self, tiled: torch.Tensor) -> torch.Tensor | None:
        """Return a view (environments, numbers) of a tensor; None for several environments in lanes."""
        return tiled[:, :, 0] if self.width == 1 or self.num_envs == 1 else None

    # copies of some environments

    def gather(
        self, batch: Sequence[torch.Tensor], index: np.ndarray, into: Sequence[torch.Tensor] | None = None
    ) -> Sequence[torch.Tensor]:
        """Copy environments into as few tiles as they need, at the front of `into` if it is given."""
        count = -(-len(index) // self.width)
        if into is None:
            into = [torch.empty((count, *tensor.shape[1:]), dtype=tensor.dtype) for tensor in batch]
        tile, lane = np.divmod(np.resize(index, count * self.width), self.width)  # spare lanes repeat the first ones
        for mine, theirs in zip(batch, into, strict=True):
            rows = mine.numpy()[tile, :, lane].reshape(count, self.width, mine.shape[1])
            theirs.numpy()[:count] = rows.transpose(0, 2, 1)
        return into

    def subset(
        self, batch: Sequence[torch.Tensor], index: np.ndarray
    ) -> tuple[Sequence[torch.Tensor], np.ndarray | None]:
        """Copy environments, each once; return the copies and every environment's row in them, -1 if not copied."""
        inside = np.unique(index)
        rows = np.full(self.num_envs, -1)
        rows[inside] = np.arange(len(inside))
        return self.gather(batch, inside), rows

    # arrays that launches fill

    def rows(self, count: int, numbers: int, dtype: torch.dtype) -> torch.Tensor:
        """Return zeros (count, numbers), at least one number, for a launch to fill."""
        return torch.zeros((count, max(1, numbers)), dtype=dtype)

    def stored(self, rows: torch.Tensor) -> torch.Tensor:
        """Return such an array in the form that a kernel takes."""
        return rows

    def pick(self, rows: torch.Tensor, index: np.ndarray | None = None) -> torch.Tensor:
        """Copy the rows (environments, numbers) of the environments `index`; None: of all, without spare ones."""
        source = rows.numpy()
        return torch.from_numpy(source[: self.num_envs].copy() if index is None else source[index])
