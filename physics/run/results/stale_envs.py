"""Environments whose state or inputs changed since their last evaluation."""

from typing import Any

import numpy as np
import torch

from ...model.state.memory import NOT_INTEGRATED
from ...model.state.snapshot import LARGEST
from ..interface import Index
from ..settings import Count

UP_TO_DATE = object()
"""The answer of `StaleEnvs.take` if no environment is stale."""
_MOST = 64
"""Writes that are remembered one by one."""


class StaleEnvs:
    """A list of writes, each of some environments.

    Args:
        num_envs: number of environments.
    """

    def __init__(self, num_envs: int) -> None:
        self._num_envs = num_envs
        self._writes: list[Any] | None = []
        self._count = 0

    def add(self, index: Index) -> None:
        """Note that environments changed; None: all."""
        if self._writes is None:
            return
        if index is None:
            self._writes = None
            return
        self._writes.append(index)
        self._count += len(index)
        if len(self._writes) > _MOST or self._count >= self._num_envs:
            self._writes = None

    def clear(self) -> None:
        """Note that all environments are evaluated at their present state."""
        self._writes, self._count = [], 0

    def take(self) -> Any:
        """Return the environments that changed, None for all, or `UP_TO_DATE`; they count as evaluated from then on."""
        found, self._writes, self._count = self._writes, [], 0
        if found is None:
            return None
        if not found:
            return UP_TO_DATE
        together = torch.cat if isinstance(found[0], torch.Tensor) else np.concatenate
        return found[0] if len(found) == 1 else together(found)


def forward_some(
    arrangement: Any, numbers: Any, integers: Any, places: tuple[dict[str, slice], slice, slice], index: Index
) -> None:
    """Make the present state of environments, if finite, the state of their last evaluation; no others are touched.

    Args:
        arrangement: of the batch.
        numbers: its memory, in the form that `read` and `write` of the arrangement take.
        integers: its counters, in this form.
        places: the groups of the memory, and the rows of eval_qacc and eval_rest.
        index: the environments.
    """
    read, write = arrangement.read, arrangement.write
    groups, acceleration, rest = places
    coordinates = slice(0, groups["INPUTS"].stop)  # KEPT begins with those of the last evaluation, in their order
    evaluated = slice(groups["KEPT"].start, groups["KEPT"].start + coordinates.stop)
    finite = (read(numbers, index, coordinates).abs() <= LARGEST).all(dim=1, keepdim=True)
    for now, last in ((coordinates, evaluated), (groups["FORCES"], groups["KEPT_FORCES"])):
        rows = torch.where(finite, read(numbers, index, now), read(numbers, index, last))
        write(numbers, last.start, rows, last.stop - last.start, index)
    for place, number in ((acceleration, NOT_INTEGRATED), (rest, 0.0)):
        rows = read(numbers, index, place)
        rows = torch.where(finite, torch.full_like(rows, number), rows)
        write(numbers, place.start, rows, place.stop - place.start, index)
    counts = read(integers, index)
    before = torch.where(finite[:, 0], counts[:, Count.STEPS], counts[:, Count.EVALUATED])
    write(integers, Count.EVALUATED, before[:, None], 1, index)
