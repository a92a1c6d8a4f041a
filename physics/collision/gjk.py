"""Distance of two convex shapes: how near their difference comes to the origin.

Gilbert, Johnson, Keerthi: A fast procedure for computing the distance between complex objects in three-dimensional
space (1988). A simplex of up to four corners of the difference, in the first rows of `ccd_point`, moves towards the
origin. The nearest point of a triangle is Ericson's (Real-Time Collision Detection, 2005, section 5.1.5).
"""

from typing import Any

import taichi as ti
from taichi.lang.impl import expr_init

from ..math import Vec3, func
from ..math.lanes import LaneValue, let, traced
from .primitives import zero_vector

THIN = 1e-20
"""Squared sine below which a simplex has no volume: it holds nothing."""
NOISE = 1e-8
"""Sine below which a triangle has no area: rounding of coordinates would say where on it a point is.

About the root of the precision: the normal of a triangle as narrow as w is off by the precision over w, which moves the
foot of a point above it, and that must be less than w.
"""
NO_AREA = 1e-290
"""Least of what is divided by in a triangle: its corners may fall together."""
DISTANCE, FILL, DEPTH, FOUND, NOTHING = range(5)
"""Phases: the distance is sought; the simplex gets the corners that it lacks; the depth is sought; the ends."""


class Search(LaneValue):
    """How far the search for a contact of two shapes has come.

    Attributes:
        near: nearest point of the simplex to the origin.
        square: its squared length.
        phase: one of DISTANCE, FILL, ...
        trips: support points in this phase.
        kept: corners of the simplex.
        turned: 1: a missing corner was sought on one side in vain.
        filled: 1: the last corner of the simplex was missing.
        grown: 1: the geoms have grown by their radii and half the margin each (`collision.grown`).
        points: corners of the polytope.
        faces: its faces.
        chosen: its face that is nearest to the origin.
        warm: 1: `near` is the axis that parted the shapes before.
        depth: least that the shapes were found to reach across a direction, so that they are no deeper.
    """

    def __init__(self, near: Vec3, square: Any, depth: Any, *counts: Any) -> None:
        self.near, self.square, self.depth = near.copy(), expr_init(square), expr_init(depth)
        self.phase, self.trips, self.kept, self.turned, self.filled = map(expr_init, counts[:5])
        self.points, self.faces, self.chosen, self.warm, self.grown = map(expr_init, counts[5:])

    def parts(self) -> tuple:
        """The components."""
        counts = self.phase, self.trips, self.kept, self.turned, self.filled
        return self.near, self.square, self.depth, *counts, self.points, self.faces, self.chosen, self.warm, self.grown


@traced
def start_search(lanes: Any, toward: Vec3) -> Search:
    """From the point `toward`, which the difference of the shapes has inside."""
    square = let(toward.dot(toward))
    near = toward.select(square > lanes.constant(NO_AREA), Vec3(lanes.real(1.0), lanes.real(0.0), lanes.real(0.0)))
    return Search(near, lanes.real(1e30), lanes.real(1e30), *[0] * 10)


@traced
def _normal(lanes: Any, a: Vec3, b: Vec3, c: Vec3) -> tuple:
    """Normal of a triangle, as long as twice its area; product of its shorter sides' squared lengths; a point.

    The product of any two sides is the normal; that of the short ones is exact. The point is on the line of the long
    side, where that is nearest to the origin: there an error of the normal's direction does least.
    """
    ab, ac, bc = b - a, c - a, c - b
    x, y, z = let(ab.dot(ab)), let(ac.dot(ac)), let(bc.dot(bc))
    long_ac, long_ab = let((y >= z) & (y >= x)), let((x >= z) & (x > y))
    first, second = ac.select(long_ab, ab), bc.select(long_ac | long_ab, ac)
    sides = let(ti.select(long_ab, y, x) * ti.select(long_ac | long_ab, z, y))
    long = bc.select(z >= ti.max(x, y), ac.select(y >= x, ab))
    corner = b.select(z >= ti.max(x, y), a)
    foot = corner - long * (long.dot(corner) / ti.max(long.dot(long), lanes.constant(NO_AREA)))
    return first.cross(second), sides, foot


@func
def triangle_normal(lanes, a, b, c):
    """As `_normal`, for kernels."""
    return _normal(lanes, a, b, c)


