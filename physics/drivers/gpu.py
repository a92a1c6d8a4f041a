"""The GPU driver: one thread takes one environment, and all numbers stay on the device.

A step covers the whole batch. Outputs that a change from outside has made stale are marked on the device, and a launch
that renews them covers the batch too, in which all other threads return at once: the host need not know which they are,
so nothing waits for the device.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from ..fields import layout
from ..model.features import Features
from ..model.model import Model
from ..process.interrupts import interrupts_wait
from ..process.memory import require_memory
from ..process.runtime import Runtime
from ..state.fields import INDICES, ROOMY, SCRATCH
from ..state.memory import COORDINATES, EVALUATED_FORCES, EVALUATION, FORCES, NOT_INTEGRATED
from ..state.reference import reference_memory
from ..state.room import most_room
from ..state.sizes import all_sizes, flat_integers, flat_reals, memory_groups, scratch_rows
from ..state.snapshot import LARGEST
from .columns import Columns
from .gpu_launch import shared_column_kernel
from .interface import APPLIED, STATE, Driver, Evaluation, Index, View, require_same
from .outputs import side_by_side
from .own_numbers import OwnNumbers
from .plan import ask_for
from .settings import CALL_LENGTH, Count, Setting

MOST_NUMBERS = (1 << 31) - 1
"""Of an array of all environments together: indices in kernels have 32 bits."""


class GpuDriver(Driver):
    """A batch of environments on a GPU; see `interface.Driver` for what its methods are asked.

    Every environment has scratch of its own, with room for all that the model could ever need.

    Args:
        runtime: whose device and precision are used.
        model: of all environments.
        num_envs: number of environments.
        outputs: fields that every step delivers; all others cost an evaluation.

    Raises:
        MemoryError: for more environments than fit, or than kernels can address.
    """

    def __init__(self, runtime: Runtime, model: Model, num_envs: int, outputs: Sequence[str]) -> None:
        self._runtime, self._dtype, self._device = runtime, runtime.torch_dtype, runtime.torch_device
        self.num_envs, self._model = num_envs, model
        self._batch = Columns(num_envs, self._device)
        self._lay_out(parameters=False)
        self._groups = memory_groups(self.sizes)
        self._applied = 0
        self._memory = self._batch.zeros(max(group.stop for group in self._groups.values()), self._dtype)
        self._counters = self._batch.zeros(len(Count), torch.int32)
        self._own = OwnNumbers(self._batch, self._dtype)
        single = runtime.precision == "32"
        self._reals = torch.from_numpy(flat_reals(model, np.float32 if single else np.float64)).to(self._device)
        self._kernel = shared_column_kernel(runtime, Features.of(model, single))
        self._fresh = self._reference_column(model)
        self._places, self._rows = self._handed_out([name for name in outputs if name not in ROOMY])
        self._values = self._batch.zeros(len(self._rows), self._dtype)
        self._stale = torch.ones(num_envs, dtype=torch.int32, device=self._device)
        self._current = False
        self._step_call, self._substeps = self._call(self._places, replay=False), 0
        self._again: torch.Tensor | None = None
        self._asked: dict[str, None] = {}
        self._asked_before: dict[str, None] = {}
        self._evaluation: Evaluation | None = None
        self._beginning: Evaluation | None = None
        self.reset(None, None)

    def _lay_out(self, parameters: bool) -> None:
        """Make scratch, for as many environments as there are."""
        model = self._model
        self._sizes = all_sizes(model, most_room(model, lanes=1), parameters, lanes=1)
        rows, index_rows = scratch_rows(self.sizes)
        there_is = torch.cuda.mem_get_info(self._device)[0] if self._device.type == "cuda" else None
        require_memory(self.num_envs, rows * self._dtype.itemsize + 4 * index_rows, there_is)
        if rows * self.num_envs > MOST_NUMBERS:
            raise MemoryError(
                f"num_envs={self.num_envs:,}: kernels address at most {MOST_NUMBERS:,} numbers, and an environment "
                f"works in {rows:,} of them: at most {MOST_NUMBERS // rows:,} fit; make several solvers"
            )
        self._offsets, self._widths = layout(SCRATCH, self.sizes)[0], {f.name: f.length(self.sizes) for f in SCRATCH}
        self._ints = torch.from_numpy(flat_integers(model, self.sizes)).to(self._device)
        self._scratch = self._batch.zeros(rows, self._dtype), self._batch.zeros(index_rows, torch.int32)
        self._replays: dict[tuple, tuple[dict[str, slice], torch.Tensor, torch.Tensor]] = {}

    @property
    def sizes(self) -> dict[str, int]:
        """Of the model and of what a step computes."""
        return self._sizes

    @property
    def scratch_bytes(self) -> int:
        """Memory that one thread works in."""
        return sum(tensor[:, 0].nelement() * tensor.element_size() for tensor in self._scratch)

    def _reference_column(self, model: Model) -> torch.Tensor:
        """The memory (numbers, 1) of an environment in the model's reference state."""
        fresh = torch.zeros((len(self._memory), 1), dtype=self._dtype, device=self._device)
        for name, numbers in reference_memory(model).items():
            fresh[self._place(name), 0] = torch.as_tensor(numbers, dtype=self._dtype, device=self._device)
        return fresh

    # numbers of the model

    def differ(self, numbers: Mapping[str, np.ndarray], features: Features) -> None:
        """Let environments have these fields of the model of their own, (num_envs, numbers) each, and no others."""
        self._own.lay_out(self._model, set(numbers))
        self._own.write(numbers, None)
        self._lay_out(parameters=True)
        self._kernel = shared_column_kernel(self._runtime, features)
        self._step_call, self._substeps, self._again = self._call(self._places, replay=False), 0, None
        self._changed(None)

    def write_own(self, numbers: Mapping[str, np.ndarray], index: Index) -> None:
        """Set fields that environments have of their own, (k, numbers) each."""
        self._own.write(numbers, index)
        self._changed(index)

    # motion

    def step(self, substeps: int) -> None:
        """Take so many physics steps."""
        if substeps != self._substeps:
            self._step_call[Setting.SUBSTEPS] = self._substeps = substeps
        self._forget()  # before the launch, as an interrupt may come as soon as it is over
        self._kernel(self._arguments(self._step_call, self._rows, self._values, self._stale))
        self._current = True  # its threads have cleared `_stale`

    def rollout(self, controls: np.ndarray) -> torch.Tensor:
        """Take a step under each of the controls; qpos and qvel after each, (num_envs, nstep, nq + nv)."""
        given = torch.as_tensor(controls, dtype=self._dtype, device=self._device).contiguous()
        track = torch.empty((*given.shape[:2], self._coordinates), dtype=self._dtype, device=self._device)
        call = self._step_call.clone()
        call[Setting.SUBSTEPS], call[Setting.PERIODS] = 1, given.shape[1]
        arguments = self._arguments(call, self._rows, self._values, self._stale, controls=given, track=track)
        self._kernel.prepare(arguments)
        with interrupts_wait():
            self._forget()
            self._kernel(arguments)
            self.write("ctrl", given[:, -1], None)
            self._current = True
        return track

    def forward(self, index: Index) -> None:
        """Let the last evaluation be at the present state, where that is finite."""
        memory, chosen = self._memory, self._batch.mask(index)
        for group in (self._groups["STATE"], self._groups["INPUTS"]):
            chosen = chosen & (memory[group].abs() <= LARGEST).all(dim=0)
        for field, evaluated in (
            *zip(COORDINATES, EVALUATION, strict=False),
            *zip(FORCES, EVALUATED_FORCES, strict=True),
        ):
            present, last = memory[self._place(field.name)], memory[self._place(evaluated.name)]
            last.copy_(torch.where(chosen, present, last))
        memory[self._place("eval_qacc")].masked_fill_(chosen, NOT_INTEGRATED)
        memory[self._place("eval_rest")].masked_fill_(chosen, 0.0)
        steps, before = self._counters[Count.STEPS], self._counters[Count.EVALUATED]
        before.copy_(torch.where(chosen, steps, before))
        self._changed(index)

    def _changed(self, index: Index) -> None:
        """Note that the last evaluation of environments is at another state now."""
        self._stale.masked_fill_(self._batch.mask(index), 1)
        self._current = not self._places
        self._forget()

    def _forget(self) -> None:
        """Note that the state of some environment's last evaluation changed."""
        self._beginning = None
        if self._evaluation is not None or self._asked_before:
            self._asked_before, self._asked, self._evaluation = self._asked, {}, None

    # state

    @property
    def _coordinates(self) -> int:
        """Rows of qpos and qvel, the first in memory."""
        return self._widths["qpos"] + self._widths["qvel"]

    def _place(self, name: str) -> slice:
        """Where a part of the state lies in the memory."""
        return slice(self._offsets[name], self._offsets[name] + self._widths[name])

    def read(self, name: str, index: Index = None) -> torch.Tensor:
        """A part of the state, (k, numbers)."""
        return self._batch.read(self._memory, index, self._place(name))

    def coordinates(self) -> torch.Tensor:
        """Qpos and qvel side by side (num_envs, nq + nv); the environments of a column lie together in memory."""
        return self._batch.read(self._memory, None, slice(0, self._coordinates))

    def write(self, name: str, rows: np.ndarray | torch.Tensor, index: Index) -> None:
        """Set a part of the state."""
        if APPLIED.get(name, 0) & ~self._applied:
            self._apply_forces(APPLIED[name])
        self._batch.write(self._memory, self._offsets[name], rows, self._widths[name], index)

    def _apply_forces(self, which: int) -> None:
        """From now on there may be applied forces, or controls of dofs."""
        self._applied, self._again = self._applied | which, None
        self._replays.clear()
        self._step_call[Setting.APPLIED] = self._applied

    def reset(self, index: Index, coordinates: np.ndarray | torch.Tensor | None) -> None:
        """Let everything begin anew, from qpos and qvel side by side, or in the reference state."""
        columns = self._fresh
        if coordinates is not None:
            given = torch.as_tensor(coordinates, dtype=self._dtype, device=self._device).T
            columns = columns.repeat(1, given.shape[1])
            columns[: self._coordinates] = given
            for name in ("qpos", "qvel"):
                columns[self._place(f"eval_{name}")] = columns[self._place(name)]
        self._batch.write(self._memory, 0, columns.T, len(self._memory), index)
        self._batch.write(self._counters, 0, 0, len(Count), index)
        self._changed(index)

    def count(self, row: Count) -> torch.Tensor:
        """One of the integers of every environment, (num_envs,) int32."""
        return self._counters[row].clone()

    def write_count(self, row: Count, numbers: np.ndarray, index: Index) -> None:
        """Set one of the integers of environments, (k, 1) or (1,)."""
        self._batch.write(self._counters, row, torch.as_tensor(numbers, device=self._device).int(), 1, index)

    def any_fault(self) -> bool:
        """Whether any environment has a fault; it waits for the device."""
        return bool(self._counters[Count.FAULT].any())

    def clear_faults(self, index: Index) -> None:
        """Let environments move again."""
        self._counters[[Count.FAULT, Count.NEEDED]] *= ~self._batch.mask(index)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Everything that the future depends on."""
        return {"memory": self._batch.read(self._memory), "counters": self._batch.read(self._counters)}

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on from there; ValueError where it is not of this shape, and then nothing is written."""
        parts = {"memory": self._memory, "counters": self._counters}
        require_same(state, {name: ((self.num_envs, len(mine)), mine.dtype) for name, mine in parts.items()})
        for name, mine in parts.items():
            self._batch.write(mine, 0, state[name], len(mine), None)
        for name, which in APPLIED.items():
            if which & ~self._applied and self._memory[self._place(name)].any():
                self._apply_forces(which)
        self._changed(None)

    def close(self) -> None:
        """Give all memory back."""
        self._closed = True
        for name in ("_memory", "_counters", "_scratch", "_values", "_own", "_evaluation"):
            vars(self).pop(name, None)

    # what follows from the state

    def delivers(self, names: Sequence[str]) -> bool:
        """Whether every step delivers these fields."""
        return all(name in self._places for name in names)

    def refresh(self, index: Index) -> None:
        """Bring the outputs of environments to their last evaluation; of all of them, where one is out of date."""
        if not self._current:
            if self._again is None:
                self._again = self._call(self._places, replay=True)
                self._again[Setting.AGAIN] = 1
            self._kernel(self._arguments(self._again, self._rows, self._values, self._stale))
            self._current = True

    def evaluate(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Fields at the last evaluation, (k, numbers) each."""
        if self.delivers(names):
            self.refresh(index)
            return {name: self._batch.read(self._values, index, self._places[name]) for name in names}
        return self._evaluated(names, index, integers=0).fields

    def sense(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Fields where sensors are evaluated, (k, numbers) each."""
        if not self.sizes["nqbegin"]:
            return self.evaluate(names, index)
        if self._beginning is None or any(name not in self._beginning.fields for name in names):
            whole = [self._memory, self._counters, self._own.memory]
            self._beginning = self._evaluate_batch(names, whole, integers=0, beginning=True)
        chosen = slice(None) if index is None else self._batch.on_device(index)
        return {name: self._beginning.fields[name][chosen].clone() for name in names}

    def evaluate_together(self, names: Sequence[str], index: Index) -> Evaluation:
        """Fields, and the integers that go with them."""
        return self._evaluated(names, index, layout(INDICES, self.sizes)[1])

    def _evaluated(self, names: Sequence[str], index: Index, integers: int) -> Evaluation:
        """Fields and so many integers: of all environments, kept until the state changes, or of a few of them alone."""
        if index is not None:
            chosen = self._batch.on_device(index)
            parts = [tensor[:, chosen].contiguous() for tensor in (self._memory, self._counters, self._own.memory)]
            return self._evaluate_batch(names, parts, integers)
        kept = self._evaluation
        if kept is None or any(name not in kept.fields for name in names) or kept.indices.shape[1] < integers:
            wanted = dict.fromkeys(names)
            if not integers:  # programs read the same after every step
                wanted |= self._asked_before | self._asked
                self._asked |= dict.fromkeys(names)
            whole = [self._memory, self._counters, self._own.memory]
            self._evaluation = kept = self._evaluate_batch(tuple(wanted), whole, integers)
        return Evaluation({name: kept.fields[name].clone() for name in names}, kept.indices)

    def evaluate_awake(self, names: Sequence[str]) -> Evaluation:
        """Fields and integers as if nothing slept."""
        whole = [self._memory, self._counters, self._own.memory]
        return self._evaluate_batch(names, whole, layout(INDICES, self.sizes)[1], awake=True)

    def _evaluate_batch(
        self,
        names: Sequence[str],
        batch: list[torch.Tensor],
        integers: int,
        beginning: bool = False,
        awake: bool = False,
    ) -> Evaluation:
        """Fields and integers of environments, whose memory, counters and own numbers `batch` is."""
        places, rows, call = self._replay(tuple(names), integers, beginning)
        if awake:
            call = call.clone()
            call[Setting.AWAKE] = 1
        count = batch[0].shape[1]
        values = torch.zeros((max(1, len(rows)), count), dtype=self._dtype, device=self._device)
        dump = torch.zeros((integers, count), dtype=torch.int32, device=self._device)
        nobody = torch.zeros(count, dtype=torch.int32, device=self._device)
        self._kernel(self._arguments(call, rows, values, nobody, batch, dump if integers else None))
        return Evaluation({name: values[place].T for name, place in places.items()}, dump.T)

    def view(self, name: str) -> View | None:
        """Where a part of the state, an output or "faults" lies in place; None where it does not."""
        if name == "faults":
            return View(self._counters.T, slice(Count.FAULT, Count.FAULT + 1))
        if name in STATE:
            return View(self._memory.T, self._place(name))
        return View(self._values.T, self._places[name]) if name in self._places else None

    # launches

    def _handed_out(self, names: Sequence[str] | Mapping[str, None]) -> tuple[dict[str, slice], torch.Tensor]:
        """Where fields go among what is handed out, and the rows of the scratch that do."""
        places, _ = side_by_side(list(names), self._widths)
        rows = [self._offsets[name] + row for name in names for row in range(self._widths[name])]
        return places, torch.tensor(rows, dtype=torch.int32, device=self._device)

    def _call(self, places: Mapping[str, slice], replay: bool, integers: int = 0) -> torch.Tensor:
        call = torch.zeros(CALL_LENGTH, dtype=torch.int32)
        call[Setting.REPLAY] = int(replay)
        call[Setting.ROWS] = max((place.stop for place in places.values()), default=0)
        call[Setting.PARAMETERS], call[Setting.APPLIED] = self._own.count, self._applied
        for name, group in self._groups.items():
            call[Setting[name]] = group.stop - group.start
        call[Setting.INDICES] = integers
        ask_for(call, places, everything=integers > 0 or not replay)
        return call.to(self._device)

    def _replay(
        self, names: tuple[str, ...], integers: int, beginning: bool
    ) -> tuple[dict[str, slice], torch.Tensor, torch.Tensor]:
        """Where fields go, their rows, and the call that evaluates them: kept, as their way to a GPU is waited for."""
        if (names, integers, beginning) not in self._replays:
            places, rows = self._handed_out(names)
            call = self._call(places, replay=True, integers=integers)
            call[Setting.BEGINNING] = int(beginning)
            self._replays[names, integers, beginning] = places, rows, call
        return self._replays[names, integers, beginning]

    def _arguments(
        self,
        call: torch.Tensor,
        rows: torch.Tensor,
        out: torch.Tensor,
        left: torch.Tensor,
        batch: Sequence[torch.Tensor] | None = None,
        dump: torch.Tensor | None = None,
        controls: torch.Tensor | None = None,
        track: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, ...]:
        """Return the arguments of a launch on a batch (None: the driver's); `call` may confine it to `left`."""
        self._runtime.require()
        mine = (self._memory, self._counters, self._own.memory) if batch is None else batch
        nothing = self._batch.zeros(0, torch.int32) if dump is None else dump
        empty = torch.zeros((1, 1, 1), dtype=self._dtype, device=self._device)
        periods = [empty if tensor is None else tensor for tensor in (controls, track)]
        rows = rows if len(rows) else torch.zeros(1, dtype=torch.int32, device=self._device)
        arrays = (self._ints, self._reals, *self._scratch, *mine)
        return *arrays, call, rows, out, nothing, *periods, self._own.rows, left
