"""The kernel of the GPU driver: every thread takes one environment through its steps.

Arrays are in columns, (numbers, environments), so that the threads of a warp, which execute the same instruction, read
neighbouring words. Everything else is as on a CPU with one lane (`turn`).
"""

from typing import Any

import taichi as ti

from ..constraint.hessian_pattern import lay_out_dofs
from ..math import Lanes
from ..model.features import Features
from ..state.views import ColumnWorkspace, ModelView
from .settings import Setting
from .tile_view import Arguments, ColumnView
from .turn import spread_parameters, take_turn

BLOCK = 32
"""Threads of a block: one warp, as the threads of a block share nothing."""


def make_column_kernel(dtype: Any, features: Features) -> Any:
    """Return the kernel for one precision, with the optional code of `features`."""
    lanes = Lanes(1, dtype)

    @ti.kernel
    def run(
        ints: ti.types.ndarray(ti.i32, 1),
        reals: ti.types.ndarray(dtype, 1),
        numbers: ti.types.ndarray(dtype, 2),
        indices: ti.types.ndarray(ti.i32, 2),
        memory: ti.types.ndarray(dtype, 2),
        counters: ti.types.ndarray(ti.i32, 2),
        own: ti.types.ndarray(dtype, 2),
        call: ti.types.ndarray(ti.i32, 1),
        rows: ti.types.ndarray(ti.i32, 1),
        out: ti.types.ndarray(dtype, 2),
        dump: ti.types.ndarray(ti.i32, 2),
        controls: ti.types.ndarray(dtype, 3),
        track: ti.types.ndarray(dtype, 3),
        own_rows: ti.types.ndarray(ti.i32, 1),
        left: ti.types.ndarray(ti.i32, 1),
    ):
        ti.loop_config(block_dim=BLOCK)
        # call.AGAIN 1: only environments that are marked in `left`
        for env in range(memory.shape[1]):
            if call[Setting.AGAIN] == 0 or left[env] == 1:
                model = ModelView(ints, reals, features)
                work = ColumnWorkspace(lanes, ints, numbers, indices, env, features)
                arrays = Arguments(memory, counters, own, own_rows, call, rows, out, dump, controls, track, left)
                if ti.static(features.parameters):
                    model.differ(work)
                spread_parameters(model, work, reals)
                lay_out_dofs(model, work)
                take_turn(model, work, ColumnView(lanes, arrays, env))

    return run
