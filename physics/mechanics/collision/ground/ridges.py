"""Convex edges of a height field, and the directions in which they push.

An edge pushes only along directions between the normals of its triangles, and a vertex only along directions at which
all edges
there end below it. A flat or concave edge pushes along none: its triangles are nearer. So a solid that slides over flat
ground feels no edges of the grid.
"""

import taichi as ti

from ....base.math import Vec3, func
from ..closed_forms.primitives import MINIMUM
from .ground_cells import reaches, vertex

CONE = 1e-3
"""Radians: directions beyond a normal by less count as within."""
AT_END = 1e-6
"""The share of an edge's length within which a point is at its end."""


@func
def for_each_ridge(model, one, g: ti.i32, ground, low, routine, arguments):
    """Call routine(model, one, ground, r, c, kind, *arguments) for the convex edges in the range that may reach `low`.

    An edge is from vertex (r, c) to (r, c + 1), (r + 1, c) or (r + 1, c + 1), for the kinds 0, 1 and 2.
    """
    for r in range(ground.r0, ground.r1 + 2):
        for c in range(ground.c0, ground.c1 + 2):
            bits = model.hfield_ridge[ground.adr + r * ground.ncol + c]
            if bits != 0 and reaches(model, one.ccd_lanes, g, ground, r, c, low):
                for kind in range(3):
                    inside = (kind == 1 or c <= ground.c1) and (kind == 0 or r <= ground.r1)
                    if (bits >> kind) & 1 == 1 and inside:
                        routine(model, one, ground, r, c, kind, *arguments)


@func
def ends_of(model, lanes, ground, r: ti.i32, c: ti.i32, kind: ti.i32):
    """Return both ends of an edge (m)."""
    begin = vertex(model, lanes, ground, r, c)
    end = vertex(model, lanes, ground, r + ti.cast(kind != 0, ti.i32), c + ti.cast(kind != 1, ti.i32))
    return begin, end


@func
def pushes(model, lanes, ground, r: ti.i32, c: ti.i32, kind: ti.i32, along, direction):
    """Return True if an edge pushes in a direction (unit vector) at its point `along`, 0 to 1."""
    begin, end = ends_of(model, lanes, ground, r, c, kind)
    edge = end - begin
    allowed = True
    if along > AT_END and along < 1.0 - AT_END:
        # Not into the triangle on either side.
        for side in range(2):
            row, column = _opposite(r, c, kind, side)
            into = _towards(model, lanes, ground, row, column, begin)
            into = into - edge * (into.dot(edge) / edge.dot(edge))
            allowed = allowed and direction.dot(into) <= CONE * into.norm()
    else:
        # Not along any of the six edges at the vertex.
        row, column = r, c
        if along > 0.5:
            row, column = r + ti.cast(kind != 0, ti.i32), c + ti.cast(kind != 1, ti.i32)
        at = vertex(model, lanes, ground, row, column)
        for k in range(6):
            sign = 1 - 2 * (k % 2)
            down, across = sign * ti.cast(k >= 2, ti.i32), sign * ti.cast(k // 2 != 1, ti.i32)
            into = _towards(model, lanes, ground, row + down, column + across, at)
            allowed = allowed and direction.dot(into) <= CONE * into.norm()
    return allowed


@func
def between(model, lanes, ground, r: ti.i32, c: ti.i32, kind: ti.i32):
    """Return the direction halfway between the normals of the triangles beside an edge (unit vector)."""
    begin, end = ends_of(model, lanes, ground, r, c, kind)
    edge, middle = end - begin, Vec3(lanes.real(0.0), lanes.real(0.0), lanes.real(0.0))
    for side in range(2):
        row, column = _opposite(r, c, kind, side)
        normal = edge.cross(_towards(model, lanes, ground, row, column, begin))
        normal = normal * ti.select(normal.z < 0.0, lanes.real(-1.0), lanes.real(1.0))
        middle = middle + normal * (1.0 / normal.norm())
    return middle * (1.0 / middle.norm())


@func
def _opposite(r: ti.i32, c: ti.i32, kind: ti.i32, side: ti.i32):
    """Return row and column of the third vertex of the triangle on a side of an edge."""
    row, column = r + 1, c + 1
    if kind == 0 and side == 1:
        row, column = r - 1, c
    elif kind == 1 and side == 1:
        row, column = r, c - 1
    elif kind == 2:
        row, column = r + side, c + 1 - side
    return row, column


@func
def _towards(model, lanes, ground, r: ti.i32, c: ti.i32, start):
    """Return the way from a point to a vertex; straight down beyond the border of the field (m)."""
    way = Vec3(lanes.real(0.0), lanes.real(0.0), lanes.real(-1.0))
    if r >= 0 and c >= 0 and r < ground.nrow and c < ground.ncol:
        way = vertex(model, lanes, ground, r, c) - start
    return way


@func
def nearest_on(begin, end, point):
    """Return the share of a segment's length at which it is nearest to a point."""
    edge = end - begin
    return ti.min(ti.max((point - begin).dot(edge) / ti.max(edge.dot(edge), MINIMUM), 0.0), 1.0)
