"""The minibatches of an iteration: each process of a group computes those rows that its environments gave; episodes."""

from dataclasses import dataclass
from typing import Any

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


def gather_episodes(ended: list[tuple[int, dict[str, Any]]], bridge: Any) -> list[dict[str, Any]]:
    """Return in process 0 the infos of all processes' episodes that ended in a rollout, in their order; [] in others.

    Args:
        ended: infos of this process, each with its step.
        bridge: `TumbleVecEnv`, which learns whether environments of other processes have all ended an episode.
    """
    mine = [(step, {"episode": info["episode"]}) for step, info in ended if "episode" in info]
    bridge.others_have_ended = True
    given = bridge.group.gather((mine, bridge.all_have_ended()))
    bridge.others_have_ended = all(have_ended for _, have_ended in given)
    together = sorted(((step, info) for infos, _ in given for step, info in infos), key=lambda one: one[0])
    return [info for _, info in together]
