"""Flat sides of convex shapes: the faces and edges that a shape has at its closest point to another shape.

A face of EPA's polytope, or GJK's simplex, is made of one, two or three corners of each geom. By their numbers
(`ccd_mark1`, `ccd_mark2`) the geom's own faces there are found. A cylinder's end counts as a polygon of sixteen
corners, its side and that of a capsule as an edge along the axis; spheres and ellipsoids have neither. Polygons are
clockwise seen from outside.
"""

import taichi as ti

from ....base.math import func
from ....base.shapes import of_kinds
from ....base.shapes.by_kind import by_kind, is_one_of
from ....base.shapes.common import seen
from ..closed_forms.primitives import zero_vector
from .epa import CORNER_BITS, MOST_CORNERS
from .support import core_radius

CORNERS, FACE_LISTS, FACE_SIZES = of_kinds("corner"), of_kinds("list_faces"), of_kinds("face_size")
FACE_CORNERS, EDGES_AT, EDGE_ENDS = of_kinds("face_corner"), of_kinds("edges_at"), of_kinds("edge_end")
ALONG = 0.0888  # sine below which an edge lies along a face
FACES = 1
"""The code of a meeting (`collision.manifold`) of two faces."""


@func
def has_flats(model, g: ti.i32):
    """Return True if a geom has flat sides, or edges."""
    return is_one_of(model.geom_type[g], tuple(CORNERS))


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
    """Return the feature of a geom at a face of the polytope (1: corner, 2: edge, 3: face), and two corners of it."""
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
    """Return the position of corner `mark` of geom g, m; `point` is the same corner of the inflated geom.

    A cylinder has no corners: for it this is the point of an end's rim in the direction of `point`.
    """
    center = one.ccd_frame[4 * side]
    none = zero_vector(one.ccd_lanes)
    local = by_kind(model.geom_type[g], CORNERS, none, model, one, g, side, mark, point)
    return center + seen(one, side, local)


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
        size, i, j = feature(one, side, corners)
        a, b, c = _mark(one, side, i), _mark(one, side, j), _mark(one, side, corner_of(corners, 2))
        kind, row = model.geom_type[g], side * model.nccdflat
        n = by_kind(kind, FACE_LISTS, 0, model, one, g, side, row, size, (a, b, c), outward)
        if side == 0:
            number1 = n
        else:
            number2 = n
    return number1, number2


@func
def edge_along(model, one, g: ti.i32, side: ti.i32, corners: ti.i32, number: ti.i32, outward, swell):
    """Return the first listed face of the other geom that an edge of geom g is parallel to, or -1.

    The edge's ends go to `ccd_polygon`. A capsule's edge lies in its surface: `outward` from its axis by its radius
    plus `swell`.
    """
    size, i, j = feature(one, side, corners)
    mark = _mark(one, side, i)
    begin = _place(one, side, i)
    trials, found = 1, -1
    if size == 1:
        trials = by_kind(model.geom_type[g], EDGES_AT, 1, model, g, mark)
    elif size == 3:
        trials = 0
    # an edge along a face that looks against `outward`
    for face in range(number):
        plane = one.ccd_flat[(1 - side) * model.nccdflat + face]
        if found < 0 and plane.dot(outward) < -1e-15:
            for trial in range(trials):
                end = _place(one, side, j)
                end = by_kind(model.geom_type[g], EDGE_ENDS, end, model, one, g, side, size, mark, trial, begin, end)
                along = end - begin
                if found < 0 and ti.abs(along.dot(plane)) < ALONG * along.norm():
                    found = face
                    axis = one.ccd_frame[4 * side + 3]
                    shift = (outward - axis * outward.dot(axis)) * (core_radius(model, one, g) + swell)
                    one.ccd_polygon.put(model.nccdcorner, begin + shift)
                    one.ccd_polygon.put(model.nccdcorner + 1, end + shift)
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
            number = by_kind(model.geom_type[g], FACE_SIZES, 4, model, face)
            for k in range(number):
                none = zero_vector(one.ccd_lanes)
                local = by_kind(model.geom_type[g], FACE_CORNERS, none, model, one, g, face, k)
                one.ccd_polygon.put(row + k, one.ccd_frame[4 * side] + seen(one, side, local))
            if side == cutter:
                sides = number
            else:
                count = number
    return sides, count
