"""Flat sides of convex shapes: the faces and edges that a shape has at its closest point to another shape.

A face of EPA's polytope, or GJK's simplex, is made of one, two or three corners of each geom. By their numbers
(`ccd_mark1`, `ccd_mark2`) the geom's own faces there are found. A cylinder's end counts as a polygon of sixteen
corners, its side and that of a capsule as an edge along the axis; spheres and ellipsoids have neither. Polygons are
clockwise seen from outside.
"""

from math import pi

import taichi as ti

from ..math import Vec3, func
from .epa import CORNER_BITS, MOST_CORNERS
from .primitives import zero_vector
from .support import BOX, CAPSULE, CYLINDER, MESH, SMALLEST, core_radius

FACING = 0.996  # cosine above which faces count as parallel
ALONG = 0.0888  # sine below which an edge counts as parallel to a face
ROUND = 16  # corners of a cylinder's end
FACES = 1
"""The kind of contact (`collision.manifold`) between two faces."""
BOX_FACES = ((7, 3, 1, 5), (2, 6, 4, 0), (2, 3, 7, 6), (4, 5, 1, 0), (6, 7, 5, 4), (3, 2, 0, 1))
"""The corners of a box's faces +x, -x, +y, ...; bit k of a corner is set if it is on the positive side of axis k."""


@func
def has_flats(model, g: ti.i32):
    """Return True if geom g has flat sides or edges."""
    return model.geom_type[g] >= CYLINDER or model.geom_type[g] == CAPSULE


@func
def corner_of(corners: ti.i32, k: ti.i32):
    """Return corner k, 0 to 2, of a face of the polytope."""
    return (corners >> (CORNER_BITS * k)) & (MOST_CORNERS - 1)


@func
def _mark(one, side: ti.i32, corner: ti.i32):
    """Return the number of the geom's own corner at a corner of the polytope; side 0 is geom 1, side 1 geom 2."""
    mark = one.ccd_mark1[corner]
    if side == 1:
        mark = one.ccd_mark2[corner]
    return mark


@func
def feature(one, side: ti.i32, corners: ti.i32):
    """Return what a geom has at a face of the polytope (1: a corner, 2: an edge, 3: a face), and two corners of it."""
    i, j, k = corner_of(corners, 0), corner_of(corners, 1), corner_of(corners, 2)
    a, b, c = _mark(one, side, i), _mark(one, side, j), _mark(one, side, k)
    size = 3
    if a == b:
        size, j = ti.select(a == c, 1, 2), k
    elif c == a or c == b:
        size = 2
    return size, i, j


@func
def _place(one, side: ti.i32, corner: ti.i32):
    """Return the geom's point (m) at a corner of the polytope."""
    point = one.ccd_on1[corner]
    if side == 1:
        point = point - one.ccd_point[corner]
    return point


@func
def place_on(model, one, g: ti.i32, side: ti.i32, mark: ti.i32, point):
    """Return corner `mark` of a geom with flat sides; support found it as `point` on the grown geom.

    For a cylinder it is on the rim of an end, in the direction of the point.
    """
    kind, size, center = model.geom_type[g], model.geom_size[g], one.ccd_frame[4 * side]
    local = zero_vector(one.ccd_lanes)
    # the corner in the geom's frame: by bits, by vertex number, or by end
    if kind == BOX:
        local = Vec3(
            ti.select(mark & 1 == 1, size.x, -size.x),
            ti.select(mark & 2 == 2, size.y, -size.y),
            ti.select(mark & 4 == 4, size.z, -size.z),
        )
    elif kind == MESH:
        local = model.vert_pos[model.geom_vertadr[g] + mark]
    else:
        local.z = ti.select(mark == 1, -size.y, size.y)
        if kind == CYLINDER:
            x, y = one.ccd_frame[4 * side + 1].dot(point - center), one.ccd_frame[4 * side + 2].dot(point - center)
            scale = size.x / ti.sqrt(ti.max(x * x + y * y, SMALLEST))
            local.x, local.y = x * scale, y * scale
    return center + _seen(one, side, local)


@func
def _seen(one, side: ti.i32, local):
    """Return a vector, given in the geom's frame, in world axes."""
    x, y, z = one.ccd_frame[4 * side + 1], one.ccd_frame[4 * side + 2], one.ccd_frame[4 * side + 3]
    return x * local.x + y * local.y + z * local.z


