"""Poses of geoms for the narrow phase, relative to the root of a tree, so that distances keep their digits."""

from typing import Any

import taichi as ti

from ...base.math import Mat3, Vec3, func
from ...base.math.lanes import let, traced
from .explicit_pairs import detection_distance

CAREFUL = 1e-5
"""The growth of a geom's bounding sphere: this share of its radius, and a tenth of it of its distance from the origin.
Single precision rounds less."""
CAUTION = 1.0 + 1e-6
"""Factor on compared distances, more than the rounding error of single precision."""


@func
def root_of(model, work, g: ti.i32):
    """Return the position (m) of the root of the tree that geom g belongs to."""
    return work.xpos[model.geom_rootid[g]]


@func
def seen_from_root(model, work, g1: ti.i32, g2: ti.i32):
    """Return the centre of geom 2 relative to the root of geom 1's tree (m); geom 1 is at its geom_offset there.

    So the distance of two geoms has as many digits far from the origin as near it.
    """
    center = work.geom_offset[g2]
    if model.geom_rootid[g1] != model.geom_rootid[g2]:
        center = (root_of(model, work, g2) - root_of(model, work, g1)) + center
    return center


@func
def geom_axes(model, work, g: ti.i32):
    """Return the geom's frame: its axes in world coordinates."""
    return (work.xquat[model.geom_bodyid[g]] * model.geom_quat[g]).matrix()


@func
def cautious(distance):
    """Return a distance, enlarged by more than rounding."""
    return distance * CAUTION


@func
def sphere_around(model, work, g: ti.i32):
    """Return centre and radius (m) of a sphere that holds all contacts of geom g but its explicit pairs' contacts."""
    pos = work.lanes.cast(work.geom_xpos[g])
    away = ti.abs(pos.x) + ti.abs(pos.y) + ti.abs(pos.z)
    radius = ti.max(model.geom_rbound[g] + model.geom_detect[g] + work.real(0.0), 0.0)
    return pos, radius * (1.0 + CAREFUL) + away * (0.1 * CAREFUL)


@func
def bounds_meet(model, work, g1: ti.i32, g2: ti.i32, apart):
    """Return the mask of lanes in which the bounding spheres, at the offset `apart` (m), are near enough to touch."""
    bound = cautious(model.geom_rbound[g1] + model.geom_rbound[g2] + detection_distance(model, g1, g2))
    return work.precise_lanes.mask(apart.dot(apart) <= bound * bound)


@func
def boxes_meet(model, work, g1: ti.i32, g2: ti.i32, apart):
    """Return the mask of lanes in which no face normal separates the bounding boxes by the detection distance.

    `apart` (m) is the offset of geom 2's origin from geom 1's.
    """
    lanes = work.precise_lanes
    axes1, axes2 = geom_axes(model, work, g1), geom_axes(model, work, g2)
    meet = _no_face_between(
        axes1, model.geom_half[g1], axes2, model.geom_half[g2], apart, detection_distance(model, g1, g2)
    )
    return lanes.mask(meet)


@traced
def _no_face_between(axes1: Mat3, half1: Vec3, axes2: Mat3, half2: Vec3, apart: Vec3, reach: Any) -> Any:
    """Test six of the fifteen axes that can separate two boxes: their face normals (Ericson 2005, section 4.4.1)."""
    cosines = [[let(ti.abs(a.dot(b))) for b in axes2.parts()] for a in axes1.parts()]
    meet = None
    for axes, own, other, turned in (
        (axes1, half1, half2, cosines),
        (axes2, half2, half1, list(zip(*cosines, strict=True))),
    ):
        for axis, half, row in zip(axes.parts(), own.parts(), turned, strict=True):
            bound = half + reach + row[0] * other.x + row[1] * other.y + row[2] * other.z
            close = ti.abs(axis.dot(apart)) <= bound * CAUTION
            meet = close if meet is None else meet & close
    return meet
