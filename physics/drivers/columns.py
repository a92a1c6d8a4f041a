"""How a batch lies in the memory of a GPU: every number of all environments side by side."""

from typing import Any

import numpy as np
import torch


class Columns:
    """The arrangement of `num_envs` environments in tensors (numbers, environments) on a device.

    Args:
        num_envs: number of environments.
        device: where the tensors are.
    """

    def __init__(self, num_envs: int, device: torch.device) -> None:
        self.num_envs, self.device = num_envs, device

    def zeros(self, numbers: int, dtype: torch.dtype) -> torch.Tensor:
        """A tensor for `numbers` of every environment, at least one."""
        return torch.zeros((max(1, numbers), self.num_envs), dtype=dtype, device=self.device)

    def array(self, tensor: torch.Tensor) -> torch.Tensor:
        """What `read` and `write` take: the tensor."""
        return tensor

    def on_device(self, index: np.ndarray) -> torch.Tensor:
        """Numbers of environments."""
        return torch.as_tensor(index, device=self.device)

    def read(
        self, columns: torch.Tensor, index: np.ndarray | None = None, numbers: slice = slice(None)
    ) -> torch.Tensor:
        """(numbers, num_envs) -> (environments, numbers) of the environments `index` (None: all), a copy."""
        chosen = columns[numbers]
        return chosen.clone().T if index is None else chosen[:, self.on_device(index)].T

    def write(self, columns: torch.Tensor, first: int, rows: Any, width: int, index: np.ndarray | None) -> None:
        """Write `rows`, broadcast to (environments, width), from number `first` on, where `index` says (None: all)."""
        if isinstance(rows, int):
            given = torch.full((), rows, dtype=columns.dtype, device=self.device)  # a copy would be waited for
        else:
            given = torch.as_tensor(rows, dtype=columns.dtype, device=self.device)
        target = columns[first : first + width]
        if index is None:
            target.copy_(given.expand(self.num_envs, width).T)
        else:
            target[:, self.on_device(index)] = given.expand(len(index), width).T

    def mask(self, index: np.ndarray | None) -> torch.Tensor:
        """Bool (num_envs,), True at the environments `index`."""
        mask = torch.full((self.num_envs,), index is None, device=self.device)
        if index is not None:
            mask[self.on_device(index)] = True
        return mask
