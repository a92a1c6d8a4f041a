"""Planes z = 0, each the surface of the half-space below it; a drawn plane may be a rectangle."""

from typing import TYPE_CHECKING

import numpy as np
import taichi as ti

from ..math import Vec3, func
from .ray import MISS

if TYPE_CHECKING:
    import torch

NUMBERS = ("half_x", "half_y")  # 0: endless; for contacts it is a half-space in any case


def reach(size: np.ndarray) -> np.ndarray:
    """Return the radius (...) of the sphere around it."""
    return np.zeros(size.shape[:-1])


def extents(turn: "torch.Tensor", size: "torch.Tensor") -> "torch.Tensor":
    """Return half the sides (n, k, 3) of its box along the world's axes: infinite."""
    return turn.new_full(turn.shape[:-1], float("inf"))


def inside(p, size, clip):
    """Return True for a point strictly inside."""
    return p.z < 0.0


@ti.func
def crossing(size, origin, direction):
    """Return the distance to the rectangle |x| <= size.x, |y| <= size.y, from above (size <= 0: infinite).

    A plane has no centre, so `origin` is any point of the ray.
    """
    t = MISS
    if direction.z < -1.0e-15:  # as MuJoCo has it
        reach = -origin.z / direction.z
        x = ti.abs(origin.x + reach * direction.x)
        y = ti.abs(origin.y + reach * direction.y)
        if (size.x <= 0.0 or x <= size.x) and (size.y <= 0.0 or y <= size.y):
            t = reach
    return t


@func
def distance(lanes, size, p):
    """Return the height of a point, and the direction away."""
    return p.z, Vec3(lanes.real(0.0), lanes.real(0.0), lanes.real(1.0))


@ti.func
def unwrapped(size, point):
    """Return where a flat image lies: once every two metres."""
    return 0.5 * point.x, -0.5 * point.y


def area(size: np.ndarray) -> float:
    """Return the area of its surface, 0 for one without end."""
    return float(4 * max(size[0], 0.0) * max(size[1], 0.0))


@ti.func
def spot(size, which, u, v):
    """Return a random point of its surface, and the outward direction there."""
    return ti.Vector([(2.0 * u - 1.0) * size.x, (2.0 * v - 1.0) * size.y, 0.0 * which]), ti.Vector([0.0, 0.0, 1.0])
