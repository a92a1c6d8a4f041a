"""The scratch of a driver's launches on a CPU, which grows when a tile needs more (`state.capacity`).

A kernel reads the offsets of fields from the header of the model's integers, so the scratch grows without a
compilation: the header is rewritten in place, and every bound launch is bound again to the larger scratch before its
next use.
"""

import torch

from ...base.fields import layout
from ...machine.runtime import Runtime
from ...model.model import Model
from ...model.state.capacity import Capacity, first_capacity, most_capacity
from ...model.state.fields import GROWING_FIELDS, SCRATCH
from ...model.state.sizes import all_sizes, bytes_of, flat_integers, header, scratch_rows
from .scratch import workers_for


class ScratchRows:
    """The rows of fields in the scratch of a model.

    Attributes:
        sizes: sizes of the model and of what a step computes.
        offsets: first row of every field of lane numbers.
        widths: number of rows of every field of lane numbers.
        arrays: scratch that launches take as arguments.
        rows: items of each array of the scratch on a CPU, of all workers.
        ints: the model's flat integers, header first.
        grown: number of times that the scratch has grown; then integers that are handed out have another layout.
    """

    sizes: dict[str, int]
    arrays: tuple[torch.Tensor, ...] = ()
    rows: tuple[int, ...] = ()
    ints: torch.Tensor
    grown = 0
    _model: Model
    _may_damp = False

    def _take(self, sizes: dict[str, int]) -> None:
        """Lay out the fields for these sizes."""
        self.sizes, self.offsets = sizes, layout(SCRATCH, sizes)[0]
        self.widths = {f.name: f.length(sizes) for f in SCRATCH}

    def _write_header(self) -> None:
        """Rewrite the header of the model's integers, in place, with the present offsets and sizes."""
        numbers = torch.from_numpy(header(self._model, self.sizes, self._may_damp))
        self.ints[: len(numbers)] = numbers

    def may_damp(self) -> None:
        """Enable the search for dampers in Euler's integrator, also if the file has no dampers."""
        self._may_damp = True
        self._write_header()

    def padded(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """Return numbers of a field (k, n), padded with zeros to its largest capacity, so that shapes stay constant."""
        return values


class GrowingCapacity(ScratchRows):
    """Scratch for every worker, used for one tile after the other, and the number of workers that memory allows.

    Args:
        model: the model of all environments.
        width: lanes of a tile.
        runtime: the runtime, with its threads and precision.

    Attributes:
        workers: how many may work at once.

    Raises:
        ValueError, MemoryError: even the first capacities are too large (`scratch.workers_for`).
    """

    def __init__(self, model: Model, width: int, runtime: Runtime) -> None:
        self._model, self._width, self._runtime = model, width, runtime
        self._room, self._most, self._parameters = first_capacity(model), most_capacity(model), False
        self._most_sizes = all_sizes(model, self._most)
        self._lay_out(self._room)
        self.ints = torch.from_numpy(flat_integers(model, self.sizes))

    def _lay_out(self, room: Capacity) -> None:
        """Lay out scratch with these capacities if there is memory for it; the caller rewrites the header."""
        sizes = all_sizes(self._model, room, self._parameters)
        rows = scratch_rows(sizes)
        self.workers = most = workers_for(rows, self._width, self._runtime, room)
        self.rows = tuple(most * count for count in rows)
        self._room = room
        self._take(sizes)

    @property
    def bytes_of_worker(self) -> int:
        """Scratch that one worker has."""
        return bytes_of(self.rows, self._width, self._runtime.precision) // self.workers

    def make_differ(self) -> None:
        """Lay out scratch that has space for own numbers of environments."""
        self._parameters = True
        self._lay_out(self._room)
        self._write_header()

    def grow(self, needed: Capacity, left: int) -> None:
        """Enlarge the scratch for a tile's needs; `left` is the number of tiles that wait for it.

        Raises:
            ValueError, MemoryError: the needs exceed the limits (`scratch.workers_for`); the scratch stays as it
                is.
        """
        try:
            self._lay_out(self._room.for_more(needed, self._most))
        except (ValueError, MemoryError) as error:
            tiles = f"{left} groups of {self._width} environments are left as they were before"
            raise type(error)(f"{error}; {tiles}") from None
        self._write_header()
        self.grown += 1

    def padded(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """Return numbers of a field (k, n), padded with zeros to its largest capacity, so that shapes stay constant."""
        missing = _length(name, self._most_sizes) - values.shape[1] if name in GROWING_FIELDS else 0
        return torch.nn.functional.pad(values, (0, missing)) if missing else values


def _length(name: str, sizes: dict[str, int]) -> int:
    return next(field.length(sizes) for field in SCRATCH if field.name == name)
