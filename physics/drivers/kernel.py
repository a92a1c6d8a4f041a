"""The kernel of the CPU driver: it takes every tile of environments through its steps.

Workers run in parallel, each in its own scratch, and take one tile after the other from a common counter, so that one
that wakes late or meets hard tiles holds nobody up. The kernel's arguments are flat arrays: it is compiled once for a
lane width and a precision, not for each model or number of environments.
"""

from typing import Any

import taichi as ti
from taichi.lang.impl import subscript

from ..constraint.external_force import external_force
from ..constraint.hessian_pattern import lay_out_dofs
from ..kinematics.center_of_mass import body_inertias, mass_centers
from ..math import Lanes
from ..math.lanes import traced
from ..model.features import Features
from ..runtime import Runtime
from ..state.room import clear_needs, fits
from ..state.snapshot import reject_nonfinite
from ..state.views import ModelView, Workspace
from ..step import step
from ..taichi_thread import in_taichis_thread
from .bound_kernel import Kernel
from .scratch import Scratch, shared_scratch
from .settings import CONTACTS_FULL, NON_FINITE, Count, Setting


@traced
def cell(lanes: Lanes, memory: Any, tile: Any, row: Any) -> Any:
    """The lane number in a row of a tile of an array of `number_array`; it can be assigned to."""
    return subscript(None, memory, tile, row, 0) if lanes.width == 1 else subscript(None, memory, tile, row)


def number_array(lanes: Lanes) -> Any:
    """Kernel argument type for a tensor (tiles, rows, lanes): whole lane numbers, which load and store as one."""
    if lanes.width == 1:
        return ti.types.ndarray(lanes.dtype, 3)
    return ti.types.ndarray(lanes.type, 2)


@ti.func
def load_rows(work: ti.template(), memory: ti.template(), tile: ti.i32, first: ti.i32, count: ti.i32, to: ti.i32):
    """Rows `first`, ... of the memory of a tile into the scratch rows `to`, ..."""
    for r in range(count):
        work.row(to + r)._assign(cell(work.lanes, memory, tile, first + r))


@ti.func
def store_row(work: ti.template(), row: ti.i32, memory: ti.template(), tile: ti.i32, to: ti.i32):
    """Row of the scratch into row `to` of the memory of a tile."""
    cell(work.lanes, memory, tile, to)._assign(work.row(row))


@ti.func
def _begin(
    model: ti.template(),
    work: ti.template(),
    memory: ti.template(),
    counters: ti.template(),
    call: ti.template(),
    tile: ti.i32,
):
    """Bring a tile into the scratch."""
    lanes = work.lanes
    clear_needs(work)
    fault, full = work.real(0.0), work.real(0.0)
    for lane in ti.static(range(lanes.width)):
        lanes.put(fault, lane, counters[tile, Count.FAULT, lane] & NON_FINITE)
        lanes.put(full, lane, counters[tile, Count.NEEDED, lane])
    work.fault[0] = fault
    work.contacts_full[0] = full
    coords, kept = call[Setting.STATE] + call[Setting.INPUTS], call[Setting.KEPT]
    load_rows(work, memory, tile, coords, kept, coords)
    if call[Setting.REPLAY] == 1:  # where the last evaluation was: KEPT begins with it
        load_rows(work, memory, tile, coords, coords, 0)
    else:
        load_rows(work, memory, tile, 0, coords, 0)


@ti.func
def _spread_parameters(model: ti.template(), work: ti.template(), reals: ti.template()):
    """The model's numbers to every lane, where environments may have others."""
    if ti.static(model.has.parameters):
        model.differ(work)
        for r in range(model.nparameter):
            work.parameters[r] = work.real(reals[r])


@ti.func
def _take_parameters(
    model: ti.template(),
    work: ti.template(),
    own: ti.template(),
    own_rows: ti.template(),
    call: ti.template(),
    tile: ti.i32,
):
    """The numbers of the model that environments have of their own, in the place of the model's."""
    if ti.static(model.has.parameters):
        for k in range(call[Setting.PARAMETERS]):
            work.parameters[own_rows[k]] = cell(work.lanes, own, tile, k)


