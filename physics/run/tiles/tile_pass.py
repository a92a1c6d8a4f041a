"""The turn of a tile: it is loaded into the scratch, taken through its steps or an evaluation, and stored.

On a CPU a worker loads one tile after the other into its scratch. On a GPU every thread has one environment, and
scratch of its own.
"""

import taichi as ti

from ...base.math import func
from ...base.stage import Stage
from ...mechanics.kinematics.center_of_mass import body_inertias, mass_centers
from ...mechanics.sensor_kernels.contact_readings import contact_readings
from ...mechanics.sensor_kernels.motion_readings import (
    body_accelerations,
    body_and_site_frames,
    external_force,
    internal_forces,
    limit_forces,
    subtree_momenta,
)
from ...model.state.capacity import clear_required, within_capacity
from ...model.state.snapshot import back_to_start, reject_nonfinite
from ..settings import APPLIED_FORCES, CONTACTS_FULL, DOF_CONTROLS, NON_FINITE, Count, Setting
from ..step import step

ON_REQUEST: tuple[tuple[int, Stage, str], ...] = (
    (1, external_force, "cfrc_ext"),
    (2, mass_centers, "xipos subtree_com"),
    (4, body_inertias, "cinert"),
    (8, limit_forces, "limit_force"),
    (16, contact_readings, "sensed"),
    (32, body_accelerations, "cacc"),
    (64, internal_forces, "cfrc_int"),
    (128, subtree_momenta, "subtree_linvel subtree_angmom"),
    (256, body_and_site_frames, "xmat site_xpos site_xmat"),
)
"""Stages after the pipeline: the bit of `Setting.REQUESTED` with which each runs, the stage, and the fields that it
computes. Each comes after the stages whose fields it loads, and stores fields that it updates before it loads them."""


@func
def load_rows(work, tile, first: ti.i32, count: ti.i32, to: ti.i32):
    """Load `count` rows of a tile's memory, from `first` on, into the scratch rows from `to` on."""
    for r in range(count):
        work.row(to + r)._assign(tile.memory(first + r))


@func
def store_row(work, tile, row: ti.i32):
    """Store a row of the scratch into the same row of the tile's memory."""
    tile.memory(row)._assign(work.row(row))


@func
def first_kept(tile):
    """Return the first row of the memory's group KEPT."""
    return tile.call[Setting.STATE] + tile.call[Setting.INPUTS] + tile.call[Setting.FORCES]


@func
def begin(model, work, tile):
    """Load a tile into the scratch: faults, coordinates, inputs, memory of the last evaluation, applied forces."""
    lanes = work.lanes
    clear_required(work)
    fault, full = work.real(0.0), work.real(0.0)
    for lane in ti.static(range(lanes.width)):
        lanes.put(fault, lane, tile.counter(Count.FAULT, lane) & NON_FINITE)
        lanes.put(full, lane, tile.counter(Count.NEEDED, lane))
    work.fault[0] = fault
    work.contacts_full[0] = full
    coords, first = tile.call[Setting.STATE] + tile.call[Setting.INPUTS], first_kept(tile)
    first_start = first + tile.call[Setting.KEPT] + tile.call[Setting.KEPT_FORCES]
    load_rows(work, tile, first_start, tile.call[Setting.START], first_start)
    # KEPT, and the coordinates: the present ones, or with REPLAY those of the last evaluation, with which KEPT begins
    load_rows(work, tile, first, tile.call[Setting.KEPT], first)
    if tile.call[Setting.REPLAY] == 1:
        load_rows(work, tile, first, coords, 0)
    else:
        load_rows(work, tile, 0, coords, 0)
    work.handed_out[0] = ti.max(tile.call[Setting.ROWS], tile.call[Setting.INDICES])
    work.solver_niter[0] = work.real(0.0)
    work.applied[0] = tile.call[Setting.APPLIED] & APPLIED_FORCES
    work.controlled[0] = tile.call[Setting.APPLIED] // DOF_CONTROLS
    # applied forces and dof controls: FORCES, or with REPLAY KEPT_FORCES, both after the coordinates in the scratch
    if tile.call[Setting.APPLIED] > 0:
        forces = coords
        if tile.call[Setting.REPLAY] == 1:
            forces = first + tile.call[Setting.KEPT]
        load_rows(work, tile, forces, tile.call[Setting.FORCES], coords)


@func
def spread_parameters(model, work, reals, precise):
    """Copy the model's numbers to every lane, if environments may have per-environment parameters."""
    if ti.static(model.has.parameters):
        for r in range(model.nparameter):
            work.parameters[r] = work.real(reals[r])
        for r in range(model.nprecise):
            work.precise_parameters[r] = work.double_lanes.real(precise[r])


@func
def take_parameters(model, work, tile):
    """Replace numbers of the model by the tile's own numbers."""
    if ti.static(model.has.parameters):
        for k in range(tile.call[Setting.PARAMETERS]):
            row = tile.own_row(k)
            work.parameters[row] = work.lanes.cast(tile.own(k))
            if row < model.nprecise:
                work.precise_parameters[row] = tile.own(k)


