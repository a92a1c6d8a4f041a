"""Several contacts of two convex shapes: a flat side of one touches a flat side or an edge of the other.

MuJoCo 4 creates them if both sides are parallel within about 5 degrees. The corners of one side, clipped by the edges
of the other (Sutherland, Hodgman: Reentrant polygon clipping, 1974), are the contacts, at most four of them, all with
one normal. A cylinder's end counts as a polygon of sixteen corners, its side and a capsule's as the edge that touches;
spheres and ellipsoids have no flat sides. The rules were inferred from MuJoCo's contacts, and from its public sources.

Polygons are clockwise seen from outside. Rows of `ccd_polygon`: the clipping face, then two buffers for the clipped
polygon.
"""

import taichi as ti

from ....base.math import func
from ....base.shapes import CAPSULE
from ....base.shapes.common import FACING
from ..closed_forms.primitives import zero_vector
from ..contact_point import ContactPoint
from ..explicit_pairs import detection_distance
from ..poses import root_of
from ..work_list import put_point
from .flat_sides import ALONG, FACES, edge_along, feature, lay_out, list_faces

MOST = 4  # contacts
INSIDE = 1e-15
"""Metres: corners outside by less are not clipped."""
SEPARATE, EDGE1, EDGE2 = 0, 2, 3
"""The features that touch, beside FACES: no flat side; an edge of geom 1 and a face; a face and an edge of geom 2."""


@func
def put_flat_contacts(model, one, g1: ti.i32, g2: ti.i32, corners: ti.i32, normal):
    """Store the contacts of flat sides at the face of the polytope with these corners; return their number, 0: none.

    `normal` is the contact normal there.
    """
    # Two faces that are parallel, or a face and an edge.
    number1, number2 = list_faces(model, one, g1, g2, corners, normal)
    meeting, face1, face2 = _facing(model, one, number1, number2)
    size1, _, _ = feature(one, 0, corners)
    size2, _, _ = feature(one, 1, corners)
    facing = True
    swell = one.ccd_lanes.real(0.0)
    if model.geom_type[g1] == CAPSULE:  # MuJoCo clips it with half the detection distance around it
        swell = 0.5 * detection_distance(model, g1, g2)
    # If no faces are: an edge of the geom that has fewer corners there, then one of the other.
    first = ti.select(size1 < 3 and size1 <= size2, 0, 1)
    for trial in range(2):
        side = ti.select(trial == 0, first, 1 - first)
        if meeting == SEPARATE:
            g, number, outward = g1, number2, normal.copy()
            if side == 1:
                g, number, outward = g2, number1, -normal
            face = edge_along(model, one, g, side, corners, number, outward, swell)
            if face >= 0:
                meeting, face1, face2 = ti.select(side == 0, EDGE1, EDGE2), face, face
                facing = one.ccd_flat[(1 - side) * model.nccdflat + face].dot(outward) < -ALONG
    found = 0
    if meeting != SEPARATE and facing:  # the side faces the other shape
        # Clip the face or edge, drop corners beyond the detection distance, and keep at most four.
        n1, n2 = one.ccd_flat[face1], one.ccd_flat[model.nccdflat + face2]
        cutter, plane, up = 0, n1.copy(), -n2
        if meeting == EDGE1:
            cutter, plane = 1, n2.copy()
        elif meeting == EDGE2:
            up = n1.copy()
        sides, count = lay_out(model, one, g1, g2, face1, face2, cutter, meeting)
        row, left = _cut(model, one, sides, count, plane)
        left = _within_reach(model, one, g1, g2, row, left, plane, up, swell)
        if left > MOST:
            _keep_largest(one, row, left)
            left = MOST
        elif count == 2 and left > 2:
            _keep_ends(one, row, left)
            left = 2
        for k in range(left):
            _put_corner(model, one, g1, g2, row + k, k, plane, up, swell, cutter)
        found = left
    return found


@func
def _facing(model, one, number1: ti.i32, number2: ti.i32):
    """Return the two faces of both geoms that are the most antiparallel, if any are; the first such pair."""
    meeting, face1, face2 = SEPARATE, 0, 0
    least = ti.cast(-FACING, one.ccd_lanes.dtype)
    for i in range(number1):
        for j in range(number2):
            cosine = one.ccd_flat[i].dot(one.ccd_flat[model.nccdflat + j])
            if cosine < least:
                least, meeting, face1, face2 = cosine, FACES, i, j
    return meeting, face1, face2


