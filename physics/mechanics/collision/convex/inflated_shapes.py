"""Penetration depth of shapes with a radius or a margin, searched on shapes grown by it, as in MuJoCo.

If cores are apart, their distance less the radii is exact. If they overlap or nearly touch, MuJoCo seeks the depth of
the whole shapes: spheres and capsules with their radii, and each shape with half the pair's margin around it. Such
shapes are smooth, and many directions give a depth within `ccd_tolerance` of the least; which one is found depends on
the path of the search. So Tumble takes the same path: the search restarts with support points moved outward. If
`ccd_tolerance` is 1e-9 m or less, the result is that of the cores, which are searched in fewer steps.
"""

import taichi as ti

from ....base.math import func
from ..explicit_pairs import detection_distance
from .flat_sides import corner_of, place_on
from .gjk import DEPTH, DISTANCE, FILL, FOUND
from .support import core_radius


@func
def allow_growth(model, one, g1: ti.i32, g2: ti.i32, limits):
    """Set in `Limits` how far each geom of a pair grows (m); not at all with MPR or tilts, or a small ccd_tolerance."""
    if ti.static(not (model.has.tilts or model.has.mpr)):
        if model.ccd_follows == 1:
            half = 0.5 * ti.max(detection_distance(model, g1, g2), 0.0)
            limits.grow1 = core_radius(model, one, g1) + half
            limits.grow2 = core_radius(model, one, g2) + half


@func
def wants_growth(model, search, limits):
    """Return 1 if the cores overlap or nearly touch, so that the geoms grow; 0 if the search continues unchanged."""
    deep = search.phase == DEPTH or search.phase == FILL
    if search.phase == FOUND:
        deep = search.square <= model.ccd_tolerance[0] * model.ccd_tolerance[0]
    return ti.select(deep and search.grown == 0 and limits.grow1 + limits.grow2 > 0.0, 1, 0)


@func
def start_grown(model, one, search, limits, toward):
    """Restart the search with the grown geoms; smooth shapes count as touching if closer than the tolerance."""
    search.near, search.square = toward, one.ccd_lanes.real(1e30)
    search.phase, search.trips, search.kept, search.grown = DISTANCE, 0, 0, 1
    limits.tolerance = one.ccd_lanes.real(model.ccd_tolerance[0])
    limits.exact = ti.max(limits.exact, limits.tolerance)
    limits.touch = ti.max(limits.near, limits.tolerance)
    limits.reach = one.ccd_lanes.real(0.0)


@func
def shrink_corners(model, one, g1: ti.i32, g2: ti.i32, corners: ti.i32):
    """Move the points of both geoms at a face of the polytope back to the surfaces of the original shapes."""
    for k in range(3):
        corner = corner_of(corners, k)
        on2 = one.ccd_on1[corner] - one.ccd_point[corner]
        on1 = place_on(model, one, g1, 0, one.ccd_mark1[corner], one.ccd_on1[corner])
        one.ccd_point.put(corner, on1 - place_on(model, one, g2, 1, one.ccd_mark2[corner], on2))
        one.ccd_on1.put(corner, on1)