@func
def end(work, tile, periods):
    """Store STATE, KEPT and START of a tile into its memory; INPUTS and FORCES stay as the user wrote them.

    `periods` is the number of periods that each lane ended without a fault.
    """
    lanes = work.lanes
    first = first_kept(tile)
    # STATE, KEPT and START, then the applied forces of this evaluation into KEPT_FORCES
    for r in range(tile.call[Setting.STATE]):
        store_row(work, tile, r)
    for r in range(first, first + tile.call[Setting.KEPT]):
        store_row(work, tile, r)
    behind = first + tile.call[Setting.KEPT]
    for r in range(tile.call[Setting.START]):
        store_row(work, tile, behind + tile.call[Setting.KEPT_FORCES] + r)
    if tile.call[Setting.APPLIED] > 0:
        forces = first - tile.call[Setting.FORCES]
        for r in range(tile.call[Setting.FORCES]):
            tile.memory(behind + r)._assign(work.row(forces + r))
    # the counters of each environment
    fault = work.real(0.0) + work.fault[0]
    niter = work.real(0.0) + work.solver_niter[0]
    full = work.real(0.0) + work.contacts_full[0]
    for lane in ti.static(range(lanes.width)):
        # steps of the periods that the lane ended without a fault; the last evaluation is at the start of the last step
        steps = ti.cast(lanes.get(periods, lane), ti.i32) * tile.call[Setting.SUBSTEPS]
        before = tile.counter(Count.STEPS, lane)
        tile.counter(Count.STEPS, lane)._assign(before + steps)
        if steps > 0:
            tile.counter(Count.EVALUATED, lane)._assign(before + steps - 1)
        # faults, needed contacts and solver iterations
        needed = ti.cast(lanes.get(full, lane), ti.i32)
        bits = ti.cast(lanes.get(fault, lane), ti.i32)
        if needed > 0:
            bits += CONTACTS_FULL
        tile.counter(Count.FAULT, lane)._assign(bits)
        tile.counter(Count.NEEDED, lane)._assign(needed)
        tile.counter(Count.NITER, lane)._assign(ti.cast(lanes.get(niter, lane), ti.i32))


@func
def _derive(model, work, requested: ti.i32):
    """Compute requested quantities that a step does not need."""
    for bit, stage, _ in ti.static(ON_REQUEST):
        if requested & bit != 0:
            stage(model, work)


@func
def note_left(work, tile):
    """Mark whether the tile is left; if it is, record the capacities that it needs."""
    tile.left()._assign(0)
    if not within_capacity(work):
        tile.left()._assign(1)
        ti.atomic_add(tile.call[Setting.LEFT], 1)
        ti.atomic_max(tile.call[Setting.NEED_CONTACTS], work.need_ncon[0])
        ti.atomic_max(tile.call[Setting.NEED_ENTRIES], work.need_nH[0])
        ti.atomic_max(tile.call[Setting.NEED_PAIRS], work.need_nlisted[0])


@func
def _take_controls(model, work, tile, period: ti.i32):
    """Set ctrl to the controls of a period."""
    for u in range(model.nu):
        value = work.real(0.0)
        for lane in ti.static(range(work.lanes.width)):
            work.lanes.put(value, lane, tile.control(lane, period, u))
        work.ctrl[u] = value


@func
def _trace(model, work, tile, period: ti.i32):
    """Store qpos and qvel in the track."""
    for r in range(model.nq + model.nv):
        value = work.row(r)
        for lane in ti.static(range(work.lanes.width)):
            if tile.tracked(lane):
                tile.track(lane, period, r)._assign(work.lanes.get(value, lane))


@func
def _hand_out(model, work, tile):
    """Copy rows of the scratch to each environment's columns, and integers."""
    if ti.static(not work.lanes.double):  # quantities in double precision are handed out from the rows of rounded ones
        for r in range(ti.select(tile.call[Setting.ROWS] > 0, model.nrounded, 0)):
            work.row(model.first_rounded + r)._assign(work.lanes.cast(work.row(model.nprecise + r, "doubles")))
    for k in range(tile.call[Setting.ROWS]):
        value = work.row(tile.out_row(k))
        for lane in ti.static(range(work.lanes.width)):
            tile.out(lane, k)._assign(work.lanes.get(value, lane))
    for k in range(tile.call[Setting.INDICES]):
        tile.dump(k)._assign(work.row(k, "indices"))


@func
def run_tile(model, work, tile):
    """Do everything that a launch does with one tile."""
    begin(model, work, tile)
    take_parameters(model, work, tile)
    if ti.static(model.has.sensors):
        if tile.call[Setting.AT_START] == 1:
            back_to_start(model, work)
    ended = work.real(0.0)
    for period in range(ti.max(tile.call[Setting.PERIODS], 1)):
        if tile.call[Setting.PERIODS] > 0:
            _take_controls(model, work, tile, period)
        if tile.call[Setting.REPLAY] == 0:
            reject_nonfinite(model, work)
        step(model, work, tile.call[Setting.SUBSTEPS], tile.call[Setting.SMOOTH], tile.call[Setting.LAST])
        ended += 1.0 - work.fault[0]
        if tile.call[Setting.PERIODS] > 0:
            _trace(model, work, tile, period)
    # only a tile that fitted into the scratch is stored and handed out
    if within_capacity(work):
        _derive(model, work, tile.call[Setting.REQUESTED])
        if tile.call[Setting.REPLAY] == 0:
            end(work, tile, ended)
        _hand_out(model, work, tile)
    note_left(work, tile)
