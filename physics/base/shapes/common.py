"""Formulas that several kinds of geoms share."""

import numpy as np
import taichi as ti

from ..math import Vec3, func
from .ray import PI

FACING = 0.996  # cosine from which faces count as parallel
SMALLEST = 1e-30
"""The lower bound of squared lengths in denominators."""


def thick(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the `bulk` of boxes or ellipsoids."""
    thickness = np.sqrt(size[..., 0] * size[..., 1])
    return np.maximum(0.0, size[..., 2] - thickness), np.minimum(thickness, np.cbrt(size.prod(axis=-1)))


@func
def towards(component, size):
    """Return the coordinate, size or -size, of the end that is farther along a component of a direction."""
    return ti.select(component >= 0.0, size, -size)


@func
def seen(one, side: ti.i32, local):
    """Return a direction, given in the frame of geom `side` of a pair, in the world's axes."""
    x, y, z = one.ccd_frame[4 * side + 1], one.ccd_frame[4 * side + 2], one.ccd_frame[4 * side + 3]
    return x * local.x + y * local.y + z * local.z


@func
def away_from(lanes, p, radius):
    """Return the distance of a point from the sphere around the origin, and the direction away; at the origin, z."""
    length = p.norm()
    apart = length > SMALLEST
    scale = 1.0 / ti.max(length, SMALLEST)
    up = Vec3(lanes.real(0.0), lanes.real(0.0), lanes.real(1.0))
    return length - radius, (p * scale).select(apart, up)


@ti.func
def any_way(u, v):
    """Return a unit vector, evenly over all directions, by two numbers in [0, 1)."""
    z = 1.0 - 2.0 * u
    across = ti.sqrt(ti.max(0.0, 1.0 - z * z))
    return ti.Vector([across * ti.cos(2.0 * PI * v), across * ti.sin(2.0 * PI * v), z])


@ti.func
def spot_around(radius, half, u, v):
    """Return a random point of the side of a tube about z, and the outward direction there."""
    out = ti.Vector([ti.cos(2.0 * PI * v), ti.sin(2.0 * PI * v), 0.0 * u])
    return radius * out + ti.Vector([0.0, 0.0, (2.0 * u - 1.0) * half]), out
