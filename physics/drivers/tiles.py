"""How a batch lies in memory: tiles of W environments, and in a tile every number of W environments side by side.

Numbers are moved by numpy, which turns axes around and scatters in half of torch's time: `tiled` is a view of a tensor.
"""

import numpy as np
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
        self._tile, self._lane = np.divmod(np.arange(num_envs), width)

    def zeros(self, numbers: int, dtype: torch.dtype) -> torch.Tensor:
        """A tensor for `numbers` of every environment, at least one."""
        return torch.zeros((self.count, max(1, numbers), self.width), dtype=dtype)

    def array(self, tensor: torch.Tensor) -> np.ndarray:
        """What `read` and `write` take: a view of the tensor."""
        return tensor.numpy()

    def read(self, tiled: np.ndarray, index: np.ndarray | None = None, numbers: slice = slice(None)) -> torch.Tensor:
        """(tiles, numbers, lanes) -> (environments, numbers) of the environments `index` (None: all), a copy."""
        source = tiled[:, numbers]
        if index is not None:
            return torch.from_numpy(source[self._tile[index], :, self._lane[index]])
        rows = source.transpose(0, 2, 1).copy().reshape(len(source) * self.width, source.shape[1])
        return torch.from_numpy(rows[: self.num_envs])

    def columns(self, tiled: np.ndarray, numbers: slice) -> torch.Tensor:
        """`read` of all environments, with the environments of a number side by side in memory: quicker to make.

        So is what is computed for all environments from one number or a few.
        """
        chosen = tiled[:, numbers].transpose(1, 0, 2).copy()
        return torch.from_numpy(chosen.reshape(chosen.shape[0], -1)[:, : self.num_envs].T)

    def pick(self, rows: torch.Tensor, index: np.ndarray | None = None) -> torch.Tensor:
        """(environments, numbers), spare ones included -> those of the environments `index` (None: all), a copy."""
        source = rows.numpy()
        return torch.from_numpy(source[: self.num_envs].copy() if index is None else source[index])

    def write(self, tiled: np.ndarray, first: int, rows: np.ndarray, width: int, index: np.ndarray | None) -> None:
        """Write `rows`, broadcast to (environments, width), from number `first` on, where `index` says (None: all)."""
        target = tiled[:, first : first + width]
        if index is None:
            shape = (self.num_envs, width)
            full = rows if rows.shape == shape else np.broadcast_to(rows, shape)
            if spare := self.count * self.width - self.num_envs:  # spare lanes do as the first environment
                full = np.concatenate((full, np.broadcast_to(full[:1], (spare, width))))
            target[:] = full.reshape(self.count, self.width, width).transpose(0, 2, 1)
        else:
            target[self._tile[index], :, self._lane[index]] = rows

    def mask(self, index: np.ndarray | None) -> torch.Tensor:
        """Bool (tiles, 1, lanes), True at the environments `index`."""
        mask = np.full((self.count, 1, self.width), index is None)
        if index is not None:
            mask[self._tile[index], 0, self._lane[index]] = True
        return torch.from_numpy(mask)
