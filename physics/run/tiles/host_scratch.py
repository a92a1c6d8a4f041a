"""The scratch of programs: memory of this process, which code locates by a record laid out as Taichi's LLVMRuntime."""

import ctypes
import struct
import threading
from collections.abc import Sequence

import numpy as np

from ...model.state.sizes import kinds
from .scratch import FIRST

_ROOTS, _RECORD_BYTES = 88, 4096
"""Byte offset of the fields' addresses in Taichi's LLVMRuntime (runtime.cpp); bytes of the record that code reads."""
LINE = 64
"""Bytes to which lane numbers are aligned, at least."""
_WIDEST = 128
"""Bytes of the widest lane number, to which arrays are aligned here."""


class HostScratch:
    """Scratch for one lane width; all programs of that width share it.

    Attributes:
        runtime: address of the record by which programs find the scratch; it stays the same when the scratch grows.
        lock: held while the scratch is used or replaced.
    """

    def __init__(self, width: int, precision: str) -> None:
        self.lock = threading.Lock()
        self._record = ctypes.create_string_buffer(_RECORD_BYTES)
        self.runtime = ctypes.addressof(self._record)
        self._kinds = kinds(width, precision)
        self._sizes = (0,) * len(FIRST)
        self.grow(FIRST)

    def grow(self, rows: Sequence[int]) -> None:
        """Make room for so many items of each array."""
        with self.lock:
            sizes = tuple(map(max, rows, self._sizes))
            if sizes != self._sizes:
                whole = zip(sizes, self._kinds, strict=True)
                self._room = [_aligned(count * width, np.dtype(kind)) for count, (width, kind) in whole]
                self._sizes = sizes
                struct.pack_into("4Q", self._record, _ROOTS, *(array.ctypes.data for array in self._room))


def _aligned(numbers: int, dtype: np.dtype) -> np.ndarray:
    """Zeros; numpy's, which are no memory until they are used, where torch would wake threads to write them."""
    whole = np.zeros(numbers + _WIDEST // dtype.itemsize, dtype)
    skip = -whole.ctypes.data % _WIDEST // dtype.itemsize
    return whole[skip : skip + numbers]
