"""The simulated cluster: what exchanges cost, and that all processes wait for the slowest."""

import numpy as np
import pytest

from tumble.benchmarks.processes import efficiency

MESSAGE, BYTE, GIGABITS = 1e-3, 1e-9, 8


def test_equal_pieces_lose_the_time_of_exchanges_only():
    """Two exchanges of 1 MB in 2 s: each 6 messages, 1.5 MB on a wire of 1 GB/s, and 1 ms of software."""
    share = efficiency(np.ones((3, 2)), [10**6, 10**6], 4, MESSAGE, BYTE, GIGABITS)
    assert share == pytest.approx(1 / (1 + 6e-3 + 1.5e-3 + 1e-3))


def test_one_process_loses_nothing_and_many_wait_for_the_slowest():
    """Half of all pieces take 1 s, the others 3 s: of 64 processes one nearly always takes 3 s."""
    intervals = np.array([[1.0, 3.0], [3.0, 1.0]])
    assert efficiency(intervals, [8, 8], 1, 0.0, 0.0, 100) == pytest.approx(1.0, abs=0.2)
    assert efficiency(intervals, [8, 8], 64, 0.0, 0.0, 100) == pytest.approx(4 / 6, abs=1e-6)
