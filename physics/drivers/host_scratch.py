"""The scratch of programs: memory of this process, found through a record laid out as Taichi's LLVMRuntime."""

import ctypes
import struct
import threading

import numpy as np

from .scratch import FIRST_INDEX_ROWS, FIRST_ROWS

_ROOTS, _RECORD_BYTES = 88, 4096
"""Byte offset of the fields' addresses in Taichi's LLVMRuntime (runtime.cpp); bytes of the record that code reads."""
LINE = 64
"""Alignment of lane numbers, in bytes."""


class HostScratch:
    """Scratch for one lane width; all programs of that width share it.

    Attributes:
        runtime: address of the record by which programs find the scratch; it stays the same when the scratch grows.
        lock: held while the scratch is used or replaced.
    """

    def __init__(self, width: int, dtype: np.dtype) -> None:
        self.lock = threading.Lock()
        self._record = ctypes.create_string_buffer(_RECORD_BYTES)
        self.runtime = ctypes.addressof(self._record)
        self._width, self._dtype = width, dtype
        self._sizes = (0, 0)
        self.grow(FIRST_ROWS, FIRST_INDEX_ROWS)

    def grow(self, rows: int, index_rows: int) -> None:
        """Enlarge the scratch to at least so many rows of lane numbers and integers."""
        with self.lock:
            sizes = max(rows, self._sizes[0]), max(index_rows, self._sizes[1])
            if sizes != self._sizes:
                self._room = _aligned(sizes[0] * self._width, self._dtype), _aligned(sizes[1], np.dtype(np.int32))
                self._sizes = sizes
                struct.pack_into("2Q", self._record, _ROOTS, *(array.ctypes.data for array in self._room))


def _aligned(numbers: int, dtype: np.dtype) -> np.ndarray:
    """Return aligned zeros. Numpy's take no memory until they are used; torch would wake threads to write them."""
    whole = np.zeros(numbers + LINE // dtype.itemsize, dtype)
    skip = -whole.ctypes.data % LINE // dtype.itemsize
    return whole[skip : skip + numbers]
