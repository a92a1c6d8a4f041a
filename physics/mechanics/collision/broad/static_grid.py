"""The static geoms near moving ones, from a grid of columns (`model.static_grid`).

Every lane looks up the cells under a moving geom separately, as robots stand in different places, and compares boxes
along the world's axes. The results are *hits*: lists of static geoms, one for each moving geom and lane.
"""

import taichi as ti

from ....base.math import Mat3, Vec3, func
from ....base.math.lanes import for_each_lane, traced
from ...kinematics.forward import place_geom
from ..poses import CAREFUL, bounds_meet, boxes_meet, geom_axes, seen_from_root, sphere_around
from .static_grid_model import BLOCK, FAR, POINT, SEGMENT, SOLID


@func
def forget(work):
    """Reset the record of hits, so that contacts that are appended have the geoms of their slots."""
    for side in ti.static(range(2)):
        work.static_found.at(0, side)._assign(work.real(-1.0))


@func
def find_static(model, work):
    """List the static geoms near each moving geom, in each lane separately."""
    forget(work)
    work.tile_nstatic[0] = 0
    for p in range(model.nclasspair):
        work.class_hit[p] = 0
    for group in range(model.ngridgroup):
        _look_under(model, work, group)
        for i in range(model.group_start[group], model.group_start[group + 1]):
            # Lanes in which all that is static is far below the geom, or above it, need no search.
            pos, radius = sphere_around(model, work, model.grid_geom[i])
            level = work.lanes.mask(pos.z - radius <= work.grid_under.at(0, 5))
            level = level * work.lanes.mask(pos.z + radius >= work.grid_under.at(0, 4))
            if work.lanes.any(level):
                _measure(model, work, i, level)
                for_each_lane(work.lanes, _look_up, (model, work, i))
            else:
                for_each_lane(work.lanes, _begin_list, (model, work, i))
    _end_lists(model, work)


@func
def _begin_list(lane: ti.i32, model, work, i: ti.i32):
    """Start the list of moving geom i in a lane at the next entry."""
    work.static_start[i * ti.static(work.lanes.width) + lane] = ti.min(work.tile_nstatic[0], model.nstatichit)


@func
def _end_lists(model, work):
    """End the last list. On overflow request capacity and list no hit: the tile is computed again."""
    last = work.tile_nstatic[0]
    if last > model.nstatichit:
        work.need_nlisted[0] = ti.max(work.need_nlisted[0], last)
        last = 0
        for p in range(model.nclasspair):
            work.class_hit[p] = 0
    work.static_start[model.ngridgeom * ti.static(work.lanes.width)] = last


@func
def _look_under(model, work, group: ti.i32):
    """Set grid_under to the range of z of all static geoms in the blocks under the geoms of a group."""
    lanes = work.lanes
    far = work.real(FAR)
    low_x, high_x, low_y, high_y = far * 1.0, far * -1.0, far * 1.0, far * -1.0
    for i in range(model.group_start[group], model.group_start[group + 1]):
        pos, radius = sphere_around(model, work, model.grid_geom[i])
        low_x, high_x = ti.min(low_x, pos.x - radius), ti.max(high_x, pos.x + radius)
        low_y, high_y = ti.min(low_y, pos.y - radius), ti.max(high_y, pos.y + radius)
    x0, x1 = _cells_under(model, lanes, 0, low_x, high_x)
    y0, y1 = _cells_under(model, lanes, 1, low_y, high_y)
    work.grid_under.put_numbers(0, 0, [x0, x1, y0, y1])
    for_each_lane(lanes, _levels_under, (model, work))


@func
def _cells_under(model, lanes, axis, low, high):
    """Return the first and the last cell, along x or y, of a range of coordinates; (0, -1) if it is a NaN."""
    most = ti.cast(model.grid_shape.at(0, axis) - 1, lanes.dtype)
    origin, side, reach = model.grid_frame.at(0, axis), model.grid_frame.at(0, 2 + axis), model.grid_frame.at(0, 4)
    first, last = ti.floor((low - reach - origin) * side), ti.floor((high + reach - origin) * side)
    first = ti.select(first > 0.0, first, lanes.real(0.0))
    last = ti.select(last < most, last, ti.select(last >= most, lanes.real(most), lanes.real(-1.0)))
    return first, last


