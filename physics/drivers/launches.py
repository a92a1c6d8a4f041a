"""The launches of a batch: their settings and arguments, and evaluations of copies of some environments."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ..fields import layout
from ..model.features import Features
from ..model.model import Model
from ..process.runtime import Runtime
from ..state.fields import INSPECTED, ROOMY
from ..state.sizes import PARAMETER_FIELDS, flat_reals, memory_groups
from .cpu import CpuArrangement
from .evaluations import Block
from .gpu import GpuArrangement
from .interface import Batch, Index
from .outputs import Outputs, Selection, select
from .own_numbers import OwnNumbers
from .plan import ask_for
from .settings import CALL_LENGTH, Count, Setting

Arrangement = CpuArrangement | GpuArrangement


class Launches:
    """The kernel, scratch and memory that all launches of a batch share.

    Args:
        runtime: the runtime, with its threads or device and its precision.
        model: the model of all environments.
        arrangement: the arrangement of the batch.
        moved: called when the layout of the scratch has changed.

    Attributes:
        batch: the environments.
        own: their own numbers of the model.
        room: the scratch.
        groups: rows of the groups of the memory.
        applied: sum of those of `APPLIED_FORCES` and `DOF_CONTROLS` that launches read.

    Raises:
        MemoryError: so many environments do not fit.
        ValueError: the model is too large.
    """

    def __init__(self, runtime: Runtime, model: Model, arrangement: Arrangement, moved: Callable[[], None]) -> None:
        self._runtime, self._model, self._arrangement, self.applied = runtime, model, arrangement, 0
        dtype, device, single = runtime.torch_dtype, arrangement.device, runtime.precision == "32"
        self.room: Any = arrangement.room(model, moved)
        self.groups = memory_groups(self.room.sizes)
        memory = arrangement.zeros(max(group.stop for group in self.groups.values()), dtype)
        self.own = OwnNumbers(arrangement)
        self.batch = Batch(memory, arrangement.zeros(len(Count), torch.int32), self.own.memory)
        self._reals = torch.from_numpy(flat_reals(model, np.float32 if single else np.float64)).to(device)
        self._precise = torch.from_numpy(flat_reals(model, np.float64)).to(device)
        self._no_integers = torch.zeros((1, 1), dtype=torch.int32, device=device)
        self._no_periods = torch.zeros((1, 1, 1), dtype=dtype, device=device)
        self.kernel: Any = arrangement.kernel(Features.of(model, single))
        self._requests: dict[tuple, tuple[Selection, int, torch.Tensor]] = {}

    def prefers(self, differing: Features) -> bool:
        """Return True if the kernel for environments that differ, with these features, is compiled, and no other."""
        has = self._arrangement.has_kernel
        return has(differing) and not has(Features.of(self._model, self._runtime.precision == "32"))

    def write(self, numbers: Mapping[str, np.ndarray], index: Index) -> None:
        """Set numbers (k, numbers) of environments for each field; before `set_env_parameters`, row 0 is of all."""
        if self.own.count:
            self.own.write(numbers, index)
        else:
            self._edit({name: rows[0] for name, rows in numbers.items() if len(rows)})

    def _edit(self, numbers: Mapping[str, np.ndarray]) -> None:
        """Write numbers (n,) in place of the model's; launches stay bound."""
        if "dof_damping" in numbers:
            self.room.may_damp()
        offsets, _ = layout(PARAMETER_FIELDS, self._model.sizes)
        for name, row in numbers.items():
            for reals in (self._reals, self._precise):
                reals[offsets[name] : offsets[name] + len(row)] = torch.from_numpy(row)

    def set_env_parameters(self, numbers: Mapping[str, np.ndarray], features: Features) -> None:
        """Give environments own numbers for these fields of the model; launches must be bound anew."""
        self.room.make_differ()  # first, as there may be no memory for it
        self.own.lay_out(self._model, set(numbers))
        self.own.write(numbers, None)
        self.kernel = self._arrangement.kernel(features)
        self.batch = self.batch._replace(own=self.own.memory)
        self._requests.clear()

    def apply(self, which: int) -> None:
        """Make launches that are bound from now on read applied forces, or controls of dofs."""
        self.applied |= which
        self._requests.clear()

    def outputs(self, names: Sequence[str]) -> Outputs:
        """Return storage for what every step delivers: those of the fields whose size is fixed."""
        fixed = [name for name in names if name not in ROOMY]
        return self._arrangement.outputs(self._select(fixed))

    def _select(self, names: Sequence[str]) -> Selection:
        """Return the selection of fields where the scratch has them at present."""
        return select(names, self.room.offsets, self.room.widths, self._arrangement.device)

    def bind(
        self,
        outputs: Outputs,
        batch: Sequence[torch.Tensor] | None = None,
        values: torch.Tensor | None = None,
        replay: bool = True,
    ) -> Any:
        """Return the launch over a batch that hands out the outputs.

        Args:
            outputs: the fields.
            batch: the environments; None: the whole batch.
            values: the array that receives the outputs; None: the one of `outputs`.
            replay: evaluate at the state of the last evaluation instead of taking steps.
        """
        call, values = self._call(outputs.selection, replay), outputs.values if values is None else values
        return self._launch(batch or self.batch, call, outputs.selection.rows, values, left=outputs.left)

    def rollout(self, outputs: Outputs, step: torch.Tensor, controls: torch.Tensor, track: torch.Tensor) -> Any:
        """Return the launch that takes one step, with the settings `step`, under each of the controls.

        Args:
            outputs: the fields that are handed out at the end.
            step: settings of the launch of a step.
            controls: (num_envs, periods, nu).
            track: (num_envs, periods, nq + nv), which receives qpos and qvel after each period.
        """
        call = step.clone()
        call[Setting.SUBSTEPS], call[Setting.PERIODS] = 1, controls.shape[1]
        rows, values, left = outputs.selection.rows, outputs.values, outputs.left
        return self._launch(self.batch, call, rows, values, left=left, periods=(controls, track))

    def evaluate(self, names: Sequence[str], index: Index, with_indices: bool, beginning: bool = False) -> Block:
        """Evaluate environments alone, where the last evaluation was, or where its Runge-Kutta step began.

        Args:
            names: the fields.
            index: the environments.
            with_indices: hand out the integers of the scratch, too.
            beginning: evaluate where the last step began, if its integrator is Runge-Kutta's.
        """
        arrangement, batch, at = self._arrangement, self.batch, None
        if index is not None:
            tensors, at = arrangement.subset(batch, index)
            batch = Batch(*tensors)
        groups, fits = batch.memory.shape[1 - arrangement.axis], False
        while not fits:  # the arrays have other shapes once the scratch has grown
            selection, integers, call = self._request(tuple(names), with_indices, beginning)
            call = call.clone()
            values = arrangement.rows(groups * arrangement.width, selection.width, batch.memory.dtype)
            dump = arrangement.rows(groups, integers, torch.int32)
            fits = not groups or self._launch(batch, call, selection.rows, values, dump).attempt()
        return Block(at, selection.places, values, dump[:, :integers])

    def _request(
        self, names: tuple[str, ...], with_indices: bool, beginning: bool
    ) -> tuple[Selection, int, torch.Tensor]:
        """Return fields, number of integers and settings of an evaluation; kept, as making them waits for a GPU."""
        key = names, with_indices, beginning, self.room.grown
        if key not in self._requests:
            selection = self._select(names)
            integers = layout(INSPECTED, self.room.sizes)[1] if with_indices else 0
            call = self._call(selection, replay=True, integers=integers, beginning=beginning)
            self._requests[key] = selection, integers, call
        return self._requests[key]

    def _call(self, selection: Selection, replay: bool, integers: int = 0, beginning: bool = False) -> torch.Tensor:
        """Return the settings of a launch that hands out fields and integers."""
        call = torch.zeros(CALL_LENGTH, dtype=torch.int32)
        call[Setting.REPLAY], call[Setting.BEGINNING] = int(replay), int(beginning)
        call[Setting.ROWS], call[Setting.INDICES] = selection.width, integers
        call[Setting.PARAMETERS], call[Setting.APPLIED] = self.own.count, self.applied
        for name, group in self.groups.items():
            call[Setting[name]] = group.stop - group.start
        ask_for(call, selection.places, everything=integers > 0 or not replay)
        return call.to(self._arrangement.device)

    def _launch(
        self,
        batch: Sequence[torch.Tensor],
        call: torch.Tensor,
        rows: torch.Tensor,
        values: torch.Tensor,
        dump: torch.Tensor | None = None,
        left: torch.Tensor | None = None,
        periods: Sequence[torch.Tensor] | None = None,
    ) -> Any:
        """Return the launch over a batch that hands out rows and integers of the scratch.

        Args:
            batch: memory, counters and own numbers of environments.
            call: the settings.
            rows: rows of the scratch to hand out.
            values: (environments, columns), which receives them.
            dump: (groups, integers), which receives integers of the scratch.
            left: marks of tiles, to which `call` may restrict the launch; the launch writes new ones.
            periods: controls and track of a rollout.

        Raises:
            StaleRuntimeError: Taichi was restarted.
        """
        self._runtime.require()
        arrangement, room = self._arrangement, self.room
        if left is None:
            groups = batch[0].shape[1 - arrangement.axis]
            left = torch.zeros(max(1, groups), dtype=torch.int32, device=arrangement.device)
        out = (arrangement.stored(tensor) for tensor in (values, self._no_integers if dump is None else dump))
        controls, track = periods or (self._no_periods, self._no_periods)
        scratch = (room.ints, self._reals, self._precise, *room.arrays)
        arguments = (*scratch, *batch, call, rows, *out, controls, track, self.own.rows, left)
        return arrangement.bind(self.kernel, arguments, room, call, left)
