"""Additional contacts of two convex shapes with one contact: geom 2 is tilted about it, and the search repeated.

If a face, an edge or a flat curve of one shape lies along the other, a small turn about the contact brings another end
of it nearest. The closest points are turned back, so that each is on its own surface; they face each other along the
first contact's normal up to the angle of the turn. All contacts have the first one's normal. A turn that brings another
face nearest, whose normal differs by more than two turns, adds nothing.

The first turn only probes in which direction contacts move; if it adds none, the opposite turn probes. Four turns
follow: about that axis, the opposite one, and both axes across. With other axes, or in another order, a cylinder has
contacts beside the line that it lies on, and rolls.

Corners of flat sides that meet are found exactly, without turns (`collision.manifold`). Spheres, which are round about
their contact, are not turned.
"""

from math import cos, pi, sin
from typing import Any

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.lanes import LaneValue, let, traced
from ..closed_forms.primitives import zero_vector
from ..contact_point import ContactPoint
from ..explicit_pairs import detection_distance
from ..poses import root_of
from ..work_list import put_point
from .support import core_radius

ANGLE = 1e-2
"""The angle of a turn (rad). Genesis uses it where it does not follow MuJoCo, which turned by 1e-3 before it clipped
faces."""
PROBES, TURNS = 2, 6
"""The number of the last probing turn, and of the last turn."""
FIRST_AXIS = pi / 8
"""The angle (rad) between the first tangent and the first probe's axis. It lowers a single corner of a rectangle along
the tangents, and of one at 45 degrees to them."""
SAME = 1e-2
"""The distance, relative to the smaller bounding radius, below which contacts count as one. A turn moves the contact of
a surface as curved as a ball of that radius no farther."""


class Tilt(LaneValue):
    """The contact that a pair is turned about, and the contacts found so far.

    Attributes:
        center: position of the contact relative to geom 1's centre (m).
        normal: from geom 1 to geom 2.
        axis: axis of the present turn, perpendicular to the normal.
        along: axis of the first turn after the probes.
        turn: number of the present turn; 0 if geom 2 is not turned.
        turns: number of the last turn.
        count: number of contacts.
    """

    def __init__(self, center: Vec3, normal: Vec3, axis: Vec3, along: Vec3, turn: Any, turns: Any, count: Any) -> None:
        self.center, self.normal, self.axis, self.along = center.copy(), normal.copy(), axis.copy(), along.copy()
        self.turn, self.turns, self.count = let(turn), let(turns), let(count)

    def parts(self) -> tuple:
        """Return the components."""
        return self.center, self.normal, self.axis, self.along, self.turn, self.turns, self.count


@func
def untilted(one):
    """Return the state before the first search."""
    zero = zero_vector(one.ccd_lanes)
    return Tilt(zero, zero, zero, zero, 0, 0, 0)


@traced
def _turned(lanes: Any, x: Vec3, axis: Vec3) -> Vec3:
    """Return a vector rotated by ANGLE about a unit axis (Rodrigues' formula)."""
    along = let(axis.dot(x) * lanes.constant(1.0 - cos(ANGLE)))
    return x * lanes.constant(cos(ANGLE)) + axis.cross(x) * lanes.constant(sin(ANGLE)) + axis * along


@func
def _probe_axis(one, normal):
    """Return the axis of the first probe: perpendicular to the normal, at FIRST_AXIS from the first tangent."""
    lanes = one.ccd_lanes
    upright = ti.abs(normal.y) < 0.5
    zero, unit = lanes.real(0.0), lanes.real(1.0)
    hint = Vec3(zero, ti.select(upright, unit, zero), ti.select(upright, zero, unit))
    tangent = hint - normal * normal.dot(hint)
    tangent = tangent * (1.0 / tangent.norm())
    return tangent * lanes.constant(cos(FIRST_AXIS)) + normal.cross(tangent) * lanes.constant(sin(FIRST_AXIS))


@func
def turn_geom(one, tilt):
    """Move geom 2 in `ccd_frame` from its previous turn to the present one."""
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
    """Rotate the frame of geom 2 in `ccd_frame` by ANGLE about an axis through `center`."""
    one.ccd_frame.put(4, center + _turned(one.ccd_lanes, one.ccd_frame[4] - center, axis))
    for k in range(3):
        one.ccd_frame.put(5 + k, _turned(one.ccd_lanes, one.ccd_frame[5 + k], axis))


@func
def begin_turns(one, tilt, center, normal):
    """Start the turns of a pair with a contact at `center` with this normal."""
    tilt.center, tilt.normal = center, normal
    tilt.axis = _probe_axis(one, normal)
    tilt.along = tilt.axis
    tilt.turns, tilt.count = TURNS, 1
    one.ccd_polygon.put(0, center)


@func
def put_tilted(model, one, g1: ti.i32, g2: ti.i32, tilt, on1, between, normal):
    """Put a contact of the turned pair unless it is found already; `normal` is the turned pair's.

    `on1` and `between` are the core point of geom 1 and its offset from that of geom 2 (m), in the turned pair.
    """
    lanes = one.ccd_lanes
    # the closest points of both surfaces, that of geom 2 turned back
    point1 = on1 + normal * core_radius(model, one, g1)
    turned = on1 - between - normal * core_radius(model, one, g2) - tilt.center
    point2 = tilt.center + _turned(lanes, turned, tilt.axis * -1.0)
    apart = point2 - point1
    dist, middle = apart.dot(tilt.normal), (point1 + point2) * 0.5
    same = SAME * ti.min(model.geom_rbound[g1], model.geom_rbound[g2])
    aside = between - normal * between.dot(normal)  # large if the foot of the perpendicular is outside of the face
    new = (
        aside.norm() < same
        and normal.dot(tilt.normal) > lanes.constant(cos(2.0 * ANGLE))
        and dist < detection_distance(model, g1, g2)
    )
    # probes only find the axis of the first turn
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
