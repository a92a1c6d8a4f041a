"""The kernel of the CPU driver: it takes every tile of environments through its steps.

Workers run in parallel, each in its own scratch, and take one tile after the other from a common counter, so that one
that wakes late or meets hard tiles holds nobody up. The kernel's arguments are flat arrays: it is compiled once for a
lane width and a precision, not for each model or number of environments.
"""

from typing import Any

import taichi as ti

from ..constraint.hessian_pattern import lay_out_dofs
from ..math import Lanes
from ..model.features import Features
from ..runtime import Runtime
from ..state.views import ModelView, Workspace
from ..taichi_thread import in_taichis_thread
from .bound_kernel import Kernel
from .scratch import Scratch, shared_scratch
from .settings import Setting
from .tile_view import Arguments, TileView
from .turn import spread_parameters, take_turn


def number_array(lanes: Lanes) -> Any:
    """Kernel argument type for a tensor (tiles, rows, lanes): whole lane numbers, which load and store as one."""
    if lanes.width == 1:
        return ti.types.ndarray(lanes.dtype, 3)
    return ti.types.ndarray(lanes.type, 2)


_PATIENCE = 100_000  # looks at a counter, about a millisecond in all


@ti.func
def _await_others(call: ti.template()):
    """Wait until all workers but this one have finished, as long as patience lasts.

    The first worker mostly runs on the core from which the kernel was launched. If it is the last to leave, nobody has
    to wake that core, which takes longer than the wait; on a virtual machine up to 50 us.
    """
    patience = _PATIENCE
    while patience > 0:
        patience -= 1
        if ti.atomic_add(call[Setting.FINISHED], 0) >= call[Setting.WORKERS] - 1:
            patience = 0


def shared_kernel(runtime: Runtime, width: int, features: Features) -> Kernel:
    """The kernel for a lane width and optional code; made once, then shared."""
    return in_taichis_thread(_shared_kernel, runtime, width, features)


def _shared_kernel(runtime: Runtime, width: int, features: Features) -> Kernel:
    key, scratch = ("kernel", width, features), shared_scratch(runtime, width)
    if key not in runtime.pool:
        runtime.pool[key] = Kernel(scratch, lambda: make_kernel(Lanes(width, runtime.dtype), features, scratch))
    return runtime.pool[key]


def make_kernel(lanes: Lanes, features: Features, scratch: Scratch) -> Any:
    """The kernel for one width and precision, with the optional code of `features`, over the given scratch."""
    dtype = lanes.dtype
    serial = lanes.width == 1
    numbers = number_array(lanes)

    @ti.kernel
    def run(
        ints: ti.types.ndarray(ti.i32, 1),
        reals: ti.types.ndarray(dtype, 1),
        memory: numbers,
        counters: ti.types.ndarray(ti.i32, 3),
        own: numbers,
        call: ti.types.ndarray(ti.i32, 1),
        rows: ti.types.ndarray(ti.i32, 1),
        out: ti.types.ndarray(dtype, 2),
        dump: ti.types.ndarray(ti.i32, 2),
        controls: ti.types.ndarray(dtype, 3),
        track: ti.types.ndarray(dtype, 3),
        own_rows: ti.types.ndarray(ti.i32, 1),
        left: ti.types.ndarray(ti.i32, 1),
    ):
        ti.loop_config(serialize=serial, block_dim=1)
        for worker in range(call[Setting.WORKERS]):
            model = ModelView(ints, reals, features)
            work = Workspace(lanes, ints, scratch.numbers, scratch.indices, worker, features)
            arrays = Arguments(memory, counters, own, own_rows, call, rows, out, dump, controls, track, left)
            spread_parameters(model, work, reals)
            lay_out_dofs(model, work)
            k = ti.atomic_add(call[Setting.NEXT], 1)
            while k < call[Setting.TILES]:
                if call[Setting.AGAIN] == 0 or left[k] == 1:
                    take_turn(model, work, TileView(lanes, arrays, k))
                k = ti.atomic_add(call[Setting.NEXT], 1)
            if worker == 0:
                _await_others(call)
            if ti.atomic_add(call[Setting.FINISHED], 1) == call[Setting.WORKERS] - 1:
                call[Setting.NEXT] = 0
                call[Setting.FINISHED] = 0

    return run
