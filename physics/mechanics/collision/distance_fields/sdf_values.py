"""Signed distances of a point from a geom: from a grid between its nodes for meshes, exactly for all other kinds.

A grid's value is interpolated linearly along each axis, and its gradient is that of the same cell. Outside of the grid
the nearest point of the grid says where the surface is, and how far at least.
"""

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.lanes import let, traced
from ....base.math.vector import zero_vector
from ....base.shapes import DISTANCES, WITH_FIELDS
from ....base.shapes.by_kind import by_kind, is_one_of

SLACK = 0.75
"""Cells by which an interpolated value may exceed the distance."""
SHORT = 1e-6
"""The least length of a gradient, which is 1 where the nearest point is unique; and the share of a cell up to which a
point beside the grid is in it: the fused sums of a GPU leave as much of 0."""


@func
def distance_from(model, one, g: ti.i32, p):
    """Return the distance of a point, in the frame of geom g, from its surface (m), the direction away, and a bound.

    The bound is at most the distance; a point farther than that from everything need not be looked at.
    """
    lanes = one.ccd_lanes
    value, outward, bound = lanes.real(0.0), zero_vector(lanes), lanes.real(0.0)
    if is_one_of(model.geom_type[g], WITH_FIELDS):
        value, outward, bound = _between_nodes(model, lanes, model.geom_sdfid[g], p)
    else:
        size = lanes.cast(model.geom_size[g])
        value, outward = by_kind(model.geom_type[g], DISTANCES, (value, outward), lanes, size, p)
        bound = value
    return value, outward, bound


@func
def _between_nodes(model, lanes, f: ti.i32, p):
    """Return value, direction and bound from field f."""
    cell, low = lanes.real(model.sdf_cell[f]), lanes.cast(model.sdf_low[f])
    place = (p - low) * (1.0 / cell)
    # The nearest point of the grid, its cell, and its place in the cell.
    nx, ny, nz = model.sdf_count.at(f, 0), model.sdf_count.at(f, 1), model.sdf_count.at(f, 2)
    x, i = _in_grid(lanes, place.x, nx)
    y, j = _in_grid(lanes, place.y, ny)
    z, k = _in_grid(lanes, place.z, nz)
    u, v, w = x - i, y - j, z - k
    at = model.sdf_adr[f] + (i * ny + j) * nz + k
    # Along z, then along y, then along x.
    a, a_z = _on_edge(model, lanes, at, w)
    b, b_z = _on_edge(model, lanes, at + nz, w)
    c, c_z = _on_edge(model, lanes, at + ny * nz, w)
    d, d_z = _on_edge(model, lanes, at + ny * nz + nz, w)
    near, far = a + (b - a) * v, c + (d - c) * v
    value = near + (far - near) * u
    gradient = Vec3(
        far - near,
        (b - a) + ((d - c) - (b - a)) * u,
        (a_z + (b_z - a_z) * v) * (1.0 - u) + (c_z + (d_z - c_z) * v) * u,
    )
    outward = gradient * (1.0 / ti.max(gradient.norm(), SHORT * cell))
    bound = value - SLACK * cell
    # Outside, by more than rounding: the surface is about `value` below the grid's nearest point.
    beyond = Vec3(place.x - x, place.y - y, place.z - z) * cell
    way = beyond.norm()
    if way > SHORT * cell:
        bound = ti.max(bound - way, way)
        beyond = beyond + outward * value
        value = beyond.norm()
        outward = beyond * (1.0 / ti.max(value, SHORT * cell))
    return value, outward, bound


@func
def _in_grid(lanes, place, count: ti.i32):
    """Return the nearest place in a grid along one axis, in cells, and the number of the node before it."""
    inside = ti.max(ti.min(place, lanes.real(count - 1)), 0.0)
    return inside, ti.min(ti.cast(inside, ti.i32), count - 2)


@traced
def _on_edge(model, lanes, at, w):
    """Return the value between a node and the next one along z, and their difference."""
    low, high = lanes.real(model.sdf_value[at]), lanes.real(model.sdf_value[at + 1])
    slope = let(high - low)
    return let(low + slope * w), slope
