"""The kernel of the GPU driver: every thread takes one environment through its steps.

Arrays are in columns, (numbers, environments), so that the threads of a warp, which execute the same instruction, read
neighbouring words. Everything else is as on a CPU with one lane (`tile_pass`).
"""

from typing import Any

import taichi as ti

from ...base.math import Lanes, with_types
from ...mechanics.constraint.hessian_pattern import lay_out_dofs
from ...model.features import Features
from ...model.state.views import ColumnWorkspace, ModelView
from ..kernel import argument_types
from ..settings import Setting
from ..tiles.tile_pass import run_tile, spread_parameters
from ..tiles.tile_view import Arguments, ColumnView

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
