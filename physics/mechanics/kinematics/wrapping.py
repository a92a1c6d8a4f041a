"""The shortest path between two points around a sphere or a cylinder, or inside it, in one lane.

In the plane of the path the geom is a circle (MuJoCo documentation, Computation: Tendons). The path wraps around it
between two tangent points; a side site may determine on which side. With the side site inside the circle, the path must
touch the circle from within at one point, where it is shortest: Newton's method finds it to the last digit, where
MuJoCo stops up to 6e-7 rad away, which changes moment arms by some 1e-8, but no length. Everything is in double
precision, since tangents are differences of squares.
"""

import math

import taichi as ti

from ...base.math import Quat, Vec3, func
from ...base.math.trigonometry import atan2, sincos

LEAST = 1e-15
"""MuJoCo's mjMINVAL."""
CYLINDER = 2
"""The value of `link_shape` of a cylinder along z."""
STEPS, CLOSE, LAST, NEAR_ONE = 20, 1e-6, 2, 1e-7
"""Newton's method: the most steps; the size of the function that counts as zero, and the steps from there on, each of
which doubles the digits; the distance below 1 at which it starts."""
GRAZING = 12
"""The steps of Newton's method if the solution is nearer to 1 than NEAR_ONE."""


@func
def wrap(model, work, link: ti.i32):
    """Set the tangent points (wrap_on) and the arc length (wrap_arc) of a tendon's path around a geom, per lane.

    The path goes from wrap_from to wrap_to, on the side of wrap_beside if the link has a side site.
    """
    lanes = work.double_lanes
    radius = ti.cast(model.geom_size.at(model.link_geom[link], 0), ti.f64)
    p, q = lanes.cast(work.wrap_from[0]), lanes.cast(work.wrap_to[0])
    sided = model.link_sided[link]
    zero, one = lanes.real(0.0), lanes.real(1.0)
    s = Vec3(zero, zero, zero)
    if sided == 1:
        s = lanes.cast(work.wrap_beside[0])
    # The plane: xy for a cylinder, else through both points and the centre. Coordinates in it.
    u, v = Vec3(one, zero, zero), Vec3(zero, one, zero)
    if model.link_shape[link] != CYLINDER:
        u = p * (1.0 / ti.max(p.norm(), LEAST))
        v = _across(lanes, u, p, q)
    a, b = Vec3(p.dot(u), p.dot(v), zero), Vec3(q.dot(u), q.dot(v), zero)
    side = Vec3(s.dot(u), s.dot(v), zero)
    # Path in the plane: inside the circle if the side site is, else around it.
    arc = lanes.real(-1.0)
    touch = Quat(zero, zero, zero, zero)
    if p.norm() >= LEAST and q.norm() >= LEAST:
        if sided == 1 and s.norm() < radius:
            touch, arc = _inside(lanes, a, b, radius)
        else:
            touch, arc = _around(lanes, a, b, side, sided, radius)
    # Back to three dimensions; on a cylinder the path rises in proportion to its length in the plane.
    on1, on2 = u * touch.w + v * touch.x, u * touch.y + v * touch.z
    if model.link_shape[link] == CYLINDER and arc >= 0.0:
        way1, way2 = Vec3(p.x - on1.x, p.y - on1.y, zero).norm(), Vec3(q.x - on2.x, q.y - on2.y, zero).norm()
        rise = (q.z - p.z) / (way1 + arc + way2)
        on1 = Vec3(on1.x, on1.y, p.z + rise * way1)
        on2 = Vec3(on2.x, on2.y, p.z + rise * (way1 + arc))
        arc = ti.sqrt(arc * arc + (rise * arc) * (rise * arc))
    work.wrap_on.put(0, work.lanes.cast(on1))
    work.wrap_on.put(1, work.lanes.cast(on2))
    work.wrap_arc[0] = work.lanes.cast(arc)


