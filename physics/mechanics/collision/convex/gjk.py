"""Distance of two convex shapes: the distance of their Minkowski difference from the origin.

Gilbert, Johnson, Keerthi: A fast procedure for computing the distance between complex objects in three-dimensional
space (1988). A simplex of up to four corners of the difference, in the first rows of `ccd_point`, approaches the
origin. The nearest point of a triangle is Ericson's (Real-Time Collision Detection, 2005, section 5.1.5).
"""

from typing import Any

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.lanes import LaneValue, let, traced
from ..closed_forms.primitives import zero_vector

THIN = 1e-20
"""The squared sine below which a simplex has no volume, and so cannot contain the origin."""
NOISE = 1e-8
"""The sine below which a triangle has no area: rounding of coordinates would decide where on it a point is.

It is about the square root of the precision: the normal of a triangle of relative width w has an error of the
precision divided by w, which moves the projection of a point above it, and that must be less than w.
"""
NO_AREA = 1e-290
"""The lower bound of denominators in a triangle, whose corners may coincide."""
DISTANCE, FILL, DEPTH, FOUND, NOTHING = range(5)
"""Phases: search the distance; add corners that the simplex lacks; search the depth; the ends: a contact, none."""


class Search(LaneValue):
    """The state of the search for a contact of two shapes.

    Attributes:
        near: point of the simplex nearest to the origin.
        square: its squared length.
        phase: one of DISTANCE, FILL, ...
        trips: support points computed in this phase.
        kept: number of corners of the simplex.
        turned: 1: a missing corner was searched in one direction without success, and is now searched in the opposite
            one.
        filled: 1: the last corner of the simplex was missing.
        grown: 1: geoms are enlarged by their radii and half the margin each (`convex`).
        points: number of corners of the polytope.
        faces: number of its faces.
        chosen: its face nearest to the origin.
        warm: 1: `near` is the axis that last separated the shapes.
        depth: least extent of the difference found in any direction: an upper bound of the depth.
    """

    def __init__(self, near: Vec3, square: Any, depth: Any, *counts: Any) -> None:
        self.near, self.square, self.depth = near.copy(), let(square), let(depth)
        self.phase, self.trips, self.kept, self.turned, self.filled = map(let, counts[:5])
        self.points, self.faces, self.chosen, self.warm, self.grown = map(let, counts[5:])

    def parts(self) -> tuple:
        """Return the components."""
        counts = self.phase, self.trips, self.kept, self.turned, self.filled
        return self.near, self.square, self.depth, *counts, self.points, self.faces, self.chosen, self.warm, self.grown


@traced
def start_search(lanes: Any, toward: Vec3) -> Search:
    """Return a search that starts from `toward`, a point inside the difference of the shapes."""
    square = let(toward.dot(toward))
    near = toward.select(square > lanes.constant(NO_AREA), Vec3(lanes.real(1.0), lanes.real(0.0), lanes.real(0.0)))
    return Search(near, lanes.real(1e30), lanes.real(1e30), *[0] * 10)


