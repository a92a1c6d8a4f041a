"""Support points: where a convex shape, or the difference of two, reaches farthest in a direction.

Spheres and capsules count as their cores, a point and a segment; whoever asks adds their radii (`core_radius`). Geoms
stand in `ccd_frame`, seen from the centre of geom 1, so that digits are kept far from the origin: rows 4 k to 4 k + 3
have the centre and the three axes of geom k (0 or 1).
"""

import mujoco
import taichi as ti

from ..math import Vec3, func
from ..math.lanes import let, traced
from ..model.hulls import BLOCK, GRID
from .poses import geom_axes, seen_from_root
from .primitives import zero_vector

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}"))
    for name in ("SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "MESH")
)
SMALLEST = 1e-30  # of a squared length that is divided by


@func
def core_radius(model, one, g: ti.i32):
    """How far the surface of a geom is from its core."""
    radius = one.ccd_lanes.real(0.0)
    if model.geom_type[g] <= CAPSULE:
        radius = one.ccd_lanes.real(model.geom_size.at(g, 0))
    return radius


@func
def has_corners(model, g: ti.i32):
    """Whether the core of a geom is the hull of some points: that of a sphere, a capsule, a box and a mesh is."""
    return model.geom_type[g] <= CAPSULE or model.geom_type[g] >= BOX


@func
def place_geoms(model, one, g1: ti.i32, g2: ti.i32):
    """Fill `ccd_frame` with the poses of a pair."""
    lanes = one.ccd_lanes
    for side in range(2):
        g, center = g1, zero_vector(lanes)
        if side == 1:
            g = g2
            center = lanes.cast(seen_from_root(model, one, g1, g2) - one.geom_offset[g1])
        axes = lanes.cast(geom_axes(model, one, g))
        one.ccd_frame.put(4 * side, center)
        for k in ti.static(range(3)):
            one.ccd_frame.put(4 * side + 1 + k, axes.parts()[k])


@func
def support(model, one, g1: ti.i32, g2: ti.i32, direction):
    """The point of geom 1 less geom 2 that is farthest in a direction (of length one).

    Returns it, its point of geom 1, and the numbers of both corners where the shapes have any; the ends of capsules and
    cylinders count as such, 0: at the positive side.
    """
    lanes = one.ccd_lanes
    difference, on1 = zero_vector(lanes), zero_vector(lanes)
    mark1, mark2 = 0, 0
    for side in range(2):  # one loop, so that there is one copy of the code for all types
        g, sense = g1, lanes.real(1.0)
        if side == 1:
            g, sense = g2, lanes.real(-1.0)
        x, y, z = one.ccd_frame[4 * side + 1], one.ccd_frame[4 * side + 2], one.ccd_frame[4 * side + 3]
        local = Vec3(x.dot(direction) * sense, y.dot(direction) * sense, z.dot(direction) * sense)
        point, mark = _farthest(model, one, g, local)
        far = one.ccd_frame[4 * side] + x * point.x + y * point.y + z * point.z
        difference = difference + far * sense
        if side == 0:
            on1, mark1 = far.copy(), mark
        else:
            mark2 = mark
    return difference, on1, mark1, mark2


@func
def _farthest(model, one, g: ti.i32, d):
    """The point of geom g's core that is farthest along d, in its own frame, and its corner's number."""
    size, kind = model.geom_size[g], model.geom_type[g]
    point = zero_vector(one.ccd_lanes)
    mark = 0
    if kind == MESH:
        mark = _farthest_vertex(model, one, g, d)
        point = model.vert_pos[model.geom_vertadr[g] + mark]
    elif kind == BOX:
        point = Vec3(_towards(d.x, size.x), _towards(d.y, size.y), _towards(d.z, size.z))
        mark = ti.cast(d.x >= 0.0, ti.i32) | (ti.cast(d.y >= 0.0, ti.i32) << 1) | (ti.cast(d.z >= 0.0, ti.i32) << 2)
    elif kind == CYLINDER:
        mark = ti.select(d.z >= 0.0, 0, 1)
        scale = size.x / ti.sqrt(ti.max(d.x * d.x + d.y * d.y, SMALLEST))
        point = Vec3(d.x * scale, d.y * scale, _towards(d.z, size.y))
    elif kind == ELLIPSOID:  # S (S d) / |S d| with half axes S
        stretched = Vec3(d.x * size.x, d.y * size.y, d.z * size.z)
        scale = 1.0 / ti.sqrt(ti.max(stretched.dot(stretched), SMALLEST))
        point = Vec3(stretched.x * size.x * scale, stretched.y * size.y * scale, stretched.z * size.z * scale)
    elif kind == CAPSULE:
        mark = ti.select(d.z >= 0.0, 0, 1)
        point = Vec3(one.ccd_lanes.real(0.0), one.ccd_lanes.real(0.0), _towards(d.z, size.y))
    return point, mark


@func
def _towards(component, size):
    return ti.select(component >= 0.0, size, -size)


@func
def _farthest_vertex(model, one, g: ti.i32, d):
    """Return the vertex of a mesh that is farthest along d.

    Of few vertices that are as far it is the first one; of many, one that depends on the direction alone.
    """
    mark = 0
    if model.geom_gridadr[g] < 0:
        mark = _farthest_of_all(model, one, g, d)
    else:
        first = model.geom_vertadr[g]
        mark = model.grid_vert[model.geom_gridadr[g] + _cell(d)]
        best = d.dot(model.vert_pos[first + mark])
        before = -1
        while mark != before:  # up to the neighbour that is highest, as long as one is higher
            before = mark
            start = model.vert_wayadr[first + before]
            for way in range(start, start + model.vert_waynum[first + before]):
                k = model.way_vert[way]
                height = d.dot(model.vert_pos[first + k])
                if height > best:
                    best, mark = height, k
    return mark


@func
def _farthest_of_all(model, one, g: ti.i32, d):
    """Return the first of the vertices of a mesh that are farthest along d; BLOCK are compared side by side."""
    block = one.ccd_lanes.wider(BLOCK)
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
    """Return the least or greatest number of a block: of pairs, of pairs of pairs, and so on."""
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
    """The cell of `model.hulls.grid_directions` that a direction is in."""
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
