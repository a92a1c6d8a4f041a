"""Sweep and prune (Baraff 1992; Cohen et al., I-COLLIDE, 1995): pairs of geoms that are near, without a list of all.

Every environment sorts its geoms by where they begin along an axis. They have hardly moved since the last step, so an
insertion sort from the order that they had then is nearly done. A geom then meets those that begin before it ends. The
numbers of one environment are laid side by side in lanes, so that a geom meets as many others at once as there are
lanes; what it meets is judged by the spheres around both.

What is found in any environment of the tile becomes a bit in a table of all pairs. Read row by row it gives the pairs
in the order of the list that a model with fewer geoms has (`model.pairs`): contacts come in the same order, with the
same bits, whatever the axis, the order kept and the neighbours.
"""

import mujoco
import taichi as ti

from ..math import func
from ..math.lanes import for_each_lane, in_each_lane
from ..model.broad_phase import WITH_PLANE, WORD
from ..model.pair_table import NO_ROW, PAIR_TABLE
from .pairs_by_hand import pair_by_hand
from .poses import sphere_around

SPREADS = 2.0
"""Another axis is taken where positions along it vary so many times as much: changing back and forth would be dear."""
KINDS = int(mujoco.mjtGeom.mjNGEOMTYPES)
NOWHERE = 1e15
"""Metres: where nothing is met."""


@func
def first_pair(model, work, row):
    """Number of the first pair of a row of the table. Pairs that a sweep found count on from those that are listed."""
    first = model.pair_start[row]
    if ti.static(model.has.sweep and not WITH_PLANE[row]):
        first = model.npair + work.listed_start[row]
    return first


@func
def end_of_pairs(model, work, row):
    """Number behind the last pair of a row."""
    end = model.pair_start[row + 1]
    if ti.static(model.has.sweep and not WITH_PLANE[row]):
        end = model.npair + work.listed_start[row + 1]
    return end


@func
def geoms_of(model, work, p: ti.i32):
    """Both geoms of pair p."""
    g1, g2 = 0, 0
    if ti.static(model.has.sweep):
        if p < model.npair:
            g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
        else:
            g1, g2 = work.listed_geom1[p - model.npair], work.listed_geom2[p - model.npair]
    else:
        g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
    return g1, g2