@traced
def _normal(lanes: Any, a: Vec3, b: Vec3, c: Vec3) -> tuple:
    """Return the normal of a triangle, twice its area long; the product of its shorter sides' squared lengths; a point.

    The cross product of any two sides is the normal; that of the two shorter ones is the most exact. The point is on
    the line of the longest side, nearest to the origin: there an error of the normal's direction has the least effect.
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
    """Return the normal of `_normal`, for kernels."""
    return _normal(lanes, a, b, c)


@traced
def nearest_on_triangle(lanes: Any, a: Vec3, b: Vec3, c: Vec3) -> tuple:
    """Return the barycentric weights of the point of a triangle nearest to the origin, and the point; without branches.

    Triangles whose area is only rounding error count as segments or points; `b` and `c` may be one corner. Areas are
    computed along the normal, relative to the projection of the origin on the plane: relative to the origin itself, the
    rounding of a narrow triangle's normal would appear in the weights.
    """
    # Ericson's projections of the corners on the sides.
    zero, one = lanes.real(0.0), lanes.real(1.0)
    ab, ac = b - a, c - a
    d1, d2 = let(-ab.dot(a)), let(-ac.dot(a))
    d3, d4 = let(-ab.dot(b)), let(-ac.dot(b))
    d5, d6 = let(-ab.dot(c)), let(-ac.dot(c))
    # Normal, zero for a triangle without area; `below` is the projection of the origin on the plane.
    bc, least = c - b, lanes.constant(NO_AREA)
    spread = let(ti.max(ab.dot(ab), ac.dot(ac), bc.dot(bc)) * (a.dot(a) + b.dot(b) + c.dot(c)))
    normal, _, foot = _normal(lanes, a, b, c)
    flat = let(normal.dot(normal) < NOISE**2 * spread)
    normal = Vec3(zero, zero, zero).select(flat, normal)
    square = let(ti.max(normal.dot(normal), least))
    below = Vec3(zero, zero, zero) + normal * let(normal.dot(foot) / square)
    # Signed areas of the three parts around that projection.
    a0, b0, c0 = a - below, b - below, c - below
    va, vb, vc = let(normal.dot(b0.cross(c0))), let(normal.dot(c0.cross(a0))), let(normal.dot(a0.cross(b0)))
    wb, wc = let(vb / square), let(vc / square)
    # The region of the nearest point: the face, an edge or a corner.
    e1, e2 = let(d4 - d3), let(d5 - d6)
    t = let(e1 / ti.max(e1 + e2, least))
    along = let(ti.min(ti.max(d1 / ti.max(ab.dot(ab), least), 0.0), 1.0))
    rules = (  # a later rule overrides an earlier one
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
    inside = let((va > 0.0) & (vb > 0.0) & (vc > 0.0))  # on an edge a weight may be 0 up to rounding
    point = below.select(inside, a * wa + b * wb + c * wc)
    return wa, wb, wc, point


@func
def put_corner(one, k: ti.i32, point, on1, mark1: ti.i32, mark2: ti.i32):
    """Store corner k of the simplex or polytope."""
    one.ccd_point.put(k, point)
    one.ccd_on1.put(k, on1)
    one.ccd_mark1[k] = mark1
    one.ccd_mark2[k] = mark2


@func
def move_corner(one, to: ti.i32, k: ti.i32):
    """Copy corner k to index `to`."""
    put_corner(one, to, one.ccd_point[k], one.ccd_on1[k], one.ccd_mark1[k], one.ccd_mark2[k])


@func
def is_corner(one, kept: ti.i32, point, same):
    """Return 1 if a corner of the simplex is at most `same` from this point, else 0."""
    found = 0
    for k in range(kept):
        apart = one.ccd_point[k] - point
        if apart.dot(apart) <= same * same:
            found = 1
    return found


@func
def refine(one, search):
    """Reduce the simplex of corners 0 to kept - 1 and the new corner 3 to the corners that support its nearest point.

    Sets `search.near`, `search.square` and `search.kept`. Returns 1 if the origin is inside, and all four stay; else 0.
    """
    lanes = one.ccd_lanes
    w = one.ccd_point[3]
    best, near = lanes.real(1e30), zero_vector(lanes)
    weight_w, weight_i, weight_j = lanes.real(1.0), lanes.real(1.0), lanes.real(1.0)
    # Faces with the new corner: one triangle, or three sides of a tetrahedron.
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
        # The nearest point of all faces, and its weights.
        if behind == 0:
            inside = 0
            k0, k1, k2, u = nearest_on_triangle(lanes, w, p, q)
            square = u.dot(u)
            if square < best:
                best, near = square, u.copy()
                weight_w, weight_i, weight_j, corner_i, corner_j = k0, k1, k2, i, j
    if inside == 0 and best < search.square:  # if not, rounding would increase the distance: keep the last point
        search.near, search.square = near, best
        stays_i, stays_j = ti.select(weight_i > 0.0, corner_i, -1), ti.select(weight_j > 0.0, corner_j, -1)
        _keep(one, search, stays_i, stays_j, ti.select(weight_w > 0.0, 3, -1))
    return inside


@func
def _keep(one, search, i: ti.i32, j: ti.i32, newest: ti.i32):
    """Keep corners i and j and the newest one in the simplex; -1: none."""
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
    """Return a unit vector along which a simplex of fewer than four corners has no extent."""
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
