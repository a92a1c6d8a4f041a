"""Scratch of a driver's launches: laid out for a room that grows when a tile needs more (`state.room`).

A kernel reads from the header where everything lies, so room grows without a compilation: the header is written anew,
in place, and every launch that is bound finds more scratch the next time.
"""

from collections.abc import Callable

import torch

from ..fields import layout
from ..model.model import Model
from ..process.runtime import Runtime
from ..state.fields import ROOMY, SCRATCH
from ..state.room import Room, first_room, most_room
from ..state.sizes import all_sizes, bytes_of, flat_integers, header, scratch_rows
from .scratch import workers_for


class ScratchRows:
    """The places of fields in the scratch of a model.

    Attributes:
        sizes: of the model and of what a step computes.
        offsets: first row of every lane number.
        widths: rows of every lane number.
        arrays: scratch that launches take as arguments.
        grown: how often the room has grown.
    """

    sizes: dict[str, int]
    arrays: tuple[torch.Tensor, ...] = ()
    grown = 0

    def _take(self, sizes: dict[str, int]) -> None:
        """Lay the fields out by these sizes."""
        self.sizes, self.offsets = sizes, layout(SCRATCH, sizes)[0]
        self.widths = {f.name: f.length(sizes) for f in SCRATCH}

    def padded(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """Numbers of a field (k, n) with zeros up to the largest room: shapes do not tell how much there is."""
        return values


class GrowingRoom(ScratchRows):
    """Scratch that every worker has in turn for all of its tiles, and the number of workers that there is room for.

    Args:
        model: of all environments.
        width: lanes of a tile.
        runtime: its threads and precision.
        moved: called when the room has grown: scratch handed out before has another layout.

    Attributes:
        ints: the model's flat integers, header first.
        workers: how many may work at once.
        rows: items of each array of the scratch of all workers.

    Raises:
        ValueError, MemoryError: even the first room is too large (`scratch.workers_for`).
    """

    def __init__(self, model: Model, width: int, runtime: Runtime, moved: Callable[[], None]) -> None:
        self._model, self._width, self._runtime, self._moved = model, width, runtime, moved
        self._room, self._most, self._parameters = first_room(model), most_room(model), False
        self._most_sizes = all_sizes(model, self._most)
        self._lay_out(self._room)
        self.ints = torch.from_numpy(flat_integers(model, self.sizes))

    def _lay_out(self, room: Room) -> None:
        """Take this room, if there is memory for it; the header is still to be written."""
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

    def _write_header(self) -> None:
        numbers = header(self._model, self.sizes)
        self.ints.numpy()[: len(numbers)] = numbers

    def make_differ(self) -> None:
        """Have scratch for numbers of the model that environments have of their own."""
        self._parameters = True
        self._lay_out(self._room)
        self._write_header()

    def grow(self, needed: Room, left: int) -> None:
        """Make room for what a tile needs; `left` is how many tiles wait for it.

        Raises:
            ValueError, MemoryError: it is more than can be had (`scratch.workers_for`); the room stays as it is.
        """
        try:
            self._lay_out(self._room.for_more(needed, self._most))
        except (ValueError, MemoryError) as error:
            tiles = f"{left} groups of {self._width} environments are left as they were before"
            raise type(error)(f"{error}; {tiles}") from None
        self._write_header()
        self.grown += 1
        self._moved()

    def padded(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """Numbers of a field (k, n) with zeros up to the largest room: shapes do not tell how much there is."""
        missing = _length(name, self._most_sizes) - values.shape[1] if name in ROOMY else 0
        return torch.nn.functional.pad(values, (0, missing)) if missing else values


def _length(name: str, sizes: dict[str, int]) -> int:
    return next(field.length(sizes) for field in SCRATCH if field.name == name)
