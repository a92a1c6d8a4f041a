"""Meshes: triangles that are seen, and their convex hull, which touches."""

import taichi as ti

from ..math import func
from ..math.lanes import let, traced
from .common import SMALLEST, seen

NUMBERS = ("center_x", "center_y", "center_z", "half_x", "half_y", "half_z", "volume")

GRID = 8
"""Cells along an edge of the cube of directions (`model.hulls`)."""
BLOCK = 8
"""The number of vertices that are compared at once, side by side."""


@func
def support(model, lanes, g: ti.i32, size, d):
    """Return the farthest vertex along d: the first of several; in meshes with a grid, by a climb along edges."""
    first, mark = model.geom_vertadr[g], 0
    if model.geom_gridadr[g] < 0:
        mark = _farthest_of_all(model, lanes, g, d)
    else:
        # Start from the vertex of the direction's grid cell, and go to the highest neighbour while one is higher.
        mark = model.grid_vert[model.geom_gridadr[g] + _cell(d)]
        best = d.dot(model.vert_pos[first + mark])
        before = -1
        while mark != before:
            before = mark
            start = model.vert_wayadr[first + before]
            for way in range(start, start + model.vert_waynum[first + before]):
                k = model.way_vert[way]
                height = d.dot(model.vert_pos[first + k])
                if height > best:
                    best, mark = height, k
    return model.vert_pos[first + mark], mark


@func
def _farthest_of_all(model, lanes, g: ti.i32, d):
    """Return the first of the vertices of a mesh that are farthest along d; BLOCK are compared side by side."""
    block = lanes.wider(BLOCK)
    best, found = block.real(-1e30), block.real(0.0)
    for b in range((model.geom_vertnum[g] + BLOCK - 1) // BLOCK):
        at = model.geom_blockadr[g] + b
        x, y, z = _row(model, block, at, 0), _row(model, block, at, 1), _row(model, block, at, 2)
        height = x * d.x + y * d.y + z * d.z
        higher = height > best
        found = ti.select(higher, block.real(b), found)
        best = ti.select(higher, height, best)
    # Across the block: the greatest height, and of the vertices that are as high the first.
    top = _across(block, best, ti.max)
    number = found * BLOCK + block.type(list(range(BLOCK)))
    return ti.cast(_across(block, ti.select(best == top, number, block.real(1e30)), ti.min), ti.i32)


@traced
def _across(block, numbers, choose):
    """Return the least or greatest number of a block, by a binary tree of comparisons."""
    left = [block.get(numbers, c) for c in range(block.width)]
    while len(left) > 1:
        left = [let(choose(one, other)) for one, other in zip(left[::2], left[1::2], strict=True)]
    return left[0]


@traced
def _row(model, block, at, axis):
    """Return one coordinate of the vertices of a block, side by side."""
    return let(block.type([ti.cast(model.vert_block.at(at, BLOCK * axis + c), block.dtype) for c in range(BLOCK)]))


@func
def _cell(d):
    """Return the cell of `model.hulls.grid_directions` that contains a direction."""
    x, y, z = ti.abs(d.x), ti.abs(d.y), ti.abs(d.z)
    along, right, up, face = d.x, d.y, d.z, 0
    if y > x and y >= z:
        along, right, up, face = d.y, d.z, d.x, 2
    elif z > x:
        along, right, up, face = d.z, d.x, d.y, 4
    if along < 0.0:
        face += 1
    scale = 0.5 * GRID / ti.max(ti.abs(along), SMALLEST)
    column = ti.min(ti.cast(right * scale + 0.5 * GRID, ti.i32), GRID - 1)
    row = ti.min(ti.cast(up * scale + 0.5 * GRID, ti.i32), GRID - 1)
    return (face * GRID + ti.max(column, 0)) * GRID + ti.max(row, 0)


@func
def corner(model, one, g: ti.i32, side: ti.i32, mark: ti.i32, point):
    """Return a vertex."""
    return model.vert_pos[model.geom_vertadr[g] + mark]


@func
def list_faces(model, one, g: ti.i32, side: ti.i32, row: ti.i32, size: ti.i32, marks, outward):
    """List the faces that all of these vertices have."""
    a, b, c = marks[0], marks[1], marks[2]
    n, v = 0, model.geom_vertadr[g]
    for k in range(model.vert_corneradr[v + a], model.vert_corneradr[v + a] + model.vert_cornernum[v + a]):
        face = model.corner_poly[k]
        if (size == 1 or _has_face(model, v + b, face) == 1) and (size < 3 or _has_face(model, v + c, face) == 1):
            one.ccd_flat.put(row + n, seen(one, side, model.corner_normal[k]))
            one.ccd_flat_face[row + n] = face
            n += 1
    return n


@func
def _has_face(model, v: ti.i32, face: ti.i32):
    """Return 1 if a face has vertex v, else 0."""
    found = 0
    for k in range(model.vert_corneradr[v], model.vert_corneradr[v] + model.vert_cornernum[v]):
        if model.corner_poly[k] == face:
            found = 1
    return found


@func
def face_size(model, face: ti.i32):
    """Return how many corners a face has."""
    return model.poly_vertnum[face]


@func
def face_corner(model, one, g: ti.i32, face: ti.i32, k: ti.i32):
    """Return a corner of a face."""
    last = model.poly_vertadr[face] + model.poly_vertnum[face] - 1
    return model.vert_pos[model.geom_vertadr[g] + model.poly_vert[last - k]]


@func
def edges_at(model, g: ti.i32, mark: ti.i32):
    """Return how many edges a vertex has."""
    return model.vert_cornernum[model.geom_vertadr[g] + mark]


@func
def edge_end(model, one, g: ti.i32, side: ti.i32, size: ti.i32, mark: ti.i32, trial: ti.i32, begin, end):
    """Return the vertex before this one in one of its faces."""
    found, first = end.copy(), model.geom_vertadr[g]
    if size == 1:
        other = model.corner_before[model.vert_corneradr[first + mark] + trial]
        found = one.ccd_frame[4 * side] + seen(one, side, model.vert_pos[first + other])
    return found


@func
def lowest_points(model, g: ti.i32):
    """Return the number of vertices."""
    return model.geom_vertnum[g]


@func
def lowest(model, lanes, g: ti.i32, size, down, k: ti.i32):
    """Return a vertex, whatever is down."""
    return lanes.cast(model.vert_pos[model.geom_vertadr[g] + k])


@func
def span(model, lanes, g: ti.i32, start, direction):
    """Return the distances at which a line enters and leaves the hull (m); the first is the larger one if it misses."""
    first, last = lanes.real(-1e30), lanes.real(1e30)
    for v in range(model.geom_vertadr[g], model.geom_vertadr[g] + model.geom_vertnum[g]):
        below = lanes.cast(model.vert_pos[v]) - start
        for k in range(model.vert_corneradr[v], model.vert_corneradr[v] + model.vert_cornernum[v]):
            normal = lanes.cast(model.corner_normal[k])
            height, slope = normal.dot(below), normal.dot(direction)
            if slope > SMALLEST:
                last = ti.min(last, height / slope)
            elif slope < -SMALLEST:
                first = ti.max(first, height / slope)
            elif height < 0.0:
                first = lanes.real(1e30)
    return first, last
