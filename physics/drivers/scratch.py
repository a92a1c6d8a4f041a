"""The scratch of kernels that Taichi launches: lane numbers and integers of all workers, shared by solvers of a width.

Taichi uses the size of a field only for its own bookkeeping: machine code finds a field's memory by the number of the
field's tree. So for a larger model the tree is destroyed and a larger one made, which gets the same number, and
compiled kernels work in the new memory. (As a kernel argument, an ndarray, the scratch would not be vectorised: Taichi
reads the array's address anew for every lane, and LLVM must assume that a store to another lane may change it. The step
of an ant took five times as long.)
"""

import threading
from typing import Any

import taichi as ti

from ..fields import OFFSET_BITS
from ..process.memory import GIB, available_memory
from ..process.runtime import Runtime
from ..state.room import Room

FIRST_ROWS, FIRST_INDEX_ROWS = 1 << 16, 1 << 14
"""Initial rows. All but large models need no more, so they find the same kernels in Taichi's cache."""
MOST_ROWS = 1 << OFFSET_BITS
"""The most rows of all workers together that kernels can address."""
_HINT = "use fewer bodies, or let fewer pairs of geoms touch (contype, conaffinity, exclude)"
_OF_STATE = (
    "it has room for {contacts:,} contacts of the environments of a tile, which option max_contacts limits, and for "
    "{entries:,} entries of their Hessian, which option solver='cg' does without"
)


class Scratch:
    """Scratch that starts small and grows; its methods are called in Taichi's thread.

    Attributes:
        numbers: the field of lane numbers.
        indices: the field of integers.
        generation: changes when compiled kernels no longer work in the scratch.
        lock: held while the scratch is used or replaced. Do not call into Taichi's thread while holding it (deadlock).
    """

    def __init__(self, width: int, dtype: Any) -> None:
        self.generation, self.lock = 0, threading.Lock()
        self._kinds, self._sizes = ((width, dtype), (1, ti.i32)), (FIRST_ROWS, FIRST_INDEX_ROWS)
        self._place_all()

    @property
    def trees(self) -> tuple[int, int]:
        """The numbers of the trees that hold the lane numbers and the integers."""
        numbers, indices = (tree.id for tree in self._trees)
        return numbers, indices

    def _place_all(self) -> None:
        places = [place(*kind, size) for kind, size in zip(self._kinds, self._sizes, strict=True)]
        (self.numbers, self.indices), self._trees = zip(*places, strict=True)

    def grow(self, rows: int, index_rows: int) -> None:
        """Enlarge the scratch to at least so many rows and integers.

        If a thread other than Taichi's has compiled a kernel of the user's, Taichi does not release a tree. Then the
        scratch gets new trees beside the present ones, and a new generation.
        """
        sizes = max(rows, self._sizes[0]), max(index_rows, self._sizes[1])
        if sizes == self._sizes:
            return
        with self.lock:
            self._sizes, numbers = sizes, [tree.id for tree in self._trees]
            try:  # not `tree.destroy`, which would make Taichi compile all kernels again
                for tree in reversed(self._trees):
                    tree.ptr.destroy_snode_tree(ti.lang.impl.get_runtime().prog)
            except RuntimeError:
                numbers = []
            self._place_all()
            if [tree.id for tree in self._trees] != numbers:
                self.generation += 1


def place(width: int, dtype: Any, rows: int) -> tuple[Any, Any]:
    """Return a field in a tree of its own, and the tree."""
    field = ti.Vector.field(width, dtype) if width > 1 else ti.field(dtype)
    builder = ti.FieldsBuilder()
    builder.dense(ti.i, rows).place(field)
    return field, builder.finalize()


def workers_for(rows: int, index_rows: int, width: int, runtime: Runtime, room: Room | None = None) -> int:
    """Return the number of workers that memory allows: one per thread, except for very large models.

    Args:
        rows: rows of lane numbers that a worker needs.
        index_rows: integers that a worker needs.
        width: lanes.
        runtime: the runtime, with its threads and precision.
        room: the capacities for contacts and the Hessian in these rows, for the error message.

    Raises:
        ValueError: one worker needs more rows than kernels can address.
        MemoryError: one worker needs more memory than is free.
    """
    needed, size = max(rows, index_rows), rows * width * runtime.torch_dtype.itemsize + 4 * index_rows
    hint = f"{_HINT}; {_OF_STATE.format(**room._asdict())}" if room else _HINT
    if needed > MOST_ROWS:
        raise ValueError(
            f"too large a model: a step needs {needed:,} rows of scratch, and {MOST_ROWS:,} can be addressed; {hint}"
        )
    there_is = available_memory()
    if size > there_is:
        raise MemoryError(
            f"too large a model: a step needs {size / GIB:,.1f} GiB of scratch, and {there_is / GIB:,.1f} GiB are "
            f"free; {hint}"
        )
    threads = 1 if width == 1 else runtime.threads
    return int(min(threads, MOST_ROWS // needed, there_is // size))


def shared_scratch(runtime: Runtime, width: int) -> Scratch:
    """Return the scratch of a lane width; to be called in Taichi's thread."""
    key = ("scratch", width)
    if key not in runtime.pool:
        runtime.pool[key] = Scratch(width, runtime.dtype)
    return runtime.pool[key]
