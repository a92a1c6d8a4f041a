"""A capsule against a box: one or two spheres of the capsule against the box.

The first sphere is about the point of the capsule's axis that is nearest to the box. If the capsule lies along a face,
an edge or a corner there, one contact would not prevent tipping; the second is placed where the axis leaves the box's
face. The rules for it are MuJoCo's. At a corner they often put it where the first one is. If the axis is parallel to a
side of the box, rounding decides in MuJoCo whether they do; here the second is dropped.
"""

import taichi as ti

from ....base.math import Vec3, func
from ..poses import geom_axes, seen_from_root
from ..work_list import lane_by_lane
from .primitives import MINIMUM
from .sphere_hulls import box_distance, put_sphere_point

NONE, FACE, EDGE, CORNER = -1, 0, 1, 2
"""The feature of the box that has the nearest point; NONE: not determined yet."""
NO_SECOND = -4.0
"""The parameter of a missing second contact; others lie within two half axes of the first."""
SAME = 1e-9
"""Metres: contacts closer to each other count as one."""
ACROSS = 1e-9
"""The sine below which the sign of the axis' component along a side of the box is due to rounding."""


@func
def capsule_box(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find one contact or two."""
    lane_by_lane(_capsule_box, model, work, g1, g2, near)


@func
def _capsule_box(model, one, g1: ti.i32, g2: ti.i32):
    """Find the contacts in one lane, whose views are `model` and `one`."""
    # the capsule's axis in the frame of the box
    axes, size = geom_axes(model, one, g2), model.geom_size[g2]
    center, box = one.geom_offset[g1], seen_from_root(model, one, g1, g2)
    pos, direction = axes.transpose_times(center - box), axes.transpose_times(one.geom_axis[g1])
    half = direction * model.geom_size.at(g1, 1)
    # one contact or two, and without the second if only rounding decides about it
    first, second = _places(one.precise_lanes, pos, half, size)
    least = ti.min(ti.abs(direction.x), ti.abs(direction.y), ti.abs(direction.z))
    if ti.abs(second) * model.geom_size.at(g1, 1) < SAME and least < ACROSS:
        second = one.precise_lanes.real(NO_SECOND)
    # each contact is that of a sphere about a point of the axis with the box
    for k in range(2):
        t = first
        if k == 1:
            t = first + second
        gap, outward = box_distance(one.precise_lanes, pos + half * t, size)
        wanted = one.precise_lanes.mask((k == 0) | (second > NO_SECOND))
        put_sphere_point(model, one, k, (g1, g2), center + axes.times(half) * t, gap, axes.times(outward), wanted)


@func
def _places(lanes, pos, half, size):
    """Return t of the first contact on the segment pos + t half, in the box's frame, and that of the second minus t.

    The second number is NO_SECOND if there is no second contact.
    """
    # the nearest of: the ends over a face, and the segment's points closest to each of the twelve edges
    best, t, kind, feature = _nearest_face(lanes, pos, half, size)
    along = lanes.real(0.0)  # where on the edge, in half edges
    edge = 0
    for axis in ti.static(range(3)):
        for corner in range(8):
            if (corner >> axis) & 1 == 0:
                x, y, side, square = _nearest_on_edge(lanes, axis, corner, pos, half, size)
                if square < best - MINIMUM:
                    best, t, along, edge = square, y, x, axis
                    kind = ti.select(side == 0, EDGE, CORNER)
                    feature = corner | (ti.cast(side > 0, ti.i32) << axis)
    # the second contact, by the feature that has the nearest point
    second = lanes.real(NO_SECOND)
    upward = _bits(half)
    if kind == FACE and feature >= 0:
        second = _beyond_face(lanes, feature, t, pos, half, size)
    elif kind == EDGE:
        second = _beyond_edge(lanes, edge, along, upward ^ feature, upward, t, half, size)
    elif kind == CORNER:
        second = _beyond_corner(lanes, upward ^ feature, t, half, size)
    return t, second


@func
def _bits(v):
    """Return an integer with bit k set if component k is positive, as corners of a box are numbered."""
    return ti.cast(v.x > 0.0, ti.i32) | (ti.cast(v.y > 0.0, ti.i32) << 1) | (ti.cast(v.z > 0.0, ti.i32) << 2)


@func
def _nearest_face(lanes, pos, half, size):
    """Return squared distance, t, kind and face axis (-1: inside) of the nearest end that is over a face, or inside."""
    best, t = lanes.real(1e30), lanes.real(0.0)
    kind, face = NONE, -1
    for k in range(2):
        end = 2.0 * k - 1.0
        point = pos + half * end
        # the number of axes along which the end is outside of the box, the last of them, and the squared distance
        beyond, last = 0, -1
        square = lanes.real(0.0)
        for axis in ti.static(range(3)):
            excess = ti.abs(point.parts()[axis]) - size.parts()[axis]
            if excess > 0.0:
                beyond, last = beyond + 1, axis
                square += excess * excess
        if beyond <= 1 and square < best:
            best, t, kind, face = square, lanes.real(end), FACE, last
    return best, t, kind, face


@func
def _nearest_on_edge(lanes, axis, corner: ti.i32, pos, half, size):
    """Find the closest points of the segment and the edge along `axis` that starts at a corner.

    Returns:
        The position on the edge in half edges (-1 to 1), t, the end of the edge that it was clamped to (-1, 1; 0: not
        clamped), and the squared distance (m^2), 1e30 if both are parallel.
    """
    signs = ti.static([0.0 if k == axis else 1.0 for k in range(3)])
    start = Vec3(
        size.x * signs[0] * (2.0 * (corner & 1) - 1.0),
        size.y * signs[1] * (2.0 * ((corner >> 1) & 1) - 1.0),
        size.z * signs[2] * (2.0 * ((corner >> 2) & 1) - 1.0),
    )
    # the lines' closest points, by a 2x2 system
    apart = start - pos
    length, slope = size.parts()[axis], half.parts()[axis]
    a, b, c = length * length, -length * slope, half.dot(half)
    u, v = -length * apart.parts()[axis], half.dot(apart)
    det = a * c - b * b
    x, y, square = lanes.real(0.0), lanes.real(0.0), lanes.real(1e30)
    side = 0
    if ti.abs(det) >= MINIMUM:
        x, y = (c * u - b * v) / det, (a * v - b * u) / det
        # clamp to the edge, then to the segment
        if ti.abs(x) > 1.0:
            side = ti.select(x > 0.0, 1, -1)
            x = lanes.real(side)
            y = (v - b * x) / c
        if ti.abs(y) > 1.0:
            y = ti.select(y > 0.0, lanes.real(1.0), lanes.real(-1.0))
            x = (u - b * y) / a
            if ti.abs(x) > 1.0:
                side = ti.select(x > 0.0, 1, -1)
                x = lanes.real(side)
        on_edge = ti.static([1.0 if k == axis else 0.0 for k in range(3)])
        way = x * length
        gap = apart - half * y + Vec3(way * on_edge[0], way * on_edge[1], way * on_edge[2])
        square = gap.dot(gap)
    return x, y, side, square


@func
def _beyond_face(lanes, face: ti.i32, t, pos, half, size):
    """Return how far the second contact is from the end at t towards the other end: as far as the face goes."""
    end = pos + half * t
    second = lanes.real(2.0)
    for axis in ti.static(range(3)):
        if axis != face:
            for k in range(2):
                border = size.parts()[axis] * (1.0 - 2.0 * k)
                way = (border - end.parts()[axis]) / half.parts()[axis] * -t
                if way > 0.0 and way < second:
                    second = way
    return second * -t


@func
def _beyond_edge(lanes, edge: ti.i32, along, differ: ti.i32, upward: ti.i32, t, half, size):
    """Return how far the second contact is from a point over an edge, across the face least inclined to the segment.

    `differ` has bits of the axes along which the segment points away from the edge's side of the box.
    """
    second = lanes.real(NO_SECOND)
    away = differ & (7 - (1 << edge))
    if away == 1 or away == 2 or away == 4:  # neither across both faces, nor along both of them from the edge on
        across = (edge + 1) % 3
        other = (edge + 2) % 3
        if ti.abs(half.component(across)) <= ti.abs(half.component(other)):
            across = other
        forward = (away >> across) & 1
        sign = ti.select(forward == 1, lanes.real(1.0), lanes.real(-1.0))
        left = ti.select(((upward >> edge) & 1) == forward, 1.0 - along, 1.0 + along)  # of the edge, in half edges
        second = ti.min(1.0 - sign * t, 2.0 * size.component(across) / ti.abs(half.component(across)))
        second = sign * ti.min(second, size.component(edge) * left / ti.abs(half.component(edge)))
    return second


@func
def _beyond_corner(lanes, differ: ti.i32, t, half, size):
    """Return how far the second contact is from a corner: along the edge that the segment follows, or across a face.

    `differ` has bits of the axes along which the segment points away from the corner.
    """
    second = lanes.real(NO_SECOND)
    if differ != 0 and differ != 7:  # the segment points neither straight into the corner nor straight away from it
        sign = lanes.real(1.0)
        alone = differ
        if differ == 3 or differ == 5 or differ == 6:
            sign, alone = -sign, 7 - differ
        axis = alone >> 1
        if half.component(axis) ** 2 > 0.5 * half.dot(half):
            second = sign * ti.min(1.0 - sign * t, 2.0 * size.component(axis) / ti.abs(half.component(axis)))
        else:
            next1, next2 = (axis + 1) % 3, (axis + 2) % 3
            second = ti.min(1.0 + sign * t, 2.0 * size.component(next1) / ti.abs(half.component(next1)))
            second = -sign * ti.min(second, 2.0 * size.component(next2) / ti.abs(half.component(next2)))
    return second