@func
def _across(lanes, u, p, q):
    """Return the second axis of the plane of p, q and a sphere's centre; any normal to u if these are collinear."""
    normal = p.cross(q)
    if normal.norm() < LEAST:
        other = Vec3(lanes.real(0.0), lanes.real(1.0), lanes.real(1.0))
        if ti.abs(u.y) > ti.abs(u.x) and ti.abs(u.y) > ti.abs(u.z):
            other = Vec3(lanes.real(1.0), lanes.real(0.0), lanes.real(1.0))
        if ti.abs(u.z) > ti.abs(u.x) and ti.abs(u.z) > ti.abs(u.y):
            other = Vec3(lanes.real(1.0), lanes.real(1.0), lanes.real(0.0))
        normal = u.cross(other)
    normal = normal * (1.0 / normal.norm())
    across = normal.cross(u)
    return across * (1.0 / across.norm())


@func
def _around(lanes, a, b, side, sided: ti.i32, radius):
    """Return the tangent points of a path around the circle, (x, y) of both, and the length of its arc; -1: straight.

    The path takes the side on which the angle between a and b is less than half a turn, if the segment from a to b
    meets the circle at all. If the side site is between the points opposite to a and b, it always takes the other side.
    """
    zero = lanes.real(0.0)
    touch, arc = Quat(zero, zero, zero, zero), lanes.real(-1.0)
    square_a, square_b, square = a.dot(a), b.dot(b), radius * radius
    gap = b - a
    length = gap.dot(gap)
    if square_a >= square and square_b >= square and radius >= LEAST and length >= LEAST:
        # Sense of rotation, reversed by a side site on the other side.
        wide = _turn(a, b)
        turn, forced = lanes.real(-1.0), 0
        if wide < 0.0:
            turn = lanes.real(1.0)
        if sided == 1 and _turn(side, b) * wide < 0.0 and _turn(a, side) * wide < 0.0:
            turn, forced = -turn, 1
        # Tangent points of both ends; tangents that cross mean that the path is straight.
        nearest = a + gap * ti.min(ti.max(-gap.dot(a) / length, 0.0), 1.0)
        if forced == 1 or nearest.dot(nearest) <= square:
            on_a = _tangent(lanes, a, square_a, ti.sqrt(square_a - square), radius, turn)
            on_b = _tangent(lanes, b, square_b, ti.sqrt(square_b - square), radius, -turn)
            if forced == 1 or not _cross(a, on_a, b, on_b):
                turned = _turn(on_a, on_b)
                angle = atan2(lanes, ti.abs(turned), on_a.dot(on_b))
                if forced == 1 and turned * turn > 0.0:  # otherwise the angle is 0 up to rounding
                    angle = lanes.constant(6.283185307179586) - angle
                touch, arc = Quat(on_a.x, on_a.y, on_b.x, on_b.y), radius * angle
    return touch, arc


@func
def _turn(v, w):
    """Return the product of the lengths of two plane vectors and the sine of the angle from v to w."""
    return v.x * w.y - v.y * w.x


@func
def _tangent(lanes, p, square, root, radius, turn):
    """Return the point where a tangent from p touches the circle; `root` is the tangent's length."""
    x = (p.x * radius * radius + turn * radius * p.y * root) / square
    y = (p.y * radius * radius - turn * radius * p.x * root) / square
    return Vec3(x, y, lanes.real(0.0))


@func
def _cross(p1, p2, p3, p4):
    """Return True if the segments from p1 to p2 and from p3 to p4 intersect."""
    along, other, apart = p2 - p1, p4 - p3, p1 - p3
    det = other.y * along.x - other.x * along.y
    meet = False
    if ti.abs(det) >= LEAST:
        s = (other.x * apart.y - other.y * apart.x) / det
        t = (along.x * apart.y - along.y * apart.x) / det
        meet = s >= 0.0 and s <= 1.0 and t >= 0.0 and t <= 1.0
    return meet


@func
def _arcsine(lanes, x):
    """Return asin(x)."""
    return atan2(lanes, x, ti.sqrt(ti.max((1.0 - x) * (1.0 + x), 0.0)))


