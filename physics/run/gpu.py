"""The arrangement of a batch on a GPU: one thread per environment, and all numbers stay on the device.

A step covers the whole batch. Environments whose outputs became stale by a change from outside are marked on the
device. The launch that renews them covers the whole batch, too, and the threads of other environments return at once.
So the host need not know which are stale, and never waits for the device.

Arrays are in columns, (numbers, environments), so that the threads of a warp, which execute the same instruction, read
neighbouring words. The kernel is as on a CPU with one lane (`tile_pass`).
"""

from collections.abc import Collection
from functools import partial
from typing import Any

import taichi as ti
import torch

from ..base.math import Lanes, with_types
from ..machine.memory import require_memory
from ..machine.runtime import Runtime
from ..mechanics.constraint.hessian_pattern import lay_out_dofs
from ..model.features import Features
from ..model.model import Model
from ..model.state.capacity import most_capacity
from ..model.state.sizes import all_sizes, bytes_of, flat_integers, kinds, scratch_rows, stored_numbers
from ..model.state.views import ColumnWorkspace, ModelView
from .bound_kernel import BoundKernel, Kernel
from .columns.columns import Columns
from .kernel import argument_types
from .settings import Setting
from .taichi_kernel import TaichiKernel, nothing_to_do
from .tiles.growing import ScratchRows
from .tiles.tile_pass import run_tile, spread_parameters
from .tiles.tile_view import Arguments, ColumnView

MOST_NUMBERS = (1 << 31) - 1
"""The most numbers of an array of all environments together: indices in kernels have 32 bits."""


class GpuArrangement(Columns):
    """Columns, scratch for every environment, and launches with one thread per environment.

    Args:
        runtime: the runtime, with its device and precision.
        num_envs: number of environments.
        outputs: fields that every step delivers.
    """

    def __init__(self, runtime: Runtime, num_envs: int, outputs: Collection[str] = ()) -> None:
        super().__init__(num_envs, runtime.torch_device)
        self._outputs = outputs
        self._runtime = runtime

    def room(self, model: Model) -> "FullCapacity":
        """Return the scratch for a model, which never grows.

        Raises:
            MemoryError: so many environments do not fit, or kernels cannot address them.
        """
        return FullCapacity(model, self, self._runtime.precision, self._outputs)

    def kernel(self, features: Features) -> Kernel:
        """Return the kernel with the optional code of `features`; it is made once, then shared."""
        make = partial(make_column_kernel, self._runtime.dtype, features)
        kernel = TaichiKernel(self._runtime, make, idle=nothing_to_do)
        return self._runtime.pool.setdefault(("columns", features), kernel)

    def has_kernel(self, _: Features) -> bool:
        """Return False: what Taichi has compiled for a GPU is not looked up."""
        return False

    def bind(
        self, kernel: Kernel, arguments: tuple, room: ScratchRows, call: torch.Tensor, _: torch.Tensor
    ) -> BoundKernel:
        """Return a launch of the kernel over a batch."""
        return BoundKernel(kernel, arguments, room, call)


class FullCapacity(ScratchRows):
    """Scratch for every environment, with capacities for the most that the model could ever need.

    Args:
        model: of all environments.
        batch: its environments.
        precision: "32" or "64".
        outputs: fields that every step delivers.

    Raises:
        MemoryError: so many environments do not fit, or kernels cannot address them.
    """

    def __init__(self, model: Model, batch: Columns, precision: str, outputs: Collection[str] = ()) -> None:
        self._model, self._batch, self._precision = model, batch, precision
        self._lay_out(parameters=False, outputs=outputs)

    def _lay_out(self, parameters: bool, outputs: Collection[str] | None = None) -> None:
        """Allocate scratch for all environments.

        Args:
            parameters: with space for own numbers.
            outputs: fields that will be stored beside the memory; None: both are allocated already.
        """
        model, num_envs, device = self._model, self._batch.num_envs, self._batch.device
        self._take(all_sizes(model, most_capacity(model, lanes=1), parameters, lanes=1))
        counts = scratch_rows(self.sizes)
        there_is = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else None
        stored = 0 if outputs is None else stored_numbers(self.sizes, outputs) * int(self._precision) // 8
        require_memory(num_envs, stored + bytes_of(counts, 1, self._precision), there_is)
        rows = max(counts)
        if rows * num_envs > MOST_NUMBERS:
            raise MemoryError(
                f"num_envs={num_envs:,}: kernels address at most {MOST_NUMBERS:,} numbers, and an environment "
                f"works in {rows:,} of them: at most {MOST_NUMBERS // rows:,} fit; make several solvers"
            )
        self.ints = torch.from_numpy(flat_integers(model, self.sizes)).to(device)
        whole = zip(counts, kinds(1, self._precision), strict=True)
        self.arrays = tuple(self._batch.zeros(count, getattr(torch, kind)) for count, (_, kind) in whole)

    @property
    def bytes_of_worker(self) -> int:
        """The bytes of scratch that one thread has."""
        return sum(tensor[:, 0].nelement() * tensor.element_size() for tensor in self.arrays)

    def make_differ(self) -> None:
        """Allocate scratch that has space for own numbers of environments."""
        self._lay_out(parameters=True)


BLOCK = 32
"""Threads of a block: one warp, as the threads of a block share nothing."""


def make_column_kernel(dtype: Any, features: Features) -> Any:
    """Return the kernel for one precision, with the optional code of `features`."""
    lanes = Lanes(1, dtype)
    real, whole, double = (ti.types.ndarray(kind, 2) for kind in (dtype, ti.i32, ti.f64))
    columns = {"numbers": real, "indices": whole, "doubles": double, "convex": double}
    columns |= {"memory": real, "counts": whole, "own": double}

    @ti.kernel
    @with_types(argument_types(lanes) | columns)
    def run(
        ints,
        reals,
        precise,
        numbers,
        indices,
        doubles,
        convex,
        memory,
        counts,
        own,
        call,
        rows,
        out,
        dump,
        controls,
        track,
        own_rows,
        left,
    ):
        ti.loop_config(block_dim=BLOCK)
        # call.AGAIN 1: only environments that are marked in `left`
        for env in range(memory.shape[1]):
            if call[Setting.AGAIN] == 0 or left[env] == 1:
                model = ModelView(ints, reals, precise, features)
                work = ColumnWorkspace(lanes, ints, (numbers, indices, doubles, convex), env, features)
                arrays = Arguments(memory, counts, own, own_rows, call, rows, out, dump, controls, track, left)
                if ti.static(features.parameters):
                    model.set_env_parameters(work)
                spread_parameters(model, work, reals, precise)
                lay_out_dofs(model, work)
                run_tile(model, work, ColumnView(lanes, arrays, env))

    return run
