"""Boxes, by their half extents."""

from typing import TYPE_CHECKING

import numpy as np
import taichi as ti

from ..math import Vec3, func
from .common import FACING, SMALLEST, thick, towards
from .ray import MISS, slab_interval

if TYPE_CHECKING:
    import torch

NUMBERS = ("half_x", "half_y", "half_z")
bulk = thick
FACES = ((7, 3, 1, 5), (2, 6, 4, 0), (2, 3, 7, 6), (4, 5, 1, 0), (6, 7, 5, 4), (3, 2, 0, 1))
"""Corners of the faces +x, -x, +y, ... by the bits of the axes on whose positive side they are."""


def reach(size: np.ndarray) -> np.ndarray:
    """Return the radius (...) of the sphere around it."""
    return np.linalg.norm(size, axis=-1)


def extents(turn: "torch.Tensor", size: "torch.Tensor") -> "torch.Tensor":
    """Return half the sides (n, k, 3) of its box along the world's axes."""
    return (turn.abs() * size[..., None, :]).sum(-1)


def vertices(size: "torch.Tensor") -> "torch.Tensor":
    """Return the eight corners (n, 8, 3)."""
    signs = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    return size[:, None] * size.new_tensor(signs)


def inside(p, size, clip):
    """Return True for a point strictly inside."""
    return (abs(p.x) < size.x) & (abs(p.y) < size.y) & (abs(p.z) < size.z)


@ti.func
def entry(size, origin, direction):
    """Return where a ray enters: in the three slabs' common interval."""
    t = MISS
    x_in, x_out = slab_interval(origin.x, direction.x, size.x)
    y_in, y_out = slab_interval(origin.y, direction.y, size.y)
    z_in, z_out = slab_interval(origin.z, direction.z, size.z)
    t_in = ti.max(x_in, y_in, z_in)
    if t_in < ti.min(x_out, y_out, z_out):
        t = t_in
    return t


@ti.func
def normal(size, point):
    """Return the axis of the nearest face."""
    gap = size - abs(point)
    outward = ti.Vector([point.x, 0.0, 0.0])
    if gap.y < gap.x and gap.y <= gap.z:
        outward = ti.Vector([0.0, point.y, 0.0])
    elif gap.z < gap.x:
        outward = ti.Vector([0.0, 0.0, point.z])
    return outward


@func
def support(model, lanes, g: ti.i32, size, d):
    """Return a corner, whose number has a bit for each axis on whose positive side it is."""
    point = Vec3(towards(d.x, size.x), towards(d.y, size.y), towards(d.z, size.z))
    mark = ti.cast(d.x >= 0.0, ti.i32) | (ti.cast(d.y >= 0.0, ti.i32) << 1) | (ti.cast(d.z >= 0.0, ti.i32) << 2)
    return point, mark


@func
def corner(model, one, g: ti.i32, side: ti.i32, mark: ti.i32, point):
    """Return a corner by its number."""
    size = model.geom_size[g]
    return Vec3(
        ti.select(mark & 1 == 1, size.x, -size.x),
        ti.select(mark & 2 == 2, size.y, -size.y),
        ti.select(mark & 4 == 4, size.z, -size.z),
    )


@func
def list_faces(model, one, g: ti.i32, side: ti.i32, row: ti.i32, size: ti.i32, marks, outward):
    """List the faces that all of these corners have; if they are not as many as expected, the outward-facing one."""
    a, b, c = marks[0], marks[1], marks[2]
    # Axes on whose positive side all corners are, and on whose negative side.
    both, none = a, 7 - a
    if size > 1:
        both, none = both & b, none & (7 - b)
    if size > 2:
        both, none = both & c, none & (7 - c)
    n = 0
    for axis in range(3):
        if ((both | none) >> axis) & 1 == 1:
            _put_face(one, side, row + n, axis, (none >> axis) & 1)
            n += 1
    if n != 4 - size:
        n = 0
        for face in range(6):
            if n == 0:
                _put_face(one, side, row, face >> 1, face & 1)
                n = ti.select(one.ccd_flat[row].dot(outward) > FACING, 1, 0)
    return n


@func
def _put_face(one, side: ti.i32, row: ti.i32, axis: ti.i32, negative: ti.i32):
    """Store the normal (world axes) and the number of a face."""
    one.ccd_flat.put(row, one.ccd_frame[4 * side + 1 + axis] * (1.0 - 2.0 * negative))
    one.ccd_flat_face[row] = 2 * axis + negative


