"""Ellipsoids, cylinders, boxes and convex meshes on a height field, in one lane, in the field's frame.

Corners of a box or mesh touch the triangle under them. A curved solid touches a triangle with its point that is lowest
against it, if that is over the triangle; a cylinder with such points of its rims. Convex edges of the ground are
separate
pieces: GJK and EPA find where a solid touches them.
"""

import taichi as ti

from ....base.math import Vec3, func
from ....base.shapes import ENTRIES, LOWEST, LOWEST_POINTS, SPANS
from ....base.shapes.by_kind import by_kind, is_one_of
from ....base.shapes.ray import MISS
from ..candidates import has_candidate_at
from ..closed_forms.primitives import zero_vector
from ..convex.convex import SearchLimits, seek
from ..convex.epa import touching_face
from ..convex.gjk import FOUND
from ..convex.support import has_corners
from .ground_cells import is_over, over, reaches, slope_of
from .ground_depth import depth_of, height_above
from .ridges import between, ends_of, for_each_ridge, pushes
from .round_on_ground import put_on_ground

NEAR, FLAT, SEEN = 1e-9, 1e-8, 1e-12
"""Shares of the size of a solid and a piece (`collision.convex`)."""
WIDE, INSIDE = 0.5, 1e-4
"""The share of an edge's depth from which on its ends are contacts, and that of its length by which they are inside."""


@func
def corners_on_ground(model, one, g1: ti.i32, g2: ti.i32, ground, top, reach, close):
    """Find the candidates of the corners of a solid; `top` is the largest height under it."""
    down = Vec3(one.ccd_lanes.real(0.0), one.ccd_lanes.real(0.0), one.ccd_lanes.real(-1.0))
    for k in range(by_kind(model.geom_type[g2], LOWEST_POINTS, 0, model, g2)):
        point = _lowest(model, one, g2, down, k)
        if point.z - reach <= top:
            _point_on_ground(model, one, g1, ground, point, reach, close)


@func
def _point_on_ground(model, one, g1: ti.i32, ground, point, reach, close):
    """Find the candidate of a point of a solid and the triangle under it."""
    height, normal = height_above(model, one.ccd_lanes, ground, point)
    if height <= reach:
        if height < 0.0:
            height, normal = depth_of(model, one.ccd_lanes, g1, ground, point, height, normal)
        put_on_ground(model, one, close, point - normal * height, normal, height)


@func
def curve_on_ground(model, one, g1: ti.i32, g2: ti.i32, ground, low, reach, close):
    """Find the candidates of an ellipsoid or cylinder and triangles that are not below its lowest height `low`."""
    lanes = one.ccd_lanes
    for r in range(ground.r0, ground.r1 + 1):
        for c in range(ground.c0, ground.c1 + 1):
            if reaches(model, lanes, g1, ground, r, c, low):
                for side in range(2):
                    slope = slope_of(model, lanes, ground, r, c, side)
                    _curve_on_triangle(model, one, g2, ground, r, c, side, slope, reach, close)


@func
def _curve_on_triangle(model, one, g2: ti.i32, ground, r: ti.i32, c: ti.i32, side: ti.i32, slope, reach, close):
    """Find the candidates of the points of a solid that are lowest against a triangle.

    A point that is not over the triangle but below the surface elsewhere is a candidate there, if there is no other:
    in a valley it may be the deepest.
    """
    normal = slope.normal()
    for k in range(by_kind(model.geom_type[g2], LOWEST_POINTS, 0, model, g2)):
        point = _lowest(model, one, g2, -normal, k)
        height, up = over(ground, r, c, slope, point) * normal.z, normal.copy()
        wanted = height <= reach
        if wanted and not is_over(ground, r, c, side, point, 0.0):
            wanted = not has_candidate_at(one, close, point)
            if wanted:
                height, up = height_above(model, one.ccd_lanes, ground, point)
                wanted = height < 0.0
        if wanted:
            put_on_ground(model, one, close, point - up * height, up, height)


@func
def _lowest(model, one, g2: ti.i32, down, k: ti.i32):
    """Return point k of the points of a solid that can be lowest in a direction (`shapes`), in the field's frame."""
    lanes = one.ccd_lanes
    x, y, z = one.ccd_frame[5], one.ccd_frame[6], one.ccd_frame[7]
    local = Vec3(down.dot(x), down.dot(y), down.dot(z))
    size = model.geom_size[g2]
    point = by_kind(model.geom_type[g2], LOWEST, zero_vector(lanes), model, lanes, g2, size, local, k)
    return one.ccd_frame[4] + x * point.x + y * point.y + z * point.z


@func
def solid_on_ridges(model, one, g1: ti.i32, g2: ti.i32, ground, low, reach, close):
    """Find the candidates of a solid and the convex edges in the range that are not below its lowest height `low`."""
    for_each_ridge(model, one, g1, ground, low, _solid_on_ridge, (g1, g2, low, reach, close))


