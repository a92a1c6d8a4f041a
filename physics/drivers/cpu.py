"""The CPU driver: environments in lanes, tiles of them taken by workers through one kernel.

How a batch lies in memory is in `tiles.py`, what a launch is told in `settings.py`, what it does in `kernel.py`.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import torch

from ..fields import layout
from ..model.features import Features
from ..model.model import Model
from ..process.interrupts import interrupts_wait
from ..process.memory import require_memory
from ..process.runtime import Runtime
from ..state.fields import INDICES, ROOMY
from ..state.memory import COORDINATES, EVALUATED_FORCES, EVALUATION, FORCES, NOT_INTEGRATED
from ..state.reference import reference_memory
from ..state.sizes import flat_reals, memory_groups
from ..state.snapshot import LARGEST
from .bound_kernel import BoundKernel
from .evaluations import Block, Evaluations
from .growing import GrowingRoom
from .interface import APPLIED, STATE, Driver, Evaluation, Index, View, require_same
from .outputs import Batch, Outputs, side_by_side
from .own_numbers import OwnNumbers
from .plan import ask_for
from .programs import shared_program
from .settings import CALL_LENGTH, NON_FINITE, Count, Setting
from .tiles import Tiles

_NO_DUMP = torch.zeros((1, 1), dtype=torch.int32)


class CpuDriver(Driver):
    """A batch of environments on the processor; see `interface.Driver` for what its methods are asked.

    Args:
        runtime: whose threads and precision are used.
        model: of all environments.
        num_envs: number of environments.
        width: lanes of a tile.
        outputs: fields that every step delivers; all others cost an evaluation.

    Raises:
        MemoryError: for more environments than fit.
        ValueError: for a model too large.
    """

    def __init__(self, runtime: Runtime, model: Model, num_envs: int, width: int, outputs: Sequence[str]) -> None:
        self._runtime, self._dtype, self._width = runtime, runtime.torch_dtype, width
        self.num_envs, self._model = num_envs, model
        self._evaluations = Evaluations(self._evaluate)
        self._beginnings = Evaluations(self._evaluate_beginning)
        self._room = GrowingRoom(model, width, runtime, self._forget)
        self._groups = memory_groups(self.sizes)
        self._applied = 0
        require_memory(num_envs, self._bytes_per_env())
        self._tiles = tiles = Tiles(num_envs, width)
        memory = tiles.zeros(self._rows, self._dtype)
        self._own = OwnNumbers(tiles, self._dtype)
        self._batch = Batch(memory, tiles.zeros(len(Count), torch.int32), self._own.memory)
        self._numbers, self._integers = memory.numpy(), self._batch.counters.numpy()  # views
        single = runtime.precision == "32"
        self._reals = torch.from_numpy(flat_reals(model, np.float32 if single else np.float64))
        self._kernel = shared_program(runtime, width, Features.of(model, single))
        self._no_track = torch.zeros((1, 1, 1), dtype=self._dtype)
        self._fresh = self._reference_rows(model)
        fixed = [name for name in outputs if name not in ROOMY]
        self._outputs = Outputs(fixed, self._room.offsets, self._room.widths, tiles, self._batch, self._bind_replay)
        self._step = self._bind(self._batch, self._outputs.values, self._outputs, replay=False)
        self._substeps = 0
        self.reset(None, None)
        self._rest_spare_lanes()

    @property
    def sizes(self) -> dict[str, int]:
        """Of the model and of what a step computes, with as much room as there is at present."""
        return self._room.sizes

    @property
    def scratch_bytes(self) -> int:
        """Memory that one thread works in at present."""
        return self._room.bytes_of_worker

    def _bytes_per_env(self) -> int:
        """What an environment takes: its memory and what `reset` makes to fill it, counters, and two int64 indices."""
        return 2 * self._rows * self._dtype.itemsize + 4 * (2 * len(Count)) + 16

    @property
    def _rows(self) -> int:
        """Rows of an environment's memory."""
        return max(group.stop for group in self._groups.values())

    def _reference_rows(self, model: Model) -> np.ndarray:
        """The memory (numbers,) of an environment in the model's reference state."""
        fresh = np.zeros(self._numbers.shape[1], self._numbers.dtype)
        for name, numbers in reference_memory(model).items():
            fresh[self._place(name)] = numbers
        return fresh

    def _rest_spare_lanes(self) -> None:
        """Spare lanes of the last tile count as faulty, so that nothing is computed for them alone."""
        self._batch.counters[:, Count.FAULT].masked_fill_(~self._tiles.used, NON_FINITE)

    # numbers of the model

    def differ(self, numbers: Mapping[str, np.ndarray], features: Features) -> None:
        """Let environments have these fields of the model of their own, (num_envs, numbers) each, and no others."""
        self._own.lay_out(self._model, set(numbers))
        self._own.write(numbers, None)
        self._room.make_differ()
        self._kernel = shared_program(self._runtime, self._width, features)
        self._batch = self._batch._replace(own=self._own.memory)
        self._outputs.differ(self._batch)
        self._step, self._substeps = self._bind(self._batch, self._outputs.values, self._outputs, replay=False), 0
        self._changed(None)

    def write_own(self, numbers: Mapping[str, np.ndarray], index: Index) -> None:
        """Set fields that environments have of their own, (k, numbers) each."""
        self._own.write(numbers, index)
        self._changed(index)

    # motion

    def step(self, substeps: int) -> None:
        """Take so many physics steps."""
        if substeps != self._substeps:
            self._step.call[Setting.SUBSTEPS] = self._substeps = substeps
        self._forget()  # before the launch, as an interrupt may come as soon as it is over
        self._step()
        self._outputs.mark_current()

    def rollout(self, controls: np.ndarray) -> torch.Tensor:
        """Take a step under each of the controls; qpos and qvel after each, (num_envs, nstep, nq + nv)."""
        track = torch.empty((*controls.shape[:2], self._coordinates), dtype=self._dtype)
        call, outputs = self._step.call.clone(), self._outputs
        call[Setting.SUBSTEPS], call[Setting.PERIODS] = 1, controls.shape[1]
        given = torch.from_numpy(np.ascontiguousarray(controls))
        bound = self._kernel_on(self._batch, call, outputs.rows, outputs.values, controls=given, track=track)
        bound.prepare()
        with interrupts_wait():
            self._forget()
            bound()
            self.write("ctrl", controls[:, -1], None)
            outputs.mark_current()
        return track

    def forward(self, index: Index) -> None:
        """Let the last evaluation be at the present state, where that is finite."""
        memory, chosen = self._batch.memory, self._tiles.mask(index)
        for group in (self._groups["STATE"], self._groups["INPUTS"]):
            chosen = chosen & (memory[:, group].abs() <= LARGEST).all(dim=1, keepdim=True)
        for field, evaluated in (
            *zip(COORDINATES, EVALUATION, strict=False),
            *zip(FORCES, EVALUATED_FORCES, strict=True),
        ):
            present, last = memory[:, self._place(field.name)], memory[:, self._place(evaluated.name)]
            last.copy_(torch.where(chosen, present, last))
        memory[:, self._place("eval_qacc")].masked_fill_(chosen, NOT_INTEGRATED)
        memory[:, self._place("eval_rest")].masked_fill_(chosen, 0.0)
        steps, before = (self._batch.counters[:, row : row + 1] for row in (Count.STEPS, Count.EVALUATED))
        before.copy_(torch.where(chosen, steps, before))
        self._changed(index)

    def _changed(self, index: Index) -> None:
        """Note that the last evaluation of environments is at another state now."""
        self._outputs.mark(index)
        self._forget()

    def _forget(self) -> None:
        """Forget what evaluations handed out."""
        self._evaluations.forget()
        self._beginnings.forget()

    # state

    @property
    def _coordinates(self) -> int:
        """Rows of qpos and qvel, the first in memory."""
        return self._room.widths["qpos"] + self._room.widths["qvel"]

    def _place(self, name: str) -> slice:
        """Where a part of the state lies in the memory."""
        return slice(self._room.offsets[name], self._room.offsets[name] + self._room.widths[name])

    def read(self, name: str, index: Index = None) -> torch.Tensor:
        """A part of the state, (k, numbers)."""
        return self._tiles.read(self._numbers, index, self._place(name))

    def coordinates(self) -> torch.Tensor:
        """Qpos and qvel side by side (num_envs, nq + nv); the environments of a column lie together in memory."""
        return self._tiles.columns(self._numbers, slice(0, self._coordinates))

    def write(self, name: str, rows: np.ndarray, index: Index) -> None:
        """Set a part of the state."""
        if APPLIED.get(name, 0) & ~self._applied:
            self._apply_forces(APPLIED[name])
        self._tiles.write(self._numbers, self._room.offsets[name], rows, self._room.widths[name], index)

    def _apply_forces(self, which: int) -> None:
        """From now on there may be applied forces, or controls of dofs."""
        self._applied |= which
        for bound in (self._step, *self._outputs.bound()):
            bound.call[Setting.APPLIED] = self._applied

    def reset(self, index: Index, coordinates: np.ndarray | None) -> None:
        """Let everything begin anew, from qpos and qvel side by side, or in the reference state."""
        rows = self._fresh
        if coordinates is not None:
            rows = np.empty((len(coordinates), len(self._fresh)), self._fresh.dtype)
            rows[:] = self._fresh
            rows[:, : self._coordinates] = coordinates
            for name in ("qpos", "qvel"):
                rows[:, self._place(f"eval_{name}")] = rows[:, self._place(name)]
        self._tiles.write(self._numbers, 0, rows, len(self._fresh), index)
        self._tiles.write(self._integers, 0, np.zeros((), np.int32), len(Count), index)
        self._changed(index)

    def count(self, row: Count) -> torch.Tensor:
        """One of the integers of every environment, (num_envs,) int32."""
        return self._tiles.columns(self._integers, slice(row, row + 1))[:, 0]

    def write_count(self, row: Count, numbers: np.ndarray, index: Index) -> None:
        """Set one of the integers of environments, (k, 1) or (1,)."""
        self._tiles.write(self._integers, row, numbers.astype(np.int32), 1, index)

    def any_fault(self) -> bool:
        """Whether any environment has a fault: quicker than all their faults."""
        return bool(np.count_nonzero(self._integers[:, Count.FAULT])) and bool(self.count(Count.FAULT).any())

    def clear_faults(self, index: Index) -> None:
        """Let environments move again."""
        cleared = self._tiles.used & self._tiles.mask(index)[:, 0]
        for row in (Count.FAULT, Count.NEEDED):
            self._batch.counters[:, row].masked_fill_(cleared, 0)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Everything that the future depends on."""
        return {"memory": self._tiles.read(self._numbers), "counters": self._tiles.read(self._integers)}

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on from there; ValueError where it is not of this shape, and then nothing is written."""
        parts = {"memory": self._batch.memory, "counters": self._batch.counters}
        require_same(state, {name: ((self.num_envs, mine.shape[1]), mine.dtype) for name, mine in parts.items()})
        for name, mine in parts.items():
            self._tiles.write(mine.numpy(), 0, state[name].detach().cpu().numpy(), mine.shape[1], None)
        self._rest_spare_lanes()
        for name, which in APPLIED.items():
            if self._batch.memory[:, self._place(name)].any():
                self._apply_forces(which)
        self._changed(None)

    def close(self) -> None:
        """Give all memory back."""
        self._closed = True
        for name in ("_batch", "_numbers", "_integers", "_outputs", "_step", "_evaluations", "_beginnings", "_room"):
            vars(self).pop(name, None)

    # what follows from the state

    def delivers(self, names: Sequence[str]) -> bool:
        """Whether every step delivers these fields."""
        return all(name in self._outputs for name in names)

    def evaluate(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Fields at the last evaluation, (k, numbers) each."""
        if not self.delivers(names):
            fields = self._evaluations.fields(names, index)
            return {name: self._room.padded(name, values) for name, values in fields.items()}
        block = self._delivered(index)
        return {name: block[:, self._outputs.places[name]] for name in names}

    def sense(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Fields where sensors are evaluated, (k, numbers) each."""
        if not self.sizes["nqbegin"]:
            if index is None and self.delivers(names):
                self.refresh(None)
                block = self._outputs.values[: self.num_envs]
                return {name: block[:, self._outputs.places[name]] for name in names}
            return self.evaluate(names, index)
        return self._beginnings.fields(names, index)

    def _delivered(self, index: Index) -> torch.Tensor:
        """All outputs of environments, a copy."""
        self.refresh(index)
        return self._tiles.pick(self._outputs.values, index)

    def evaluate_together(self, names: Sequence[str], index: Index) -> Evaluation:
        """Fields, and the integers that go with them."""
        return self._evaluations.together(names, index)

    def evaluate_awake(self, names: Sequence[str]) -> Evaluation:
        """Fields and integers as if nothing slept."""
        block = self._evaluate(names, None, True, awake=True)
        return Evaluation({name: block.values[:, block.places[name]] for name in names}, block.indices)

    def refresh(self, index: Index) -> None:
        """Bring the outputs of environments to their last evaluation."""
        if not self._outputs.current:
            self._runtime.require()
            self._outputs.refresh(index)

    def view(self, name: str) -> View | None:
        """Where a part of the state, an output or "faults" lies in place; None where it does not."""
        if self._width != 1:
            return None
        if name == "faults":
            return View(self._batch.counters[:, :, 0], slice(Count.FAULT, Count.FAULT + 1))
        if name in STATE:
            return View(self._batch.memory[:, :, 0], self._place(name))
        return View(self._outputs.values, self._outputs.places[name]) if name in self._outputs else None

    # launches

    def _evaluate(
        self,
        names: Sequence[str],
        index: Index,
        with_indices: bool,
        beginning: bool = False,
        awake: bool = False,
    ) -> Block:
        """Evaluate environments alone, where the last evaluation was, or where its Runge-Kutta step began."""
        inside = np.arange(self.num_envs) if index is None else np.unique(index)
        batch = self._batch if index is None else self._batch.gather(inside, self._tiles)
        tiles, fits = len(batch.memory), False
        while not fits:  # what is handed out has another shape when the room has grown
            places, count = side_by_side(names, self._room.widths)
            integers = layout(INDICES, self.sizes)[1] if with_indices else 0
            values = torch.zeros((tiles * self._width, max(1, count)), dtype=self._dtype)
            dump = torch.zeros((tiles, max(1, integers)), dtype=torch.int32)
            rows = [self._room.offsets[name] + row for name in names for row in range(self._room.widths[name])]
            call = self._call(tiles, count, integers, names, replay=True)
            call[Setting.BEGINNING], call[Setting.AWAKE] = int(beginning), int(awake)
            bound = self._kernel_on(batch, call, torch.tensor(rows or [0], dtype=torch.int32), values, dump)
            fits = not tiles or bound.attempt()
        at = np.full(self.num_envs, -1)
        at[inside] = np.arange(len(inside))
        return Block(index is None, at, places, values, dump[:, :integers])

    def _evaluate_beginning(self, names: Sequence[str], index: Index, with_indices: bool) -> Block:
        return self._evaluate(names, index, with_indices, beginning=True)

    def _bind_replay(self, batch: Batch, values: torch.Tensor, outputs: Outputs) -> BoundKernel:
        return self._bind(batch, values, outputs, replay=True)

    def _bind(self, batch: Batch, values: torch.Tensor, outputs: Outputs, replay: bool) -> BoundKernel:
        """The kernel over all tiles of a batch with the outputs going to `values`."""
        call = self._call(self._tiles.count, outputs.count, 0, outputs.places, replay)
        return self._kernel_on(batch, call, outputs.rows, values)

    def _kernel_on(
        self,
        batch: Batch,
        call: torch.Tensor,
        rows: torch.Tensor,
        values: torch.Tensor,
        dump: torch.Tensor = _NO_DUMP,
        controls: torch.Tensor | None = None,
        track: torch.Tensor | None = None,
    ) -> BoundKernel:
        """The kernel bound to a batch, and to where its scratch's `rows` and integers go.

        Raises:
            StaleRuntimeError: Taichi was started anew.
        """
        self._runtime.require()
        where = [self._no_track if tensor is None else tensor for tensor in (controls, track)]
        left = torch.zeros(max(1, len(batch.memory)), dtype=torch.int32)
        arguments = (self._room.ints, self._reals, *batch, call, rows, values, dump, *where, self._own.rows, left)
        return BoundKernel(self._kernel, arguments, self._room, call, left)

    def _call(self, tiles: int, rows: int, indices: int, names: Collection[str], replay: bool) -> torch.Tensor:
        call = torch.zeros(CALL_LENGTH, dtype=torch.int32)
        call[Setting.REPLAY] = int(replay)
        call[Setting.WORKERS] = min(self._room.workers, tiles)
        call[Setting.TILES], call[Setting.ROWS], call[Setting.INDICES] = tiles, rows, indices
        ask_for(call, names, everything=indices > 0 or not replay)
        for name, group in self._groups.items():
            call[Setting[name]] = group.stop - group.start
        call[Setting.PARAMETERS], call[Setting.APPLIED] = self._own.count, self._applied
        return call
