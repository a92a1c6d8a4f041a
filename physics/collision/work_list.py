"""Work lists: pairs of hulls, listed where a cheap test finds them near; and the way of their contacts to the list.

A mid phase in lanes lists every pair that is near in some lane, with a mask of the lanes. A routine takes a pair of the
list in all lanes, or, if it branches, in one lane after the other (`lane_by_lane`). It puts what it finds into points,
which each lane may have or not. When a pair is through, its points go to the contact list: the first that each lane has
to one slot, then the second ones. So an environment has its contacts in the order of (pair, point), whatever its
neighbours have.
"""

import taichi as ti

from ..math import Vec3, func
from ..math.lanes import in_lanes_of
from .contact_point import ContactPoint
from .contacts import append, looked_at
from .poses import bounds_meet, boxes_meet, seen_from_root
from .static_pairs import box_around_moving, pairs_apart
from .sweep import geoms_of

LISTED_PAIRS = "near near_pair tile_nnear point_*"
"""What stages with a work list load and store, for their declarations."""


@func
def clear_list(model, work):
    """An empty list, and no points."""
    work.tile_nnear[0] = 0
    for k in range(model.npoint):
        work.point_present[k] = work.real(0.0)


@func
def list_pair(work, p: ti.i32, near):
    """List pair p in the lanes of the mask `near`, if there are any."""
    if work.precise_lanes.any(near):
        k = work.tile_nnear[0]
        work.tile_nnear[0] = k + 1
        work.near_pair[k] = p
        work.near[k] = work.lanes.cast(near)


@func
def list_near(model, work, first: ti.i32, end: ti.i32):
    """Mid phase of the pairs `first` to `end`: list those whose bounding spheres and boxes are within reach.

    The pairs of a static geom are looked at only if that geom is near the box around all geoms that move.
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
    """List pair p if its bounding spheres and boxes are within reach in some lane."""
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
    """Point k of the pair in hand, in the lanes of the mask `present`; `work` may be the view of one lane."""
    found = work.lanes.cast(touch)
    work.point_present[k] = work.lanes.cast(present)
    work.point_dist[k] = found.dist
    work.point_pos.put(k, found.pos)
    work.point_normal.put(k, found.normal)
    work.point_tangent.put(k, found.tangent)


@func
def append_points(model, work, g1: ti.i32, g2: ti.i32):
    """Bring the points of a pair to the contact list, and forget them. Lanes that have no more get zeros."""
    lanes, zero = work.lanes, work.real(0.0)
    more = 1
    while more == 1:
        more = 0
        touch = ContactPoint(zero, Vec3(zero, zero, zero), Vec3(zero, zero, zero), Vec3(zero, zero, zero))
        found = work.real(0.0)
        for k in range(model.npoint):
            here = work.point_present[k] * (1.0 - found)
            if lanes.any(here):
                touch._assign(_point(work, k).select(here > 0.5, touch))
                found += here
                work.point_present[k] = work.point_present[k] - here
                more = 1
        append(model, work, g1, g2, touch, found)


@func
def _point(work, k: ti.i32):
    return ContactPoint(work.point_dist[k], work.point_pos[k], work.point_normal[k], work.point_tangent[k])
