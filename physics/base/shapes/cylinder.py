"""Solid cylinders along z."""

from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np
import taichi as ti

from ..math import Vec3, func
from ..math.elementary import with_limit
from ..math.vector import zero_vector
from . import capsule
from .common import SMALLEST, seen, spot_around, towards
from .ray import MISS, slab_interval, tube_interval, turns

if TYPE_CHECKING:
    import torch

NUMBERS = ("radius", "half_length")
CURVED = True
ROUND = 16  # corners of an end
LEVEL = 1e-15  # sine below which an end is level
bulk, edge_end = capsule.bulk, capsule.edge_end


def half_sides(size: np.ndarray) -> np.ndarray:
    """Return half the sides (..., 3) of the box around it."""
    return size[..., [0, 0, 1]]


def reach(size: np.ndarray) -> np.ndarray:
    """Return the radius (...) of the sphere around it."""
    return np.hypot(size[..., 0], size[..., 1])


def extents(turn: "torch.Tensor", size: "torch.Tensor") -> "torch.Tensor":
    """Return half the sides (n, k, 3) of its box along the world's axes: its axis' share and its round end's."""
    across = (turn[..., 0] ** 2 + turn[..., 1] ** 2).sqrt()
    return size[..., :1] * across + size[..., 1:2] * turn[..., 2].abs()


def inside(p, size, clip):
    """Return True for a point strictly inside."""
    return (abs(p.z) < size.y) & (p.x * p.x + p.y * p.y < size.x * size.x)


@ti.func
def entry(size, origin, direction):
    """Return where a ray enters: the tube, cut by the slab between its flat ends."""
    t = MISS
    tube_in, tube_out = tube_interval(origin, direction, size.x)
    slab_in, slab_out = slab_interval(origin.z, direction.z, size.y)
    t_in = ti.max(tube_in, slab_in)
    if t_in < ti.min(tube_out, slab_out):
        t = t_in
    return t


@ti.func
def normal(size, point):
    """Return the flat end's normal if that is the nearer surface, else the radial one."""
    outward = ti.Vector([point.x, point.y, 0.0])
    from_side = size.x - ti.sqrt(point.x * point.x + point.y * point.y)
    if size.y - ti.abs(point.z) < from_side:
        outward = ti.Vector([0.0, 0.0, point.z])
    return outward


@func
def support(model, lanes, g: ti.i32, size, d):
    """Return a point of the rim of an end, and the end's number: 0 at positive z, else 1."""
    mark = ti.select(d.z >= 0.0, 0, 1)
    x, y = _on_rim(lanes, size, d.x, d.y)
    return Vec3(x, y, towards(d.z, size.y)), mark


@func
def _on_rim(lanes, size, x, y):
    """Return the point of the rim in a direction; without one the middle, which stays the middle."""
    square = x * x + y * y
    scale = size.x / ti.sqrt(ti.max(square, SMALLEST))
    middle, zero = square < SMALLEST, lanes.real(0.0)
    return with_limit(x * scale, middle, zero), with_limit(y * scale, middle, zero)


@func
def corner(model, one, g: ti.i32, side: ti.i32, mark: ti.i32, point):
    """Return the point of the rim of an end in the direction of a point."""
    size, away = model.geom_size[g], point - one.ccd_frame[4 * side]
    along, beside = one.ccd_frame[4 * side + 1].dot(away), one.ccd_frame[4 * side + 2].dot(away)
    x, y = _on_rim(one.ccd_lanes, size, along, beside)
    return Vec3(x, y, ti.select(mark == 1, -size.y, size.y))


@func
def list_faces(model, one, g: ti.i32, side: ti.i32, row: ti.i32, size: ti.i32, marks, outward):
    """List the end of a corner; more than one corner have no common face."""
    if size == 1:
        local = zero_vector(one.ccd_lanes)
        local.z = ti.select(marks[0] == 1, one.ccd_lanes.real(-1.0), one.ccd_lanes.real(1.0))
        one.ccd_flat.put(row, seen(one, side, local))
        one.ccd_flat_face[row] = marks[0]
    return ti.select(size == 1, 1, 0)


@func
def face_size(model, face: ti.i32):
    """Return the number of corners of the polygon that replaces an end."""
    return ROUND


@func
def face_corner(model, one, g: ti.i32, face: ti.i32, k: ti.i32):
    """Return corner k of the polygon that replaces an end."""
    lanes, size = one.ccd_lanes, model.geom_size[g]
    sign = ti.select(face == 1, lanes.real(-1.0), lanes.real(1.0))
    angle = lanes.real(k) * lanes.constant(2.0 * pi / ROUND)
    return Vec3(size.x * ti.cos(angle), -sign * size.x * ti.sin(angle), sign * size.y)


@func
def distance(lanes, size, p):
    """Return the distance of a point from the surface, and the direction away: from a side, an end, or a rim."""
    around = ti.sqrt(p.x * p.x + p.y * p.y)
    scale = 1.0 / ti.max(around, SMALLEST)
    across, along = around - size.x, ti.abs(p.z) - size.y
    out, up = ti.max(across, 0.0), ti.max(along, 0.0)
    value = ti.sqrt(out * out + up * up)
    if value == 0.0:  # inside: the nearer of side and end
        value = ti.max(across, along)
        out, up = ti.select(across > along, 1.0, 0.0), ti.select(across > along, 0.0, 1.0)
    length = 1.0 / ti.max(ti.sqrt(out * out + up * up), SMALLEST)
    out, up = out * length, towards(p.z, up * length)
    return value, Vec3(p.x * scale * out, p.y * scale * out, up)


@func
def lowest_points(model, g: ti.i32):
    """Return the number of points that `lowest` has."""
    return 4


@func
def lowest(model, lanes, g: ti.i32, size, down, k: ti.i32):
    """Return the lowest points of both rims, or two more of the lower rim: with its lowest, a triangle."""
    length = ti.sqrt(down.x * down.x + down.y * down.y)
    x, y = lanes.real(1.0), lanes.real(0.0)
    if length > LEVEL:
        x, y = down.x / length, down.y / length
    z = ti.select(down.z < 0.0, -lanes.real(size.y), lanes.real(size.y))
    if k == 1:
        z = -z
    elif k > 1:
        turn = lanes.real(sqrt(0.75)) * (2.0 * k - 5.0)
        x, y = -0.5 * x - turn * y, turn * x - 0.5 * y
    return Vec3(x * size.x, y * size.x, z)


@ti.func
def unwrapped(size, point):
    """Return where a flat image lies: the whole of it around the side, and on each end."""
    u, v = turns(point), 0.5 - 0.5 * point.z / size.y
    if size.y - ti.abs(point.z) < size.x - ti.sqrt(point.x * point.x + point.y * point.y):
        u, v = 0.5 + 0.5 * point.x / size.x, 0.5 + 0.5 * point.y / size.x
    return u, v


def area(size: np.ndarray) -> float:
    """Return the area of its surface."""
    return float(2 * pi * size[0] * (size[0] + 2 * size[1]))


@ti.func
def spot(size, which, u, v):
    """Return a random point of its surface, and the outward direction there."""
    point, out = spot_around(size.x, size.y, u, v)
    chosen = which * (size.x + 2.0 * size.y)
    if chosen < size.x:
        side = ti.select(2.0 * chosen < size.x, -1.0, 1.0)
        radius = size.x * ti.sqrt(u)
        point = ti.Vector([radius * out.x, radius * out.y, side * size.y])
        out = ti.Vector([0.0 * side, 0.0 * side, side])
    return point, out
