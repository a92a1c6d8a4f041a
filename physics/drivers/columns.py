"""How a batch lies in the memory of a GPU: every number of all environments side by side.

`Tiles` has the same methods.
"""

from collections.abc import Sequence
from typing import Any

import torch


class Columns:
    """The arrangement of `num_envs` environments in tensors (numbers, environments) on a device.

    Args:
        num_envs: number of environments.
        device: where the tensors are.

    Attributes:
        axis: dimension along which the numbers of an environment lie; the other counts environments.
        width: environments of a group that share integers.
        used: bool that broadcasts to (1, num_envs): no column is spare.
    """

    axis, width = 0, 1

    def __init__(self, num_envs: int, device: torch.device) -> None:
        self.num_envs, self.device = num_envs, device
        self.used = torch.ones((1, 1), dtype=torch.bool, device=device)

    def zeros(self, numbers: int, dtype: torch.dtype) -> torch.Tensor:
        """A tensor for `numbers` of every environment, at least one."""
        return torch.zeros((max(1, numbers), self.num_envs), dtype=dtype, device=self.device)

    def array(self, tensor: torch.Tensor) -> Any:
        """The form of a tensor that `read` and `write` take: the tensor on the device."""
        return tensor.to(self.device)

    def given(self, rows: Any) -> torch.Tensor:
        """Users' numbers as an argument of a kernel, side by side in memory."""
        return torch.as_tensor(rows, device=self.device).contiguous()

    def repeated(self, row: torch.Tensor, count: int) -> Any:
        """`count` copies of numbers (n,), (count, n), for `write`."""
        return row[:, None].repeat(1, count).T

    def _on_device(self, index: Any) -> torch.Tensor:
        return torch.as_tensor(index, device=self.device)

    def read(self, columns: torch.Tensor, index: Any = None, numbers: slice = slice(None)) -> torch.Tensor:
        """(numbers, num_envs) -> (environments, numbers) of the environments `index` (None: all), a copy."""
        return self.pick(columns[numbers].T, index)

    def columns(self, columns: torch.Tensor, numbers: slice) -> torch.Tensor:
        """`read` of all environments; the environments of a number lie side by side in memory."""
        return self.read(columns, None, numbers)

    def any(self, columns: torch.Tensor, number: int) -> bool:
        """True if a number of any environment is not 0; this waits for the device."""
        return bool(columns[number].any())

    def write(self, columns: torch.Tensor, first: int, rows: Any, width: int, index: Any) -> None:
        """Write `rows`, broadcast to (environments, width), from number `first` on, where `index` says (None: all)."""
        given = torch.as_tensor(rows, dtype=columns.dtype, device=self.device)
        target = columns[first : first + width]
        if index is None:
            target.copy_(given.expand(self.num_envs, width).T)
        else:
            target[:, self._on_device(index)] = given.expand(len(index), width).T

    def mask(self, index: Any) -> torch.Tensor:
        """Bool (1, num_envs), True at the environments `index`; None: everywhere."""
        mask = torch.full((1, self.num_envs), index is None, device=self.device)
        if index is not None:
            mask[:, self._on_device(index)] = True
        return mask

    def in_place(self, columns: torch.Tensor) -> torch.Tensor:
        """A view (environments, numbers) of a tensor."""
        return columns.T

    # environments beside the batch

    def subset(self, batch: Sequence[torch.Tensor], index: Any) -> tuple[Sequence[torch.Tensor], None]:
        """Copies of environments in the order of `index`; which these are only the device knows."""
        chosen = self._on_device(index)
        return [tensor[:, chosen].contiguous() for tensor in batch], None

    # what launches hand out

    def rows(self, count: int, numbers: int, dtype: torch.dtype) -> torch.Tensor:
        """Zeros (count, numbers), at least one number, for what a launch hands out; a column is one piece of memory."""
        return torch.zeros((max(1, numbers), count), dtype=dtype, device=self.device).T

    def stored(self, rows: torch.Tensor) -> torch.Tensor:
        """The form of such rows that a kernel takes: (numbers, count), as they lie in memory."""
        return rows.T

    def pick(self, rows: torch.Tensor, index: Any = None) -> torch.Tensor:
        """(environments, numbers) -> those of the environments `index` (None: all), a copy."""
        columns = rows.T
        return columns.clone().T if index is None else columns[:, self._on_device(index)].T