@func
def sweep(model, work):
    """List the pairs of geoms that are near in some lane, by their rows of the table."""
    for k in range(model.nsweep * model.nword):
        work.sweep_bits[k] = 0
    _measure(model, work)
    in_each_lane(_sweep_lane, model, work, (work,))
    for k in range(model.nhandplace // 2):
        _mark(model, work, model.hand_place[2 * k], model.hand_place[2 * k + 1])
    _list(model, work)


@func
def _measure(model, work):
    """Radii around geoms, and how far they are spread along each axis."""
    share = 1.0 / ti.cast(model.nsweep, work.lanes.dtype)
    mean_x, mean_y, mean_z = work.real(0.0), work.real(0.0), work.real(0.0)
    square_x, square_y, square_z = work.real(0.0), work.real(0.0), work.real(0.0)
    for k in range(model.nsweep):
        pos, radius = sphere_around(model, work, model.sweep_geom[k])
        work.sweep_radius[k] = radius
        mean_x += pos.x * share
        mean_y += pos.y * share
        mean_z += pos.z * share
        square_x += pos.x * pos.x * share
        square_y += pos.y * pos.y * share
        square_z += pos.z * pos.z * share
    spread = [square_x - mean_x * mean_x, square_y - mean_y * mean_y, square_z - mean_z * mean_z]
    work.sweep_spread.put_numbers(0, 0, spread)


@func
def _sweep_lane(model, one, work):
    """Mark the pairs of a lane, whose view is `one`; the numbers laid out in all lanes of `work` are its own."""
    _sort(model, one, work)
    _lay_out(model, one, work)
    for i in range(model.nsweep):
        _meet(model, work, i)


@func
def _sort(model, one, work):
    """Sort the geoms of a lane by where they begin along its axis, from the order of the last step."""
    axis = ti.min(ti.max(ti.cast(one.sweep_axis[0], ti.i32), 0), 2)
    for c in range(3):
        mine = one.sweep_spread.at(0, axis)
        if one.sweep_spread.at(0, c) > SPREADS * mine:
            axis = c
    one.sweep_axis[0] = ti.cast(axis, one.lanes.dtype)
    for k in range(model.nsweep):
        place = ti.cast(one.sweep_order[k], ti.i32)
        place = ti.min(ti.max(place, 0), model.nsweep - 1)
        at = ti.cast(one.geom_xpos.at(model.sweep_geom[place], axis), one.lanes.dtype)
        low = at - one.sweep_radius[place]
        j, moves = k, 1
        while moves == 1:
            moves = 0
            if j > 0:
                before = _number(work, work.sweep_low, j - 1)
                if before > low:
                    _put(work, work.sweep_low, j, before)
                    work.sweep_place[j] = work.sweep_place[j - 1]
                    j -= 1
                    moves = 1
        _put(work, work.sweep_low, j, low)
        work.sweep_place[j] = place


@func
def _number(work, field, k: ti.i32):
    """Number k of those that are laid out in lanes, side by side."""
    width = ti.static(work.lanes.width)
    return field.of_lane(work.lanes, k % width, k // width)


@func
def _put(work, field, k: ti.i32, value):
    width = ti.static(work.lanes.width)
    field.of_lane(work.lanes, k % width, k // width)._assign(value)


@func
def _lay_out(model, one, work):
    """Keep the order, and lay positions and radii out in it; behind the last geom are some that meet nothing."""
    lanes = work.lanes
    for k in range(model.nsweep):
        place = work.sweep_place[k]
        g = model.sweep_geom[place]
        one.sweep_order[k] = ti.cast(place, lanes.dtype)
        _put(work, work.sweep_x, k, one.geom_xpos.at(g, 0))
        _put(work, work.sweep_y, k, one.geom_xpos.at(g, 1))
        _put(work, work.sweep_z, k, one.geom_xpos.at(g, 2))
        _put(work, work.sweep_reach, k, one.sweep_radius[place])
    last = (model.nsweep + lanes.width - 1) // lanes.width * lanes.width
    for k in range(model.nsweep, last):
        _put(work, work.sweep_x, k, ti.cast(NOWHERE, lanes.dtype))


@func
def _meet(model, work, i: ti.i32):
    """Mark the pairs of the i-th geom along the axis with those behind it that begin before it ends."""
    lanes = work.lanes
    x, y, z = _number(work, work.sweep_x, i), _number(work, work.sweep_y, i), _number(work, work.sweep_z, i)
    radius = _number(work, work.sweep_reach, i)
    end = _number(work, work.sweep_low, i) + 2.0 * radius
    row = i // lanes.width
    going = 1
    while going == 1:
        dx, dy, dz = work.sweep_x[row] - x, work.sweep_y[row] - y, work.sweep_z[row] - z
        reach = work.sweep_reach[row] + radius
        near = lanes.mask(dx * dx + dy * dy + dz * dz <= reach * reach)
        if lanes.any(near):
            work.wanted[0] = near
            for_each_lane(lanes, _mark_near, (model, work, i, row))
        row += 1
        going = 0
        if row * lanes.width < model.nsweep:
            if _number(work, work.sweep_low, row * lanes.width) <= end:
                going = 1


@func
def _mark_near(lane: ti.i32, model, work, i: ti.i32, row: ti.i32):
    """Mark geom i and the one in a lane of a row, if it lies behind and is near."""
    j = row * work.lanes.width + lane
    if j > i and j < model.nsweep and work.wanted.of_lane(work.lanes, lane, 0) > 0.5:
        _mark(model, work, work.sweep_place[i], work.sweep_place[j])


@func
def _mark(model, work, one: ti.i32, other: ti.i32):
    """Set the bit of a pair, in the row of the smaller place."""
    first, second = ti.min(one, other), ti.max(one, other)
    word = first * model.nword + second // WORD
    if first < second:
        work.sweep_bits[word] = work.sweep_bits[word] | (1 << (second % WORD))


@func
def _row_of(model, first: ti.i32, second: ti.i32):
    """Row of the table for a pair that can touch; NO_ROW for others. Arguments are places, the smaller first."""
    g1, g2 = model.sweep_geom[first], model.sweep_geom[second]
    meets = model.sweep_contype[first] & model.sweep_conaffinity[second]
    meets = meets | (model.sweep_contype[second] & model.sweep_conaffinity[first])
    if meets != 0:
        start = model.sweep_skipadr[first]
        for k in range(start, start + model.sweep_skipnum[first]):
            if model.skip_place[k] == second:
                meets = 0
    type1, type2 = model.geom_type[g1], model.geom_type[g2]
    if ti.static(model.has.pairs_by_hand):
        a, b = g1, g2
        if type1 > type2:
            a, b = g2, g1
        if pair_by_hand(model, a, b) >= 0:
            meets = 1
    row = NO_ROW
    if meets != 0 and model.sweep_weldid[first] != model.sweep_weldid[second]:
        row = model.type_row[ti.min(type1, type2) * KINDS + ti.max(type1, type2)]
    return row


@func
def _list(model, work):
    """From bits to lists: count the pairs of each row and drop the bits of those that cannot touch, then place them."""
    rows = ti.static(len(PAIR_TABLE))
    for row in range(rows + 1):
        work.listed_start[row] = 0
    for turn in range(2):
        for first in range(model.nsweep):
            for w in range(first // WORD, model.nword):
                word = work.sweep_bits[first * model.nword + w]
                if word != 0:
                    kept = word
                    for b in range(WORD):
                        if (word >> b) & 1 == 1:
                            row = _row_of(model, first, w * WORD + b)
                            if row == NO_ROW:
                                kept = kept & ~(1 << b)
                            elif turn == 0:
                                work.listed_start[row + 1] = work.listed_start[row + 1] + 1
                            else:
                                _place(model, work, row, first, w * WORD + b)
                    work.sweep_bits[first * model.nword + w] = kept
        if turn == 0:
            _make_room(model, work)
    for row in range(rows):  # placing has moved each start to the next row's
        work.listed_start[rows - row] = work.listed_start[rows - 1 - row]
    work.listed_start[0] = 0


@func
def _make_room(model, work):
    """From counts to where rows start; where there is no room for all pairs, ask for it, and let there be none."""
    rows = ti.static(len(PAIR_TABLE))
    for row in range(rows):
        work.listed_start[row + 1] = work.listed_start[row + 1] + work.listed_start[row]
    found = work.listed_start[rows]
    if found > model.nlisted:
        work.need_nlisted[0] = ti.max(work.need_nlisted[0], found)
        for row in range(rows + 1):
            work.listed_start[row] = 0
        for k in range(model.nsweep * model.nword):
            work.sweep_bits[k] = 0


@func
def _place(model, work, row: ti.i32, first: ti.i32, second: ti.i32):
    """The next pair of a row, the smaller geom type first."""
    k = work.listed_start[row]
    work.listed_start[row] = k + 1
    g1, g2 = model.sweep_geom[first], model.sweep_geom[second]
    if model.geom_type[g1] > model.geom_type[g2]:
        work.listed_geom1.put(k, g2)
        work.listed_geom2.put(k, g1)
    else:
        work.listed_geom1.put(k, g1)
        work.listed_geom2.put(k, g2)
