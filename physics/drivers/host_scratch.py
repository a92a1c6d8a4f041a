"""Scratch of programs: memory of this process, which they find through a record like Taichi's own."""

import ctypes
import struct
import threading

import numpy as np

from .scratch import FIRST_INDEX_ROWS, FIRST_ROWS

_ROOTS, _RECORD_BYTES = 88, 4096
"""Offset of the fields' addresses in Taichi's LLVMRuntime (runtime.cpp), in bytes, and room for all that code reads."""
LINE = 64
"""Bytes to which lane numbers are aligned."""


class HostScratch:
    """Room for what a step computes, of one lane width; programs of that width share it.

    Attributes:
        runtime: address of a record that programs find the room by; it stays the same when the room grows.
        lock: held by whoever works in it, or exchanges it.
    """

    def __init__(self, width: int, dtype: np.dtype) -> None:
        self.lock = threading.Lock()
        self._record = ctypes.create_string_buffer(_RECORD_BYTES)
        self.runtime = ctypes.addressof(self._record)
        self._width, self._dtype = width, dtype
        self._sizes = (0, 0)
        self.grow(FIRST_ROWS, FIRST_INDEX_ROWS)

    def grow(self, rows: int, index_rows: int) -> None:
        """Make room for so many rows of lane numbers and integers."""
        with self.lock:
            sizes = max(rows, self._sizes[0]), max(index_rows, self._sizes[1])
            if sizes != self._sizes:
                self._room = _aligned(sizes[0] * self._width, self._dtype), _aligned(sizes[1], np.dtype(np.int32))
                self._sizes = sizes
                struct.pack_into("2Q", self._record, _ROOTS, *(array.ctypes.data for array in self._room))


def _aligned(numbers: int, dtype: np.dtype) -> np.ndarray:
    """Zeros; numpy's, which are no memory until they are used, where torch would wake threads to write them."""
    whole = np.zeros(numbers + LINE // dtype.itemsize, dtype)
    skip = -whole.ctypes.data % LINE // dtype.itemsize
    return whole[skip : skip + numbers]
