"""Groups whose processes are threads, for tests of what processes exchange."""

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tumble.training.distributed import ProcessGroup


class ThreadGroup(ProcessGroup):
    """A member of a group of threads, with a barrier and a place for numbers in common."""

    def __init__(self, rank: int, size: int, barrier: threading.Barrier, given: dict[int, Tensor]) -> None:
        self.rank, self.size = rank, size
        self._barrier, self._given = barrier, given

    def add(self, numbers: Tensor) -> None:
        self._given[self.rank] = numbers.clone()
        self._barrier.wait(30)
        numbers.copy_(torch.stack([self._given[rank] for rank in range(self.size)]).sum(0))
        self._barrier.wait(30)


def in_groups(size: int, work: Callable[[ProcessGroup], Any]) -> list[Any]:
    """Call a function in each member of a group, in a thread each; return the results."""
    barrier, given, results = threading.Barrier(size), {}, [None] * size

    def run(rank: int) -> None:
        try:
            results[rank] = work(ThreadGroup(rank, size, barrier, given))
        except BaseException:
            barrier.abort()
            raise

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results
