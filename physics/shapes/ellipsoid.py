"""Ellipsoids, by their radii."""

from typing import TYPE_CHECKING

import numpy as np
import taichi as ti

from ..math import Vec3, func
from .common import SMALLEST, thick
from .ray import MISS

if TYPE_CHECKING:
    import torch

NUMBERS = ("radius_x", "radius_y", "radius_z")
CURVED = True
bulk = thick


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
def lowest_points(model, g: ti.i32):
    """Return the number of points that are lowest."""
    return 1


@func
def lowest(model, lanes, g: ti.i32, size, down, k: ti.i32):
    """Return the lowest point."""
    point, _mark = support(model, lanes, g, size, down)
    return lanes.cast(point)
