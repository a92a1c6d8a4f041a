"""Depth of two overlapping convex shapes by Minkowski portal refinement, the other method beside EPA.

Snethen: XenoCollide, in Game Programming Gems 7 (2008). A ray leaves a point inside the difference of the shapes. A
portal, three points of the surface that the ray passes between, moves outward until it lies in the surface. The first
ray goes from the difference of the geoms' centres through the origin: it tells whether the origin is inside. Its
portal's normal parts the shapes, but nothing says that they are not less deep along another. So the next ray leaves the
origin along that normal: its portal is nearer, or the same. Where the foot of the origin is in the portal, the depth is
the least of all directions around.

What an answer means: moved apart by the depth along the normal, the shapes touch. The depth is never less than the true
one; that it is not more is sure for shallow contacts alone, which is why deep ones are left to EPA (`DEEP`), as is
whatever has no clear answer here: cores that touch, portals that are lines. Shapes whose cores are apart have GJK's
distance, unless a portal proves that they are too far apart for a contact.

A portal's corners are in the first three rows of `ccd_point`, counterclockwise seen along the ray; a new one is in the
fourth.
"""

from typing import Any

import taichi as ti
from taichi.lang.impl import expr_init

from ..math import Vec3, func
from ..math.lanes import LaneValue
from .epa import CORNER_BITS
from .gjk import FOUND, NO_AREA, NOTHING, move_corner, nearest_on_triangle, put_corner, start_search
from .primitives import zero_vector
from .support import support

DEEP = 0.05
"""Of the smaller bounding radius: a contact that is deeper is EPA's. (Genesis takes 0.25 of it for its own MPR.)"""
ASIDE = 0.05
"""Of the depth: so far may the nearest point of a portal be from the foot of the origin on its plane."""
AIMS = 4
"""Rays of a pair at most."""
FIRST, SECOND, THIRD, REFINE, REACHED, ENDED = range(6)
"""Phases: the corners are sought one after the other; the portal moves; it lies in the surface; there is an answer."""


class Portal(LaneValue):
    """How far the search for a portal has come.

    Attributes:
        start: the point inside that the ray leaves.
        ray: its direction.
        direction: where the next support point is sought; in the end the portal's normal.
        height: how far the origin is below the plane of the newest support point.
        phase: one of FIRST, SECOND, ...
        trips: support points of all rays.
        aims: rays.
        inside: 1: the origin is known to be inside.
    """

    def __init__(self, start: Vec3, ray: Vec3, direction: Vec3, height: Any, *counts: Any) -> None:
        self.start, self.ray, self.direction = start.copy(), ray.copy(), direction.copy()
        self.height = expr_init(height)
        self.phase, self.trips, self.aims, self.inside = map(expr_init, counts)

    def parts(self) -> tuple:
        """The components."""
        return self.start, self.ray, self.direction, self.height, self.phase, self.trips, self.aims, self.inside


@func
def seek_portal(model, one, g1: ti.i32, g2: ti.i32, limits):
    """Search the depth of geoms that stand in `ccd_frame`, as `convex.seek` does.

    The phase of what it returns is FOUND, NOTHING or, where GJK and EPA have to answer, DISTANCE: none of it is begun.
    """
    lanes = one.ccd_lanes
    search = start_search(lanes, one.ccd_frame[0] - one.ccd_frame[4])
    ray = search.near * (-1.0 / search.near.norm())
    portal = Portal(search.near, ray, ray, lanes.real(0.0), FIRST, 0, 0, 0)
    deepest = DEEP * ti.min(model.geom_rbound[g1], model.geom_rbound[g2])
    while portal.phase < ENDED:
        point, on1, mark1, mark2 = support(model, one, g1, g2, portal.direction)
        put_corner(one, portal.phase, point, on1, mark1, mark2)
        portal.trips += 1
        portal.height = portal.direction.dot(point)
        if portal.inside == 0 and portal.height <= 0.0:  # a plane between the shapes
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
    """The next direction, and phase; the end where the normal is no longer than `least`, which is that of a line."""
    length = normal.norm()
    portal.phase = ti.select(length > least, phase, ENDED)
    portal.direction = normal * (1.0 / ti.max(length, one.ccd_lanes.constant(NO_AREA)))


@func
def _open(one, portal, limits):
    """A new corner of a portal that is not open yet, or that the ray does not pass through."""
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
    """Next, what is farthest along the portal's normal."""
    a = one.ccd_point[0]
    _turn_to(one, portal, (one.ccd_point[1] - a).cross(one.ccd_point[2] - a), limits.flat * limits.flat, REFINE)
    if portal.direction.dot(a) >= 0.0:
        portal.inside = 1


@func
def _refine(one, portal, limits):
    """The portal lies in the surface, or its new corner takes the place of that which the ray then passes by."""
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
    """The portal as the only face of a polytope, if the origin's foot is in it; else the next ray."""
    _k0, _k1, _k2, near = nearest_on_triangle(one.ccd_lanes, one.ccd_point[0], one.ccd_point[1], one.ccd_point[2])
    height = portal.height
    aside = near - portal.direction * near.dot(portal.direction)
    portal.phase = ENDED
    if height <= deepest:
        if aside.norm() <= ti.max(ASIDE * height, limits.near):
            one.ccd_corners[0] = (1 << CORNER_BITS) | (2 << (2 * CORNER_BITS))
            one.ccd_normal.put(0, portal.direction)
            one.ccd_height.put(0, height)
            search.faces, search.chosen, search.phase = 1, 0, FOUND
        elif portal.aims + 1 < AIMS:
            portal.aims += 1
            portal.phase = FIRST
            portal.start = zero_vector(one.ccd_lanes)
            portal.ray = portal.direction.copy()
