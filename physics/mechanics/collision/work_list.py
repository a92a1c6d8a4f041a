"""Work lists: pairs of hulls that a cheap test finds near, and the points through which their contacts are appended.

A mid phase lists every pair that is near in some lane, with a mask of the lanes. A collision routine processes a pair
in all lanes, or, if it has branches, in one lane after the other (`lane_by_lane`). It stores its contacts in points,
which each lane may have or not. After each pair its points are appended to the contact list: the first point of each
lane to one slot, then the second points. So the contacts of an environment are in the order of (pair, point), and do
not depend on its neighbours. A row of the table has the pairs of the model's list, or those that a sweep found.

A terrain of hundreds of boxes has thousands of pairs with the geoms of a robot. They stand side by side in the list of
pairs, those of one static geom after those of another, `model.pair_run` says how many they are, and all of them are
skipped at once if nothing that moves is near the static geom.
"""

import taichi as ti

from ...base.math import Vec3, func
from ...base.math.lanes import in_lanes_of
from .broad.broad_phase import WITH_GROUND
from .contact_point import ContactPoint
from .contacts import append, looked_at
from .poses import bounds_meet, boxes_meet, seen_from_root, sphere_around

LISTED_PAIRS = "near near_pair tile_nnear point_*"
"""The fields that stages with a work list load and store, for their declarations."""


@func
def clear_list(model, work):
    """Clear the work list and the points."""
    work.tile_nnear[0] = 0
    for k in range(model.npoint):
        work.point_present[k] = work.real(0.0)


@func
def list_pair(work, p: ti.i32, near):
    """List pair p for the lanes of the mask `near`, if there are any."""
    if work.precise_lanes.any(near):
        k = work.tile_nnear[0]
        work.tile_nnear[0] = k + 1
        work.near_pair[k] = p
        work.near[k] = work.lanes.cast(near)


@func
def list_near(model, work, first: ti.i32, end: ti.i32):
    """List the pairs of `first` to `end` whose bounding spheres and boxes are near each other (mid phase).

    The pairs of a static geom are tested only if it is near the box around all moving geoms.
    """
    low, high = box_around_moving(model, work)
    p = first
    while p < end:
        count = pairs_apart(model, work, p, low, high)
        if count == 0:
            _list_if_near(model, work, p)
            count = 1
        p += count


@func
def _list_if_near(model, work, p: ti.i32):
    """List pair p if its bounding spheres and boxes are within detection distance in some lane."""
    g1, g2 = geoms_of(model, work, p)
    apart = seen_from_root(model, work, g1, g2) - work.geom_offset[g1]
    near = bounds_meet(model, work, g1, g2, apart) * work.precise_lanes.cast(looked_at(model, work, g1, g2))
    if work.precise_lanes.any(near):
        list_pair(work, p, near * boxes_meet(model, work, g1, g2, apart))


@func
def lane_by_lane(routine, model, work, g1: ti.i32, g2: ti.i32, wanted):
    """Call a routine that branches, routine(model, work, g1, g2), in one lane of the mask `wanted` after the other."""
    work.wanted[0] = work.lanes.cast(wanted)
    in_lanes_of(work.wanted, routine, model, work, (g1, g2))


@func
def put_point(work, k: ti.i32, touch, present):
    """Store point k of the current pair in the lanes of the mask `present`; `work` may be the view of one lane."""
    found = work.lanes.cast(touch)
    work.point_present[k] = work.lanes.cast(present)
    work.point_dist[k] = found.dist
    work.point_pos.put(k, found.pos)
    work.point_normal.put(k, found.normal)
    work.point_tangent.put(k, found.tangent)


@func
def append_points(model, work, g1: ti.i32, g2: ti.i32, most: ti.i32):
    """Append the points of a pair, `most` or fewer, to the contact list; lanes with fewer points append nothing.

    Points are cleared.
    """
    lanes, zero = work.lanes, work.real(0.0)
    # Each pass takes the next point of every lane that has one.
    more = 1
    while more == 1:
        more = 0
        touch = ContactPoint(zero, Vec3(zero, zero, zero), Vec3(zero, zero, zero), Vec3(zero, zero, zero))
        found = work.real(0.0)
        for k in range(most):
            here = work.point_present[k] * (1.0 - found)
            if lanes.any(here):
                touch._assign(_point(work, k).select(here > 0.5, touch))
                found += here
                work.point_present[k] = work.point_present[k] - here
                more = 1
        append(model, work, g1, g2, touch, found)


@func
def _point(work, k: ti.i32):
    """Return point k of the current pair."""
    return ContactPoint(work.point_dist[k], work.point_pos[k], work.point_normal[k], work.point_tangent[k])


FAR = 1e30


@func
def box_around_moving(model, work):
    """Return the corners of the box around all moving geoms that have many static ones to meet, in every lane (m)."""
    far = work.real(FAR)
    low, high = Vec3(far, far, far), Vec3(-far, -far, -far)
    for k in range(model.nrungeom):
        pos, radius = sphere_around(model, work, model.run_geom[k])
        low._assign(Vec3(ti.min(low.x, pos.x - radius), ti.min(low.y, pos.y - radius), ti.min(low.z, pos.z - radius)))
        high._assign(
            Vec3(ti.max(high.x, pos.x + radius), ti.max(high.y, pos.y + radius), ti.max(high.z, pos.z + radius))
        )
    return low, high


@func
def pairs_apart(model, work, p: ti.i32, low, high):
    """Return the length of the run from p whose static geom misses the box in every lane; 0 if it does not."""
    count = 0
    if p < model.npair:
        if model.pair_run[p] > 0:
            pos, radius = sphere_around(model, work, model.run_static[p])
            near = (pos.x + radius >= low.x) & (pos.x - radius <= high.x)
            near = near & (pos.y + radius >= low.y) & (pos.y - radius <= high.y)
            near = near & (pos.z + radius >= low.z) & (pos.z - radius <= high.z)
            if not work.lanes.any(work.lanes.mask(near)):
                count = model.pair_run[p]
    return count


@func
def first_pair(model, work, row):
    """Return the number of the first pair of a table row; pairs found by a sweep are numbered after listed ones."""
    first = model.pair_start[row]
    if ti.static(model.has.sweep and not WITH_GROUND[row]):
        first = model.npair + work.listed_start[row]
    return first


@func
def end_of_pairs(model, work, row):
    """Return the number after the last pair of a table row."""
    end = model.pair_start[row + 1]
    if ti.static(model.has.sweep and not WITH_GROUND[row]):
        end = model.npair + work.listed_start[row + 1]
    return end


@func
def geoms_of(model, work, p: ti.i32):
    """Return both geoms of pair p."""
    g1, g2 = 0, 0
    if ti.static(model.has.sweep):
        if p < model.npair:
            g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
        else:
            g1, g2 = work.listed_geom1[p - model.npair], work.listed_geom2[p - model.npair]
    else:
        g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
    return g1, g2
