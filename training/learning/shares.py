"""The minibatches of an iteration: each process of a group computes those rows that its environments gave."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..distributed import ProcessGroup


@dataclass(frozen=True)
class Shares:
    """The rows of all minibatches of an iteration that this process has.

    Attributes:
        group: the processes.
        rows: of each minibatch, int64; a process may have no row of some.
        sizes: rows of each minibatch in all processes, int64.
    """

    group: ProcessGroup
    rows: list[Tensor]
    sizes: np.ndarray

    def advantages(self, advantages: Tensor) -> Tensor:
        """Return mean and standard deviation of each minibatch's advantages in all processes, float64 (minibatches, 2).

        Args:
            advantages: of this process' rows (rows,).
        """
        count = len(self.rows)
        lengths = torch.tensor([len(rows) for rows in self.rows])
        number = torch.arange(count).repeat_interleave(lengths).to(advantages.device)
        values = advantages[torch.cat(self.rows).to(advantages.device)].double()
        n = lengths.to(values)
        mean = torch.bincount(number, values, count) / n.clamp(min=1)
        squares = torch.bincount(number, (values - mean[number]) ** 2, count)
        n, mean, squares = self.group.merged(torch.stack([n, mean, squares], 1)).unbind(1)
        return torch.stack([mean, (squares / (n - 1)).sqrt()], 1)


def draw_shares(rows: int, batch_size: int, epochs: int, group: ProcessGroup) -> Shares:
    """Draw minibatches out of all processes' rows, of which each has as many; numpy's generator is the same in all.

    The rows of a process follow those of the process before: in the order of SB3's buffer, environment by environment.
    """
    batches: list[Tensor] = []
    for _ in range(epochs):
        batches += torch.from_numpy(np.random.permutation(rows * group.size)).split(batch_size)
    sizes = np.array([len(batch) for batch in batches])
    if group.size > 1:
        batches = [batch[batch // rows == group.rank] - rows * group.rank for batch in batches]
    return Shares(group, batches, sizes)
