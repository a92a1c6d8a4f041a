"""The kernel of the CPU driver: it takes every tile of environments through its turn.

Workers run in parallel, each in its own scratch, and take tiles from a common counter, so a worker that wakes late or
has slow tiles does not delay the others. The kernel's arguments are flat arrays: it is compiled once for a lane width
and a precision, not for each model or number of environments.
"""

from typing import Any

import numpy as np
import taichi as ti

from ..base.math import Lanes, func, with_types
from ..machine.codegen.worker import BEFORE
from ..mechanics.constraint.hessian_pattern import lay_out_dofs
from ..model.features import Features
from ..model.state.views import ModelView, Workspace
from .settings import Setting
from .tiles.scratch import Scratch
from .tiles.tile_pass import run_tile, spread_parameters
from .tiles.tile_view import ARGUMENTS, Arguments, TileView


def number_array(lanes: Lanes) -> Any:
    """Return the kernel argument type of a tensor (tiles, rows, lanes) whose elements are whole lane numbers."""
    if lanes.width == 1:
        return ti.types.ndarray(lanes.dtype, 3)
    return ti.types.ndarray(lanes.type, 2)


def argument_types(lanes: Lanes) -> dict[str, Any]:
    """Types of the arguments of the driver's kernel and of the units' kernels."""
    numbers = {"integers": ti.i32, "reals": lanes.dtype, "doubles": ti.f64}
    of_lanes = {"lanes": number_array(lanes), "double lanes": number_array(lanes.doubled())}
    return {
        name: of_lanes[kind] if kind in of_lanes else ti.types.ndarray(numbers[kind], dims)
        for name, (kind, dims) in ARGUMENTS.items()
    }


def sample_arguments(lanes: Lanes) -> list[np.ndarray]:
    """Arguments of the driver's kernel, as small as they can be, for Taichi to read their types from."""
    single = np.dtype("f8" if lanes.double else "f4")
    kinds = {"integers": np.int32, "doubles": np.float64, "double lanes": np.float64}
    return [
        np.zeros((1,) * (dims - 1) + (lanes.width if kind.endswith("lanes") else 1,), kinds.get(kind, single))
        for kind, dims in ARGUMENTS.values()
    ]


_PATIENCE = 100_000  # reads of a counter, about a millisecond in all


@func
def _await_others(call):
    """Wait until all other workers have finished, for at most _PATIENCE reads of the counter.

    The first worker mostly runs on the core from which the kernel was launched. If it finishes last, that core need not
    be woken, which would take longer than the wait: up to 50 us on a virtual machine.
    """
    patience = _PATIENCE
    while patience > 0:
        patience -= 1
        if ti.atomic_add(call[Setting.FINISHED], 0) >= call[Setting.WORKERS] - 1:
            patience = 0


@func
def prepare(model, work, arrays):
    """Prepare a worker's scratch before its first tile: own numbers of the model, and the pattern of M."""
    spread_parameters(model, work, *arrays.model)
    lay_out_dofs(model, work)


@func
def take_tile(model, work, arrays, k: ti.i32):
    """Take tile k through its turn, unless this launch repeats tiles that were left, and k was not."""
    if arrays.call[Setting.AGAIN] == 0 or arrays.left[k] == 1:
        run_tile(model, work, TileView(work.lanes, arrays, k))


@func
def prepare_or_take(model, work, arrays, k: ti.i32):
    """Take tile k through its turn, or prepare the worker's scratch if k is `codegen.worker.BEFORE`."""
    if k == BEFORE:
        prepare(model, work, arrays)
    else:
        take_tile(model, work, arrays, k)


@func
def work_through(model, work, arrays):
    """Prepare the worker's scratch, then take tiles from the common counter through their turns."""
    if ti.static(model.has.parameters):
        model.set_env_parameters(work)
    prepare(model, work, arrays)
    # the counter has the number of the next tile
    k = ti.atomic_add(arrays.call[Setting.NEXT], 1)
    while k < arrays.call[Setting.TILES]:
        take_tile(model, work, arrays, k)
        k = ti.atomic_add(arrays.call[Setting.NEXT], 1)


def make_kernel(lanes: Lanes, features: Features, scratch: Scratch) -> Any:
    """The kernel for one width and precision, with the optional code of `features`, over the given scratch."""
    serial = lanes.width == 1

    @ti.kernel
    @with_types(argument_types(lanes))
    def run(ints, reals, precise, memory, counts, own, call, rows, out, dump, controls, track, own_rows, left):
        ti.loop_config(serialize=serial, block_dim=1)
        for worker in range(call[Setting.WORKERS]):
            model = ModelView(ints, reals, precise, features)
            work = Workspace(lanes, ints, scratch.arrays, worker, features)
            arrays = Arguments(
                memory, counts, own, own_rows, call, rows, out, dump, controls, track, left, (reals, precise)
            )
            work_through(model, work, arrays)
            # the last worker to finish resets the counters for the next launch
            if worker == 0:
                _await_others(call)
            if ti.atomic_add(call[Setting.FINISHED], 1) == call[Setting.WORKERS] - 1:
                call[Setting.NEXT] = 0
                call[Setting.FINISHED] = 0

    return run