@func
def face_corner(model, one, g: ti.i32, face: ti.i32, k: ti.i32):
    """Return a corner of a face."""
    mark = 0
    for f in ti.static(range(6)):
        if face == f:
            for i in ti.static(range(4)):
                if k == i:
                    mark = FACES[f][i]
    return corner(model, one, g, 0, mark, 0)


@func
def edges_at(model, g: ti.i32, mark: ti.i32):
    """Return the number of edges at a corner."""
    return 3


@func
def edge_end(model, one, g: ti.i32, side: ti.i32, size: ti.i32, mark: ti.i32, trial: ti.i32, begin, end):
    """Return the end of an edge along an axis."""
    found = end.copy()
    if size == 1:
        sign = ti.select((mark >> trial) & 1 == 1, -2.0, 2.0)
        found = begin + one.ccd_frame[4 * side + 1 + trial] * (model.geom_size.at(g, trial) * sign)
    return found


@func
def distance(lanes, size, p):
    """Return the distance of a point from the surface, and the direction away; inside, of the nearest face."""
    x, y, z = ti.abs(p.x) - size.x, ti.abs(p.y) - size.y, ti.abs(p.z) - size.z
    out = Vec3(ti.max(x, 0.0), ti.max(y, 0.0), ti.max(z, 0.0))
    value = out.norm()
    if value == 0.0:
        value = ti.max(x, y, z)
        out.x = ti.select(x == value, 1.0, 0.0)
        out.y = ti.select(x < value and y == value, 1.0, 0.0)
        out.z = ti.select(x < value and y < value, 1.0, 0.0)
    scale = 1.0 / ti.max(out.norm(), SMALLEST)
    return value, Vec3(towards(p.x, out.x * scale), towards(p.y, out.y * scale), towards(p.z, out.z * scale))


@func
def lowest_points(model, g: ti.i32):
    """Return the number of corners."""
    return 8


@func
def lowest(model, lanes, g: ti.i32, size, down, k: ti.i32):
    """Return a corner, whatever is down."""
    x = lanes.real(size.x) * (2.0 * (k & 1) - 1.0)
    y = lanes.real(size.y) * (2.0 * ((k >> 1) & 1) - 1.0)
    return Vec3(x, y, lanes.real(size.z) * (2.0 * ((k >> 2) & 1) - 1.0))


@func
def edges(size):
    """Return the number of edges."""
    return 12


@func
def edge(lanes, size, k: ti.i32):
    """Return both ends of an edge: k // 4 is its axis, the bits of k say on which sides of the other axes it is."""
    one, other = 2.0 * (k & 1) - 1.0, 2.0 * ((k >> 1) & 1) - 1.0
    start = Vec3(-size.x, size.y * one, size.z * other)
    end = Vec3(lanes.real(size.x), start.y, start.z)
    if k // 4 == 1:
        start = Vec3(size.x * one, -size.y, size.z * other)
        end = Vec3(start.x, lanes.real(size.y), start.z)
    elif k // 4 == 2:
        start = Vec3(size.x * one, size.y * other, -size.z)
        end = Vec3(start.x, start.y, lanes.real(size.z))
    return start, end


@ti.func
def unwrapped(size, point):
    """Return where a flat image lies: the whole of it on every face."""
    outward = normal(size, point)
    across, up = point.x / size.x, point.y / size.y
    if outward.x != 0.0:
        across, up = point.y / size.y, point.z / size.z
    elif outward.y != 0.0:
        up = point.z / size.z
    return 0.5 + 0.5 * across, 0.5 - 0.5 * up


def area(size: np.ndarray) -> float:
    """Return the area of its surface."""
    x, y, z = (float(part) for part in size)
    return 8 * (x * y + y * z + z * x)


@ti.func
def spot(size, which, u, v):
    """Return a random point of its surface, and the outward direction there."""
    x, y = size.y * size.z, size.z * size.x
    chosen = 2.0 * which
    side = ti.select(chosen < 1.0, -1.0, 1.0)
    chosen = (chosen - ti.floor(chosen)) * (x + y + size.x * size.y)
    a, b, zero = 2.0 * u - 1.0, 2.0 * v - 1.0, 0.0 * u
    point, out = ti.Vector([a * size.x, b * size.y, side * size.z]), ti.Vector([zero, zero, side])
    if chosen < x:
        point, out = ti.Vector([side * size.x, a * size.y, b * size.z]), ti.Vector([side, zero, zero])
    elif chosen < x + y:
        point, out = ti.Vector([a * size.x, side * size.y, b * size.z]), ti.Vector([zero, side, zero])
    return point, out