@func
def _inside(lanes, a, b, radius):
    """Return the point, twice, where the path from a to b touches the circle from within, and 0; -1: it is straight."""
    zero = lanes.real(0.0)
    touch, arc = Quat(zero, zero, zero, zero), lanes.real(-1.0)
    far_a, far_b, gap = a.norm(), b.norm(), b - a
    length = gap.dot(gap)
    if far_a > radius and far_b > radius and radius >= LEAST:
        at = lanes.real(-1.0)
        if length > LEAST:
            at = -gap.dot(a) / length
        nearest = a + gap * at
        # a path that crosses the circle stays straight
        if not (at > 0.0 and at < 1.0 and nearest.norm() <= radius):
            # The touching point, towards the midpoint unless Newton's method finds the exact one.
            cosine = (far_a * far_a + far_b * far_b - length) / (2.0 * far_a * far_b)
            if cosine >= LEAST - 1.0:
                arc = zero
                middle = a + b
                on = middle * (radius / ti.max(middle.norm(), LEAST))
                if cosine <= 1.0 - LEAST:
                    sine, found = _newton(lanes, radius / far_a, radius / far_b, cosine)
                    if found == 1:
                        on = _turned(lanes, a, b, radius, sine)
                touch = Quat(on.x, on.y, on.x, on.y)
    return touch, arc


@func
def _turned(lanes, a, b, radius, sine):
    """Return the point of the circle at which the path has an angle of this sine with the normal of the circle."""
    start = b
    if a.x * b.y - a.y * b.x > 0.0:
        start = a
    far = start.norm()
    s, c = sincos(lanes, _arcsine(lanes, sine) - _arcsine(lanes, sine * radius / far))
    scale = radius / far
    return Vec3((c * start.x - s * start.y) * scale, (s * start.x + c * start.y) * scale, lanes.real(0.0))


@func
def _newton(lanes, near_a, near_b, cosine):
    """Return the root z of asin(near_a z) + asin(near_b z) - 2 asin(z) + acos(cosine), and 1 if it was found.

    z is the sine of the angle between the path and the normal of the circle where they touch; near_a and near_b are the
    radius divided by the distances of both ends from the centre.
    """
    angle = atan2(lanes, ti.sqrt(ti.max((1.0 - cosine) * (1.0 + cosine), 0.0)), cosine)
    z = lanes.real(1.0) - lanes.constant(NEAR_ONE)
    close = lanes.real(lanes.constant(CLOSE))
    value = lanes.real(0.0)
    found, done, k, late = 0, 0, 0, 0
    # From near 1 downwards, until the function counts as zero; then LAST more steps.
    while done == 0:
        value = _arcsine(lanes, near_a * z) + _arcsine(lanes, near_b * z) - 2.0 * _arcsine(lanes, z) + angle
        slope = _slope(near_a, z) + _slope(near_b, z) - 2.0 * _slope(lanes.real(1.0), z)
        if late == 0 and ti.abs(value) <= close and (k > 0 or value <= 0.0):
            late = 1
        if k == 0 and value > 0.0:
            z = _grazing(lanes, near_a, near_b, angle)
            found, done = 1, 1
        elif late >= 1:
            z = ti.min(z - value / slope, 1.0)
            found, done = 1, ti.cast(late > LAST, ti.i32)
            late += 1
        elif value > 0.0 or k >= STEPS or slope > -LEAST:
            done = 1
        else:
            z -= value / slope
        k += 1
    return z, found


@func
def _grazing(lanes, near_a, near_b, angle):
    """Return the root of `_newton` that is nearer to 1 than its start: a path that almost misses the circle.

    The unknown is the angle between the path and the circle, whose cosine is z. The function rises from below zero and
    is concave, so no step from 0 exceeds the root.
    """
    graze = lanes.real(0.0)
    rest = angle - lanes.real(lanes.constant(math.pi))
    for _ in range(GRAZING):
        s, c = sincos(lanes, graze)
        value = _arcsine(lanes, near_a * c) + _arcsine(lanes, near_b * c) + 2.0 * graze + rest
        slope = 2.0 - s * (_slope(near_a, c) + _slope(near_b, c))
        if slope > LEAST:
            graze -= value / slope
    _, cosine = sincos(lanes, graze)
    return cosine


@func
def _slope(near, z):
    """Return the derivative of asin(near z) by z."""
    return near / ti.max(LEAST, ti.sqrt(ti.max(1.0 - z * z * near * near, 0.0)))
