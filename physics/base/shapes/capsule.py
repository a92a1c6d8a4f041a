"""Capsules: a segment along z, and a radius around it."""

from typing import TYPE_CHECKING

import numpy as np
import taichi as ti

from ..math import Vec3, func
from ..math.vector import zero_vector
from . import sphere
from .common import any_way, away_from, seen, spot_around, towards
from .ray import MISS, PI, tube_interval, turns

if TYPE_CHECKING:
    import torch

NUMBERS = ("radius", "half_length")
ROUNDED = True


def half_sides(size: np.ndarray) -> np.ndarray:
    """Return half the sides (..., 3) of the box around it."""
    return np.stack((size[..., 0], size[..., 0], size[..., 0] + size[..., 1]), -1)


def reach(size: np.ndarray) -> np.ndarray:
    """Return the radius (...) of the sphere around it."""
    return size[..., 0] + size[..., 1]


def bulk(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return half lengths and radii (...) of capsules about z of roughly its bulk."""
    return size[..., 1], size[..., 0]


def extents(turn: "torch.Tensor", size: "torch.Tensor") -> "torch.Tensor":
    """Return half the sides (n, k, 3) of its box along the world's axes."""
    return size[..., :1] + size[..., 1:2] * turn[..., 2].abs()


def inside(p, size, clip):
    """Return True for a point strictly inside."""
    beyond = p.z - clip(p.z, -size.y, size.y)
    return p.x * p.x + p.y * p.y + beyond * beyond < size.x * size.x


@ti.func
def entry(size, origin, direction):
    """Return where a ray enters: in the tube between the caps, else in the sphere at that end."""
    t, _ = tube_interval(origin, direction, size.x)
    if t < MISS:
        z = origin.z + t * direction.z
        if ti.abs(z) > size.y:
            end = ti.select(z > 0.0, size.y, -size.y)
            centre = ti.Vector([0.0, 0.0, end])
            middle = direction.z * end
            t = MISS
            from_cap = sphere.entry(size, origin + middle * direction - centre, direction)
            if from_cap < MISS:
                t = middle + from_cap
    return t


@ti.func
def normal(size, point):
    """Return the direction away from the segment."""
    z = point.z - ti.max(-size.y, ti.min(size.y, point.z))
    return ti.Vector([point.x, point.y, z])


@func
def support(model, lanes, g: ti.i32, size, d):
    """Return an end of the segment, and its number: 0 at positive z, else 1."""
    mark = ti.select(d.z >= 0.0, 0, 1)
    return Vec3(lanes.real(0.0), lanes.real(0.0), towards(d.z, size.y)), mark


@func
def corner(model, one, g: ti.i32, side: ti.i32, mark: ti.i32, point):
    """Return an end of the segment."""
    local, size = zero_vector(one.ccd_lanes), model.geom_size[g]
    local.z = ti.select(mark == 1, -size.y, size.y)
    return local


@func
def edge_end(model, one, g: ti.i32, side: ti.i32, size: ti.i32, mark: ti.i32, trial: ti.i32, begin, end):
    """Return the other end of an edge along z."""
    local = zero_vector(one.ccd_lanes)
    local.z = model.geom_size.at(g, 1) * ti.select(mark == 1, 2.0, -2.0)
    return begin + seen(one, side, local)


@func
def distance(lanes, size, p):
    """Return the distance of a point from the surface, and the direction away."""
    beyond = p.z - ti.max(-size.y, ti.min(size.y, p.z))
    return away_from(lanes, Vec3(p.x, p.y, beyond), size.x)


@func
def half_core(model, lanes, g: ti.i32):
    """Return half the length of the segment (m)."""
    return lanes.real(model.geom_size.at(g, 1))


@func
def edges(size):
    """Return the number of segments within."""
    return 1


@func
def edge(lanes, size, k: ti.i32):
    """Return both ends of the segment within."""
    zero, half = lanes.real(0.0), lanes.real(size.y)
    return Vec3(zero, zero, -half), Vec3(zero, zero, half)


@ti.func
def unwrapped(size, point):
    """Return where a flat image lies: the whole of it around the tube, and again on each cap, as MuJoCo draws them."""
    up = 0.5 - 0.5 * point.z / size.y
    beyond = ti.abs(point.z) - size.y
    if beyond > 0.0:
        height = ti.asin(ti.min(1.0, beyond / size.x)) / (0.5 * PI)
        up = ti.select(point.z > 0.0, 1.0 - height, height)
    return turns(point), up


def area(size: np.ndarray) -> float:
    """Return the area of its surface."""
    return float(4 * np.pi * size[0] * (size[0] + size[1]))


@ti.func
def spot(size, which, u, v):
    """Return a random point of its surface, and the outward direction there."""
    point, out = spot_around(size.x, size.y, u, v)
    if which * (size.x + size.y) >= size.y:
        out = any_way(u, v)
        point = size.x * out
        point.z += ti.select(out.z < 0.0, -size.y, size.y)
    return point, out
