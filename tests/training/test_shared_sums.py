"""Sums in shared memory are those of torch, in the order of processes; waiting in vain ends in an error."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tumble.training import shared_sums
from tumble.training.shared_sums import SharedSums, is_possible, make_memory

SIZE, ROUNDS = 3, 200
LENGTHS = (1, 7, 1000, shared_sums.PLACE // 4 + 5)
"""Lengths of vectors; the last one takes two places."""
pytestmark = pytest.mark.skipif(not is_possible(), reason="processors that keep the order of stores")


def numbers_of(rank, length, dtype):
    return torch.randn(length, generator=torch.Generator().manual_seed(rank)).to(dtype)


def add_up(path, rank):
    """Add up numbers of all lengths again and again; return whether all sums were right."""
    sums, right = SharedSums(path, rank, SIZE, lambda: None), True
    for length in LENGTHS:
        for dtype in (torch.float32, torch.float64):
            first, *others = (numbers_of(other, length, dtype) for other in range(SIZE))
            expected = sum(others, first)
            for k in range(ROUNDS if length <= 1000 else 3):
                numbers = numbers_of(rank, length, dtype) * 2.0 ** (k % 20)
                sums.add(numbers)
                right &= torch.equal(numbers, expected * 2.0 ** (k % 20))
    return right


def test_sums_are_those_of_all_processes_in_their_order():
    """Threads take the places of processes: each maps the file for itself."""
    descriptor, path = make_memory(SIZE)
    with ThreadPoolExecutor(SIZE) as pool:
        assert list(pool.map(add_up, [path] * SIZE, range(SIZE))) == [True] * SIZE
    os.close(descriptor)


def test_waiting_in_vain_ends_by_the_check(monkeypatch):
    monkeypatch.setattr(shared_sums, "SPIN", 0.0)

    def check():
        raise ConnectionError("the other has ended")

    descriptor, path = make_memory(2)
    with pytest.raises(ConnectionError):
        SharedSums(path, 0, 2, check).add(torch.ones(3))
    os.close(descriptor)