@func
def _cut(model, one, sides: ti.i32, count: ti.i32, plane):
    """Clip the polygon to the area above the clipping face; return its first row and its number of corners."""
    first, left = model.nccdcorner, count
    # One edge of the clipping face after the other, from one buffer to the other.
    for side in range(sides):
        a = one.ccd_polygon[side]
        inward = (one.ccd_polygon[ti.select(side + 1 < sides, side + 1, 0)] - a).cross(plane)
        inward = inward * (1.0 / ti.max(inward.norm(), 1e-30))
        to, n = 4 * model.nccdcorner - first, 0
        for k in range(left):
            p, q = one.ccd_polygon[first + k], one.ccd_polygon[first + ti.select(k + 1 < left, k + 1, 0)]
            height_p, height_q = (p - a).dot(inward), (q - a).dot(inward)
            inside_p, inside_q = height_p > -INSIDE, height_q > -INSIDE
            if inside_p != inside_q and n < 2 * model.nccdcorner:
                t = ti.min(ti.max(height_p / (height_p - height_q), 0.0), 1.0)
                one.ccd_polygon.put(to + n, p + (q - p) * t)
                n += 1
            if inside_q and n < 2 * model.nccdcorner:
                one.ccd_polygon.put(to + n, q)
                n += 1
        first, left = to, n
    return first, left


@func
def _distance(one, row: ti.i32, plane, up, swell):
    """Return the distance along the contact normal from the clipping face to the plane of the corner in a row."""
    return (one.ccd_polygon[row] - one.ccd_polygon[0]).dot(plane) * ti.abs(plane.dot(up)) + swell


@func
def _within_reach(model, one, g1: ti.i32, g2: ti.i32, first: ti.i32, count: ti.i32, plane, up, swell):
    """Keep only the corners within the detection distance; return their number."""
    left = 0
    for k in range(count):
        if _distance(one, first + k, plane, up, swell) <= detection_distance(model, g1, g2):
            one.ccd_polygon.put(first + left, one.ccd_polygon[first + k])
            left += 1
    return left


@func
def _area(one, first: ti.i32, a: ti.i32, b: ti.i32, c: ti.i32, d: ti.i32):
    """Return twice the area of the quadrilateral of four corners."""
    across1 = one.ccd_polygon[first + a] - one.ccd_polygon[first + c]
    across2 = one.ccd_polygon[first + b] - one.ccd_polygon[first + d]
    return across1.cross(across2).norm()


@func
def _keep_largest(one, first: ti.i32, n: ti.i32):
    """Keep the four corners that enclose the largest area, by MuJoCo's search.

    Four pointers advance around the polygon in turn while the area grows (Snoeyink's variant of rotating calipers).
    """
    best = ti.Vector([0, 1, 2, 3])
    b, c, d = 1, 2, 3
    largest = _area(one, first, 0, 1, 2, 3)
    for a in range(n):
        step = 0  # 0: d advances once, a is done if that does not help; 1: c, 2: b, while it helps; d again
        while step < 3:
            nb, nc, nd = b, c, d
            if step == 0:
                nd = (d + 1) % n
            elif step == 1:
                nc = (c + 1) % n
            else:
                nb = (b + 1) % n
            area = _area(one, first, a, nb, nc, nd)
            if area > largest:
                largest = area
                b, c, d = nb, nc, nd
                best = ti.Vector([a, b, c, d])
                if step == 0:
                    step = 4
            elif step == 0:
                step = 3
            else:
                step += 1
                if step == 3:
                    step = 0
            if step == 4:
                step = 1
        # The next a: pointers stay apart.
        if b == a:
            b = (b + 1) % n
            if c == b:
                c = (c + 1) % n
                if d == c:
                    d = (d + 1) % n
    w, x, y, z = (
        one.ccd_polygon[first + best[0]],
        one.ccd_polygon[first + best[1]],
        one.ccd_polygon[first + best[2]],
        one.ccd_polygon[first + best[3]],
    )
    one.ccd_polygon.put(first, w)
    one.ccd_polygon.put(first + 1, x)
    one.ccd_polygon.put(first + 2, y)
    one.ccd_polygon.put(first + 3, z)


@func
def _keep_ends(one, first: ti.i32, n: ti.i32):
    """Keep the two corners of a clipped edge that are farthest apart."""
    begin, end, farthest = 0, 1, one.ccd_lanes.real(0.0)
    for i in range(n):
        for j in range(i + 1, n):
            apart = one.ccd_polygon[first + j] - one.ccd_polygon[first + i]
            if apart.dot(apart) > farthest:
                begin, end, farthest = i, j, apart.dot(apart)
    p, q = one.ccd_polygon[first + begin], one.ccd_polygon[first + end]
    one.ccd_polygon.put(first, p)
    one.ccd_polygon.put(first + 1, q)


@func
def _put_corner(model, one, g1: ti.i32, g2: ti.i32, row: ti.i32, k: ti.i32, plane, up, swell, cutter: ti.i32):
    """Store point k of the pair for the corner in a row; `up` is the contact normal."""
    lanes = one.ccd_lanes
    corner, dist = one.ccd_polygon[row], _distance(one, row, plane, up, swell)
    height = (corner - one.ccd_polygon[0]).dot(plane)
    middle = corner - plane * height + up * (dist * 0.5)  # on the face, then half the distance along up
    if cutter == 1:  # the corner is geom 1's
        middle = corner + up * (dist * 0.5 - swell)
    pos = root_of(model, one, g1) + one.geom_offset[g1] + one.precise_lanes.cast(middle)
    put_point(one, k, ContactPoint(dist, pos, up, zero_vector(lanes)), lanes.real(1.0))
