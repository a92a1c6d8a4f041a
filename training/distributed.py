"""The group of processes that train one run together: each has a part of the environments, and whole networks.

The parts of N processes with n environments each are one batch: environment i of process r is environment r n + i, with
that environment's random numbers, and all processes compute the same networks from sums over all of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor


class ProcessGroup:
    """A group of one process, which has nothing to exchange; `processes.Processes` is one of several.

    Attributes:
        rank: the number of this process.
        size: the number of processes.
        progress: grows with each step of the environments and each exchange: a process whose progress stands still
            while others wait for it hangs.
        busy: whether others wait for longer, as for a compilation.
    """

    rank, size = 0, 1
    progress, busy = 0, True

    @contextmanager
    def long_work(self) -> Iterator[None]:
        """Be busy inside of the block."""
        before, self.busy = self.busy, True
        try:
            yield
        finally:
            self.progress += 1  # before others lose their patience
            self.busy = before

    def add(self, numbers: Tensor) -> None:
        """Replace numbers by their sum over all processes; all get the same bits."""

    def gather(self, mine: Any) -> list[Any]:
        """Return in process 0 the objects that all processes have given, in their order; [] in others."""
        return [mine]

    def broadcast(self, mine: Any) -> Any:
        """Return the object that process 0 gives."""
        return mine

    def require_equal(self, what: str, numbers: Tensor) -> None:
        """Refuse to go on if numbers differ between processes."""

    def sums(self, *mine: float) -> list[float]:
        """Return sums over all processes of a few numbers."""
        numbers = torch.tensor(mine, dtype=torch.float64)
        self.add(numbers)
        return numbers.tolist()

    def gathered(self, numbers: Tensor) -> Tensor:
        """Return the numbers of all processes side by side, (size, ...)."""
        everyone = torch.zeros(self.size, *numbers.shape, dtype=numbers.dtype, device=numbers.device)
        everyone[self.rank] = numbers
        self.add(everyone)
        return everyone

    def merged(self, moments: Tensor) -> Tensor:
        """Return the moments (k, 3), see `moments_of`, of all processes' rows together."""
        if self.size == 1:
            return moments
        first, *others = self.gathered(moments)
        for other in others:
            first = combined(first, other)
        return first


SINGLE_PROCESS = ProcessGroup()


def group_of(venv: Any) -> ProcessGroup:
    """Return the group that environments of Stable-Baselines3, wrapped or not, are a part of."""
    return getattr(venv.unwrapped, "group", SINGLE_PROCESS)


def moments_of(x: Tensor) -> Tensor:
    """Return count, mean and sum of squared deviations of each column of (n, k) numbers: float64 (k, 3)."""
    x = x.double()
    mean = x.mean(0)
    return torch.stack([torch.full_like(mean, len(x)), mean, ((x - mean) ** 2).sum(0)], 1)


def combined(a: Tensor, b: Tensor) -> Tensor:
    """Return the moments (k, 3) of two sets of rows together.

    Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
    """
    (count, mean, squares), (n, other, more) = a.unbind(1), b.unbind(1)
    change, total = other - mean, count + n
    rows = total.clamp(min=torch.finfo(total.dtype).tiny)  # of two empty sets the mean is 0
    return torch.stack([total, mean + change * n / rows, squares + more + change**2 * count * n / rows], 1)
