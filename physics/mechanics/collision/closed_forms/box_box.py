"""Two boxes: a face of one clipped by a face of the other, or the closest points of two edges.

The axis is found by `box_axes` in all lanes at once; the rest branches, and runs lane by lane. The contacts of a face
are the corners of the other box's face, clipped by the method of Sutherland and Hodgman (Reentrant polygon clipping,
1974), as in MuJoCo 4.
"""

import taichi as ti

from ....base.math import Vec3, func
from ..contact_point import ContactPoint
from ..explicit_pairs import detection_distance
from ..poses import geom_axes, root_of, seen_from_root
from ..work_list import lane_by_lane, put_point
from .box_axes import FIRST_EDGE, BoxPair, separating_axis
from .primitives import clip, zero_vector

MOST = 8  # corners of a quadrangle clipped by four lines
HALF = 12  # rows of `polygon` for the polygon to clip, and as many for the result
AMBIGUOUS = {False: 1e-5, True: 1e-9}
"""The cosine below which both of two parallel edges of a box count as the farthest along an axis."""
SAME = {False: 1e-10, True: 1e-14}
"""Corners count as one if their squared distance is below this part of the face's squared half diagonal."""


@func
def box_box(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find up to eight contacts of two boxes."""
    lanes, reach = work.precise_lanes, detection_distance(model, g1, g2)
    code, present = separating_axis(lanes, _boxes(model, work, g1, g2), reach, near)
    if lanes.any(present):
        work.box_code[0] = work.lanes.cast(code)
        lane_by_lane(_contacts, model, work, g1, g2, present)


@func
def _boxes(model, work, g1: ti.i32, g2: ti.i32):
    """Return both boxes of a pair."""
    apart = seen_from_root(model, work, g1, g2) - work.geom_offset[g1]
    axes1, axes2 = geom_axes(model, work, g1), geom_axes(model, work, g2)
    return BoxPair(apart, axes1, axes2, model.geom_size[g1], model.geom_size[g2])


@func
def _contacts(model, one, g1: ti.i32, g2: ti.i32):
    """Find the contacts of two boxes in one lane, for the axis `box_code`."""
    boxes = _boxes(model, one, g1, g2)
    code = ti.cast(one.box_code[0], ti.i32)
    reach = detection_distance(model, g1, g2)
    origin = one.geom_offset[g1] + root_of(model, one, g1)
    if code >= FIRST_EDGE:
        _edge_contact(one, boxes, code - FIRST_EDGE, reach, origin)
    elif code < 3:
        _face_contacts(one, boxes, code, reach, origin, 1.0)
    else:
        other = BoxPair(-boxes.apart, boxes.axes2, boxes.axes1, boxes.size2, boxes.size1)
        _face_contacts(one, other, code - 3, reach, origin + boxes.apart, -1.0)


@func
def _edge_contact(one, boxes, edges: ti.i32, reach, origin):
    """Put the contact between edge i of box 1 and edge j of box 2; `edges` is 3 i + j.

    If two parallel edges of a box are equally far along the axis, the closest pair is taken, so that rounding does not
    choose.
    """
    lanes = one.precise_lanes
    i, j = edges // 3, edges % 3
    # the normal, perpendicular to both edges, from box 1 to box 2
    along1, along2 = boxes.axes1.column(i), boxes.axes2.column(j)
    normal = along1.cross(along2)
    normal = normal * (1.0 / normal.norm())
    normal = normal.select(normal.dot(boxes.apart) >= 0.0, -normal)
    half1, half2 = boxes.size1.component(i), boxes.size2.component(j)
    cosine = along1.dot(along2)
    best = lanes.real(1e30)
    point1, point2 = zero_vector(lanes), zero_vector(lanes)
    # closest points of the edge of box 1 (or its equal) and the edge of box 2 (or its equal)
    for trial in range(4):
        corner1 = _farthest(lanes, boxes.axes1, boxes.size1, normal, i, trial & 1)
        corner2 = boxes.apart + _farthest(lanes, boxes.axes2, boxes.size2, -normal, j, trial >> 1)
        gap = corner2 - corner1
        u, v = along1.dot(gap), along2.dot(gap)
        s = clip((u - cosine * v) / (1.0 - cosine * cosine), -half1, half1)
        t = clip(cosine * s - v, -half2, half2)
        s = clip(u + cosine * t, -half1, half1)
        found1, found2 = corner1 + along1 * s, corner2 + along2 * t
        gap = found2 - found1
        if gap.dot(gap) < best:
            best = gap.dot(gap)
            point1, point2 = found1.copy(), found2.copy()
    dist = (point2 - point1).dot(normal)
    contact = ContactPoint(dist, origin + (point1 + point2) * 0.5, normal, zero_vector(lanes))
    put_point(one, 0, contact, lanes.mask(dist <= reach + boxes.slack(lanes)))


@func
def _farthest(lanes, axes, size, direction, edge: ti.i32, other: ti.i32):
    """Return the middle of the edge along axis `edge` that is farthest in a direction; with `other` 1 its equal."""
    middle = zero_vector(lanes)
    turned = 0
    for step in ti.static(range(1, 3)):
        k = (edge + step) % 3
        axis = axes.column(k)
        cosine = direction.dot(axis)
        half = ti.select(cosine >= 0.0, size.component(k), -size.component(k))
        if other == 1 and turned == 0 and ti.abs(cosine) < AMBIGUOUS[lanes.double]:
            half, turned = -half, 1
        middle = middle + axis * half
    return middle


@func
def _face_contacts(one, boxes, face: ti.i32, reach, origin, sense):
    """Store the contacts of a face of box 1 with the face of box 2 whose normal is most opposed.

    Coordinates in `polygon` run along the face's edges, from its middle; then the height above it. `sense` is 1.0
    if box 1 here is the pair's geom 1, else -1.0.
    """
    lanes = one.precise_lanes
    # the outward normal and the edges of the face of box 1
    up = boxes.axes1.column(face)
    up = up.select(boxes.apart.dot(up) >= 0.0, -up)
    u, v = (face + 1) % 3, (face + 2) % 3
    along_u, along_v = boxes.axes1.column(u), boxes.axes1.column(v)
    half_u, half_v, half = boxes.size1.component(u), boxes.size1.component(v), boxes.size1.component(face)
    # the face of box 2, clipped by the four sides of the face of box 1
    _lay_out_face(one, boxes, up, along_u, along_v, half)
    first, count = 0, 4
    first, count = _cut(one, first, count, 0, 1.0, half_u)
    first, count = _cut(one, first, count, 0, -1.0, half_u)
    first, count = _cut(one, first, count, 1, 1.0, half_v)
    first, count = _cut(one, first, count, 1, -1.0, half_v)
    # corners that are deep enough, without repeated ones
    kept = HALF - first
    same = SAME[lanes.double] * (half_u * half_u + half_v * half_v)
    found = 0
    for k in range(count):
        corner = one.polygon[first + k]
        wanted = 1 if corner.z <= reach and found < MOST else 0
        for other in range(found):
            dx, dy = corner.x - one.polygon[kept + other].x, corner.y - one.polygon[kept + other].y
            if dx * dx + dy * dy < same:
                wanted = 0
        if wanted == 1:
            one.polygon.put(kept + found, corner)
            pos = origin + along_u * corner.x + along_v * corner.y + up * (half + 0.5 * corner.z)
            put_point(one, found, ContactPoint(corner.z, pos, up * sense, zero_vector(lanes)), lanes.real(1.0))
            found += 1


@func
def _lay_out_face(one, boxes, up, along_u, along_v, half):
    """Put into `polygon` the corners of box 2's face whose normal is most opposed to `up`.

    Coordinates are relative to the middle of box 1's face with the normal `up`.
    """
    seen = boxes.axes2.transpose_times(up)
    # the axis of box 2 that is nearest to `up`
    facing, steepest = 0, ti.abs(seen.x)
    for k in ti.static(range(1, 3)):
        if ti.abs(seen.parts()[k]) > steepest:
            facing, steepest = k, ti.abs(seen.parts()[k])
    # the middle of the face on the side against `up`, and its half edges
    out = ti.select(seen.component(facing) > 0.0, -boxes.size2.component(facing), boxes.size2.component(facing))
    middle = boxes.apart + boxes.axes2.column(facing) * out
    p, q = (facing + 1) % 3, (facing + 2) % 3
    edge_p, edge_q = boxes.axes2.column(p) * boxes.size2.component(p), boxes.axes2.column(q) * boxes.size2.component(q)
    # the corners in cyclic order
    for k in range(4):
        a, b = 1.0, 1.0
        if k == 1 or k == 2:
            a = -1.0
        if k >= 2:
            b = -1.0
        corner = middle + edge_p * a + edge_q * b
        one.polygon.put(k, one.lanes.cast(Vec3(corner.dot(along_u), corner.dot(along_v), corner.dot(up) - half)))


@func
def _cut(one, first: ti.i32, count: ti.i32, axis, sign, limit):
    """Clip a polygon: keep the part where `sign` times coordinate `axis` is at most `limit`.

    The polygon has `count` rows from `first` on. Return the first row of the result, in the other half of the rows, and
    its number of corners.
    """
    to, n = HALF - first, 0
    for k in range(count):
        p, q = one.polygon[first + k], one.polygon[first + (k + 1) % count]
        beyond_p, beyond_q = p.parts()[axis] * sign - limit, q.parts()[axis] * sign - limit
        if beyond_p <= 0.0 and n < HALF:
            one.polygon.put(to + n, p)
            n += 1
        if ((beyond_p < 0.0 and beyond_q > 0.0) or (beyond_p > 0.0 and beyond_q < 0.0)) and n < HALF:
            one.polygon.put(to + n, p + (q - p) * (beyond_p / (beyond_p - beyond_q)))
            n += 1
    return to, n
