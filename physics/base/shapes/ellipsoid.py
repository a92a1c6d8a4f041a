"""Ellipsoids, by their radii."""

from typing import TYPE_CHECKING

import numpy as np
import taichi as ti

from ..math import Vec3, func
from . import sphere
from .common import SMALLEST, any_way, thick, towards
from .ray import MISS, PI, unit

if TYPE_CHECKING:
    import torch

NUMBERS = ("radius_x", "radius_y", "radius_z")
CURVED = True
bulk = thick
STEPS, ASIDE = 8, 1e-7
"""Steps of Newton's method to the nearest point, and the share of the least radius that a point is beside each axis."""


def reach(size: np.ndarray) -> np.ndarray:
    """Return the radius (...) of the sphere around it."""
    return size.max(axis=-1)


def extents(turn: "torch.Tensor", size: "torch.Tensor") -> "torch.Tensor":
    """Return half the sides (n, k, 3) of its box along the world's axes."""
    return ((turn * size[..., None, :]) ** 2).sum(-1).sqrt()  # the support along e of A times a unit ball: |A' e|


def inside(p, size, clip):
    """Return True for a point strictly inside."""
    a, b, c = p.x / size.x, p.y / size.y, p.z / size.z
    return a * a + b * b + c * c < 1.0


@ti.func
def entry(size, origin, direction):
    """Return where a ray enters: a unit sphere after the axes are scaled by 1 / radii."""
    o = origin / size
    d = direction / size
    a = d.dot(d)
    middle = -o.dot(d) / a
    nearest = o + middle * d
    t = MISS
    discriminant = 1.0 - nearest.dot(nearest)
    if discriminant > 0.0:
        t = middle - ti.sqrt(discriminant / a)
    return t


def normal(size, point):
    """Return the direction of the surface at a point of it."""
    return point / (size * size)


@func
def support(model, lanes, g: ti.i32, size, d):
    """Return S (S d) / |S d| with half axes S."""
    stretched = Vec3(d.x * size.x, d.y * size.y, d.z * size.z)
    scale = 1.0 / ti.sqrt(ti.max(stretched.dot(stretched), SMALLEST))
    return Vec3(stretched.x * size.x * scale, stretched.y * size.y * scale, stretched.z * size.z * scale), 0


@func
def distance(lanes, size, p):
    """Return the distance of a point from the surface, and the direction away.

    The nearest point q has p - q = t q / S^2, with half axes S. Newton's method finds t from below, where the sum of
    (S p / (t + S^2))^2 exceeds 1; that sum falls and is convex, so that every step stays below.
    """
    a, b, c = size.x * size.x, size.y * size.y, size.z * size.z
    least = ti.min(size.x, size.y, size.z)
    # Beside the axes by more than rounding, so that a point in the middle has a nearest one.
    x, y, z = ti.max(ti.abs(p.x), ASIDE * least), ti.max(ti.abs(p.y), ASIDE * least), ti.max(ti.abs(p.z), ASIDE * least)
    t = ti.max(size.x * x - a, size.y * y - b, size.z * z - c)
    for _ in range(STEPS):
        u, v, w = size.x * x / (t + a), size.y * y / (t + b), size.z * z / (t + c)
        slope = u * u / (t + a) + v * v / (t + b) + w * w / (t + c)
        square = u * u + v * v + w * w
        root = ti.sqrt(square)
        t += (root - 1.0) * square / (root * slope)  # on 1 / sqrt(sum), which is nearly straight
    q = Vec3(towards(p.x, a * x / (t + a)), towards(p.y, b * y / (t + b)), towards(p.z, c * z / (t + c)))
    outward = Vec3(q.x / a, q.y / b, q.z / c)
    outward = outward * (1.0 / outward.norm())
    return (p - q).dot(outward), outward


@func
def lowest_points(model, g: ti.i32):
    """Return the number of points that are lowest."""
    return 1


@func
def lowest(model, lanes, g: ti.i32, size, down, k: ti.i32):
    """Return the lowest point."""
    point, _mark = support(model, lanes, g, size, down)
    return lanes.cast(point)


@ti.func
def unwrapped(size, point):
    """Return where a flat image lies: as on the unit sphere that it is stretched from."""
    return sphere.unwrapped(size, point / size)


def area(size: np.ndarray) -> float:
    """Return the area of its surface, within 1.1 % (Thomsen's formula)."""
    x, y, z = (float(part) ** 1.6075 for part in size)
    return float(4 * np.pi * ((x * y + y * z + z * x) / 3) ** (1 / 1.6075))


@ti.func
def spot(size, which, u, v):
    """Return a random point of its surface, and the outward direction there: a sphere's, stretched."""
    way = any_way(u, v)
    return size * way, unit(way / size)


@ti.func
def spot_density(size, point):
    """Return the density per area with which `spot` finds a point."""
    return 1.0 / (4.0 * PI * size.x * size.y * size.z * (point / size / size).norm())
