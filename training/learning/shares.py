"""The minibatches of an iteration: each process of a group computes those rows that its environments gave; episodes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..distributed import ProcessGroup

EPISODE = ("r", "l", "t")
"""The figures of an episode that Stable-Baselines3 keeps: return, length and time."""


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
    """Return the infos of all processes' episodes that ended in a rollout, in their order.

    Args:
        ended: infos of this process, each with its step.
        bridge: `TumbleVecEnv`, which learns whether environments of other processes have all ended an episode.
    """
    mine = [[step, *(info["episode"][name] for name in EPISODE)] for step, info in ended if "episode" in info]
    bridge.others_have_ended = True
    group, have_ended = bridge.group, bridge.all_have_ended()
    counts, all_ended = group.gathered(torch.tensor([len(mine), int(have_ended)])).unbind(1)
    bridge.others_have_ended = bool(all_ended.all())
    if not counts.any():
        return []
    table = torch.zeros(int(counts.max()), 1 + len(EPISODE), dtype=torch.float64)
    table[: len(mine)] = torch.tensor(mine, dtype=torch.float64).view(-1, 1 + len(EPISODE))
    everyone = zip(group.gathered(table), counts.tolist(), strict=True)
    rows = sorted((row for one, count in everyone for row in one[:count].tolist()), key=lambda row: row[0])
    return [{"episode": {"r": r, "l": int(length), "t": t}} for _, r, length, t in rows]
