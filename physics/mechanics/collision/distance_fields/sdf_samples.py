"""Points, corners and edges of one geom in the distance field of another: the candidates for their contacts.

- Meshes: sampled points of the surface. Bins of them, and blocks of bins, are skipped if the field at the centre of the
  ball around them exceeds its radius; of each bin the deepest point is a candidate. Sharp edges are looked at if no
  point touches.
- Other solids: the farthest points along 26 directions. From each of these the solid's farthest point against the
  field's gradient is sought again and again, as in the method of Frank and Wolfe (1956), while the field falls. Edges
  of boxes and axes of capsules are looked at along their length.
"""

from typing import Any

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.lanes import LaneValue, let
from ....base.math.vector import zero_vector
from ....base.shapes import EDGE_COUNTS, EDGES, SUPPORTS, WITH_FIELDS
from ....base.shapes.by_kind import by_kind, is_one_of
from ..candidates import put_candidate
from ..convex.support import core_radius
from .sdf_values import distance_from

STEPS, LESS = 6, 1e-4
"""The most steps of a search, and the share of a solid's size by which a step has to be deeper than the one before."""
PARTS, MOST_PARTS, HALVINGS = 16, 48, 8
"""Parts of an edge, of which one is the least stride along it; the most strides; halvings of the last ones."""
SOLID = {kind: function for kind, function in SUPPORTS.items() if kind not in WITH_FIELDS}


class Sides(LaneValue):
    """Two geoms, one of which is sampled in the field of the other.

    Attributes:
        x: axis x of the sampled geom, in the frame of the other.
        y: its axis y.
        z: its axis z.
        shift: its centre there, m.
        reach: distance below which there are contacts, m.
        close: the least distance of two contacts, m.
        sense: 1 if the field is geom 1's, -1 if it is geom 2's.
    """

    def __init__(self, x: Vec3, y: Vec3, z: Vec3, shift: Vec3, reach: Any, close: Any, sense: Any) -> None:
        self.x, self.y, self.z, self.shift = x.copy(), y.copy(), z.copy(), shift.copy()
        self.reach, self.close, self.sense = (let(number) for number in (reach, close, sense))

    def parts(self) -> tuple:
        """Return the components."""
        return self.x, self.y, self.z, self.shift, self.reach, self.close, self.sense

    def seen(self, p: Vec3) -> Vec3:
        """Return a point of the sampled geom in the frame of the other."""
        return self.shift + self.x * p.x + self.y * p.y + self.z * p.z

    def turned(self, d: Vec3) -> Vec3:
        """Return a direction in the other geom's frame in that of the sampled one."""
        return Vec3(self.x.dot(d), self.y.dot(d), self.z.dot(d))


@func
def put_touch(model, one, sides, p, value, outward, radius):
    """Store a candidate: a ball around p, in the frame of the field, whose surface is `value` away from the field's."""
    side = ti.select(sides.sense > 0.0, 0, 1)
    x, y, z = one.ccd_frame[4 * side + 1], one.ccd_frame[4 * side + 2], one.ccd_frame[4 * side + 3]
    middle = p - outward * (radius + 0.5 * value)
    pos = one.ccd_frame[4 * side] + x * middle.x + y * middle.y + z * middle.z
    normal = (x * outward.x + y * outward.y + z * outward.z) * sides.sense
    put_candidate(model, one, sides.close, value, pos, normal)


@func
def scan(model, one, a: ti.i32, b: ti.i32, sides):
    """Store the candidates of geom a, sampled in the field of geom b."""
    if is_one_of(model.geom_type[a], WITH_FIELDS):
        scan_points(model, one, a, b, sides)
    else:
        _scan_solid(model, one, a, b, sides)


@func
def _is_near(model, one, b: ti.i32, sides, ball: ti.i32):
    """Return 1 if the ball with this number may be within reach of the surface of geom b."""
    lanes = one.ccd_lanes
    center = Vec3(model.sdf_ball.at(ball, 0), model.sdf_ball.at(ball, 1), model.sdf_ball.at(ball, 2))
    _value, _outward, bound = distance_from(model, one, b, sides.seen(lanes.cast(center)))
    return ti.cast(bound <= lanes.real(model.sdf_ball.at(ball, 3)) + sides.reach, ti.i32)


