"""The layout of a batch in the memory of a GPU: (numbers, environments), each number of all environments contiguous.

`Tiles` has the same methods.
"""

from collections.abc import Sequence
from typing import Any

import torch


class Columns:
    """The arrangement of `num_envs` environments in tensors (numbers, environments) on a device.

    Args:
        num_envs: number of environments.
        device: the device of the tensors.

    Attributes:
        axis: dimension of the tensors along which the numbers of an environment lie; the other counts environments.
        width: environments that share integers of the scratch: 1.
        used: bool that broadcasts to (1, num_envs): all True, as no column is spare.
    """

    axis, width = 0, 1

    def __init__(self, num_envs: int, device: torch.device) -> None:
        self.num_envs, self.device = num_envs, device
        self.used = torch.ones((1, 1), dtype=torch.bool, device=device)

    def zeros(self, numbers: int, dtype: torch.dtype) -> torch.Tensor:
        """Return zeros for `numbers` of every environment, at least one number."""
        return torch.zeros((max(1, numbers), self.num_envs), dtype=dtype, device=self.device)

    def array(self, tensor: torch.Tensor) -> Any:
        """Return a tensor in the form that `read` and `write` take: the tensor on the device."""
        return tensor.to(self.device)

    def given(self, rows: Any) -> torch.Tensor:
        """Return user input as a contiguous argument of a kernel."""
        return torch.as_tensor(rows, device=self.device).contiguous()

    def repeated(self, row: torch.Tensor, count: int) -> Any:
        """Return `count` copies of numbers (n,) as (count, n), for `write`."""
        return row[:, None].repeat(1, count).T

    def _on_device(self, index: Any) -> torch.Tensor:
        return torch.as_tensor(index, device=self.device)

    def read(self, columns: torch.Tensor, index: Any = None, numbers: slice = slice(None)) -> torch.Tensor:
        """Copy numbers of the environments `index` (None: all): (numbers, num_envs) -> (environments, numbers)."""
        return self.pick(columns[numbers].T, index)

    def read_columns(self, columns: torch.Tensor, numbers: Any, index: Any) -> torch.Tensor:
        """Copy single numbers (k,) of the environments `index` (None: all), (environments, k); no others are read."""
        columns_idx = self._on_device(numbers)
        return columns[columns_idx].T if index is None else columns[columns_idx[:, None], self._on_device(index)].T

    def write_columns(self, columns: torch.Tensor, numbers: Any, rows: Any, index: Any) -> None:
        """Write `rows`, broadcast to (environments, k), to single numbers (k,) for `index` (None: all)."""
        values, columns_idx = torch.as_tensor(rows, dtype=columns.dtype, device=self.device), self._on_device(numbers)
        if index is None:
            columns[columns_idx] = values.expand(self.num_envs, len(columns_idx)).T
        else:
            columns[columns_idx[:, None], self._on_device(index)] = values.expand(len(index), len(columns_idx)).T

    def columns(self, columns: torch.Tensor, numbers: slice) -> torch.Tensor:
        """Copy numbers of all environments, as `read` does; each number of all environments stays contiguous."""
        return self.read(columns, None, numbers)

    def any(self, columns: torch.Tensor, number: int) -> bool:
        """Return True if a number is nonzero in any environment; this waits for the device."""
        return bool(columns[number].any())

    def write(self, columns: torch.Tensor, first: int, rows: Any, width: int, index: Any) -> None:
        """Write `rows`, broadcast to (environments, width), from number `first` on for `index` (None: all)."""
        values = torch.as_tensor(rows, dtype=columns.dtype, device=self.device)
        target = columns[first : first + width]
        if index is None:
            target.copy_(values.expand(self.num_envs, width).T)
        else:
            target[:, self._on_device(index)] = values.expand(len(index), width).T

    def mask(self, index: Any) -> torch.Tensor:
        """Return bool (1, num_envs), True for the environments `index`; None: for all."""
        mask = torch.full((1, self.num_envs), index is None, device=self.device)
        if index is not None:
            mask[:, self._on_device(index)] = True
        return mask

    def marks(self) -> torch.Tensor:
        """Return a mark for every environment, all 1; launches read them, and clear those of the threads that run."""
        return torch.ones(self.num_envs, dtype=torch.int32, device=self.device)

    def marked(self, _: torch.Tensor, __: Any) -> None:
        """Return None, all environments, as only the device knows the marks; a launch skips the others."""

    def in_place(self, columns: torch.Tensor) -> torch.Tensor:
        """Return a view (environments, numbers) of a tensor."""
        return columns.T

    # copies of some environments

    def subset(self, batch: Sequence[torch.Tensor], index: Any) -> tuple[Sequence[torch.Tensor], None]:
        """Copy environments in the order of `index`; None, as only the device knows `index` (see `Tiles.subset`)."""
        envs = self._on_device(index)
        return [tensor[:, envs].contiguous() for tensor in batch], None

    # arrays that launches fill

    def rows(self, count: int, numbers: int, dtype: torch.dtype) -> torch.Tensor:
        """Return zeros (count, numbers), at least one number, for a launch to fill; each column is contiguous."""
        return torch.zeros((max(1, numbers), count), dtype=dtype, device=self.device).T

    def stored(self, rows: torch.Tensor) -> torch.Tensor:
        """Return such an array in the form that a kernel takes: (numbers, count), as it lies in memory."""
        return rows.T

    def pick(self, rows: torch.Tensor, index: Any = None) -> torch.Tensor:
        """Copy the rows (environments, numbers) of the environments `index`; None: of all."""
        columns = rows.T
        return columns.clone().T if index is None else columns[:, self._on_device(index)].T
