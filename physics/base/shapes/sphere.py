"""Spheres: a point, and a radius around it."""

from typing import TYPE_CHECKING

import numpy as np
import taichi as ti

from ..math import func
from .common import any_way, away_from
from .ray import MISS, PI, turns, unit

if TYPE_CHECKING:
    import torch

NUMBERS = ("radius",)
ROUNDED = True


def half_sides(size: np.ndarray) -> np.ndarray:
    """Return half the sides (..., 3) of the box around it."""
    return size[..., [0, 0, 0]]


def reach(size: np.ndarray) -> np.ndarray:
    """Return the radius (...) of the sphere around it."""
    return size[..., 0]


def bulk(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return half lengths and radii (...) of capsules about z of roughly its bulk."""
    return np.zeros(size.shape[:-1]), size[..., 0]


def extents(turn: "torch.Tensor", size: "torch.Tensor") -> "torch.Tensor":
    """Return half the sides (n, k, 3) of its box along the world's axes."""
    return size[..., :1].expand(turn.shape[:-1]) + 0.0 * turn[..., 0]  # nan where the pose is


def inside(p, size, clip):
    """Return True for a point strictly inside."""
    return p.x * p.x + p.y * p.y + p.z * p.z < size.x * size.x


@ti.func
def entry(size, origin, direction):
    """Return where a ray enters; needs no direction because the origin is perpendicular to it."""
    t = MISS
    discriminant = size.x * size.x - origin.dot(origin)
    if discriminant > 0.0:
        t = -ti.sqrt(discriminant)
    return t


def normal(size, point):
    """Return the direction of the surface at a point of it."""
    return point


@func
def distance(lanes, size, p):
    """Return the distance of a point from the surface, and the direction away; at the centre, z."""
    return away_from(lanes, p, size.x)


@ti.func
def unwrapped(size, point):
    """Return where a flat image lies: once around z from x on, and from the upper pole to the lower one."""
    way = unit(point)
    return turns(way), 0.5 - ti.asin(ti.max(-1.0, ti.min(1.0, way.z))) / PI


def area(size: np.ndarray) -> float:
    """Return the area of its surface."""
    return float(4 * np.pi * size[0] ** 2)


@ti.func
def spot(size, which, u, v):
    """Return a random point of its surface, and the outward direction there."""
    out = any_way(u, v)
    return size.x * out, out
