"""The derived quantities that every step delivers, renewed after a state was changed from outside."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from .interface import Index


class Selection(NamedTuple):
    """Fields that a launch hands out as columns of one array.

    Attributes:
        places: columns of every field.
        width: number of columns.
        rows: rows of the scratch that go to the columns, (width,) int32; one unused row if there are none.
    """

    places: dict[str, slice]
    width: int
    rows: torch.Tensor


def select(
    names: Sequence[str], offsets: Mapping[str, int], widths: Mapping[str, int], device: torch.device
) -> Selection:
    """Return the selection of fields, of which each has `widths` rows from `offsets` on."""
    places, rows = {}, list[int]()
    for name in names:
        places[name] = slice(len(rows), len(rows) + widths[name])
        rows += range(offsets[name], offsets[name] + widths[name])
    return Selection(places, len(rows), torch.tensor(rows or [0], dtype=torch.int32, device=device))


class Outputs(ABC):
    """The outputs of a batch, and which environments are stale: their last evaluation is at another state now.

    Subclasses keep the marks of stale environments (`_mark`, `_clear`) and evaluate these environments (`refresh`).

    Args:
        selection: the outputs.
        values: (environments, columns), spare ones included: the array that holds the outputs.

    Attributes:
        current: True if no environment is stale.
        left: marks of environments that launches of the whole batch read and clear; None if the host keeps the marks.
    """

    left: torch.Tensor | None = None

    def __init__(self, selection: Selection, values: torch.Tensor) -> None:
        self.selection, self.places, self.values = selection, selection.places, values
        self.current = not selection.width
        self._whole: Any = None

    def lay_out(self, offsets: Mapping[str, int]) -> None:
        """Take the fields from these rows of the scratch, to the same columns; launches must be bound again."""
        widths = {name: place.stop - place.start for name, place in self.places.items()}
        self.selection = select(tuple(widths), offsets, widths, self.selection.rows.device)
        self.unbind()

    def mark(self, index: Index) -> None:
        """Mark environments as stale."""
        if self.selection.width:
            self._mark(index)
            self.current = False

    def mark_current(self) -> None:
        """Note that a step has just delivered the outputs of all environments."""
        if not self.current:
            self._clear()
            self.current = True

    def launches(self) -> list[Any]:
        """Return the launches that are bound at present."""
        return [self._whole] if self._whole else []

    def unbind(self) -> None:
        """Forget all launches, because the batch or the kernel has been replaced."""
        self._whole = None

    @abstractmethod
    def refresh(self, index: Index, batch: Sequence[torch.Tensor], bind: Callable[..., Any]) -> None:
        """Evaluate stale environments again at the state of their last evaluation.

        Args:
            index: environments whose outputs are wanted; other stale ones may stay stale.
            batch: the driver's environments.
            bind: returns the launch that evaluates the outputs, of the batch or of copies (`Launches.bind`).
        """

    @abstractmethod
    def _mark(self, index: Index) -> None:
        """Mark the outputs of these environments as stale; None: of all."""

    @abstractmethod
    def _clear(self) -> None:
        """Mark no output as stale."""
