"""A sphere against a cylinder or a box, in the lanes of the mask `near`.

The contact is where the sphere's centre is nearest to the other shape's surface; from inside, at the nearest side.
"""

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.elementary import with_limit
from ..contact_point import ContactPoint
from ..explicit_pairs import detection_distance
from ..poses import geom_axes, root_of, seen_from_root
from ..work_list import put_point
from .primitives import MINIMUM, clip, zero_vector


@func
def put_sphere_point(model, work, k: ti.i32, pair, center, gap, outward, present):
    """Put point k of a pair: a sphere about `center` at the distance `gap` (m) from a surface with normal `outward`.

    `pair` is (g1, g2); geom 1 is the sphere, or the capsule that the sphere is a part of.
    """
    lanes, g1, g2 = work.precise_lanes, pair[0], pair[1]
    radius = model.geom_size.at(g1, 0)
    dist = gap - radius
    pos = center - outward * (radius + dist * 0.5)
    contact = ContactPoint(dist, pos + root_of(model, work, g1), -outward, zero_vector(lanes))
    put_point(work, k, contact, present * lanes.mask(dist <= detection_distance(model, g1, g2)))


@func
def sphere_cylinder(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the contact of a sphere with a cylinder's side, flat end, or rim."""
    lanes = work.precise_lanes
    # the sphere's centre in cylinder coordinates, and which part of the surface is nearest
    center, axis = work.geom_offset[g1], work.geom_axis[g2]
    radius, half = model.geom_size.at(g2, 0), model.geom_size.at(g2, 1)
    apart = center - seen_from_root(model, work, g1, g2)
    along = apart.dot(axis)
    across = apart - axis * along
    distance = across.norm()
    side = lanes.mask(ti.abs(along) < half)
    end = lanes.mask(distance < radius)
    by_end = lanes.mask(half - ti.abs(along) < radius - distance)  # from inside: the end is nearer
    inside = side * end
    side, end = side * (1.0 - inside * by_end), end * (1.0 - inside * (1.0 - by_end))

    # outward normals at the side, the end and the rim
    sign = ti.select(along > 0.0, lanes.real(1.0), lanes.real(-1.0))
    outward = across * (1.0 / ti.max(distance, MINIMUM))
    corner = across * (1.0 - radius / ti.max(distance, MINIMUM)) + axis * (along - sign * half)
    length = corner.norm()
    rim = corner * (1.0 / ti.max(length, MINIMUM))
    upright = ti.abs(axis.y) < 0.5  # if the centre is on the axis, the normal is any direction across it
    zero, one = lanes.real(0.0), lanes.real(1.0)
    level = axis.cross(Vec3(zero, ti.select(upright, one, zero), ti.select(upright, zero, one)))
    level = level * (1.0 / level.norm())
    outward = outward.select(distance >= MINIMUM, level)
    outward = outward.select(side > 0.5, (axis * sign).select(end > 0.5, rim))
    gap = ti.select(side > 0.5, distance - radius, ti.select(end > 0.5, ti.abs(along) - half, length))
    put_sphere_point(model, work, 0, (g1, g2), center, gap, outward, near)


@func
def sphere_box(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the contact of a sphere with a box."""
    center, axes = work.geom_offset[g1], geom_axes(model, work, g2)
    box = seen_from_root(model, work, g1, g2)
    gap, outward = box_distance(work.precise_lanes, axes.transpose_times(center - box), model.geom_size[g2])
    put_sphere_point(model, work, 0, (g1, g2), center, gap, axes.times(outward), near)


@func
def box_distance(lanes, point, size):
    """Return the signed distance of a point from the surface of a box, and the outward direction, in the box's frame.

    Among equally near faces the first of -x, x, -y, y, -z, z is taken, as in MuJoCo.
    """
    zero = lanes.real(0.0)
    # outside: from the point clamped to the box
    away = point - Vec3(clip(point.x, -size.x, size.x), clip(point.y, -size.y, size.y), clip(point.z, -size.z, size.z))
    gap = away.norm()
    outward = away * (1.0 / ti.max(gap, MINIMUM))
    inside = gap <= MINIMUM
    # inside: the nearest face
    if lanes.any(lanes.mask(inside)):
        nearest, face = lanes.real(1e30), Vec3(zero, zero, zero)
        for axis in ti.static(range(3)):
            for side in ti.static((-1.0, 1.0)):
                below = size.parts()[axis] - point.parts()[axis] * side
                depth = with_limit(ti.abs(below), below == 0.0, below)
                unit = ti.static([side if k == axis else 0.0 for k in range(3)])
                closer = depth < nearest
                face = Vec3(lanes.real(unit[0]), lanes.real(unit[1]), lanes.real(unit[2])).select(closer, face)
                nearest = ti.min(depth, nearest)
        outward = face.select(inside, outward)
        gap = ti.select(inside, -nearest, gap)
    return gap, outward
