"""The settings and arguments that the launches of a batch share, and per-environment numbers of the model.

Stages after the pipeline compute quantities that a step does not need, and run on request only. An evaluation that
moves nothing ends with the last stage of the pipeline that writes a requested quantity: poses of bodies, for example,
are written by its first stage, long before contacts or forces.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from ..base.fields import layout
from ..base.stage import Stage
from ..machine.runtime import Runtime
from ..mechanics.dynamics.smooth import smooth_acceleration
from ..model.features import Features
from ..model.model import Model
from ..model.state.declared import read_by, written_by
from ..model.state.fields import SMOOTH
from ..model.state.memory import MEMORY
from ..model.state.reach import reach_of
from ..model.state.sizes import PARAMETER_FIELDS, flat_reals, memory_groups
from .cpu import CpuArrangement
from .gpu import GpuArrangement
from .interface import BatchMemory, Index
from .settings import CALL_LENGTH, Count, Setting
from .step import LAST, PIPELINE
from .tiles.tile_pass import ON_REQUEST

Arrangement = CpuArrangement | GpuArrangement


class Selection(NamedTuple):
    """Fields that a launch hands out as columns of one array.

    Attributes:
        places: columns of every field.
        width: number of columns.
        rows: rows of the scratch that go to the columns, (width,) int32; one unused row if there are no columns.
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


class Launches:
    """The kernel, scratch and memory that all launches of a batch share.

    Args:
        runtime: the runtime, with its threads or device and its precision.
        model: the model of all environments.
        arrangement: the arrangement of the batch.

    Attributes:
        batch: the environments.
        own: the per-environment parameters in `batch.own`; `rows` are their places among the model's real numbers.
        room: the scratch.
        groups: rows of the groups of the memory.
        applied: sum of the `APPLIED_FORCES` and `DOF_CONTROLS` flags that launches bound from now on read.

    Raises:
        MemoryError: so many environments do not fit.
        ValueError: the model is too large.
    """

    def __init__(self, runtime: Runtime, model: Model, arrangement: Arrangement) -> None:
        self._runtime, self._model, self._arrangement, self.applied = runtime, model, arrangement, 0
        dtype, device, single = runtime.torch_dtype, arrangement.device, runtime.precision == "32"
        self.room: Any = arrangement.room(model)
        self.groups = memory_groups(self.room.sizes)
        memory = arrangement.zeros(max(group.stop for group in self.groups.values()), dtype)
        self.own = select((), {}, {}, device)
        own = arrangement.zeros(0, torch.float64)
        self.batch = BatchMemory(memory, arrangement.zeros(len(Count), torch.int32), own)
        self._reals = torch.from_numpy(flat_reals(model, np.float32 if single else np.float64)).to(device)
        self._precise = torch.from_numpy(flat_reals(model, np.float64)).to(device)
        self._no_integers = torch.zeros((1, 1), dtype=torch.int32, device=device)
        self._no_periods = torch.zeros((1, 1, 1), dtype=dtype, device=device)
        self.kernel: Any = arrangement.kernel(Features.of(model, single))

    def prefers(self, differing: Features) -> bool:
        """Return True if the kernel for environments that differ, with these features, is compiled, and no other."""
        has = self._arrangement.has_kernel
        return has(differing) and not has(Features.of(self._model, self._runtime.precision == "32"))

    def write(self, numbers: Mapping[str, np.ndarray], index: Index) -> None:
        """Set numbers (k, numbers) of environments for each field; before `set_env_parameters`, row 0 is of all."""
        if not self.own.width:
            self._edit({name: rows[0] for name, rows in numbers.items() if len(rows)})
            return
        memory = self._arrangement.array(self.batch.own)
        for name, rows in numbers.items():
            place = self.own.places[name]
            self._arrangement.write(memory, place.start, rows, place.stop - place.start, index)

    def _edit(self, numbers: Mapping[str, np.ndarray]) -> None:
        """Overwrite numbers (n,) of the model, which all environments share; launches stay bound."""
        if "dof_damping" in numbers:
            self.room.may_damp()
        offsets, _ = layout(PARAMETER_FIELDS, self._model.sizes)
        for name, row in numbers.items():
            for reals in (self._reals, self._precise):
                reals[offsets[name] : offsets[name] + len(row)] = torch.from_numpy(row)

    def set_env_parameters(self, numbers: Mapping[str, np.ndarray], features: Features) -> None:
        """Give environments own numbers for these fields of the model; launches must be bound again."""
        self.room.make_differ()  # first, as there may be no memory for it
        offsets, _ = layout(PARAMETER_FIELDS, self._model.sizes)
        own = {field.name: field.length(self._model.sizes) for field in PARAMETER_FIELDS if field.name in numbers}
        self.own = select(list(own), offsets, own, self._arrangement.device)
        self.batch = self.batch._replace(own=self._arrangement.zeros(self.own.width, torch.float64))
        self.write(numbers, None)
        self.kernel = self._arrangement.kernel(features)

    def select(self, names: Sequence[str]) -> Selection:
        """Return the selection of fields where the scratch has them at present."""
        return select(names, self.room.offsets, self.room.widths, self._arrangement.device)

    def call(self, selection: Selection, replay: int, integers: int = 0, at_start: bool = False) -> torch.Tensor:
        """Return the settings of a launch that hands out fields and integers.

        Args:
            selection: the fields.
            replay: the setting REPLAY: 0 takes steps.
            integers: number of integers of the scratch.
            at_start: evaluate at the start of the last step, if its integrator is Runge-Kutta's.
        """
        call = torch.zeros(CALL_LENGTH, dtype=torch.int32)
        call[Setting.REPLAY], call[Setting.AT_START] = int(replay), int(at_start)
        call[Setting.ROWS], call[Setting.INDICES] = selection.width, integers
        call[Setting.PARAMETERS], call[Setting.APPLIED] = self.own.width, self.applied
        for name, group in self.groups.items():
            call[Setting[name]] = group.stop - group.start
        ask_for(call, selection.places, everything=integers > 0 or not replay)
        return call.to(self._arrangement.device)

    def launch(
        self,
        call: torch.Tensor,
        selection: Selection,
        values: torch.Tensor,
        batch: BatchMemory | None = None,
        dump: torch.Tensor | None = None,
        left: torch.Tensor | None = None,
        periods: Sequence[torch.Tensor] | None = None,
    ) -> Any:
        """Return the launch over a batch that hands out fields and integers of the scratch.

        Args:
            call: the settings.
            selection: the fields to hand out.
            values: (environments, columns), which receives them.
            batch: the environments; None: the whole batch.
            dump: (groups, integers), which receives integers of the scratch.
            left: marks of tiles, to which `call` may restrict the launch; the launch writes new ones.
            periods: controls and track of a rollout.

        Raises:
            StaleRuntimeError: Taichi was restarted.
        """
        self._runtime.require()
        arrangement, room, batch = self._arrangement, self.room, batch or self.batch
        if left is None:
            groups = batch.memory.shape[1 - arrangement.axis]
            left = torch.zeros(max(1, groups), dtype=torch.int32, device=arrangement.device)
        out = (arrangement.stored(tensor) for tensor in (values, self._no_integers if dump is None else dump))
        controls, track = periods or (self._no_periods, self._no_periods)
        scratch = (room.ints, self._reals, self._precise, *room.arrays)
        arguments = (*scratch, *batch, call, selection.rows, *out, controls, track, self.own.rows, left)
        return arrangement.bind(self.kernel, arguments, room, call, left)


