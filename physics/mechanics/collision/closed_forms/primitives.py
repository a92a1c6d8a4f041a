"""Distances between round and flat shapes: pure geometry, independent of model and state.

A shape is a centre, its z axis and its sizes: sphere (radius), capsule and cylinder (radius, half length).
Closest points of two segments: Ericson, Real-Time Collision Detection (2005), section 5.1.9.
"""

import taichi as ti

from ....base.math import Lanes, Vec3, func
from ....base.math.lanes import let, traced
from ....base.math.vector import zero_vector
from ..contact_point import ContactPoint

MINIMUM = 1e-15  # MuJoCo's mjMINVAL
CONCENTRIC = {True: 1e-12, False: 2e-6}
"""m, in double or single precision: the difference of closer centres of spheres in capsules is due to rounding."""
PARALLEL = 1e-8  # squared sine of the angle below which two capsules count as parallel (MuJoCo 4.0, measured)
NEARLY = 3e-4  # squared sine below which single precision misplaces their contact by more than a thousandth


@traced
def plane_point(lanes: Lanes, plane: Vec3, normal: Vec3, point: Vec3, radius: float) -> ContactPoint:
    """Return the contact of the plane through `plane` with the sphere about `point`."""
    dist = let((point - plane).dot(normal) - radius)
    return ContactPoint(dist, point + normal * (dist * -0.5 - radius), normal, zero_vector(lanes))


@func
def sphere_sphere(lanes, center1, axis1, radius1, center2, axis2, radius2, concentric):
    """Return the contact of two spheres; if centres are closer than `concentric`, along the axes' cross product."""
    apart = center2 - center1
    length = apart.norm()
    normal = apart * (1.0 / ti.max(length, MINIMUM))
    if lanes.any(lanes.mask(length < concentric)):
        side = axis1.cross(axis2)
        size = side.norm()
        zero = lanes.real(0.0)
        fallback = (side * (1.0 / ti.max(size, MINIMUM))).select(size > MINIMUM, Vec3(lanes.real(1.0), zero, zero))
        normal = fallback.select(length < concentric, normal)
    dist = length - radius1 - radius2
    return ContactPoint(dist, center1 + normal * (dist * 0.5 + radius1), normal, zero_vector(lanes))


@traced
def clip(x: object, low: float, high: float) -> object:
    """Return x clamped to [low, high]."""
    return let(ti.min(ti.max(x, low), high))


@func
def closest_on_segments(lanes, center1, half1, center2, half2):
    """Return parameters in [-1, 1] of the closest points of two segments `center +- half`, and a mask: parallel.

    The second point is the projection of the first onto its segment. Computed separately, both would have an error of
    the rounding divided by the squared sine of the angle, and points that coincide would be that far apart.
    """
    # the lines' closest points solve a 2x2 system with this determinant
    apart = center1 - center2
    a = half1.dot(half1)
    b = -half1.dot(half2)
    c = half2.dot(half2)
    u = -half1.dot(apart)
    v = half2.dot(apart)
    det = a * c - b * b
    parallel = lanes.mask(det < a * c * PARALLEL)
    det = ti.select(parallel > 0.5, lanes.real(1.0), det)
    x1 = (c * u - b * v) / det
    # clamp to the segments
    beyond = lanes.mask(ti.abs(x1) > 1.0)  # then its end is closest to the other's line
    side = ti.select(x1 > 0.0, -b, b)
    x2 = ti.select(beyond > 0.5, v + side, a * v - b * u) / ti.select(beyond > 0.5, ti.max(c, MINIMUM), det)
    end = clip((u + ti.select(x2 > 0.0, -b, b)) / ti.max(a, MINIMUM), -1.0, 1.0)
    x1 = ti.select(ti.abs(x2) > 1.0, end, clip(x1, -1.0, 1.0))
    x2 = clip((v - b * x1) / ti.max(c, MINIMUM), -1.0, 1.0)
    return x1, x2, parallel


@func
def segment_parameter(point, center, half):
    """Return the parameter in [-1, 1] of the point of the segment `center +- half` that is closest to `point`."""
    return clip((point - center).dot(half) / ti.max(half.dot(half), MINIMUM), -1.0, 1.0)


@traced
def nearly_parallel(lanes: Lanes, half1: Vec3, half2: Vec3) -> object:
    """Return the mask of lanes in which single precision cannot decide where two capsules are closest."""
    along = let(half1.dot(half2))
    square = let(half1.dot(half1) * half2.dot(half2))
    return lanes.mask(square - along * along < square * NEARLY)


@func
def overlap_ends(center1, half1, center2, half2, upper):
    """Return parameters in [-1, 1], on two parallel segments `center +- half`, of an end of their overlap.

    That is its lower end along segment 1, or its upper one if the mask `upper` is set. It is an end of segment 2 with
    its projection on segment 1, or an end of segment 1 with its projection on segment 2.
    """
    side = upper * 2.0 - 1.0
    along = half1.dot(half2)
    end = ti.select(along < 0.0, -side, side)  # of segment 2, that lies on this side
    a, c = ti.max(half1.dot(half1), MINIMUM), ti.max(half2.dot(half2), MINIMUM)
    apart = center1 - center2
    x1 = (end * along - half1.dot(apart)) / a
    clipped = clip((side * along + half2.dot(apart)) / c, -1.0, 1.0)
    return clip(x1, -1.0, 1.0), ti.select(x1 * side < 1.0, end, clipped)