@func
def _solid_on_ridge(model, one, ground, r: ti.i32, c: ti.i32, kind: ti.i32, g1: ti.i32, g2: ti.i32, low, reach, close):
    """Find the candidates of a solid and a convex edge."""
    lanes = one.ccd_lanes
    begin, end = ends_of(model, lanes, ground, r, c, kind)
    if ti.max(begin.z, end.z) >= low and _meets_box(model, one, g2, begin, end, reach):
        set_segment(one, begin, end)
        limits = piece_limits(model, one, g2, (end - begin).norm(), reach)
        search = seek(model, one, g1, g2, limits, FOUND)
        if search.phase == FOUND:
            _face, _between, on1 = touching_face(one, search, limits.seen)
            normal, dist = one.ccd_normal[search.chosen], -one.ccd_height[search.chosen]
            edge = end - begin
            along = (on1 - begin).dot(edge) / edge.dot(edge)
            if dist <= reach and pushes(model, lanes, ground, r, c, kind, along, normal):
                _put_ridge(model, one, g2, begin, end, on1, normal, dist, close)
            elif dist < 0.0:
                # The shortest way out is one along which the edge does not push: it pushes between its triangles.
                normal = between(model, lanes, ground, r, c, kind)
                _enters, leaves = _span(model, one, g2, on1, -normal)
                _put_ridge(model, one, g2, begin, end, on1, normal, -ti.max(leaves, 0.0), close)


@func
def _put_ridge(model, one, g2: ti.i32, begin, end, on1, normal, dist, close):
    """Store the candidates of a convex edge: both ends of its part in the solid if these are deep, or its deepest."""
    found = 0
    if dist < 0.0:
        first, last = _span(model, one, g2, begin, end - begin)
        first, last = ti.max(first, 0.0), ti.min(last, 1.0)
        for k in range(2):
            # A little inside, where the shortest exit is along the normal, not through a side.
            share = ti.select(k == 0, first, last) * (1.0 - INSIDE) + 0.5 * (first + last) * INSIDE
            at = begin + (end - begin) * share
            _enters, leaves = _span(model, one, g2, at, -normal)
            if first < last and -leaves <= WIDE * dist:
                put_on_ground(model, one, close, at, normal, -leaves)
                found = 1
    if found == 0:
        put_on_ground(model, one, close, on1, normal, dist)


@func
def _span(model, one, g2: ti.i32, start, way):
    """Return the interval of t in which start + t way is inside a solid; (1, 0) if it is empty."""
    lanes, size = one.ccd_lanes, model.geom_size[g2]
    x, y, z = one.ccd_frame[5], one.ccd_frame[6], one.ccd_frame[7]
    from_center, length = start - one.ccd_frame[4], way.norm()
    place = ti.Vector([x.dot(from_center), y.dot(from_center), z.dot(from_center)])
    direction = ti.Vector([x.dot(way) / length, y.dot(way) / length, z.dot(way) / length])
    slide = -place.dot(direction)
    sizes = ti.Vector([lanes.real(size.x), lanes.real(size.y), lanes.real(size.z)])
    first, last = lanes.real(1.0), lanes.real(0.0)
    if is_one_of(model.geom_type[g2], tuple(SPANS)):
        local, along = Vec3(place.x, place.y, place.z), Vec3(direction.x, direction.y, direction.z)
        first, last = by_kind(model.geom_type[g2], SPANS, (first, last), model, lanes, g2, local, along)
        first, last = first / length, last / length
    else:
        for side in range(2):  # where it enters, then where the reversed ray does
            sign = 1.0 - 2.0 * side
            found = by_kind(
                model.geom_type[g2], ENTRIES, lanes.real(MISS), sizes, place + direction * slide, direction * sign
            )
            if found < MISS and side == 0:
                first = (slide + found) / length
            elif found < MISS:
                last = (slide - found) / length
    return first, last


@func
def _meets_box(model, one, g2: ti.i32, begin, end, reach):
    """Return False if a face of the box around geom 2 separates it from a segment by more than `reach`."""
    meets = True
    half = model.geom_half[g2]
    for axis in range(3):
        direction = one.ccd_frame[5 + axis]
        a, b = direction.dot(begin - one.ccd_frame[4]), direction.dot(end - one.ccd_frame[4])
        bound = half.component(axis) + reach
        meets = meets and ti.min(a, b) <= bound and ti.max(a, b) >= -bound
    return meets


@func
def set_segment(one, begin, end):
    """Make a segment the current piece of the field."""
    middle = (begin + end) * 0.5
    one.ccd_frame.put(0, middle)
    one.piece_size[0] = 2
    one.piece_corner.put(0, begin - middle)
    one.piece_corner.put(1, end - middle)


@func
def piece_limits(model, one, g2: ti.i32, length, reach):
    """Return the `SearchLimits` of a solid and a piece of this length, which may be up to `reach` apart (m)."""
    lanes = one.ccd_lanes
    size = lanes.real(2.0 * model.geom_rbound[g2]) + length
    near, seen, tolerance = size * NEAR, size * SEEN, lanes.real(model.ccd_tolerance[0])
    touch = near
    if has_corners(model, g2):
        tolerance = lanes.real(0.0)
    elif reach == 0.0:
        touch = ti.max(near, tolerance)
    zero = lanes.real(0.0)
    return SearchLimits(reach, near, size * FLAT, seen, ti.max(tolerance, seen * 2.0), tolerance, touch, zero, zero)