@func
def scan_points(model, one, a: ti.i32, b: ti.i32, sides):
    """Store the candidates at the sampled points of a mesh."""
    lanes, f = one.ccd_lanes, model.geom_sdfid[a]
    depth, above, count = model.sdf_pointdepth.at(f, 0), model.sdf_pointdepth.at(f, 1), model.sdf_pointnum[f]
    below, first = depth - above, model.sdf_pointadr[f]
    for block in range(1 << above):
        if _is_near(model, one, b, sides, model.sdf_balladr.at(f, 1) + block) == 1:
            for k in range(block << below, (block + 1) << below):
                if _is_near(model, one, b, sides, model.sdf_balladr.at(f, 0) + k) == 1:
                    # The deepest point of the bin.
                    best, deepest, normal = sides.reach * 1.0, zero_vector(lanes), zero_vector(lanes)
                    found = 0
                    for i in range(first + ((k * count) >> depth), first + (((k + 1) * count) >> depth)):
                        p = sides.seen(lanes.cast(model.sdf_point[i]))
                        value, outward, _bound = distance_from(model, one, b, p)
                        if value < best:
                            best, found = value, 1
                            deepest, normal = p.copy(), outward.copy()
                    if found == 1:
                        put_touch(model, one, sides, deepest, best, normal, lanes.real(0.0))


@func
def scan_edges(model, one, a: ti.i32, b: ti.i32, sides):
    """Store the candidates on the sharp edges of a mesh."""
    lanes, f = one.ccd_lanes, model.geom_sdfid[a]
    depth, above, count = model.sdf_edgedepth.at(f, 0), model.sdf_edgedepth.at(f, 1), model.sdf_edgenum[f]
    below, first = depth - above, model.sdf_edgeadr[f]
    for block in range((1 << above) * ti.min(count, 1)):
        if _is_near(model, one, b, sides, model.sdf_balladr.at(f, 3) + block) == 1:
            for k in range(block << below, (block + 1) << below):
                if _is_near(model, one, b, sides, model.sdf_balladr.at(f, 2) + k) == 1:
                    for i in range(first + ((k * count) >> depth), first + (((k + 1) * count) >> depth)):
                        start, end = lanes.cast(model.sdf_edge[2 * i]), lanes.cast(model.sdf_edge[2 * i + 1])
                        _scan_edge(model, one, b, sides, start, end, lanes.real(0.0))


@func
def _scan_edge(model, one, b: ti.i32, sides, start, end, radius):
    """Store the point of a segment, of the sampled geom, that is deepest in a field; a ball of the radius is around it.

    Strides are as long as the field allows. Where it was least, the slope along the segment is halved to zero.
    """
    lanes = one.ccd_lanes
    p, u = sides.seen(start), sides.seen(end) - sides.seen(start)
    length = u.norm()
    u = u * (1.0 / ti.max(length, 1e-30))
    step, s, trips = length / PARTS, lanes.real(0.0), 0
    least, where = lanes.real(1e30), lanes.real(0.0)
    while s <= length and trips < MOST_PARTS:
        value, _outward, bound = distance_from(model, one, b, p + u * s)
        if value < least:
            least, where = value, s
        s += ti.max(bound - radius - sides.reach, step)
        trips += 1
    if least - radius < sides.reach + step:
        low, high = ti.max(where - step, 0.0), ti.min(where + step, length)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            _value, outward, _bound = distance_from(model, one, b, p + u * middle)
            if outward.dot(u) > 0.0:
                high = middle
            else:
                low = middle
        p = p + u * (0.5 * (low + high))
        value, outward, _bound = distance_from(model, one, b, p)
        if value - radius < sides.reach:
            put_touch(model, one, sides, p, value - radius, outward, radius)


@func
def _scan_solid(model, one, a: ti.i32, b: ti.i32, sides):
    """Look at a solid that is no mesh."""
    lanes, radius = one.ccd_lanes, core_radius(model, one, a)
    size, bound = lanes.cast(model.geom_size[a]), lanes.real(model.geom_rbound[a])
    for k in range(27):
        if k != 13:
            d = Vec3(lanes.real(k % 3 - 1), lanes.real(k // 3 % 3 - 1), lanes.real(k // 9 - 1))
            p = _farthest(model, one, a, size, radius, d)
            value, outward, _bound = distance_from(model, one, b, sides.seen(p))
            # Towards where the field falls, while it does.
            trips = 0
            while trips < STEPS:
                q = _farthest(model, one, a, size, radius, -sides.turned(outward))
                less, turned, _bound = distance_from(model, one, b, sides.seen(q))
                if less < value - LESS * bound:
                    p, value, outward = q, less, turned
                else:
                    trips = STEPS
                trips += 1
            if value < sides.reach:
                put_touch(model, one, sides, sides.seen(p), value, outward, lanes.real(0.0))
    for k in range(by_kind(model.geom_type[a], EDGE_COUNTS, 0, size)):
        nowhere = zero_vector(lanes)
        start, end = by_kind(model.geom_type[a], EDGES, (nowhere, nowhere), lanes, size, k)
        _scan_edge(model, one, b, sides, start, end, radius)


@func
def _farthest(model, one, a: ti.i32, size, radius, d):
    """Return the farthest point of a solid along d, in its frame."""
    lanes = one.ccd_lanes
    point, _ = by_kind(model.geom_type[a], SOLID, (zero_vector(lanes), 0), model, lanes, a, size, d)
    return point + d * (radius / ti.max(d.norm(), 1e-30))
