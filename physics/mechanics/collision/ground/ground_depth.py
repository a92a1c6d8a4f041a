"""Depth of points below the surface of a height field."""

import taichi as ti

from ....base.math import Vec3, func
from .ground_cells import column_at, ground_under, is_over, over, slope_of

SHALLOW = 0.25
"""The share of a cell's side up to which the triangle over a point is that of its depth."""
WIDEST = 8
"""Cells to either side among which a nearer triangle is sought."""


@func
def height_above(model, lanes, ground, point):
    """Return the distance of a point from the plane of the triangle under it, and the triangle's normal.

    The distance is 1e30 beside the field, and negative below its surface.
    """
    r, c, side = column_at(ground, point)
    dist, normal = lanes.real(1e30), Vec3(lanes.real(0.0), lanes.real(0.0), lanes.real(1.0))
    if r >= 0:
        slope = slope_of(model, lanes, ground, r, c, side)
        normal = slope.normal()
        dist = over(ground, r, c, slope, point) * normal.z
    return dist, normal


@func
def depth_of(model, lanes, g: ti.i32, ground, point, dist, above):
    """Return the distance and normal of the surface nearest to a point below it.

    `dist` and `above` are distance and normal of the triangle over the point. They are the answer for a point that is
    less deep than SHALLOW cells; else the nearest triangle within WIDEST cells is taken, or a side of the field: where
    ground is steep, that over the point may be far.
    """
    step = ti.min(ground.dx, ground.dy)
    best, outward = dist, above.copy()
    if dist < -SHALLOW * step:
        wide = ti.min(-dist, WIDEST * step)
        around = Vec3(wide, wide, wide)
        near = ground_under(model, lanes, g, point - around, point + around)
        for r in range(near.r0, near.r1 + 1):
            for c in range(near.c0, near.c1 + 1):
                for side in range(2):
                    slope = slope_of(model, lanes, near, r, c, side)
                    normal = slope.normal()
                    away = over(near, r, c, slope, point) * normal.z
                    if away < 0.0 and away > best and is_over(near, r, c, side, point - normal * away, 0.0):
                        best, outward = away, normal.copy()
    # The sides of the field, down from its border.
    for axis in range(2):
        at, reach = point.component(axis), -ti.select(axis == 0, ground.x, ground.y)
        away = ti.abs(at) - reach
        if away > best:
            sign = ti.select(at < 0.0, lanes.real(-1.0), lanes.real(1.0))
            best = away
            outward = Vec3(sign * (1.0 - axis), sign * axis, lanes.real(0.0))
    return best, outward
