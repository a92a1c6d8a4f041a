"""Spheres and capsules: with planes, and with each other. Closed forms, without a work list."""

import taichi as ti

from ....base.joints import free_frame, leave_frame
from ....base.math import Vec3, func
from ..contacts import append
from ..explicit_pairs import detection_distance
from ..poses import bounds_meet, cautious, root_of, seen_from_root
from .primitives import (
    CONCENTRIC,
    MINIMUM,
    closest_on_segments,
    nearly_parallel,
    overlap_ends,
    plane_point,
    segment_parameter,
    sphere_sphere,
    zero_vector,
)


@func
def _touching_distance(model, g1: ti.i32, g2: ti.i32):
    """Return the sum of both radii and the detection distance (m): spheres farther apart have no contact."""
    return cautious(model.geom_size.at(g1, 0) + model.geom_size.at(g2, 0) + detection_distance(model, g1, g2))


@func
def plane_sphere(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contact of a plane and a sphere."""
    lanes = work.precise_lanes
    radius = model.geom_size.at(g2, 0)
    contact = plane_point(lanes, work.geom_xpos[g1], work.geom_axis[g1], work.geom_xpos[g2], radius)
    append(model, work, g1, g2, contact, lanes.mask(contact.dist <= detection_distance(model, g1, g2)))


@func
def plane_capsule(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contacts of a plane with both end spheres of a capsule; the first tangent follows the capsule."""
    lanes = work.precise_lanes
    plane, normal = work.geom_xpos[g1], work.geom_axis[g1]
    axis = work.geom_axis[g2]
    for end in range(2):
        half = model.geom_size.at(g2, 1) * (1.0 - 2.0 * end)
        contact = plane_point(lanes, plane, normal, work.geom_xpos[g2] + axis * half, model.geom_size.at(g2, 0))
        contact = contact.with_tangent(axis)
        append(model, work, g1, g2, contact, lanes.mask(contact.dist <= detection_distance(model, g1, g2)))


@func
def _append_spheres(model, work, g1: ti.i32, g2: ti.i32, center1, center2, wanted, concentric):
    """Append the contact of two spheres with the radii of both geoms, in lanes of the mask `wanted`; return its mask.

    If the centres are closer than `concentric` (m), their difference gives no direction. Capsules that share an end,
    such as limbs at a joint, have centres there that differ by rounding, and along most directions one would be pushed
    along its axis.
    """
    lanes = work.precise_lanes
    apart = center2 - center1
    # a quick test of the centres' distance, then the contact itself
    touching = _touching_distance(model, g1, g2)
    present = lanes.mask(apart.dot(apart) <= touching * touching) * wanted
    if lanes.any(present):
        contact = sphere_sphere(
            lanes,
            center1,
            work.geom_axis[g1],
            model.geom_size.at(g1, 0),
            center2,
            work.geom_axis[g2],
            model.geom_size.at(g2, 0),
            concentric,
        )
        present = lanes.mask(contact.dist <= detection_distance(model, g1, g2)) * wanted
        append(model, work, g1, g2, contact.translated(root_of(model, work, g1)), present)
    return present


@func
def sphere_sphere_pair(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contact of two spheres."""
    center1, center2 = work.geom_offset[g1], seen_from_root(model, work, g1, g2)
    _append_spheres(model, work, g1, g2, center1, center2, work.precise_lanes.real(1.0), MINIMUM)


@func
def sphere_capsule(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contact of a sphere with the nearest sphere in a capsule."""
    lanes = work.precise_lanes
    center1, center2 = work.geom_offset[g1], seen_from_root(model, work, g1, g2)
    if lanes.any(bounds_meet(model, work, g1, g2, center1 - center2)):
        half = work.geom_axis[g2] * model.geom_size.at(g2, 1)
        nearest = center2 + half * segment_parameter(center1, center2, half)
        concentric = ti.static(CONCENTRIC[lanes.double])
        _append_spheres(model, work, g1, g2, center1, nearest, lanes.real(1.0), concentric)


@func
def _exact_parameters(model, work, g1: ti.i32, g2: ti.i32):
    """Return `closest_on_segments` of two capsules, computed from qpos on in double precision.

    If the axes of capsules meet at an angle of a thousandth, an error of 1e-7 in their directions moves the closest
    point by a hundredth of their length.
    """
    lanes = work.double_lanes
    center1, center2 = zero_vector(lanes), zero_vector(lanes)
    half1, half2 = zero_vector(lanes), zero_vector(lanes)
    for side in range(2):
        g = g1
        if side == 1:
            g = g2
        # the geom's centre and axis from qpos on
        center, axis = zero_vector(lanes), zero_vector(lanes)
        precise_geom(model, work, g, center, axis)
        half = axis * lanes.real(model.geom_size.at(g, 1))
        if side == 0:
            center1, half1 = center, half
        else:
            center2, half2 = center, half
    x1, x2, parallel = closest_on_segments(lanes, center1, half1, center2, half2)
    return work.lanes.cast(x1), work.lanes.cast(x2), work.lanes.cast(parallel)


@func
def capsule_capsule(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contact of two capsules, or two if they are parallel: at both ends of the overlap of their axes."""
    lanes = work.precise_lanes
    center1, center2 = work.geom_offset[g1], seen_from_root(model, work, g1, g2)
    if lanes.any(bounds_meet(model, work, g1, g2, center1 - center2)):
        half1 = work.geom_axis[g1] * model.geom_size.at(g1, 1)
        half2 = work.geom_axis[g2] * model.geom_size.at(g2, 1)
        # parameters of the closest points on both axes, in double precision if the axes are nearly parallel
        x1, x2, parallel = closest_on_segments(lanes, center1, half1, center2, half2)
        if ti.static(not lanes.double):
            near = nearly_parallel(lanes, half1, half2)
            beside = (center1 - center2).cross(half1)  # their distance times the length of half1
            close = 1.05 * _touching_distance(model, g1, g2) + 0.02 * model.geom_size.at(g2, 1)
            near = near * lanes.mask(beside.dot(beside) <= close * close * half1.dot(half1))
            if lanes.any(near):
                exact1, exact2, decided = _exact_parameters(model, work, g1, g2)
                x1 = ti.select(near > 0.5, exact1, x1)
                x2 = ti.select(near > 0.5, exact2, x2)
                parallel = ti.select(near > 0.5, decided, parallel)
        # one contact, or in lanes with parallel axes both ends of the overlap
        wanted = lanes.real(1.0)
        trials = 1
        if lanes.any(parallel):
            trials = 2
        for trial in range(trials):
            if trials == 2:
                end1, end2 = overlap_ends(center1, half1, center2, half2, lanes.real(trial))
                x1 = ti.select(parallel > 0.5, end1, x1)
                x2 = ti.select(parallel > 0.5, end2, x2)
                if trial == 1:
                    wanted = parallel
            nearest1, nearest2 = center1 + half1 * x1, center2 + half2 * x2
            _append_spheres(model, work, g1, g2, nearest1, nearest2, wanted, ti.static(CONCENTRIC[lanes.double]))


@func
def precise_geom(model, work, g: ti.i32, center, axis):
    """Set the variables `center` and `axis`, of double lanes, to world position (m) and z axis of geom g.

    They are transformed from frame to frame: through the joints of a body, last to first, then to its parent.
    """
    lanes = work.double_lanes
    zero = lanes.real(0.0)
    # In the body frame, then up to the world.
    center._assign(model.precise.geom_pos[g] + Vec3(zero, zero, zero))
    turn = model.precise.geom_quat[g]
    axis._assign(turn.rotate(Vec3(zero, zero, lanes.real(1.0))))
    b = model.geom_bodyid[g]
    while b > 0:
        first = model.body_jntadr[b]
        count = model.body_jntnum[b]
        if model.body_is_free[b] == 1:
            pos, quat = free_frame(model, work, lanes, model.jnt_qposadr[first])
            center._assign(quat.rotate(center) + pos)
            axis._assign(quat.rotate(axis))
        else:
            for k in range(count):
                leave_frame(model, work, first + count - 1 - k, center, axis)
            quat = model.precise.body_quat[b]
            center._assign(quat.rotate(center) + model.precise.body_pos[b])
            axis._assign(quat.rotate(axis))
        b = model.body_parentid[b]