@traced
def nearest_on_triangle(lanes: Any, a: Vec3, b: Vec3, c: Vec3) -> tuple:
    """Weights of the point of a triangle nearest to the origin, and the point; without branches.

    Triangles without area, but for rounding, count as segments or points; `b` and `c` may be one corner. Areas are
    taken along the normal, and from the origin's foot on their plane: from the origin itself, the rounding of a narrow
    triangle's normal would show in the weights.
    """
    zero, one = lanes.real(0.0), lanes.real(1.0)
    ab, ac = b - a, c - a
    d1, d2 = let(-ab.dot(a)), let(-ac.dot(a))
    d3, d4 = let(-ab.dot(b)), let(-ac.dot(b))
    d5, d6 = let(-ab.dot(c)), let(-ac.dot(c))
    bc, least = c - b, lanes.constant(NO_AREA)
    spread = let(ti.max(ab.dot(ab), ac.dot(ac), bc.dot(bc)) * (a.dot(a) + b.dot(b) + c.dot(c)))
    normal, _, foot = _normal(lanes, a, b, c)
    flat = let(normal.dot(normal) < NOISE**2 * spread)
    normal = Vec3(zero, zero, zero).select(flat, normal)
    square = let(ti.max(normal.dot(normal), least))
    below = Vec3(zero, zero, zero) + normal * let(normal.dot(foot) / square)
    a0, b0, c0 = a - below, b - below, c - below
    va, vb, vc = let(normal.dot(b0.cross(c0))), let(normal.dot(c0.cross(a0))), let(normal.dot(a0.cross(b0)))
    wb, wc = let(vb / square), let(vc / square)
    e1, e2 = let(d4 - d3), let(d5 - d6)
    t = let(e1 / ti.max(e1 + e2, least))
    along = let(ti.min(ti.max(d1 / ti.max(ab.dot(ab), least), 0.0), 1.0))
    rules = (  # the later ones go first
        ((va <= 0.0) & (e1 >= 0.0) & (e2 >= 0.0), 1.0 - t, t),
        ((vb <= 0.0) & (d2 >= 0.0) & (d6 <= 0.0), zero, d2 / ti.max(d2 - d6, least)),
        ((d6 >= 0.0) & (d5 <= d6), zero, one),
        ((vc <= 0.0) & (d1 >= 0.0) & (d3 <= 0.0), d1 / ti.max(d1 - d3, least), zero),
        ((d3 >= 0.0) & (d4 <= d3), one, zero),
        ((d1 <= 0.0) & (d2 <= 0.0), zero, zero),
        (bc.dot(bc) == 0.0, along, zero),
    )
    for condition, x, y in rules:
        here = let(condition)
        wb, wc = let(ti.select(here, x, wb)), let(ti.select(here, y, wc))
    wa = let(1.0 - wb - wc)
    inside = let((va > 0.0) & (vb > 0.0) & (vc > 0.0))  # on an edge a weight may be 0 but for rounding
    point = below.select(inside, a * wa + b * wb + c * wc)
    return wa, wb, wc, point


@func
def put_corner(one, k: ti.i32, point, on1, mark1: ti.i32, mark2: ti.i32):
    """Corner k of the simplex or polytope."""
    one.ccd_point.put(k, point)
    one.ccd_on1.put(k, on1)
    one.ccd_mark1[k] = mark1
    one.ccd_mark2[k] = mark2


@func
def move_corner(one, to: ti.i32, k: ti.i32):
    """Corner k to another place."""
    put_corner(one, to, one.ccd_point[k], one.ccd_on1[k], one.ccd_mark1[k], one.ccd_mark2[k])


@func
def is_corner(one, kept: ti.i32, point, same):
    """1: the simplex has a corner already that is no farther than `same` from this one, 0: it does not."""
    found = 0
    for k in range(kept):
        apart = one.ccd_point[k] - point
        if apart.dot(apart) <= same * same:
            found = 1
    return found


@func
def refine(one, search):
    """Corners 0 to kept - 1 and the new one, 3: those that the nearest point needs stay, and search has that point.

    Returns 1 where the origin is inside, and all four stay; else 0.
    """
    lanes = one.ccd_lanes
    w = one.ccd_point[3]
    best, near = lanes.real(1e30), zero_vector(lanes)
    weight_w, weight_i, weight_j = lanes.real(1.0), lanes.real(1.0), lanes.real(1.0)
    corner_i, corner_j = 0, 0
    triangles, inside = 1, 1
    if search.kept == 3:
        triangles = 3
    for i in range(triangles):
        j = ti.select(i + 1 < search.kept, i + 1, 0)
        p, q = one.ccd_point[i], one.ccd_point[j]
        behind = 0  # 1: the origin is on the inner side of this face, so another one is nearer
        if triangles == 3:
            normal, away = (p - w).cross(q - w), w - one.ccd_point[3 - i - j]
            height = normal.dot(away)
            if normal.dot(w) * height > 0.0 and height * height > THIN * normal.dot(normal) * away.dot(away):
                behind = 1
        if behind == 0:
            inside = 0
            k0, k1, k2, u = nearest_on_triangle(lanes, w, p, q)
            square = u.dot(u)
            if square < best:
                best, near = square, u.copy()
                weight_w, weight_i, weight_j, corner_i, corner_j = k0, k1, k2, i, j
    if inside == 0 and best < search.square:  # else rounding would have it go back: what was found stays
        search.near, search.square = near, best
        stays_i, stays_j = ti.select(weight_i > 0.0, corner_i, -1), ti.select(weight_j > 0.0, corner_j, -1)
        _keep(one, search, stays_i, stays_j, ti.select(weight_w > 0.0, 3, -1))
    return inside


@func
def _keep(one, search, i: ti.i32, j: ti.i32, newest: ti.i32):
    """Of the simplex these corners stay; -1: none."""
    low, high = ti.min(i, j), ti.max(i, j)
    left = 0
    for s in range(3):
        k = ti.select(s == 0, low, ti.select(s == 1, high, newest))
        if k >= 0:
            move_corner(one, left, k)
            left += 1
    search.kept = left


@func
def across(one, kept: ti.i32):
    """A direction in which a simplex of fewer than four corners is flat."""
    lanes = one.ccd_lanes
    a = one.ccd_point[0]
    d = Vec3(lanes.real(1.0), lanes.real(0.0), lanes.real(0.0))
    if kept == 2:
        e = one.ccd_point[1] - a
        x, y, z = ti.abs(e.x), ti.abs(e.y), ti.abs(e.z)
        d = Vec3(lanes.real(0.0), e.z, -e.y)
        if y <= x and y <= z:
            d = Vec3(-e.z, lanes.real(0.0), e.x)
        elif z < x:
            d = Vec3(e.y, -e.x, lanes.real(0.0))
    elif kept == 3:
        d = (one.ccd_point[1] - a).cross(one.ccd_point[2] - a)
    return d * (1.0 / ti.max(d.norm(), lanes.constant(NO_AREA)))