_KEPT = frozenset(field.name for group in MEMORY.values() for field in group)


def written_in(entry: Callable[..., Any]) -> frozenset[str]:
    """Return the fields that an entry of the pipeline stores: a stage, or a function that calls stages."""
    stages = [entry] if isinstance(entry, Stage) else reach_of(entry).stages
    return frozenset().union(*map(written_by, stages))


_WRITTEN = [written_in(entry) for entry in PIPELINE]


def ask_for(call: Any, names: Collection[str], everything: bool) -> None:
    """Set the entries of `call` that make a launch compute these fields.

    Args:
        call: the settings of the launch; its other entries are left alone.
        names: the fields.
        everything: run the whole pipeline, as every launch does that moves something.
    """
    requested = stages_on_request(names)
    call[Setting.REQUESTED] = sum(bit for bit, stage, _ in ON_REQUEST if stage in requested)
    call[Setting.SMOOTH] = int(smooth_acceleration in requested)
    call[Setting.LAST] = LAST if everything else last_needed(names, requested)


def stages_on_request(names: Collection[str]) -> list[Stage]:
    """Return the stages after the pipeline that compute fields, in the order in which they run."""
    needed, requested = set(names), list[Stage]()
    for _, stage, fields in reversed(ON_REQUEST):
        if not needed.isdisjoint(fields.split()):
            requested.insert(0, stage)
            needed |= read_by(stage).difference(*_WRITTEN)
    return [smooth_acceleration] * (not SMOOTH.isdisjoint(names)) + requested


def last_needed(names: Collection[str], requested: Collection[Stage]) -> int:
    """Return the position of the last stage of the pipeline that fields and stages on request need; -1 if none.

    For a field that no evaluation computes, such as the coordinates that a step advances, it is the last position.
    """
    computed = _KEPT.union(*_WRITTEN, *map(written_by, requested))
    if not computed.issuperset(names):
        return LAST
    needed = frozenset(names).union(*(read_by(stage) - written_by(stage) for stage in requested))
    return max((place for place, written in enumerate(_WRITTEN) if written & needed), default=-1)
