"""Support points: the farthest points of a convex shape, or of the difference of two, in a direction.

Spheres and capsules count as their cores, a point and a segment; the caller adds their radii (`core_radius`). The poses
of both geoms are in `ccd_frame`, relative to the centre of geom 1, so that digits are kept far from the origin: rows
4 k to 4 k + 3 are the centre and the three axes of geom k (0 or 1).
"""

import taichi as ti

from ....base.math import Vec3, func
from ....base.shapes import CURVED, HFIELD, ROUNDED, SUPPORTS
from ....base.shapes.by_kind import by_kind, is_one_of
from ....base.shapes.hfield import farthest_of_piece
from ..closed_forms.primitives import zero_vector
from ..poses import geom_axes, seen_from_root


@func
def core_radius(model, one, g: ti.i32):
    """Return the distance of a geom's surface from its core (m)."""
    radius = one.ccd_lanes.real(0.0)
    if is_one_of(model.geom_type[g], ROUNDED):
        radius = one.ccd_lanes.real(model.geom_size.at(g, 0))
    return radius


@func
def has_corners(model, g: ti.i32):
    """Return True if the core of a geom is the hull of finitely many points: a sphere, capsule, box or mesh."""
    return not is_one_of(model.geom_type[g], CURVED)


@func
def place_geoms(model, one, g1: ti.i32, g2: ti.i32):
    """Fill `ccd_frame` with the poses of a pair."""
    lanes = one.ccd_lanes
    # Geom 1 is at the origin; geom 2 is relative to it.
    for side in range(2):
        g, center = g1, zero_vector(lanes)
        if side == 1:
            g = g2
            center = lanes.cast(seen_from_root(model, one, g1, g2) - one.geom_offset[g1])
        axes = lanes.cast(geom_axes(model, one, g))
        one.ccd_frame.put(4 * side, center)
        for k in ti.static(range(3)):
            one.ccd_frame.put(4 * side + 1 + k, axes.parts()[k])


@func
def support(model, one, g1: ti.i32, g2: ti.i32, direction):
    """Return the support point of the difference of geoms 1 and 2 in a direction (unit vector).

    Also returns its point of geom 1, and the numbers of both geoms' corners there, if their shapes have corners; ends
    of capsules and cylinders count as corners, 0: the end at positive z.
    """
    lanes = one.ccd_lanes
    difference, on1 = zero_vector(lanes), zero_vector(lanes)
    mark1, mark2 = 0, 0
    for side in range(2):  # a loop, so that the code of all types is there once
        # The direction in the geom's frame; geom 2 is subtracted, so its support point is in the opposite direction.
        g, sense = g1, lanes.real(1.0)
        if side == 1:
            g, sense = g2, lanes.real(-1.0)
        x, y, z = one.ccd_frame[4 * side + 1], one.ccd_frame[4 * side + 2], one.ccd_frame[4 * side + 3]
        local = Vec3(x.dot(direction) * sense, y.dot(direction) * sense, z.dot(direction) * sense)
        size = model.geom_size[g]
        point, mark = by_kind(model.geom_type[g], SUPPORTS, (zero_vector(lanes), 0), model, lanes, g, size, local)
        if ti.static(model.has.terrain):
            if model.geom_type[g] == HFIELD:
                point, mark = farthest_of_piece(one, local)
        far = one.ccd_frame[4 * side] + x * point.x + y * point.y + z * point.z
        difference = difference + far * sense
        if side == 0:
            on1, mark1 = far.copy(), mark
        else:
            mark2 = mark
    return difference, on1, mark1, mark2
