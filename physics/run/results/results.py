"""The derived quantities that are computed, and of which environments: outputs of steps, and evaluations on request."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from ...base.fields import layout
from ...model.state.fields import GROWING_FIELDS, INSPECTED
from ..interface import BatchMemory, EvaluatedFields, Index
from ..launches import Arrangement, Launches, Selection
from ..settings import Setting

_MOST = 4  # blocks kept at once
LAST, PRESENT = 1, 2
"""Settings REPLAY of evaluations: at the state of the last evaluation, and at the present state."""


class Block(NamedTuple):
    """The result of one evaluation.

    Attributes:
        rows: (num_envs,), the row of every environment, -1 for environments that were not evaluated; None: row k is the
            k-th of the environments asked for, or of all.
        places: columns of every field.
        values: (rows, numbers), rows of spare lanes included.
        indices: (groups, integers).
    """

    rows: np.ndarray | None
    places: dict[str, slice]
    values: torch.Tensor
    indices: torch.Tensor

    def has(self, names: Iterable[str], indices: bool) -> bool:
        """Return True if the block has all of these fields, and integers if they are asked for."""
        return all(name in self.places for name in names) and (self.indices.shape[1] > 0 or not indices)


class _Reads:
    """The evaluations since the last change of the state, and the fields that were read since then and before it."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.now: dict[str, None] = {}
        self.before: dict[str, None] = {}

    def forget(self) -> None:
        """Drop all blocks, as the state of an environment's last evaluation changed."""
        if self.blocks or self.before:
            self.before, self.now, self.blocks = self.now, {}, []


