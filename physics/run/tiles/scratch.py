"""Scratch for the arrays of a step (`state.sizes.ARRAYS`) of all workers, shared by all solvers of a lane width.

Taichi uses the size of a field only for its own bookkeeping: machine code finds a field's memory by the number of the
field's tree. So for a larger model the tree is destroyed and a larger one made, which gets the same number, and
compiled kernels work in the new memory. (As a kernel argument, an ndarray, the scratch would not be vectorised: Taichi
reads the array's address for every lane, and LLVM must assume that a store to another lane may change it. The step
of an ant took five times as long.)
"""

from collections.abc import Sequence
from typing import Any

import taichi as ti

from ...base.fields import OFFSET_BITS
from ...machine import taichi_thread
from ...machine.memory import GIB, available_memory
from ...machine.runtime import Runtime
from ...model.state.capacity import Capacity
from ...model.state.sizes import bytes_of, kinds

FIRST: tuple[int, ...] = (1 << 16, 1 << 14, 1 << 14, 1 << 14)
"""Items of the arrays to begin with: as all but large models need no more, they all find the same kernels in Taichi's
cache."""
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
        arrays: a field for each of `state.sizes.ARRAYS`.
        generation: a kernel goes on to work as long as this stays the same.
    """

    def __init__(self, width: int, precision: str) -> None:
        self.generation = 0
        self._kinds, self._sizes = kinds(width, precision), FIRST
        self._place_all()

    @property
    def trees(self) -> list[int]:
        """Numbers of the trees in which the arrays lie."""
        return [tree.id for tree in self._trees]

    def _place_all(self) -> None:
        places = [place(width, kind, size) for (width, kind), size in zip(self._kinds, self._sizes, strict=True)]
        self.arrays, self._trees = zip(*places, strict=True)

    def grow(self, rows: Sequence[int]) -> None:
        """Make room for so many items of each array.

        If a thread other than Taichi's has compiled a kernel of the user's, Taichi does not release a tree. Then the
        scratch gets new trees beside the present ones, and a new generation.
        """
        sizes = tuple(map(max, rows, self._sizes))
        if sizes == self._sizes:
            return
        with taichi_thread.launching:  # no kernel uses the scratch meanwhile
            self._sizes, numbers = sizes, self.trees
            try:  # not `tree.destroy`, after which all kernels would be compiled again
                for tree in reversed(self._trees):
                    tree.ptr.destroy_snode_tree(ti.lang.impl.get_runtime().prog)
            except RuntimeError:
                numbers = []
            self._place_all()
            if self.trees != numbers:
                self.generation += 1


def place(width: int, kind: str, rows: int) -> tuple[Any, Any]:
    """Return a field in a new tree, and the tree."""
    dtype = getattr(ti, kind)
    field = ti.Vector.field(width, dtype) if width > 1 else ti.field(dtype)
    builder = ti.FieldsBuilder()
    builder.dense(ti.i, rows).place(field)
    return field, builder.finalize()


def workers_for(rows: Sequence[int], width: int, runtime: Runtime, room: Capacity | None = None) -> int:
    """Number of workers for which there is room: one for each thread, but for very large models.

    Args:
        rows: items of each array that a worker needs.
        width: lanes.
        runtime: the runtime, with its threads and precision.
        room: the capacities for contacts and the Hessian in these rows, for the error message.

    Raises:
        ValueError: one worker needs more rows than kernels can address.
        MemoryError: one worker needs more memory than is free.
    """
    needed, size = max(rows), bytes_of(rows, width, runtime.precision)
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
        runtime.pool[key] = Scratch(width, runtime.precision)
    return runtime.pool[key]
