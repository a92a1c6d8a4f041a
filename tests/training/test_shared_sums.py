"""Sums in shared memory are those of torch, in the order of processes; waiting in vain ends in an error."""

import errno
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tumble.training import shared_sums
from tumble.training.shared_sums import SharedSums, is_possible, make_file

SIZE, ROUNDS = 3, 200
LENGTHS = (1, 7, 1000, shared_sums.PLACE // 4 + 5)
"""Of numbers; the last ones take two places."""
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
    path = make_file(SIZE)
    with ThreadPoolExecutor(SIZE) as pool:
        assert list(pool.map(add_up, [path] * SIZE, range(SIZE))) == [True] * SIZE
    path.unlink()


def test_waiting_in_vain_ends_by_the_check(monkeypatch):
    monkeypatch.setattr(shared_sums, "SPIN", 0.0)

    def check():
        raise ConnectionError("the other has ended")

    path = make_file(2)
    with pytest.raises(ConnectionError):
        SharedSums(path, 0, 2, check).add(torch.ones(3))
    path.unlink()


def test_without_room_there_is_no_file(monkeypatch, tmp_path):
    """As in a container, whose /dev/shm has 64 MB."""

    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shared_sums.os, "posix_fallocate", refuse)
    monkeypatch.setattr(shared_sums.os, "access", lambda *_: False)
    assert make_file(2) is None and not list(tmp_path.iterdir())