class Results:
    """The derived quantities that are computed for the environments of a batch.

    Steps deliver the outputs of all environments. A change from outside makes the outputs of some stale, and `refresh`
    evaluates these environments again. Other quantities are evaluated on request, and kept until the next change, so
    that a second read costs nothing. Quantities read before that change are evaluated together with the first that is
    read after it, so a loop that reads several quantities after every step pays for one evaluation.

    Environments whose indices are on a device are only looked up in evaluations of all environments: comparing indices
    would wait for the device.

    Args:
        launches: the memory, scratch and kernel that launches of the batch share.
        arrangement: the arrangement of the batch.
        outputs: fields that every step delivers; those whose size changes are left out.

    Attributes:
        places: columns of every output.
        values: (environments, columns), the outputs, rows of spare environments included.
        stale: marks of the environments whose outputs are older than their last evaluation.
        current: True if no environment has such a mark.
    """

    def __init__(self, launches: Launches, arrangement: Arrangement, outputs: Sequence[str]) -> None:
        self._launches = launches
        self._arrangement: Any = arrangement  # `Tiles` and `Columns` have other types of marks
        self._fixed = tuple(name for name in outputs if name not in GROWING_FIELDS)
        self.stale = arrangement.marks()
        self._left = self.stale if isinstance(self.stale, torch.Tensor) else None  # the marks, if kernels read them
        self.bind_again()
        self.places, self.values = self._outputs.places, self._rows(self._outputs.width, launches.batch)
        self.current = not self._outputs.width
        self._last, self._started, self._grown = _Reads(), _Reads(), launches.room.grown

    def _rows(self, numbers: int, batch: BatchMemory) -> torch.Tensor:
        """Return zeros (environments, numbers) for a launch over a batch to fill."""
        groups = batch.memory.shape[1 - self._arrangement.axis]
        return self._arrangement.rows(groups * self._arrangement.width, numbers, batch.memory.dtype)

    def bind_again(self) -> None:
        """Forget all launches and their settings, because the scratch, the kernel or the settings were replaced."""
        self._outputs = self._launches.select(self._fixed)
        self._requests: dict[tuple, tuple[Selection, int, torch.Tensor]] = {}
        self._whole: Any = None
        self._beside: tuple[BatchMemory, torch.Tensor, Any] | None = None

    def bind(self, replay: bool, batch: BatchMemory | None = None, values: torch.Tensor | None = None) -> Any:
        """Return a launch that hands out the outputs.

        Args:
            replay: evaluate at the state of the last evaluation instead of taking steps.
            batch: the environments; None: the whole batch.
            values: the array that receives the outputs; None: the array of the whole batch.
        """
        call = self._launches.call(self._outputs, replay)
        call[Setting.AGAIN] = int(replay and self._left is not None)
        values = self.values if values is None else values
        return self._launches.launch(call, self._outputs, values, batch, left=self._left)

    def bind_rollout(self, step: torch.Tensor, controls: torch.Tensor, track: torch.Tensor) -> Any:
        """Return the launch that takes one step under each of the controls, and then hands out the outputs.

        Args:
            step: settings of the launch of a step.
            controls: (num_envs, periods, nu).
            track: (num_envs, periods, nq + nv), which receives qpos and qvel after each period.
        """
        call = step.clone()
        call[Setting.SUBSTEPS], call[Setting.PERIODS] = 1, controls.shape[1]
        return self._launches.launch(call, self._outputs, self.values, left=self._left, periods=(controls, track))

    # results that are computed at present

    def forget(self) -> None:
        """Drop all evaluations, because the state of some environment's last evaluation changed."""
        self._last.forget()
        self._started.forget()

    def changed(self, index: Index) -> None:
        """Note that the last evaluation of environments is at another state now."""
        if self._outputs.width:
            self.stale[slice(None) if index is None else index] = 1
            self.current = False
        self.forget()

    def stepped(self) -> None:
        """Note that a step has just delivered the outputs of all environments."""
        if not self.current:
            self.stale[:] = 0
            self.current = True

    def refresh(self, index: Index) -> None:
        """Evaluate the environments again whose outputs are stale; those outside of `index` may stay stale."""
        stale = self._arrangement.marked(self.stale, index)
        if stale is None:
            self._whole = self._whole or self.bind(replay=True)
            self._whole()
            self.stale[:] = 0
        elif len(stale):
            self._refresh_beside(stale)
            self.stale[stale] = 0
        self.current = stale is None or not self.stale.any()

    def _refresh_beside(self, index: Index) -> None:
        """Evaluate copies of environments `index` in a batch that is kept for it; copy the outputs to their rows."""
        batch = self._launches.batch
        if self._beside is None:
            copies, values = BatchMemory(*map(torch.zeros_like, batch)), torch.zeros_like(self.values)
            self._beside = copies, values, self.bind(True, copies, values)
        copies, values, launch = self._beside
        self._arrangement.gather(batch, index, copies)
        launch.call[Setting.TILES] = -(-len(index) // self._arrangement.width)
        launch()
        self.values.numpy()[index] = values.numpy()[: len(index)]

    # reading

    def fields(self, names: Sequence[str], index: Index, at_start: bool = False) -> dict[str, torch.Tensor]:
        """Return copies of fields of environments, (k, numbers) each; see `evaluate` for `at_start`."""
        block, rows = self._covering(names, index, False, at_start)
        return {name: self._arrangement.pick(block.values[:, block.places[name]], rows) for name in names}

    def together(self, names: Sequence[str], index: Index) -> EvaluatedFields:
        """Return fields and integers of environments; do not write to them, as other results may share them."""
        block, rows = self._covering(names, index, True)
        values, indices = block.values, block.indices
        if rows is not None:
            rows_idx = torch.as_tensor(rows, device=values.device)
            lanes = len(values) // len(indices)
            values, indices = values[rows_idx], indices[rows_idx // lanes]
        return EvaluatedFields({name: values[:, block.places[name]] for name in names}, indices)

    def present(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Return fields of environments in their present state, (k, numbers) each; nothing is kept."""
        block = self.evaluate(tuple(names), index, False, replay=PRESENT)
        rows = index if block.rows is None else block.rows[index]
        return {name: self._arrangement.pick(block.values[:, block.places[name]], rows) for name in names}

    def _covering(self, names: Sequence[str], index: Index, indices: bool, at_start: bool = False) -> tuple[Block, Any]:
        """Return an evaluation that covers these fields, computing it if missing, and the environments' rows in it.

        Rows of None mean the first rows of the block.
        """
        if self._grown != self._launches.room.grown:  # integers have another layout
            self._last.blocks, self._started.blocks, self._grown = [], [], self._launches.room.grown
        reads = self._started if at_start else self._last
        on_host = index is None or isinstance(index, np.ndarray)
        for block in reads.blocks:
            if block.has(names, indices):
                if block.rows is None:
                    return block, index
                if on_host and index is not None and np.all((rows := block.rows[index]) >= 0):
                    return block, rows
        asked = dict.fromkeys(names)
        if on_host and not indices:
            asked |= reads.before | reads.now
            reads.now |= dict.fromkeys(names)
        block = self.evaluate(tuple(asked), index, indices, at_start)
        if index is None:
            reads.blocks = [old for old in reads.blocks if not block.has(old.places, old.indices.shape[1] > 0)]
        if index is None or block.rows is not None:
            reads.blocks = [*reads.blocks[1 - _MOST :], block]
        return block, None if block.rows is None else block.rows[index]

    def evaluate(
        self, names: Sequence[str], index: Index, with_indices: bool, at_start: bool = False, replay: int = LAST
    ) -> Block:
        """Recompute fields of environments at the last evaluated state, even if they are computed already.

        Args:
            names: the fields.
            index: the environments.
            with_indices: hand out the integers of the scratch, too.
            at_start: evaluate at the start of the last step, if its integrator is Runge-Kutta's.
            replay: LAST; or PRESENT, for the present state.
        """
        batch, rows, fits = self._launches.batch, None, False
        if index is not None:
            tensors, rows = self._arrangement.subset(batch, index)
            batch = BatchMemory(*tensors)
        groups = batch.memory.shape[1 - self._arrangement.axis]
        while not fits:  # the arrays have other shapes once the scratch has grown
            selection, integers, call = self._request(tuple(names), with_indices, at_start, replay)
            values = self._rows(selection.width, batch)
            dump = self._arrangement.rows(groups, integers, torch.int32)
            fits = not groups or self._launches.launch(call.clone(), selection, values, batch, dump).attempt()
        return Block(rows, selection.places, values, dump[:, :integers])

    def _request(
        self, names: tuple[str, ...], with_indices: bool, at_start: bool, replay: int
    ) -> tuple[Selection, int, torch.Tensor]:
        """Return fields, number of integers and settings of an evaluation; kept, as making them waits for a GPU."""
        key = names, with_indices, at_start, replay, self._launches.room.grown
        if key not in self._requests:
            selection = self._launches.select(names)
            integers = layout(INSPECTED, self._launches.room.sizes)[1] if with_indices else 0
            self._requests[key] = selection, integers, self._launches.call(selection, replay, integers, at_start)
        return self._requests[key]
