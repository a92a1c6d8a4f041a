"""The turn of a tile with tangents: pass by pass, seeds are loaded, a step is taken, and results are stored.

A launch takes one step. The first pass computes the values of its evaluation by the plain stages, of which Newton's
method is the longest; all passes compute tangents by units with tangents, which recompute values on the way. A
Runge-Kutta step has four evaluations, so its passes compute all of them again.
"""

import taichi as ti

from ..base.hooks import FIRST_EVALUATION
from ..base.joints import coordinate_rates, velocities_of_rates
from ..base.math import func
from ..base.math.lanes import traced
from ..machine.codegen.worker import BEFORE
from ..mechanics.dynamics.stage_time import RK4
from ..model.state.capacity import within_capacity
from ..model.state.snapshot import keep_evaluation, keep_start
from ..run.kernel import prepare
from ..run.settings import Setting
from ..run.step import LAST, forward, integrate
from ..run.tiles.tile_pass import begin, end, note_left, take_parameters
from ..run.tiles.tile_view import TileView
from .levels import CONTROL, OUTPUTS, POSITION, VELOCITY, level_of
from .optimum import acceleration_tangent, factor_optimum, stage_named
from .settings import DirectionSetting as Direction


@func
def prepare_or_differentiate(model, work, arrays, k: ti.i32):
    """Take tile k through its turn, or prepare the worker's scratch if k is `codegen.worker.BEFORE`."""
    if k == BEFORE:
        prepare(model, work, arrays)
        for r in range(arrays.call[Direction.CLEARED]):
            work.twins.row(r)._assign(work.real(0.0))
        if ti.static(model.has.parameters):
            for r in range(model.nprecise):
                work.twins.precise_parameters[r] = work.double_lanes.real(0.0)
    else:
        if arrays.call[Setting.AGAIN] == 0 or arrays.left[k] == 1:
            _differentiate(model, work, TileView(work.lanes, arrays, k))


@func
def _differentiate(model, work, tile):
    """Take a tile through the passes of a launch."""
    p = 0
    while p < tile.call[Direction.PASSES]:
        level = POSITION
        if p < tile.call[Direction.CONTROL_PASSES]:
            level = CONTROL
        elif p < tile.call[Direction.CONTROL_PASSES] + tile.call[Direction.VELOCITY_PASSES]:
            level = VELOCITY
        begin(model, work, tile)
        take_parameters(model, work, tile)
        _load_seeds(model, work, tile, p)
        _step(model, work, p == 0, level)
        _store_results(model, work, tile, p)
        p += 1
        if not within_capacity(work):  # the tile is left, and repeated in a larger scratch
            p = tile.call[Direction.PASSES]
    if tile.call[Direction.KEEP] == 1 and within_capacity(work):
        end(work, tile, 1.0 - work.fault[0])
    note_left(work, tile)


@func
def _load_seeds(model, work, tile, p: ti.i32):
    """Set the tangents of coordinates, inputs and parameters to the seeds of pass p; all others of the state to 0."""
    for r in range(tile.call[Setting.STATE] + tile.call[Setting.INPUTS] + tile.call[Setting.FORCES]):
        work.twins.row(r)._assign(work.real(0.0))
    row = tile.call[Direction.FIRST] + p * (model.nv + tile.call[Direction.SEEDS] + tile.call[Direction.OWN_SEEDS])
    for i in range(model.nv):
        work.twins.search[i] = tile.memory(row + i)
    for j in range(model.njnt):
        coordinate_rates(model, j, work.qpos, work.twins.search, work.twins.qpos)
    row += model.nv
    for k in range(tile.call[Direction.SEEDS]):
        work.twins.row(tile.out_row(k))._assign(tile.memory(row + k))
    row += tile.call[Direction.SEEDS]
    if ti.static(model.has.parameters):
        for k in range(tile.call[Direction.OWN_SEEDS]):
            own = tile.own_row(k)
            work.twins.parameters[own] = tile.memory(row + k)
            if own < model.nprecise:
                work.twins.precise_parameters[own] = tile.memory(row + k)


@func
def _store_results(model, work, tile, p: ti.i32):
    """Store the tangents after the step: those of positions in the tangent space, then those of the chosen rows."""
    seeds = model.nv + tile.call[Direction.SEEDS] + tile.call[Direction.OWN_SEEDS]
    row = (
        tile.call[Direction.FIRST] + tile.call[Direction.PASSES] * seeds + p * (model.nv + tile.call[Direction.RESULTS])
    )
    for j in range(model.njnt):
        velocities_of_rates(model, j, work.qpos, work.twins.qpos, work.twins.search)
    for i in range(model.nv):
        tile.memory(row + i)._assign(work.twins.search[i])
    results = tile.call[Direction.RESULTS]
    for k in range(results):
        tile.memory(row + model.nv + k)._assign(work.twins.row(tile.out_row(tile.call[Direction.SEEDS] + k)))
    # the last pass, which has all stages, also stores the values
    if p == tile.call[Direction.PASSES] - 1:
        for k in range(results):
            tile.memory(row + model.nv + results + k)._assign(work.row(tile.out_row(tile.call[Direction.SEEDS] + k)))


@func
def _step(model, work, first, level: ti.i32):
    """Take a step with tangents; in the first pass compute the values of its evaluation."""
    stages = 1
    if model.integrator == RK4:
        stages = 4
    for stage in range(stages):
        work.rk_stages[0], work.rk_stage[0] = stages, stage
        if first or stages == 4:
            _evaluate(model, work)
        for number in ti.static((CONTROL, VELOCITY, POSITION)):
            if level == number:
                _with_tangents(model, work.at_level(number), number, stages, stage)


@func
def _evaluate(model, work):
    """Compute the values of an evaluation, and the factor of the Hessian at its solution."""
    if ti.static(len(work.outputs) > 0):
        keep_evaluation(model, work)
    forward(model, work, LAST)
    if within_capacity(work):
        factor_optimum(model, work)
        for of_outputs in ti.static(_plain_outputs(work.outputs)):
            of_outputs(model, work)


@func
def _with_tangents(model, work, number, stages: ti.i32, stage: ti.i32):
    """Compute the tangents of an evaluation whose values are known, and advance the state; `work` is of a level."""
    if stage == 0:
        keep_start(model, work)
    if ti.static(len(work.outputs) > 0):
        keep_evaluation(model, work)
    for entry in ti.static(_entries(number, model.has)):
        if within_capacity(work):
            entry(model, work)
    if within_capacity(work):
        acceleration_tangent(model, work)
        for of_outputs in ti.static(_outputs(number, model.has, work.outputs)):
            of_outputs(model, work)
    for after_first in ti.static(FIRST_EVALUATION.of(model.has)):
        if stage == 0:
            after_first(model, work)
    if stage < stages - 1:
        for i in range(model.nv):
            work.qacc_warmstart[i] = work.qacc[i]
    integrate(model, work, stages)


@traced
def _entries(number, has):
    """Return the entries of the pipeline that passes of a level have."""
    return level_of(number, has).entries


@traced
def _plain_outputs(outputs):
    """Return the stages that compute outputs."""
    return [stage_named(name) for name in outputs if name not in OUTPUTS]


@traced
def _outputs(number, has, outputs):
    """Return the stages that compute outputs in passes of a level."""
    return level_of(number, has, outputs).outputs
