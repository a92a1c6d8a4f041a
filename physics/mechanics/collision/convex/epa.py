"""Depth of two overlapping convex shapes: the distance of the origin from the surface of their Minkowski difference.

van den Bergen: Proximity queries and penetration depth computation on 3D game objects (2001). A polytope inside the
difference is expanded at its face nearest to the origin. Its faces are in the first rows of `ccd_normal`, `ccd_height`
and `ccd_corners`, in any order. The horizon, which encloses the faces visible from a new corner, consists of their
directed edges whose reverse is not among them.

Distances of faces are signed, so an origin that is slightly outside does no harm.
"""

import taichi as ti

from ....base.math import func
from ..closed_forms.primitives import zero_vector
from .gjk import NO_AREA, nearest_on_triangle, triangle_normal

FAR = 1e30  # height of a face without area, which is never the nearest
CORNER_BITS = 10
"""Bits of a corner: the three corners of a face are one integer, and the two of an edge."""
MOST_CORNERS = 1 << CORNER_BITS
"""The number of corners that fit in these bits."""
GONE = -1  # ccd_corners of a removed face
SLIVER = 1e-9
"""The sine between two edges of a face below which it has no normal."""


@func
def _add_face(one, f: ti.i32, i: ti.i32, j: ti.i32, k: ti.i32):
    """Store face f with corners i, j and k, counterclockwise seen from outside."""
    p, q, r = one.ccd_point[i], one.ccd_point[j], one.ccd_point[k]
    normal, sides, foot = triangle_normal(one.ccd_lanes, p, q, r)
    square = normal.dot(normal)
    height = one.ccd_lanes.real(FAR)
    if square > SLIVER**2 * sides:
        normal = normal * (1.0 / ti.sqrt(ti.max(square, one.ccd_lanes.constant(NO_AREA))))
        height = normal.dot(foot)
    one.ccd_corners[f] = i | (j << CORNER_BITS) | (k << (2 * CORNER_BITS))
    one.ccd_normal.put(f, normal)
    one.ccd_height.put(f, height)


@func
def start_polytope(one, search):
    """Make four faces, directed outward, from the simplex of corners 0 to 3.

    The first corner of a face is that of MuJoCo's face, since it decides where an edge of a cylinder is: 0, or 3 if 3
    was the missing corner of the simplex.
    """
    a, b, c, d = one.ccd_point[0], one.ccd_point[1], one.ccd_point[2], one.ccd_point[3]
    # Order of the corners 1 and 2, so that faces are counterclockwise seen from outside.
    i, j = 1, 2
    if (b - a).cross(c - a).dot(d - a) > 0.0:
        i, j = 2, 1
    for f in range(4):
        p, q, r = 0, i, j
        if f == 1:
            p, q, r = 0, j, 3
        elif f == 2:
            p, q, r = 0, 3, i
        elif f == 3:
            p, q, r = 3, j, i
        # Faces 1 and 2 start with corner 3 if that was the missing one.
        if search.filled == 1 and f == 1:
            p, q, r = 3, 0, j
        elif search.filled == 1 and f == 2:
            p, q, r = 3, i, 0
        _add_face(one, f, p, q, r)
    search.points, search.faces = 4, 4


@func
def nearest_face(one, faces: ti.i32):
    """Return the face nearest to the origin, the first of several."""
    best, low = 0, one.ccd_lanes.real(FAR)
    for f in range(faces):
        height = one.ccd_height[f]
        if height < low:
            best, low = f, height
    return best


@func
def _add_edge(one, edges: ti.i32, i: ti.i32, j: ti.i32):
    """Add a directed edge to the horizon, or remove its reverse if that is there; return the new number of edges."""
    back, found = j | (i << CORNER_BITS), -1
    for k in range(edges):
        if one.ccd_edge[k] == back:
            found = k
    left = edges + 1
    if found >= 0:
        left = edges - 1
        one.ccd_edge[found] = one.ccd_edge[left]
    else:
        one.ccd_edge[edges] = i | (j << CORNER_BITS)
    return left


@func
def _edge(corners: ti.i32, s: ti.i32):
    """Return both ends of edge s of the face with these corners."""
    i = (corners >> (CORNER_BITS * s)) & (MOST_CORNERS - 1)
    j = (corners >> (CORNER_BITS * ti.select(s == 2, 0, s + 1))) & (MOST_CORNERS - 1)
    return i, j


@func
def _take_face(one, f: ti.i32, edges: ti.i32):
    """Remove face f, and add its edges to the horizon; return the new number of edges."""
    corners, left = one.ccd_corners[f], edges
    for s in range(3):
        i, j = _edge(corners, s)
        left = _add_edge(one, left, i, j)
    one.ccd_corners[f] = GONE
    return left


@func
def _at_horizon(one, corners: ti.i32, edges: ti.i32):
    """Return 1 if the reverse of one of a face's edges is in the horizon, else 0."""
    found = 0
    for s in range(3):
        i, j = _edge(corners, s)
        for k in range(edges):
            if one.ccd_edge[k] == j | (i << CORNER_BITS):
                found = 1
    return found


