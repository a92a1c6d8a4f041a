"""Penetration depth of two convex shapes by Minkowski portal refinement (MPR), an alternative to EPA.

Snethen: XenoCollide, in Game Programming Gems 7 (2008). A ray starts at a point inside the Minkowski difference of the
shapes. A portal, a triangle of three surface points that the ray passes through, moves outward until it lies in the
surface. The first ray goes from the difference of the geoms' centres through the origin, and shows if the origin is
inside. The portal's normal then separates the shapes, but their depth along it need not be the least. So the next ray
starts at the origin along that normal: its portal is nearer, or the same. If the foot of the perpendicular from the
origin is in the portal, the depth is a local minimum over directions.

Moved apart by the depth along the normal, the shapes just touch. The result is never less than the true depth. It is
known not to exceed it for shallow contacts only, which is why deep ones are left to EPA (`DEEP`), as are cases without
a clear result: cores that touch, portals that are lines. Shapes whose cores are apart have GJK's distance, unless a
portal proves that they are too far apart for a contact.

A portal's corners are in the first three rows of `ccd_point`, counterclockwise seen along the ray; a new corner is in
the fourth.
"""

from typing import Any

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.lanes import LaneValue, let
from ..closed_forms.primitives import zero_vector
from .epa import CORNER_BITS
from .gjk import FOUND, NO_AREA, NOTHING, move_corner, nearest_on_triangle, put_corner, start_search
from .support import support

DEEP = 0.05
"""The depth, relative to the smaller bounding radius, above which a contact is left to EPA. (Genesis uses 0.25.)"""
ASIDE = 0.05
"""The largest distance, relative to the depth, of the portal's nearest point from the foot of the perpendicular."""
AIMS = 4
"""The most rays of a pair."""
FIRST, SECOND, THIRD, REFINE, REACHED, ENDED = range(6)
"""Phases: the first, second and third corner is sought; the portal moves; it lies in the surface; the search ended."""


class Portal(LaneValue):
    """The state of a search for a portal.

    Attributes:
        start: the point inside the difference where the ray starts.
        ray: its direction.
        direction: the direction of the next support point; in the end the portal's normal.
        height: height of the newest support point along `direction` (m).
        phase: one of FIRST, SECOND, ...
        trips: number of support points of all rays.
        aims: number of rays after the first.
        inside: 1 if the origin is known to be inside the difference.
    """

    def __init__(self, start: Vec3, ray: Vec3, direction: Vec3, height: Any, *counts: Any) -> None:
        self.start, self.ray, self.direction = start.copy(), ray.copy(), direction.copy()
        self.height = let(height)
        self.phase, self.trips, self.aims, self.inside = map(let, counts)

    def parts(self) -> tuple:
        """Return the components."""
        return self.start, self.ray, self.direction, self.height, self.phase, self.trips, self.aims, self.inside


@func
def seek_portal(model, one, g1: ti.i32, g2: ti.i32, limits):
    """Search the depth of two geoms placed in `ccd_frame`, as `convex.seek` does.

    The returned search has the phase FOUND, NOTHING, or DISTANCE if GJK and EPA have to find the result.
    """
    lanes = one.ccd_lanes
    search = start_search(lanes, one.ccd_frame[0] - one.ccd_frame[4])
    ray = search.near * (-1.0 / search.near.norm())
    portal = Portal(search.near, ray, ray, lanes.real(0.0), FIRST, 0, 0, 0)
    # one support point after the other
    deepest = DEEP * ti.min(model.geom_rbound[g1], model.geom_rbound[g2])
    while portal.phase < ENDED:
        point, on1, mark1, mark2 = support(model, one, g1, g2, portal.direction)
        put_corner(one, portal.phase, point, on1, mark1, mark2)
        portal.trips += 1
        portal.height = portal.direction.dot(point)
        if portal.inside == 0 and portal.height <= 0.0:  # a plane separates the shapes
            portal.phase = ENDED
            if -portal.height >= limits.reach:
                search.phase = NOTHING
        elif portal.phase == REFINE:
            _refine(one, portal, limits)
        else:
            _open(one, portal, limits)
        if portal.phase == REACHED:
            _answer(one, search, portal, limits, deepest)
        elif portal.trips >= AIMS * model.ccd_iterations:
            portal.phase = ENDED
    return search