@func
def list_faces(model, one, g1: ti.i32, g2: ti.i32, corners: ti.i32, normal):
    """List in `ccd_flat` the flat faces of both geoms at a face of the polytope; return how many each geom has.

    These are the geom's faces that contain all of its corners at that face of the polytope.
    """
    number1, number2 = 0, 0
    for side in range(2):
        g, outward = g1, normal.copy()
        if side == 1:
            g, outward = g2, -normal
        # what the geom has at the face of the polytope: one, two or three corners a, b, c
        kind, row, n = model.geom_type[g], side * model.nccdflat, 0
        size, i, j = feature(one, side, corners)
        a, b, c = _mark(one, side, i), _mark(one, side, j), _mark(one, side, corner_of(corners, 2))
        local = zero_vector(one.ccd_lanes)
        # its faces that contain them
        if kind == BOX:
            n = _list_box_faces(one, side, row, size, (a, b, c), outward)
        elif kind == CYLINDER and size == 1:
            local.z = ti.select(a == 1, one.ccd_lanes.real(-1.0), one.ccd_lanes.real(1.0))
            one.ccd_flat.put(row, _seen(one, side, local))
            one.ccd_flat_face[row] = a
            n = 1
        elif kind == MESH:
            v = model.geom_vertadr[g]
            for corner in range(model.vert_corneradr[v + a], model.vert_corneradr[v + a] + model.vert_cornernum[v + a]):
                face = model.corner_poly[corner]
                if (size == 1 or _has_face(model, v + b, face) == 1) and (
                    size < 3 or _has_face(model, v + c, face) == 1
                ):
                    one.ccd_flat.put(row + n, _seen(one, side, model.corner_normal[corner]))
                    one.ccd_flat_face[row + n] = face
                    n += 1
        if side == 0:
            number1 = n
        else:
            number2 = n
    return number1, number2


@func
def _has_face(model, v: ti.i32, face: ti.i32):
    """Return 1 if a face of a mesh contains vertex v, else 0."""
    found = 0
    for corner in range(model.vert_corneradr[v], model.vert_corneradr[v] + model.vert_cornernum[v]):
        if model.corner_poly[corner] == face:
            found = 1
    return found


@func
def _list_box_faces(one, side: ti.i32, row: ti.i32, size: ti.i32, marks, outward):
    """List the box's faces that contain all its corners here, or if these determine none, the one facing `outward`."""
    a, b, c = marks[0], marks[1], marks[2]
    # bits of axes on whose positive side all corners are, or on whose negative side
    both, none = a, 7 - a
    if size > 1:
        both, none = both & b, none & (7 - b)
    if size > 2:
        both, none = both & c, none & (7 - c)
    n = 0
    for axis in range(3):
        if ((both | none) >> axis) & 1 == 1:
            _put_box_face(one, side, row + n, axis, (none >> axis) & 1)
            n += 1
    # 3 faces share a corner, 2 an edge; if the corners share another number, take the face that looks outward
    if n != 4 - size:
        n = 0
        for face in range(6):
            if n == 0:
                _put_box_face(one, side, row, face >> 1, face & 1)
                n = ti.select(one.ccd_flat[row].dot(outward) > FACING, 1, 0)
    return n


@func
def _put_box_face(one, side: ti.i32, row: ti.i32, axis: ti.i32, negative: ti.i32):
    """Put normal and number of a box's face into row `row` of the list."""
    one.ccd_flat.put(row, one.ccd_frame[4 * side + 1 + axis] * (1.0 - 2.0 * negative))
    one.ccd_flat_face[row] = 2 * axis + negative