@func
def _take_seen(one, search, w, seen):
    """Remove the faces visible from w (higher than `seen` above their plane), and faces without area next to them.

    Starts at the chosen face and takes only faces connected to it, whatever rounding says of others. Returns the number
    of edges of the horizon and of entries of `ccd_seen`.
    """
    # Candidates: faces visible from w, and faces without area.
    count = 0
    for f in range(search.faces):
        height = one.ccd_height[f]
        if height == FAR or one.ccd_normal[f].dot(w) - height > seen:
            one.ccd_seen[count] = f
            count += 1
    # Remove the chosen face, then candidates next to removed ones until no candidate is left.
    edges = _take_face(one, search.chosen, 0)
    more = 1
    while more == 1:
        more = 0
        for c in range(count):
            f = one.ccd_seen[c]
            corners = one.ccd_corners[f]
            if corners != GONE and _at_horizon(one, corners, edges) == 1:
                edges = _take_face(one, f, edges)
                more = 1
    return edges, count


@func
def expand(model, one, search, seen):
    """Add corner `search.points` to the polytope: faces to the horizon replace the faces that are visible from it.

    Returns 0 if there is no room for the new faces.
    """
    new = search.points
    edges, count = _take_seen(one, search, one.ccd_point[new], seen)
    faces = search.faces
    for c in range(count):  # fill gaps with the last faces, in descending order so that these are not removed ones
        f = one.ccd_seen[count - 1 - c]
        if one.ccd_corners[f] == GONE:
            faces -= 1
            one.ccd_corners[f] = one.ccd_corners[faces]
            one.ccd_normal.put(f, one.ccd_normal[faces])
            one.ccd_height.put(f, one.ccd_height[faces])
    # New faces between the corner and the edges of the horizon.
    grown = 0
    if faces + edges < model.nccdface:  # the last entry is used by `keep_shallowest`
        grown = 1
        for k in range(edges):
            edge = one.ccd_edge[k]
            _add_face(one, faces + k, new, edge & (MOST_CORNERS - 1), edge >> CORNER_BITS)
        search.points, search.faces = new + 1, faces + edges
    return grown


@func
def keep_shallowest(model, one, search, height):
    """Store the chosen face if the plane of its new corner is nearer to the origin than any before."""
    if height < search.depth:
        search.depth = height
        last = model.nccdface - 1
        one.ccd_corners[last] = one.ccd_corners[search.chosen]
        one.ccd_normal.put(last, one.ccd_normal[search.chosen])


@func
def take_shallowest(model, one, search):
    """Make the stored face the only one, at the height of its new corner, which is an upper bound of the depth.

    If a polytope is full, or rounding has inverted some of its faces, the height of its nearest face is not a bound.
    """
    last = model.nccdface - 1
    one.ccd_corners[0] = one.ccd_corners[last]
    one.ccd_normal.put(0, one.ccd_normal[last])
    one.ccd_height.put(0, search.depth)
    search.faces, search.chosen = 1, 0


@func
def touching_face(one, search, slack):
    """Return the face whose triangle, not plane, is nearest to the origin, its nearest point, and the point of geom 1.

    Where flat sides touch, several faces are in one plane, and the origin is above one of them; by rounding of normals
    another one may have the lowest plane, `search.chosen`. The normal remains that of `search.chosen`: only for this
    face is it proven that its height separates the shapes.
    """
    lanes = one.ccd_lanes
    best, found = lanes.real(FAR), search.chosen
    near, on1 = zero_vector(lanes), zero_vector(lanes)
    # All faces whose plane is near enough; the chosen face first.
    for turn in range(search.faces + 1):
        f = ti.select(turn == 0, search.chosen, turn - 1)  # the first distance bounds the others
        again = turn > 0 and f == search.chosen
        if not again and one.ccd_height[f] <= ti.sqrt(best) + slack:
            corners = one.ccd_corners[f]
            i, j = corners & (MOST_CORNERS - 1), (corners >> CORNER_BITS) & (MOST_CORNERS - 1)
            k = corners >> (2 * CORNER_BITS)
            k0, k1, k2, u = nearest_on_triangle(lanes, one.ccd_point[i], one.ccd_point[j], one.ccd_point[k])
            square = u.dot(u)
            if square < best:
                best, found, near = square, f, u.copy()
                on1 = one.ccd_on1[i] * k0 + one.ccd_on1[j] * k1 + one.ccd_on1[k] * k2
    return found, near, on1


@func
def simplex_as_face(one, search):
    """Store the simplex of GJK as the only face of a polytope, with minus its distance from the origin as height."""
    length = ti.sqrt(search.square)
    j, k = ti.min(search.kept - 1, 1), ti.min(search.kept - 1, 2)
    one.ccd_corners[0] = (j << CORNER_BITS) | (k << (2 * CORNER_BITS))
    one.ccd_normal.put(0, search.near * (-1.0 / ti.max(length, one.ccd_lanes.constant(NO_AREA))))
    one.ccd_height.put(0, -length)
    search.faces, search.chosen = 1, 0
