"""Sums over the processes of one machine, in memory that they share: 0.1 ms, and 0.45 through sockets.

Each process has two places, which it uses in turns, and a counter. It copies its numbers into a place, moves its
counter on, waits until all counters have come as far, and adds up the places in the order of processes. A process that
moves its counter on for exchange k has read the places of exchange k - 1, so that those of k - 2 are free for all.
Processors that keep the order of stores are needed: x86.
"""

import mmap
import os
import platform
import sys
import time
from collections.abc import Callable

import numpy as np
from torch import Tensor

PLACE, LINE = 1 << 20, 64
"""Bytes of a place, and of a counter: of a cache line."""
SPIN, PAUSE = 2e-3, 5e-5
"""Seconds of looking again and again for the others, and of a pause between two looks after that."""


def is_possible() -> bool:
    """Say whether other processes see the stores of one in their order, and whether Linux runs."""
    return sys.platform == "linux" and platform.machine().lower() in ("x86_64", "amd64")


def make_memory(size: int) -> tuple[int, str]:
    """Make memory for so many processes; return its descriptor, to be closed once all have mapped it, and its path.

    No file of a folder is left where a process is killed meanwhile, and none needs room in a container's /dev/shm.
    """
    descriptor = os.memfd_create("tumble-sums")
    os.ftruncate(descriptor, size * (LINE + 2 * PLACE))
    return descriptor, f"/proc/{os.getpid()}/fd/{descriptor}"


class SharedSums:
    """The part of one process.

    Args:
        path: Of the memory, see `make_memory`; OSError if this process may not map it.
        rank: The number of this process.
        size: The number of processes.
        check: Called now and then while this process waits; raises an error if it waits in vain.
    """

    def __init__(self, path: str, rank: int, size: int, check: Callable[[], None]) -> None:
        self._rank, self._check, self._count = rank, check, 0
        with open(path, "r+b") as file:
            memory = np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint8)
        self._counters = memory[: size * LINE].view(np.int64)[:: LINE // 8]
        self._places = memory[size * LINE :].reshape(2, size, PLACE)

    def add(self, numbers: Tensor) -> None:
        """Replace numbers by their sums over all processes; all get the same bits."""
        flat = numbers.view(-1)
        for part in flat.split(PLACE // numbers.element_size()):
            self._add(part)

    def _add(self, numbers: Tensor) -> None:
        """Add numbers that fit into a place."""
        array, places = numbers.numpy(), self._places[self._count % 2]
        others = places[:, : array.nbytes].view(array.dtype)
        others[self._rank] = array
        self._count += 1
        self._counters[self._rank] = self._count
        self._wait()
        array[:] = others[0]
        for other in others[1:]:
            array += other

    def _wait(self) -> None:
        """Wait until all processes have come as far."""
        begun = time.perf_counter()
        while self._counters.min() < self._count:
            if time.perf_counter() - begun < SPIN:
                os.sched_yield()
            else:
                self._check()
                time.sleep(PAUSE)