@ti.func
def _end(
    model: ti.template(),
    work: ti.template(),
    memory: ti.template(),
    counters: ti.template(),
    call: ti.template(),
    tile: ti.i32,
    periods: ti.template(),
):
    """Bring STATE and KEPT of a tile back to the memory; INPUTS stay as the user wrote them.

    `periods` is how many of them each lane ended without a fault.
    """
    lanes = work.lanes
    coords = call[Setting.STATE] + call[Setting.INPUTS]
    for r in range(call[Setting.STATE]):
        store_row(work, r, memory, tile, r)
    for r in range(coords, coords + call[Setting.KEPT]):
        store_row(work, r, memory, tile, r)
    fault = work.real(0.0) + work.fault[0]
    niter = work.real(0.0) + work.solver_niter[0]
    full = work.real(0.0) + work.contacts_full[0]
    for lane in ti.static(range(lanes.width)):
        steps = ti.cast(lanes.get(periods, lane), ti.i32) * call[Setting.SUBSTEPS]
        counters[tile, Count.STEPS, lane] = counters[tile, Count.STEPS, lane] + steps
        needed = ti.cast(lanes.get(full, lane), ti.i32)
        bits = ti.cast(lanes.get(fault, lane), ti.i32)
        if needed > 0:
            bits += CONTACTS_FULL
        counters[tile, Count.FAULT, lane] = bits
        counters[tile, Count.NEEDED, lane] = needed
        counters[tile, Count.NITER, lane] = ti.cast(lanes.get(niter, lane), ti.i32)


@ti.func
def _derive(model: ti.template(), work: ti.template(), call: ti.template()):
    """Compute what a step does without, where it was asked for."""
    if call[Setting.EXTERNAL] == 1:
        external_force(model, work)
    if call[Setting.CENTERS] == 1:
        mass_centers(model, work)
    if call[Setting.INERTIAS] == 1:
        body_inertias(model, work)


@ti.func
def _note_left(work: ti.template(), call: ti.template(), left: ti.template(), tile: ti.i32):
    """Whether the tile is left, `left[tile]`; and, if it is, what it needs."""
    left[tile] = 0
    if not fits(work):
        left[tile] = 1
        ti.atomic_add(call[Setting.LEFT], 1)
        ti.atomic_max(call[Setting.NEED_CONTACTS], work.need_ncon[0])
        ti.atomic_max(call[Setting.NEED_ENTRIES], work.need_nH[0])


@ti.func
def _take_controls(model: ti.template(), work: ti.template(), controls: ti.template(), tile: ti.i32, period: ti.i32):
    """The controls of a period, from an array (num_envs, periods, nu); spare lanes do as the first environment."""
    lanes = work.lanes
    for u in range(model.nu):
        value = work.real(0.0)
        for lane in ti.static(range(lanes.width)):
            env = tile * lanes.width + lane
            lanes.put(value, lane, controls[env if env < controls.shape[0] else 0, period, u])
        work.ctrl[u] = value


@ti.func
def _trace(model: ti.template(), work: ti.template(), track: ti.template(), tile: ti.i32, period: ti.i32):
    """Qpos and qvel to their place in an array (num_envs, periods, nq + nv)."""
    lanes = work.lanes
    for r in range(model.nq + model.nv):
        value = work.row(r)
        for lane in ti.static(range(lanes.width)):
            env = tile * lanes.width + lane
            if env < track.shape[0]:
                track[env, period, r] = lanes.get(value, lane)


@ti.func
def _hand_out(
    work: ti.template(),
    call: ti.template(),
    rows: ti.template(),
    out: ti.template(),
    dump: ti.template(),
    tile: ti.i32,
):
    """Rows of the scratch into columns of an array (tiles W, columns), to every environment its own; and integers."""
    lanes = work.lanes
    for k in range(call[Setting.ROWS]):
        value = work.row(rows[k])
        for lane in ti.static(range(lanes.width)):
            out[tile * lanes.width + lane, k] = lanes.get(value, lane)
    for k in range(call[Setting.INDICES]):
        dump[tile, k] = work.index(k)


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
            _spread_parameters(model, work, reals)
            lay_out_dofs(model, work)
            tile = ti.atomic_add(call[Setting.NEXT], 1)
            while tile < call[Setting.TILES]:
                if call[Setting.AGAIN] == 0 or left[tile] == 1:
                    _begin(model, work, memory, counters, call, tile)
                    _take_parameters(model, work, own, own_rows, call, tile)
                    ended = work.real(0.0)
                    for period in range(ti.max(call[Setting.PERIODS], 1)):
                        if call[Setting.PERIODS] > 0:
                            _take_controls(model, work, controls, tile, period)
                        if call[Setting.REPLAY] == 0:
                            reject_nonfinite(model, work)
                        step(model, work, call[Setting.SUBSTEPS], call[Setting.SMOOTH])
                        ended += 1.0 - work.fault[0]
                        if call[Setting.PERIODS] > 0:
                            _trace(model, work, track, tile, period)
                    if fits(work):
                        _derive(model, work, call)
                        if call[Setting.REPLAY] == 0:
                            _end(model, work, memory, counters, call, tile, ended)
                        _hand_out(work, call, rows, out, dump, tile)
                    _note_left(work, call, left, tile)
                tile = ti.atomic_add(call[Setting.NEXT], 1)
            if worker == 0:
                _await_others(call)
            if ti.atomic_add(call[Setting.FINISHED], 1) == call[Setting.WORKERS] - 1:
                call[Setting.NEXT] = 0
                call[Setting.FINISHED] = 0

    return run