@func
def _levels_under(lane: ti.i32, model, work):
    """Set the range of z in grid_under in a lane."""
    one = work.lane(lane)
    x0, x1 = ti.cast(one.grid_under.at(0, 0), ti.i32), ti.cast(one.grid_under.at(0, 1), ti.i32)
    y0, y1 = ti.cast(one.grid_under.at(0, 2), ti.i32), ti.cast(one.grid_under.at(0, 3), ti.i32)
    low, high = ti.cast(FAR, work.lanes.dtype), ti.cast(-FAR, work.lanes.dtype)
    if x0 <= x1 and y0 <= y1:
        wide = (model.grid_shape.at(0, 0) + (BLOCK - 1)) // BLOCK
        for y in range(y0 // BLOCK, y1 // BLOCK + 1):
            for x in range(x0 // BLOCK, x1 // BLOCK + 1):
                low = ti.min(low, model.block_low[y * wide + x])
                high = ti.max(high, model.block_high[y * wide + x])
    if _has_moved(model.lane(lane)):
        low, high = ti.cast(-FAR, work.lanes.dtype), ti.cast(FAR, work.lanes.dtype)
    one.grid_under.at(0, 4)._assign(low)
    one.grid_under.at(0, 5)._assign(high)


@traced
def _turned(axes: Mat3, half: Vec3) -> Vec3:
    """Return half sides of a box along the world's axes around a box with these axes and half sides."""
    x, y, z = axes.parts()
    return Vec3(
        ti.abs(x.x) * half.x + ti.abs(y.x) * half.y + ti.abs(z.x) * half.z,
        ti.abs(x.y) * half.x + ti.abs(y.y) * half.y + ti.abs(z.y) * half.z,
        ti.abs(x.z) * half.x + ti.abs(y.z) * half.y + ti.abs(z.z) * half.z,
    )


@func
def _measure(model, work, i: ti.i32, level):
    """Set the core and the boxes of moving geom i, and the cells under it, for the lanes of the mask `level`."""
    lanes, g, core = work.lanes, model.grid_geom[i], model.grid_core[i]
    pos = lanes.cast(work.geom_xpos[g])
    away = ti.abs(pos.x) + ti.abs(pos.y) + ti.abs(pos.z)
    reach = ti.max(model.geom_detect[g] + work.real(0.0), 0.0) + model.geom_rbound[g] * CAREFUL + away * (0.1 * CAREFUL)
    half, size = Vec3(work.real(0.0), work.real(0.0), work.real(0.0)), Vec3(reach, reach, reach)
    # The radius, and the core's half sides in the geom's frame, then along the world's axes.
    if core != SOLID:
        reach += model.geom_size.at(g, 0)
    if core == SEGMENT:
        half.z = work.real(0.0) + model.geom_size.at(g, 1)
    elif core == SOLID:
        half._assign(Vec3(half.x + model.geom_half[g].x, half.y + model.geom_half[g].y, half.z + model.geom_half[g].z))
    size._assign(Vec3(reach, reach, reach))
    if core != POINT:
        axes = lanes.cast(geom_axes(model, work, g))
        size._assign(size + _turned(axes, half))
        work.grid_axes.put(i, axes)
        work.grid_half.put(i, half)
    work.grid_reach[i] = reach
    work.grid_center.put(i, pos)
    low, high = pos - size, pos + size
    work.grid_low.put(i, low)
    work.grid_high.put(i, high)
    x0, x1 = _cells_under(model, lanes, 0, low.x, high.x)
    y0, y1 = _cells_under(model, lanes, 1, low.y, high.y)
    near = level * lanes.mask(low.z <= work.grid_under.at(0, 5)) * lanes.mask(high.z >= work.grid_under.at(0, 4))
    work.grid_range.put_numbers(i, 0, [x0, x1, y0, y1, near])


@func
def _look_up(lane: ti.i32, model, work, i: ti.i32):
    """List the static geoms near moving geom i in a lane."""
    one = work.lane(lane)
    _begin_list(lane, model, work, i)
    if _has_moved(model.lane(lane)):
        _look_everywhere(lane, model, work, i)
    elif one.grid_range.at(i, 4) > 0.5:
        count = _boxes_near(model, one, work, i)
        for k in range(ti.min(count, model.nstatic)):
            s = work.static_near[k]
            if _is_near(model, one, i, s):
                _list_hit(lane, model, work, i, s)


@func
def _has_moved(mine):
    """Return True if a static geom is not where the grid has it, in the lane of the view `mine` of the model."""
    moved = False
    if ti.static(mine.has.parameters):
        moved = mine.statics_moved[0] > 0.5
    return moved


@func
def _look_everywhere(lane: ti.i32, model, work, i: ti.i32):
    """List the static geoms near moving geom i in a lane, without the grid."""
    mine, one, g = model.lane(lane), work.lane(lane), model.grid_geom[i]
    for s in range(model.nstatic):
        other = model.static_geom[s]
        place_geom(mine, one, other)
        apart = seen_from_root(mine, one, g, other) - one.geom_offset[g]
        if bounds_meet(mine, one, g, other, apart) > 0.5:
            if boxes_meet(mine, one, g, other, apart) > 0.5:
                _list_hit(lane, model, work, i, s)


@func
def _boxes_near(model, one, work, i: ti.i32):
    """Put into static_near the static geoms whose boxes along the world's axes meet that of moving geom i in a lane.

    Returns their number. An entry is stored in any case, and counts if boxes meet: the processor need not guess.
    """
    low, high = one.grid_low[i], one.grid_high[i]
    x0, x1 = ti.cast(one.grid_range.at(i, 0), ti.i32), ti.cast(one.grid_range.at(i, 1), ti.i32)
    y0, y1 = ti.cast(one.grid_range.at(i, 2), ti.i32), ti.cast(one.grid_range.at(i, 3), ti.i32)
    count = 0
    if x0 <= x1:
        for y in range(y0, y1 + 1):
            # The cells of a row lie side by side. Geoms count in the first of their cells that is under the box.
            row = y * model.grid_shape.at(0, 0)
            later = model.cell_start[row + x0 + 1]
            above = 0
            if y > y0:
                above = 2
            for k in range(model.cell_start[row + x0], model.cell_start[row + x1 + 1]):
                entry = model.cell_entry[k]
                s = entry >> 2
                wanted = above
                if k >= later:
                    wanted = wanted | 1
                meet = ti.cast((entry & wanted) == wanted, ti.i32)
                for c in ti.static(range(3)):
                    meet = meet & ti.cast(low.parts()[c] <= model.static_box.at(s, 3 + c), ti.i32)
                    meet = meet & ti.cast(high.parts()[c] >= model.static_box.at(s, c), ti.i32)
                work.static_near[count] = s
                count += meet
    return count


@func
def _is_near(model, one, i: ti.i32, s: ti.i32):
    """Return True if the core of moving geom i may be within its reach of static geom s, in one lane.

    The static geom counts as the box in its frame, and the core as a box along the same axes: exact for a sphere at a
    box.
    """
    core, frame = model.grid_core[i], model.static_frame
    apart = one.grid_center[i] - Vec3(frame.at(s, 0), frame.at(s, 1), frame.at(s, 2))
    x = Vec3(frame.at(s, 3), frame.at(s, 4), frame.at(s, 5))
    y = Vec3(frame.at(s, 6), frame.at(s, 7), frame.at(s, 8))
    z = Vec3(frame.at(s, 9), frame.at(s, 10), frame.at(s, 11))
    size = Vec3(frame.at(s, 12), frame.at(s, 13), frame.at(s, 14))
    center = Vec3(x.dot(apart), y.dot(apart), z.dot(apart))
    # half sides of the core's box in that frame
    half = center * 0.0
    if core != POINT:
        for c in ti.static(range(3)):
            if core == SOLID or ti.static(c == 2):
                own = Vec3(one.grid_axes.at(i, 3 * c), one.grid_axes.at(i, 3 * c + 1), one.grid_axes.at(i, 3 * c + 2))
                half = half + _absolute(Vec3(x.dot(own), y.dot(own), z.dot(own)) * one.grid_half.at(i, c))
    gap = _absolute(center) - size - half
    gap = Vec3(ti.max(gap.x, 0.0), ti.max(gap.y, 0.0), ti.max(gap.z, 0.0))
    reach = one.grid_reach[i]
    return gap.dot(gap) <= reach * reach


@traced
def _absolute(v: Vec3) -> Vec3:
    """Return the components without their signs."""
    return Vec3(ti.abs(v.x), ti.abs(v.y), ti.abs(v.z))


@func
def _list_hit(lane: ti.i32, model, work, i: ti.i32, s: ti.i32):
    """List static geom s as near moving geom i in a lane, sorted by pair, then by geom."""
    pair = model.class_pair[i, model.static_class[s]] - 1
    if pair >= 0:
        at = work.tile_nstatic[0]
        work.tile_nstatic[0] = at + 1
        if at < model.nstatichit:
            first = work.static_start[i * ti.static(work.lanes.width) + lane]
            moving = 1
            while moving == 1:
                moving = 0
                if at > first:
                    before = work.static_pair[at - 1]
                    if before > pair or (before == pair and work.static_hit[at - 1] > s):
                        work.static_pair[at] = before
                        work.static_hit.put(at, work.static_hit[at - 1])
                        at -= 1
                        moving = 1
            work.static_pair[at] = pair
            work.static_hit.put(at, s)
            work.class_hit[pair] = 1
