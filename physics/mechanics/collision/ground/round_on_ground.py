"""Spheres and capsules on a height field, in one lane, in the field's frame.

A sphere whose centre is over the surface touches every triangle that its centre projects onto, and every convex edge
that pushes towards it. A capsule is a sphere at either end, and the axis between them, which convex edges can touch.
"""

import taichi as ti

from ....base.math import Vec3, func
from ..candidates import put_candidate
from ..closed_forms.primitives import MINIMUM, closest_on_segments
from .ground_cells import ground_under, is_over, over, reaches, slope_of
from .ground_depth import depth_of, height_above
from .ridges import ends_of, for_each_ridge, nearest_on, pushes


@func
def put_on_ground(model, one, close, at, normal, dist):
    """Store a candidate at a point `at` of the surface; the solid is at a distance along the normal (m)."""
    put_candidate(model, one, close, dist, at + normal * (0.5 * dist), normal)


@func
def ball(model, one, g1: ti.i32, center, radius, reach, close):
    """Find the candidates of a sphere at a distance up to `reach` (m)."""
    lanes, far = one.ccd_lanes, ti.max(radius + reach, 0.0)
    around = Vec3(far, far, far)
    ground = ground_under(model, lanes, g1, center - around, center + around)
    height, normal = height_above(model, lanes, ground, center)
    if height < 0.0:
        depth, outward = depth_of(model, lanes, g1, ground, center, height, normal)
        put_on_ground(model, one, close, center - outward * depth, outward, depth - radius)
    else:
        for r in range(ground.r0, ground.r1 + 1):
            for c in range(ground.c0, ground.c1 + 1):
                if reaches(model, lanes, g1, ground, r, c, center.z - far):
                    for side in range(2):
                        _ball_on_triangle(model, one, ground, r, c, side, center, radius, far, close)
        for_each_ridge(model, one, g1, ground, center.z - far, _ball_on_ridge, (center, radius, far, close))


@func
def _ball_on_triangle(model, one, ground, r: ti.i32, c: ti.i32, side: ti.i32, center, radius, far, close):
    """Find the candidate of a sphere and a triangle onto which its centre projects."""
    slope = slope_of(model, one.ccd_lanes, ground, r, c, side)
    height = over(ground, r, c, slope, center)
    if height >= 0.0 and height * height <= far * far * slope.square():
        normal = slope.normal()
        away = height * normal.z
        at = center - normal * away
        if is_over(ground, r, c, side, at, 2.0 * ground.slack * away):
            put_on_ground(model, one, close, at, normal, away - radius)


@func
def _ball_on_ridge(model, one, ground, r: ti.i32, c: ti.i32, kind: ti.i32, center, radius, far, close):
    """Find the candidate of a sphere and a convex edge."""
    lanes = one.ccd_lanes
    begin, end = ends_of(model, lanes, ground, r, c, kind)
    along = nearest_on(begin, end, center)
    at = begin + (end - begin) * along
    gap = center - at
    square = gap.dot(gap)
    if square <= far * far and square > MINIMUM * MINIMUM:
        away = ti.sqrt(square)
        normal = gap * (1.0 / away)
        if pushes(model, lanes, ground, r, c, kind, along, normal):
            put_on_ground(model, one, close, at, normal, away - radius)


@func
def axis_on_ridges(model, one, g1: ti.i32, ground, low, center, half, radius, reach, close):
    """Find the candidates of the axis of a capsule, `center +- half`, and the convex edges in the range above `low`."""
    per_square = 1.0 / half.dot(half)
    for_each_ridge(model, one, g1, ground, low, _axis_on_ridge, (center, half, per_square, radius, reach, close))


@func
def _axis_on_ridge(
    model, one, ground, r: ti.i32, c: ti.i32, kind: ti.i32, center, half, per_square, radius, reach, close
):
    """Find the candidate of the axis of a capsule and a convex edge, which may be over the axis."""
    lanes = one.ccd_lanes
    begin, end = ends_of(model, lanes, ground, r, c, kind)
    middle, wing = (begin + end) * 0.5, (end - begin) * 0.5
    # The axis is as near to the edge's middle as if the edge touches the capsule: (a + b)^2 <= 2 a^2 + 2 b^2.
    share = ti.min(ti.max((middle - center).dot(half) * per_square, -1.0), 1.0)
    gap, far = center + half * share - middle, ti.max(radius + reach, 0.0)
    if gap.dot(gap) <= 2.0 * (far * far + wing.dot(wing)):
        x1, x2, _parallel = closest_on_segments(lanes, middle, wing, center, half)
        if ti.abs(x2) < 1.0:  # at the ends of the axis are spheres
            at, on_axis = middle + wing * x1, center + half * x2
            away = (on_axis - at).norm()
            if away > MINIMUM and (away <= far or at.z > on_axis.z):
                normal = (on_axis - at) * (1.0 / away)
                if at.z > on_axis.z:
                    height, _normal = height_above(model, lanes, ground, on_axis)
                    if height < 0.0:
                        normal, away = normal * -1.0, -away
                if away <= far and pushes(model, lanes, ground, r, c, kind, 0.5 + 0.5 * x1, normal):
                    put_on_ground(model, one, close, at, normal, away - radius)