@func
def _turn_to(one, portal, normal, least, phase: ti.i32):
    """Set the next direction and phase; end the search if `normal` is no longer than `least`, as that of a line."""
    length = normal.norm()
    portal.phase = ti.select(length > least, phase, ENDED)
    portal.direction = normal * (1.0 / ti.max(length, one.ccd_lanes.constant(NO_AREA)))


@func
def _open(one, portal, limits):
    """Take a new corner of a portal that has less than three, or that the ray does not pass through."""
    start, ray = portal.start, portal.ray
    first = one.ccd_point[0] - start
    if portal.phase == FIRST:
        aside = ray.cross(first)
        if aside.norm() <= limits.near:  # the ray meets the corner, which is the whole portal
            portal.inside, portal.phase = 1, REACHED
            move_corner(one, 1, 0)
            move_corner(one, 2, 0)
        else:
            _turn_to(one, portal, aside, limits.near, SECOND)
    else:
        second = one.ccd_point[1] - start
        if portal.phase == SECOND:
            _turn_to(one, portal, first.cross(second), limits.flat * limits.flat, THIRD)
            if portal.direction.dot(ray) <= 0.0:
                portal.phase = ENDED
        else:
            third = one.ccd_point[2] - start
            # the ray passes beside one side of the triangle: replace the corner opposite to it
            if first.cross(third).dot(ray) > 0.0:
                move_corner(one, 1, 2)
                _turn_to(one, portal, first.cross(third), limits.flat * limits.flat, THIRD)
            elif third.cross(second).dot(ray) > 0.0:
                move_corner(one, 0, 2)
                _turn_to(one, portal, third.cross(second), limits.flat * limits.flat, THIRD)
            else:
                _look_through(one, portal, limits)


@func
def _look_through(one, portal, limits):
    """Continue with the support point along the portal's normal; note if the origin is inside."""
    a = one.ccd_point[0]
    _turn_to(one, portal, (one.ccd_point[1] - a).cross(one.ccd_point[2] - a), limits.flat * limits.flat, REFINE)
    if portal.direction.dot(a) >= 0.0:
        portal.inside = 1


@func
def _refine(one, portal, limits):
    """End the ray if the portal lies in the surface; otherwise replace the corner that the ray passes by."""
    if portal.height - portal.direction.dot(one.ccd_point[0]) <= limits.exact:
        portal.phase = ti.select(portal.inside == 1, REACHED, ENDED)
    else:
        across = portal.ray.cross(one.ccd_point[3] - portal.start)
        side1 = across.dot(one.ccd_point[0] - portal.start) > 0.0
        side2 = across.dot(one.ccd_point[1] - portal.start) > 0.0
        side3 = across.dot(one.ccd_point[2] - portal.start) > 0.0
        place = ti.select(side1, ti.select(side2, 0, 2), ti.select(side3, 1, 0))
        move_corner(one, place, 3)
        _look_through(one, portal, limits)


@func
def _answer(one, search, portal, limits, deepest):
    """Store the portal as a polytope's only face if it has the foot of the perpendicular; else start the next ray."""
    _k0, _k1, _k2, near = nearest_on_triangle(one.ccd_lanes, one.ccd_point[0], one.ccd_point[1], one.ccd_point[2])
    height = portal.height
    aside = near - portal.direction * near.dot(portal.direction)
    # `aside`: from the foot of the perpendicular to the portal's nearest point; if it is short, the depth is `height`
    portal.phase = ENDED
    if height <= deepest:
        if aside.norm() <= ti.max(ASIDE * height, limits.near):
            one.ccd_corners[0] = (1 << CORNER_BITS) | (2 << (2 * CORNER_BITS))
            one.ccd_normal.put(0, portal.direction)
            one.ccd_height.put(0, height)
            search.faces, search.chosen, search.phase = 1, 0, FOUND
        elif portal.aims + 1 < AIMS:  # the next ray starts at the origin along the normal
            portal.aims += 1
            portal.phase = FIRST
            portal.start = zero_vector(one.ccd_lanes)
            portal.ray = portal.direction.copy()
