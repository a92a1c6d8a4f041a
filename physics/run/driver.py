"""The driver of a batch of environments of one model: the solver's only interface to it, on a CPU or a GPU.

An arrangement has what differs between the two:

| | `cpu.CpuArrangement` | `gpu.GpuArrangement` |
|---|---|---|
| memory | (tiles, numbers, lanes) | (numbers, environments) |
| numbers and indices that the solver gives | arrays of numpy | tensors on the device, which the host does not read |
| scratch | one per worker; it grows when environments need more | one per environment, of full size |
| a launch | workers share the tiles; tiles that do not fit into the scratch are repeated | one thread per environment |
| stale outputs | marked on the host, and evaluated as copies | marked on the device, and evaluated in place |
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..machine.interrupts import interrupts_wait
from ..machine.normal_mode import normal_mode
from ..machine.runtime import Runtime
from ..model.features import Features
from ..model.model import Model
from ..model.state.memory import NOT_INTEGRATED
from ..model.state.reference import reference_memory
from ..model.state.snapshot import LARGEST
from .interface import (
    APPLIED,
    CLOSED,
    STATE,
    ClosedSolverError,
    EvaluatedFields,
    Index,
    InPlaceColumns,
    is_of_one,
    require_same,
)
from .launches import Arrangement, Launches
from .results.results import Results
from .settings import NON_FINITE, Count, Setting


class Driver:
    """A batch of environments of one model.

    Fields are those of `state.fields.QUANTITIES`. Those of `STATE` are kept between launches and can be written; all
    others are computed by an evaluation, at the state of the last one (of a step, or of `forward`). `interface` has the
    forms of environments and rows. Results are copies on the driver's device.

    Args:
        runtime: the runtime, with its threads or device and its precision.
        model: the model of all environments.
        arrangement: the arrangement of the batch.
        outputs: fields that every step delivers; reading any other costs an evaluation.

    Raises:
        MemoryError: so many environments do not fit.
        ValueError: the model is too large.
    """

    @normal_mode
    def __init__(self, runtime: Runtime, model: Model, arrangement: Arrangement, outputs: Sequence[str]) -> None:
        self._runtime, self._arrangement, self.num_envs = runtime, arrangement, arrangement.num_envs
        self._launches = Launches(runtime, model, arrangement)
        self._room, self._batch, self.prefers = self._launches.room, self._launches.batch, self._launches.prefers
        self._numbers, self._integers = arrangement.array(self._batch.memory), arrangement.array(self._batch.counters)
        self._fresh = arrangement.array(self._reference(model))
        self._no_counts = arrangement.array(torch.zeros(len(Count), dtype=torch.int32))
        self._results = Results(self._launches, arrangement, outputs)
        self._step, self._substeps = self._results.bind(replay=False), 0
        self._stale, self._ctrl = StaleEnvs(self.num_envs), self._place("ctrl")
        self.reset(None, None)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Raise ClosedSolverError if another thread has closed the batch, which removes its attributes."""
            if self.__dict__.get("_closed"):
                raise ClosedSolverError(CLOSED)
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of the model and of the last evaluation's results, with the capacities of its scratch."""
        return self._room.sizes

    @property
    def scratch_bytes(self) -> int:
        """The bytes of one thread's scratch at present; on a CPU they grow with the needs of environments."""
        return self._room.bytes_of_worker

    def _reference(self, model: Model) -> torch.Tensor:
        """Return the memory (rows,) of an environment in the model's reference state."""
        fresh = torch.zeros(self._numbers.shape[self._arrangement.axis], dtype=self._batch.memory.dtype)
        for name, numbers in reference_memory(model).items():
            fresh[self._place(name)] = torch.as_tensor(numbers)
        return fresh

    def _rest_spare_lanes(self) -> None:
        """Mark padding lanes of the last tile as done (faulty), so that no iteration continues only for them."""
        self._counter(Count.FAULT).masked_fill_(~self._arrangement.used, NON_FINITE)

    # numbers of the model

    @normal_mode
    def set_env_parameters(self, numbers: Mapping[str, np.ndarray], features: Features) -> None:
        """Give environments own numbers for exactly these fields of the model, (num_envs, numbers) each.

        `features` is the optional code that the model then needs.
        """
        self._launches.set_env_parameters(numbers, features)
        self._batch = self._launches.batch
        self._bind_again()
        self._results.changed(None)

    def _bind_again(self) -> None:
        """Bind launches again, because the scratch, the kernel or the settings were replaced."""
        self._results.bind_again()
        self._step, self._substeps = self._results.bind(replay=False), 0

    def write_own(self, numbers: Mapping[str, np.ndarray], index: Index) -> None:
        """Set numbers (k, numbers) of environments for each field; before `set_env_parameters`, row 0 is of all."""
        self._launches.write(numbers, index)
        self._results.changed(index)

    # motion

    def step(self, substeps: int, controls: Any = None) -> None:
        """Take `substeps` physics steps under the present controls, or under others (num_envs, nu), which then hold."""
        if controls is not None:
            self._arrangement.write(self._numbers, self._ctrl.start, controls, self._ctrl.stop - self._ctrl.start, None)
        if substeps != self._substeps:
            self._step.call[Setting.SUBSTEPS] = self._substeps = substeps
        self._stale.add(None)
        self._results.forget()  # before the launch, as an interrupt may come right after it
        self._step()
        self._results.stepped()

    @normal_mode
    def rollout(self, controls: Any) -> torch.Tensor:
        """Take a step under each of the controls (num_envs, nstep, nu); return qpos and qvel after each step.

        The result is (num_envs, nstep, nq + nv).
        """
        periods = self._arrangement.given(controls)
        track = periods.new_empty((*periods.shape[:2], self._coordinates))
        launch = self._results.bind_rollout(self._step.call, periods, track)
        launch.prepare()
        with interrupts_wait():
            self._stale.add(None)
            self._results.forget()
            launch()
            self.write("ctrl", controls[:, -1], None)
            self._results.stepped()
        return track

    def forward(self, index: Index) -> None:
        """Make the present state of environments, if finite, the state of their last evaluation; nothing moves."""
        if index is not None:
            places = self._launches.groups, self._place("eval_qacc"), self._place("eval_rest")
            forward_some(self._arrangement, self._numbers, self._integers, places, index)
            self._results.changed(index)
            return
        self._stale.clear()
        groups = self._launches.groups
        coordinates = slice(0, groups["INPUTS"].stop)  # KEPT begins with those of the last evaluation, in their order
        finite = (self._rows(coordinates).abs() <= LARGEST).all(dim=self._arrangement.axis, keepdim=True)
        chosen = self._arrangement.mask(index) & finite
        evaluated = slice(groups["KEPT"].start, groups["KEPT"].start + coordinates.stop)
        for present, last in ((coordinates, evaluated), (groups["FORCES"], groups["KEPT_FORCES"])):
            rows = self._rows(last)
            rows.copy_(torch.where(chosen, self._rows(present), rows))
        self._rows(self._place("eval_qacc")).masked_fill_(chosen, NOT_INTEGRATED)
        self._rows(self._place("eval_rest")).masked_fill_(chosen, 0.0)
        before = self._counter(Count.EVALUATED)
        before.copy_(torch.where(chosen, self._counter(Count.STEPS), before))
        self._results.changed(index)

    def forward_stale(self) -> None:
        """Do what `forward` does for the environments whose state or inputs changed since their last evaluation."""
        behind = self._stale.take()
        if behind is not UP_TO_DATE:
            self.forward(behind)

    # state

    @property
    def _coordinates(self) -> int:
        """The number of rows of qpos and qvel, which are the first in memory."""
        return self._room.widths["qpos"] + self._room.widths["qvel"]

    def _place(self, name: str) -> slice:
        """Return the rows of the memory that hold a field of the state."""
        return slice(self._room.offsets[name], self._room.offsets[name] + self._room.widths[name])

    def _rows(self, place: slice) -> torch.Tensor:
        """Return a view of rows of the memory."""
        return self._batch.memory.narrow(self._arrangement.axis, place.start, place.stop - place.start)

    def _counter(self, row: Count) -> torch.Tensor:
        """Return a view of one of the environments' integers, shaped as a row of the memory."""
        return self._batch.counters.narrow(self._arrangement.axis, row, 1)

    def read(self, name: str, index: Index = None) -> torch.Tensor:
        """Return a field of the state, (k, numbers)."""
        return self._arrangement.read(self._numbers, index, self._place(name))

    def first_rows(self, count: int) -> torch.Tensor:
        """Return the first numbers of the environments' memory, (num_envs, count), in the order of `memory.MEMORY`."""
        return self._arrangement.read(self._numbers, None, slice(0, count))

    def coordinates(self) -> torch.Tensor:
        """Return qpos and qvel, (num_envs, nq + nv); each column is contiguous in memory."""
        return self._arrangement.columns(self._numbers, slice(0, self._coordinates))

    def write(self, name: str, rows: Any, index: Index) -> None:
        """Set a field of the state of environments."""
        if APPLIED.get(name, 0) & ~self._launches.applied:
            self._apply_forces(APPLIED[name])
        self._arrangement.write(self._numbers, self._room.offsets[name], rows, self._room.widths[name], index)
        self._stale.add(index)

    def read_columns(self, name: str, columns: np.ndarray, index: Index) -> torch.Tensor:
        """Return single numbers (k,) of a field of the state, (environments, k)."""
        return self._arrangement.read_columns(self._numbers, columns + self._room.offsets[name], index)

    def write_columns(self, name: str, columns: np.ndarray, rows: Any, index: Index) -> None:
        """Set single numbers (k,) of a field of the state of environments."""
        if APPLIED.get(name, 0) & ~self._launches.applied:
            self._apply_forces(APPLIED[name])
        self._arrangement.write_columns(self._numbers, columns + self._room.offsets[name], rows, index)
        self._stale.add(index)

    @normal_mode
    def _apply_forces(self, which: int) -> None:
        """Make launches read applied forces, or controls of dofs, from now on."""
        self._launches.applied |= which
        self._bind_again()

    def reset(self, index: Index, coordinates: Any) -> None:
        """Reset environments to qpos and qvel (k, nq + nv), and everything else to the reference state.

        With `coordinates` None, qpos and qvel are set to the reference state, too.
        """
        rows = self._fresh
        if coordinates is not None:
            rows = self._arrangement.repeated(rows, len(coordinates))
            rows[:, : self._coordinates] = coordinates
            for name in ("qpos", "qvel"):
                rows[:, self._place(f"eval_{name}")] = rows[:, self._place(name)]
        self._arrangement.write(self._numbers, 0, rows, len(self._fresh), index)
        self._arrangement.write(self._integers, 0, self._no_counts, len(Count), index)
        if index is None:
            self._rest_spare_lanes()
        self._results.changed(index)

    def count(self, row: Count) -> torch.Tensor:
        """Return one of the integers of every environment, (num_envs,) int32."""
        return self._arrangement.columns(self._integers, slice(row, row + 1))[:, 0]

    def write_count(self, row: Count, numbers: np.ndarray, index: Index) -> None:
        """Set one of the integers of environments, (k, 1) or (1,)."""
        self._arrangement.write(self._integers, row, numbers, 1, index)

    def any_fault(self) -> bool:
        """Return True if any environment has a fault; this is quicker than reading all faults."""
        return self._arrangement.any(self._integers, Count.FAULT)

    def clear_faults(self, index: Index) -> None:
        """Clear faults of environments, so that they move again."""
        for row in (Count.FAULT, Count.NEEDED):
            if index is None:
                self._counter(row).masked_fill_(self._arrangement.used, 0)
            else:
                self._arrangement.write(self._integers, row, self._no_counts[:1], 1, index)

    def state_dict(self, index: Index = None) -> dict[str, torch.Tensor]:
        """Return everything that future steps of environments depend on, (k, numbers) each."""
        read = self._arrangement.read
        return {"memory": read(self._numbers, index), "counters": read(self._integers, index)}

    def check_state(self, state: Mapping[str, torch.Tensor], count: int) -> None:
        """Refuse a `state_dict` that is not of `count` environments of this model, in this precision.

        Raises:
            ValueError: with the part that does not fit.
        """
        parts, axis = {"memory": self._batch.memory, "counters": self._batch.counters}, self._arrangement.axis
        require_same(state, {name: ((count, mine.shape[axis]), mine.dtype) for name, mine in parts.items()})

    def load_state_dict(self, state: Mapping[str, torch.Tensor], index: Index = None) -> None:
        """Restore a `state_dict` of as many environments as `index` has, or of one, to which all of them go.

        Raises:
            ValueError: it is of another batch; nothing is written then.
        """
        count = self.num_envs if index is None else len(index)
        self.check_state(state, 1 if is_of_one(state) else count)
        for array, name in ((self._numbers, "memory"), (self._integers, "counters")):
            self._arrangement.write(array, 0, state[name], state[name].shape[1], index)
        if index is None:
            self._rest_spare_lanes()
        for name, which in APPLIED.items():
            if which & ~self._launches.applied and state["memory"][:, self._place(name)].any():
                self._apply_forces(which)
        self._stale.add(index)
        self._results.changed(index)

    def unlike_the_reference(self, state: Mapping[str, torch.Tensor], names: Iterable[str]) -> set[str]:
        """Return the names of fields that differ from the reference state in some environment of a `state_dict`."""
        memory, unlike = state["memory"].to(self._batch.memory.device), set()
        for name in names:
            place = self._place(name)
            if bool((memory[:, place] != torch.as_tensor(self._fresh[place])).any()):
                unlike.add(name)
        return unlike

    def view(self, name: str) -> InPlaceColumns | None:
        """Return the numbers of a field of the state, of an output, or "faults", in place.

        The result is None for several environments in lanes: their numbers are not the rows of one tensor.
        """
        memory, counters = (self._arrangement.in_place(tensor) for tensor in self._batch[:2])
        if memory is None or counters is None:
            return None
        if name == "faults":
            return InPlaceColumns(counters, slice(Count.FAULT, Count.FAULT + 1))
        if name in STATE:
            return InPlaceColumns(memory, self._place(name))
        if name not in self._results.places:
            return None
        return InPlaceColumns(self._results.values[: self.num_envs], self._results.places[name])

    def close(self) -> None:
        """Free all memory. A thread that is using it raises ClosedSolverError, or has just finished."""
        self._closed = True
        for name in [name for name in vars(self) if name != "_closed"]:
            vars(self).pop(name, None)

    # derived quantities

    def delivers(self, names: Sequence[str]) -> bool:
        """Return True if every step delivers these fields; any other costs an evaluation."""
        return all(name in self._results.places for name in names)

    @normal_mode
    def refresh(self, index: Index) -> None:
        """Bring the outputs of these environments up to date with their last evaluation."""
        if not self._results.current:
            self._runtime.require()
            self._results.refresh(index)

    @normal_mode
    def evaluate(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Return fields of environments at their last evaluation, (k, numbers) each."""
        if not self.delivers(names):
            fields = self._results.fields(names, index)
            return {name: self._room.padded(name, values) for name, values in fields.items()}
        self.refresh(index)
        return self._delivered(names, self._arrangement.pick(self._results.values, index))

    @normal_mode
    def evaluate_present(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Return fields of environments in their present state, (k, numbers) each; their last evaluation stays."""
        fields = self._results.present(names, index)
        return {name: self._room.padded(name, values) for name, values in fields.items()}

    def _delivered(self, names: Sequence[str], block: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the columns of fields in rows of the outputs."""
        return {name: block[:, self._results.places[name]] for name in names}

    @normal_mode
    def sense(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Return fields of environments at the state where sensors are evaluated, (k, numbers) each.

        That is the last evaluation or, with Runge-Kutta, the first stage of the last step. Fields that steps deliver
        are returned without a copy.
        """
        if self.sizes["nstart"]:
            return self._results.fields(names, index, at_start=True)
        if index is None and self.delivers(names):
            self.refresh(None)
            return self._delivered(names, self._results.values[: self.num_envs])
        return self.evaluate(names, index)

    @normal_mode
    def evaluate_together(self, names: Sequence[str], index: Index) -> EvaluatedFields:
        """Return fields of environments, and the integers of the same evaluation."""
        return self._results.together(names, index)

    @normal_mode
    def evaluate_as_if(self, field: str, number: float, names: Sequence[str], integers: bool = True) -> EvaluatedFields:
        """Fields of all environments with their integers, as if all numbers of a field of memory were `number`.

        Without `integers` there are none, and stages that no field needs are left out.
        """
        rows = self._rows(self._place(f"eval_{field}"))
        before = rows.clone()
        try:
            rows.fill_(number)
            block = self._results.evaluate(names, None, integers)
        finally:
            rows.copy_(before)
        return EvaluatedFields({name: block.values[:, block.places[name]] for name in names}, block.indices)


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
        writes, self._writes, self._count = self._writes, [], 0
        if writes is None:
            return None
        if not writes:
            return UP_TO_DATE
        together = torch.cat if isinstance(writes[0], torch.Tensor) else np.concatenate
        return writes[0] if len(writes) == 1 else together(writes)


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
