"""How a batch lies in memory: tiles of W environments, and in a tile every number of W environments side by side."""

from typing import Any

import torch


class Tiles:
    """The arrangement of `num_envs` environments in tensors (tiles, numbers, lanes).

    Args:
        num_envs: number of environments.
        width: lanes of a tile; the last tile may have spare ones.
    """

    def __init__(self, num_envs: int, width: int) -> None:
        self.num_envs, self.width = num_envs, width
        self.count = -(-num_envs // width)
        self.used = (torch.arange(self.count * width) < num_envs).reshape(self.count, width)

    def zeros(self, numbers: int, dtype: torch.dtype) -> torch.Tensor:
        """A tensor for `numbers` of every environment, at least one."""
        return torch.zeros((self.count, max(1, numbers), self.width), dtype=dtype)

    def read(self, tiled: torch.Tensor, index: torch.Tensor | None = None) -> torch.Tensor:
        """(tiles, numbers, lanes) -> (environments, numbers) of the environments `index` (None: all), a copy."""
        if index is not None:
            return tiled[index // self.width, :, index % self.width]
        return tiled.transpose(1, 2).reshape(-1, tiled.shape[1])[: self.num_envs].clone()

    def write(
        self, tiled: torch.Tensor, first: int, rows: torch.Tensor, width: int, index: torch.Tensor | None
    ) -> None:
        """Write `rows`, broadcast to (environments, width), from number `first` on, where `index` says (None: all)."""
        if index is None:
            full = torch.zeros((self.count * self.width, width), dtype=tiled.dtype)
            full[: self.num_envs] = rows
            full[self.num_envs :] = full[0].clone()
            tiled[:, first : first + width] = full.reshape(self.count, self.width, width).transpose(1, 2)
        else:
            tiled[index // self.width, first : first + width, index % self.width] = rows

    def mask(self, index: torch.Tensor | None) -> torch.Tensor:
        """Bool (tiles, 1, lanes), True at the environments `index`."""
        if index is None:
            return torch.ones((self.count, 1, self.width), dtype=torch.bool)
        mask = torch.zeros((self.count, 1, self.width), dtype=torch.bool)
        mask[index // self.width, 0, index % self.width] = True
        return mask

    def index(self, envs_idx: Any) -> torch.Tensor | None:
        """Environment indices (k,) from indices or a bool mask (num_envs,); None for all.

        Raises:
            ValueError: for a mask of another shape.
            IndexError: for an environment that does not exist.
        """
        if envs_idx is None:
            return None
        index = torch.as_tensor(envs_idx)
        if index.dtype == torch.bool:
            if index.shape != (self.num_envs,):
                raise ValueError(f"envs_idx: a mask must have shape ({self.num_envs},), not {tuple(index.shape)}")
            index = index.nonzero()
        index = index.to(torch.int64).reshape(-1)
        if len(index) and (int(index.min()) < 0 or int(index.max()) >= self.num_envs):
            bad = int(index[(index < 0) | (index >= self.num_envs)][0])
            raise IndexError(f"envs_idx: there is no environment {bad}; they are numbered 0 to {self.num_envs - 1}")
        return index
