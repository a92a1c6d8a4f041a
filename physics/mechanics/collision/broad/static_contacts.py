"""The contacts of moving geoms with the static geoms that a grid found near them (`static_grid`).

A contact slot belongs to a pair of a moving geom and a class of static ones, and every lane has its own static geom in
it (`con_own1`, `con_own2`). In each pass every lane takes its next hit of the pair; a routine gets all lanes' static
geoms at once, as if they were the first geom of the class (`lane_geom_view`). The contacts of a lane are in the order
of pair, static geom and point, whatever its neighbours have.
"""

import taichi as ti

from ....base.math import func
from ....base.math.lanes import for_each_lane
from ...kinematics.forward import place_geom
from ..contacts import looked_at
from ..poses import bounds_meet, boxes_meet, seen_from_root
from ..work_list import append_points
from .lane_geom_view import LaneGeomView
from .static_grid import forget
from .static_grid_model import POINT, WARM

HITS = "static_hit static_pair static_start class_hit"
STAGED = "static_next tile_more static_pos static_quat static_size static_half static_rbound static_detect"
STAGED += " static_found geom_xpos geom_offset"
"""The fields that stages with pairs of a grid load, and the fields that they also store, for their declarations."""


@func
def take_static(model, work, rows, served):
    """Append the contacts of the pairs of a grid that some rows of the table serve.

    Args:
        model: the model.
        work: the workspace.
        rows: consecutive rows of the table.
        served: routines, each with its rows, and the most points of a pair without tilts and with them.
    """
    for p in range(model.class_start[rows[0]], model.class_start[rows[-1] + 1]):
        if work.class_hit[p] == 1:
            g1, g2 = model.class_geom1[p], model.class_geom2[p]
            awake = looked_at(model, work, g1, g2)
            for_each_lane(work.lanes, _first_hit, (model, work, p))
            # the axes that separated convex pairs of a grid are stored after those of listed pairs
            axis = model.pair_start[rows[-1] + 1] - model.pair_start[rows[0]]
            axis += WARM * (p - model.class_start[rows[0]])
            last = axis + (WARM - 1)
            work.tile_more[0] = 1
            while work.tile_more[0] == 1:
                work.tile_more[0] = 0
                work.tile_pair[0] = ti.min(axis, last)
                axis += 1
                work.wanted[0] = work.real(0.0)
                for_each_lane(work.lanes, _next_hit, (model, work, p))
                near = work.precise_lanes.cast(work.wanted[0] * awake)
                staged = LaneGeomView(model, work, model.class_static[p])
                append_points(model, work, g1, g2, _collide(staged, work, p, near, served))
            forget(work)


@func
def _first_hit(lane: ti.i32, model, work, p: ti.i32):
    """Set static_next to a lane's first hit of pair p."""
    at = model.class_place[p] * ti.static(work.lanes.width) + lane
    k, end = work.static_start[at], work.static_start[at + 1]
    while k < end and work.static_pair[k] < p:
        k += 1
    work.static_next[lane] = k


@func
def _next_hit(lane: ti.i32, model, work, p: ti.i32):
    """Take a lane's next hit of pair p, if there is one: put the numbers of its static geom into static_*."""
    k, end = work.static_next[lane], work.static_start[model.class_place[p] * ti.static(work.lanes.width) + lane + 1]
    here = 0
    if k < end:
        if work.static_pair[k] == p:
            here = 1
    if here == 1:
        one, s = work.lane(lane), work.static_hit[k]
        one.wanted[0] = 1.0
        one.static_found.at(0, 1 - model.class_side[p])._assign(-1.0)
        one.static_found.at(0, model.class_side[p])._assign(ti.cast(model.static_geom[s], work.lanes.dtype))
        if ti.static(model.has.parameters or model.has.mixed_precision):
            _stage_own(model.lane(lane), one, model.static_geom[s])
        else:
            _stage(model, one, s)
        work.static_next[lane] = k + 1
        if k + 1 < end:
            if work.static_pair[k + 1] == p:
                work.tile_more[0] = 1


@func
def _stage(model, one, s: ti.i32):
    """Put the numbers of static geom s into static_*, in one lane, from where they lie side by side."""
    numbers = model.static_numbers
    one.static_pos.put_numbers(0, 0, [numbers.at(s, 0), numbers.at(s, 1), numbers.at(s, 2)])
    one.static_quat.put_numbers(0, 0, [numbers.at(s, 3), numbers.at(s, 4), numbers.at(s, 5), numbers.at(s, 6)])
    one.static_size.put_numbers(0, 0, [numbers.at(s, 7), numbers.at(s, 8), numbers.at(s, 9)])
    one.static_half.put_numbers(0, 0, [numbers.at(s, 10), numbers.at(s, 11), numbers.at(s, 12)])
    one.static_rbound[0] = numbers.at(s, 13)
    one.static_detect[0] = numbers.at(s, 14)


@func
def _stage_own(mine, one, g: ti.i32):
    """Copy the numbers of static geom g, as one lane has them, to static_*: per-environment or with more digits."""
    one.static_pos.put(0, mine.geom_pos[g])
    one.static_quat.put(0, mine.geom_quat[g])
    one.static_size.put(0, one.lanes.cast(mine.geom_size[g]))
    one.static_half.put(0, one.lanes.cast(mine.geom_half[g]))
    one.static_rbound[0] = mine.geom_rbound[g]
    one.static_detect[0] = mine.geom_detect[g]


@func
def _collide(model, work, p: ti.i32, wanted, served):
    """Store the points of pair p in the lanes of a mask, as `work_list` does; `model` is `LaneGeomView`.

    Returns the most points that there can be.
    """
    g1, g2 = model.class_geom1[p], model.class_geom2[p]
    place_geom(model, work, model.class_static[p])
    near, points = wanted, 0
    if model.grid_core[model.class_place[p]] != POINT:  # spheres have been compared with this box
        apart = seen_from_root(model, work, g1, g2) - work.geom_offset[g1]
        near = near * bounds_meet(model, work, g1, g2, apart)
        if work.precise_lanes.any(near):
            near = near * boxes_meet(model, work, g1, g2, apart)
    if work.precise_lanes.any(near):
        for routine, of, most, tilted in ti.static(served):
            if p >= model.class_start[of[0]] and p < model.class_start[of[-1] + 1]:
                routine(model, work, g1, g2, near)
                points = tilted if ti.static(model.has.tilts) else most
    return points
