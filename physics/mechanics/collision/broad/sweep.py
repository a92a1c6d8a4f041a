"""Sweep and prune (Baraff 1992; Cohen et al., I-COLLIDE, 1995): pairs of near geoms, without a list of all pairs.

Every environment sorts its geoms by their lower ends along an axis. They have hardly moved since the last step, so an
insertion sort from that step's order needs few moves. A geom is compared with the geoms whose lower end is below its
upper end. The numbers of one environment are stored side by side in lanes, so a geom is compared with as many others at
once as there are lanes; the test is that of the spheres around both.

A pair that is near in any environment of the tile sets a bit in a table of all pairs. The table, read row by row, gives
the pairs in the order of the list of models with fewer geoms (`model.pairs`): contacts have the same order and the same
bits, whatever the axis, the last order and the neighbours.

Fields are indexed by the *place* of a geom, its index in `sweep_geom`.
"""

import mujoco
import taichi as ti

from ....base.math import func
from ....base.math.lanes import for_each_lane, in_each_lane
from ..explicit_pairs import explicit_pair
from ..pair_table import NO_ROW, PAIR_TABLE
from ..poses import sphere_around
from .broad_phase import WORD

SPREADS = 2.0
"""The ratio of variances of positions above which another axis is taken; it prevents frequent changes."""
KINDS = int(mujoco.mjtGeom.mjNGEOMTYPES)
"""The number of geom types."""
NOWHERE = 1e15
"""Metres: the position of the entries that fill the last lanes, which nothing is near."""


@func
def sweep(model, work):
    """List the pairs of geoms that are near in some lane, sorted by table row."""
    for k in range(model.nsweep * model.nword):
        work.sweep_bits[k] = 0
    # Bits of near pairs of every lane; explicit pairs are always listed.
    _measure(model, work)
    in_each_lane(_sweep_lane, model, work, (work,))
    for k in range(model.nexplicitplace // 2):
        _mark(model, work, model.explicit_place[2 * k], model.explicit_place[2 * k + 1])
    _list(model, work)


@func
def _measure(model, work):
    """Set sweep_radius, and sweep_spread to the variance of positions along each axis."""
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
    """Set the bits of the near pairs of a lane, whose view is `one`; all lanes of `work` hold that lane's numbers."""
    _sort(model, one, work)
    _lay_out(model, one, work)
    for i in range(model.nsweep):
        _meet(model, work, i)


@func
def _sort(model, one, work):
    """Sort the geoms of a lane by their lower ends along its axis, from the order of the last step."""
    # The axis: the last one, unless positions vary much more along another.
    axis = ti.min(ti.max(ti.cast(one.sweep_axis[0], ti.i32), 0), 2)
    for c in range(3):
        mine = one.sweep_spread.at(0, axis)
        if one.sweep_spread.at(0, c) > SPREADS * mine:
            axis = c
    one.sweep_axis[0] = ti.cast(axis, one.lanes.dtype)
    # Insertion sort; sweep_low and sweep_place are sorted together.
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
    """Return number k of a field whose numbers are side by side in lanes."""
    width = ti.static(work.lanes.width)
    return field.of_lane(work.lanes, k % width, k // width)


@func
def _put(work, field, k: ti.i32, value):
    """Store number k of such a field."""
    width = ti.static(work.lanes.width)
    field.of_lane(work.lanes, k % width, k // width)._assign(value)


@func
def _lay_out(model, one, work):
    """Store the order for the next step, and positions and radii in that order; fill the last lanes with NOWHERE."""
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
    """Set the bits of the i-th geom along the axis with later geoms whose lower end is below its upper end."""
    lanes = work.lanes
    x, y, z = _number(work, work.sweep_x, i), _number(work, work.sweep_y, i), _number(work, work.sweep_z, i)
    radius = _number(work, work.sweep_reach, i)
    end = _number(work, work.sweep_low, i) + 2.0 * radius
    row = i // lanes.width
    # Rows of as many geoms as there are lanes, from the geom's own row on.
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
    """Set the bit of geom i with the one in a lane of a row, if that one is after it and near."""
    j = row * work.lanes.width + lane
    if j > i and j < model.nsweep and work.wanted.of_lane(work.lanes, lane, 0) > 0.5:
        _mark(model, work, work.sweep_place[i], work.sweep_place[j])


@func
def _mark(model, work, one: ti.i32, other: ti.i32):
    """Set the bit of a pair of places, in the row of the smaller one."""
    first, second = ti.min(one, other), ti.max(one, other)
    word = first * model.nword + second // WORD
    if first < second:
        work.sweep_bits[word] = work.sweep_bits[word] | (1 << (second % WORD))


@func
def _row_of(model, first: ti.i32, second: ti.i32):
    """Return the table row of a pair that can have contacts, else NO_ROW. Arguments are places, the smaller first."""
    g1, g2 = model.sweep_geom[first], model.sweep_geom[second]
    # Masks, then excluded pairs; explicit pairs pass both, but not geoms of one welded body.
    meets = model.sweep_contype[first] & model.sweep_conaffinity[second]
    meets = meets | (model.sweep_contype[second] & model.sweep_conaffinity[first])
    if meets != 0:
        start = model.sweep_skipadr[first]
        for k in range(start, start + model.sweep_skipnum[first]):
            if model.skip_place[k] == second:
                meets = 0
    type1, type2 = model.geom_type[g1], model.geom_type[g2]
    if ti.static(model.has.explicit_pairs):
        a, b = g1, g2
        if type1 > type2:
            a, b = g2, g1
        if explicit_pair(model, a, b) >= 0:
            meets = 1
    row = NO_ROW
    if meets != 0 and model.sweep_weldid[first] != model.sweep_weldid[second]:
        row = model.type_row[ti.min(type1, type2) * KINDS + ti.max(type1, type2)]
    return row


@func
def _list(model, work):
    """Convert the bits to lists: count the pairs of each table row, drop those without contacts, then store them."""
    rows = ti.static(len(PAIR_TABLE))
    for row in range(rows + 1):
        work.listed_start[row] = 0
    # The first pass counts, and clears bits; the second one stores.
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
    """Compute prefix sums of the counts of rows; on overflow request capacity and list no pair."""
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
    """Store the next pair of a row, the smaller geom type first."""
    k = work.listed_start[row]
    work.listed_start[row] = k + 1
    g1, g2 = model.sweep_geom[first], model.sweep_geom[second]
    if model.geom_type[g1] > model.geom_type[g2]:
        work.listed_geom1.put(k, g2)
        work.listed_geom2.put(k, g1)
    else:
        work.listed_geom1.put(k, g1)
        work.listed_geom2.put(k, g2)
