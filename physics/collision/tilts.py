"""More contacts of two convex shapes that have one: geom 2 is turned a little about it, and sought anew.

Where a face, an edge or a flat curve of one shape lies along the other, a small turn about the contact brings another
end of it nearest. The nearest points of both shapes are turned back to where they belong, so each of them is on its own
surface; they face each other along the first contact's normal but for the angle. That normal is the normal of all. A
turn that brings another face nearest, whose normal is another by more than two turns, adds nothing.

The first turn only probes which way contacts go; where they go nowhere, its opposite does. The four turns that count
follow: that way, the opposite, and both ways across. Turned otherwise, or in another order, a cylinder has contacts
beside the line that it lies on, and rolls.

Corners of flat sides that meet are found without turns, exactly (`collision.manifold`); there is no turn then, nor of
spheres, which are round about their contact.
"""

from math import cos, pi, sin
from typing import Any

import taichi as ti
from taichi.lang.impl import expr_init

from ..math import Vec3, func
from ..math.lanes import LaneValue, let, traced
from .contact_point import ContactPoint
from .pairs_by_hand import detection_distance
from .poses import root_of
from .primitives import zero_vector
from .support import core_radius
from .work_list import put_point

ANGLE = 1e-2
"""Radians of a turn; Genesis' choice where it does not follow MuJoCo, which turned by 1e-3 before it clipped faces."""
PROBES, TURNS = 2, 6
"""Numbers of the last turn that probes, and of the last."""
FIRST_AXIS = pi / 8
"""Radians between the first tangent and the first probe's axis: the corner that it lowers is one alone, in a rectangle
that lies along the tangents as in one at half a right angle to them."""
SAME = 1e-2
"""Of the smaller bounding radius: contacts that are nearer to each other are one. A turn moves the contact of what is
as curved as a ball of that radius no farther."""


class Tilt(LaneValue):
    """The contact that a pair is turned about, and what was found.

    Attributes:
        center: where it is, seen from geom 1's centre.
        normal: from geom 1 to geom 2.
        axis: that of the turn, across the normal.
        along: that of the first turn after the probes.
        turn: 0: geom 2 is as it is; else which turn it has.
        turns: the last one.
        count: contacts.
    """

    def __init__(self, center: Vec3, normal: Vec3, axis: Vec3, along: Vec3, turn: Any, turns: Any, count: Any) -> None:
        self.center, self.normal, self.axis, self.along = center.copy(), normal.copy(), axis.copy(), along.copy()
        self.turn, self.turns, self.count = expr_init(turn), expr_init(turns), expr_init(count)

    def parts(self) -> tuple:
        """The components."""
        return self.center, self.normal, self.axis, self.along, self.turn, self.turns, self.count


@func
def untilted(one):
    """Before the first search."""
    zero = zero_vector(one.ccd_lanes)
    return Tilt(zero, zero, zero, zero, 0, 0, 0)


@traced
def _turned(lanes: Any, x: Vec3, axis: Vec3) -> Vec3:
    """A vector turned by ANGLE about a unit axis (Rodrigues)."""
    along = let(axis.dot(x) * lanes.constant(1.0 - cos(ANGLE)))
    return x * lanes.constant(cos(ANGLE)) + axis.cross(x) * lanes.constant(sin(ANGLE)) + axis * along


@func
def _probe_axis(one, normal):
    lanes = one.ccd_lanes
    upright = ti.abs(normal.y) < 0.5
    zero, unit = lanes.real(0.0), lanes.real(1.0)
    hint = Vec3(zero, ti.select(upright, unit, zero), ti.select(upright, zero, unit))
    tangent = hint - normal * normal.dot(hint)
    tangent = tangent * (1.0 / tangent.norm())
    return tangent * lanes.constant(cos(FIRST_AXIS)) + normal.cross(tangent) * lanes.constant(sin(FIRST_AXIS))


@func
def turn_geom(one, tilt):
    """Bring geom 2 in `ccd_frame` from the turn before to this one."""
    if tilt.turn > 1:
        _turn_frame(one, tilt.center, tilt.axis * -1.0)
    if tilt.turn == PROBES + 1:
        tilt.axis = tilt.along
    elif tilt.turn == PROBES + 3:
        tilt.axis = tilt.normal.cross(tilt.axis)
    elif tilt.turn > 1:
        tilt.axis = tilt.axis * -1.0
    if tilt.turn > 0:
        _turn_frame(one, tilt.center, tilt.axis)


@func
def _turn_frame(one, center, axis):
    one.ccd_frame.put(4, center + _turned(one.ccd_lanes, one.ccd_frame[4] - center, axis))
    for k in range(3):
        one.ccd_frame.put(5 + k, _turned(one.ccd_lanes, one.ccd_frame[5 + k], axis))


@func
def begin_turns(one, tilt, center, normal):
    """The pair has a contact there."""
    tilt.center, tilt.normal = center, normal
    tilt.axis = _probe_axis(one, normal)
    tilt.along = tilt.axis
    tilt.turns, tilt.count = TURNS, 1
    one.ccd_polygon.put(0, center)


@func
def put_tilted(model, one, g1: ti.i32, g2: ti.i32, tilt, on1, between, normal):
    """Another contact, if it is one; `on1` and `between` are of the cores of the turned pair, `normal` is its own."""
    lanes = one.ccd_lanes
    point1 = on1 + normal * core_radius(model, one, g1)
    turned = on1 - between - normal * core_radius(model, one, g2) - tilt.center
    point2 = tilt.center + _turned(lanes, turned, tilt.axis * -1.0)
    apart = point2 - point1
    dist, middle = apart.dot(tilt.normal), (point1 + point2) * 0.5
    same = SAME * ti.min(model.geom_rbound[g1], model.geom_rbound[g2])
    aside = between - normal * between.dot(normal)  # of a face that the origin's foot is not in: a broken polytope's
    new = (
        aside.norm() < same
        and normal.dot(tilt.normal) > lanes.constant(cos(2.0 * ANGLE))
        and dist < detection_distance(model, g1, g2)
    )
    if tilt.turn <= PROBES:
        way = tilt.normal.cross(middle - tilt.center)
        if new and way.norm() > same:
            tilt.along = way * (1.0 / way.norm())
            tilt.turn = PROBES
        new = False
    for k in range(tilt.count):
        if (middle - one.ccd_polygon[k]).norm() < same:
            new = False
    if new:
        one.ccd_polygon.put(tilt.count, middle)
        pos = root_of(model, one, g1) + one.geom_offset[g1] + one.precise_lanes.cast(middle)
        put_point(one, tilt.count, ContactPoint(dist, pos, tilt.normal, zero_vector(lanes)), lanes.real(1.0))
        tilt.count += 1