@func
def edge_along(model, one, g: ti.i32, side: ti.i32, corners: ti.i32, number: ti.i32, outward, swell):
    """Return the first listed face of the other geom that an edge of geom g is parallel to, or -1.

    The edge's ends go to `ccd_polygon`. A capsule's edge lies in its surface: `outward` from its axis by its radius
    plus `swell`.
    """
    size, i, j = feature(one, side, corners)
    kind, mark, first = model.geom_type[g], _mark(one, side, i), 0
    # the edges at this feature: of a corner, one per face of the mesh or per axis of a box
    begin = _place(one, side, i)
    trials, found = 1, -1
    if size == 1 and kind == BOX:
        trials = 3
    elif size == 1 and kind == MESH:
        first = model.vert_corneradr[model.geom_vertadr[g] + mark]
        trials = model.vert_cornernum[model.geom_vertadr[g] + mark]
    elif size == 3:
        trials = 0
    # an edge along a face that looks against `outward`
    for face in range(number):
        plane = one.ccd_flat[(1 - side) * model.nccdflat + face]
        if found < 0 and plane.dot(outward) < -1e-15:
            for trial in range(trials):
                end = _edge_end(model, one, g, side, (size, mark, trial, first), begin, _place(one, side, j))
                along = end - begin
                if found < 0 and ti.abs(along.dot(plane)) < ALONG * along.norm():
                    found = face
                    axis = one.ccd_frame[4 * side + 3]
                    shift = (outward - axis * outward.dot(axis)) * (core_radius(model, one, g) + swell)
                    one.ccd_polygon.put(model.nccdcorner, begin + shift)
                    one.ccd_polygon.put(model.nccdcorner + 1, end + shift)
    return found


@func
def _edge_end(model, one, g: ti.i32, side: ti.i32, which, begin, end):
    """Return the other end of a geom's edge that starts at `begin`; `end` is that end if two corners are known."""
    size, mark, trial, first = which[0], which[1], which[2], which[3]
    kind, local, found = model.geom_type[g], zero_vector(one.ccd_lanes), end.copy()
    if kind == CYLINDER or kind == CAPSULE:
        local.z = model.geom_size.at(g, 1) * ti.select(mark == 1, 2.0, -2.0)
        found = begin + _seen(one, side, local)
    elif size == 1 and kind == BOX:
        sign = ti.select((mark >> trial) & 1 == 1, -2.0, 2.0)
        found = begin + one.ccd_frame[4 * side + 1 + trial] * (model.geom_size.at(g, trial) * sign)
    elif size == 1 and kind == MESH:
        other = model.geom_vertadr[g] + model.corner_before[first + trial]
        found = one.ccd_frame[4 * side] + _seen(one, side, model.vert_pos[other])
    return found


@func
def lay_out(model, one, g1: ti.i32, g2: ti.i32, face1: ti.i32, face2: ti.i32, cutter: ti.i32, meeting: ti.i32):
    """Put into `ccd_polygon` the corners of the clipping face, and of the clipped one unless that is an edge.

    Return how many corners each of them has.
    """
    sides, count = 0, 2
    for side in range(2):
        g, face = g1, one.ccd_flat_face[face1]
        if side == 1:
            g, face = g2, one.ccd_flat_face[model.nccdflat + face2]
        # the clipping face, or a clipped face, with its number of corners
        if side == cutter or meeting == FACES:
            row = ti.select(side == cutter, 0, model.nccdcorner)
            number, kind = 4, model.geom_type[g]
            if kind == CYLINDER:
                number = ROUND
            elif kind == MESH:
                number = model.poly_vertnum[face]
            for k in range(number):
                one.ccd_polygon.put(
                    row + k, one.ccd_frame[4 * side] + _seen(one, side, _on_face(model, one, g, face, k))
                )
            if side == cutter:
                sides = number
            else:
                count = number
    return sides, count


@func
def _on_face(model, one, g: ti.i32, face: ti.i32, k: ti.i32):
    """Return corner k of a geom's face in the geom's frame."""
    lanes, kind, size = one.ccd_lanes, model.geom_type[g], model.geom_size[g]
    point = zero_vector(lanes)
    if kind == BOX:
        # box: by the table; cylinder: on a circle; mesh: by vertices in reverse order, clockwise
        code = 0
        for f in ti.static(range(6)):
            if face == f:
                for corner in ti.static(range(4)):
                    if k == corner:
                        code = BOX_FACES[f][corner]
        point = Vec3(
            ti.select(code & 1 == 1, size.x, -size.x),
            ti.select(code & 2 == 2, size.y, -size.y),
            ti.select(code & 4 == 4, size.z, -size.z),
        )
    elif kind == CYLINDER:
        sign = ti.select(face == 1, lanes.real(-1.0), lanes.real(1.0))
        angle = lanes.real(k) * lanes.constant(2.0 * pi / ROUND)
        point = Vec3(size.x * ti.cos(angle), -sign * size.x * ti.sin(angle), sign * size.y)
    elif kind == MESH:
        last = model.poly_vertadr[face] + model.poly_vertnum[face] - 1
        point = model.vert_pos[model.geom_vertadr[g] + model.poly_vert[last - k]]
    return point
