"""Contacts of a height field with a mesh that has a distance field.

Sampled points of the mesh are tested against the ground under them, and vertices of the ground under the mesh in the
field of the mesh. Of all that touches the deepest and the widest spread are kept (`candidates`).
"""

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.vector import zero_vector
from ..distance_fields.sdf_samples import put_touch
from ..distance_fields.sdf_values import distance_from
from .ground_cells import ground_under, height_of, highest_below, reaches, vertex
from .ground_depth import depth_of, height_above


@func
def points_on_ground(model, one, g1: ti.i32, g2: ti.i32, sides):
    """Store the candidates at sampled points of mesh g2; `sides` is its pose in the frame of height field g1."""
    f = model.geom_sdfid[g2]
    depth, above, count = model.sdf_pointdepth.at(f, 0), model.sdf_pointdepth.at(f, 1), model.sdf_pointnum[f]
    below, first = depth - above, model.sdf_pointadr[f]
    for block in range(1 << above):
        if _reaches_ground(model, one, g1, sides, model.sdf_balladr.at(f, 1) + block) == 1:
            for k in range(block << below, (block + 1) << below):
                if _reaches_ground(model, one, g1, sides, model.sdf_balladr.at(f, 0) + k) == 1:
                    start, end = first + ((k * count) >> depth), first + (((k + 1) * count) >> depth)
                    _deepest_point(model, one, g1, sides, start, end)


@func
def _reaches_ground(model, one, g1: ti.i32, sides, ball: ti.i32):
    """Return 1 if the ball with this number is not wholly above the ground under it, by more than `reach`."""
    lanes = one.ccd_lanes
    center = Vec3(model.sdf_ball.at(ball, 0), model.sdf_ball.at(ball, 1), model.sdf_ball.at(ball, 2))
    middle, radius = sides.seen(lanes.cast(center)), lanes.real(model.sdf_ball.at(ball, 3)) + sides.reach
    around = Vec3(radius, radius, radius)
    return ti.cast(middle.z - radius <= highest_below(model, lanes, g1, middle - around, middle + around), ti.i32)


@func
def _deepest_point(model, one, g1: ti.i32, sides, start: ti.i32, end: ti.i32):
    """Store the deepest of the points of a bin, if it is within reach."""
    lanes = one.ccd_lanes
    least, point, normal = sides.reach * 1.0, zero_vector(lanes), zero_vector(lanes)
    found = 0
    for i in range(start, end):
        p = sides.seen(lanes.cast(model.sdf_point[i]))
        ground = ground_under(model, lanes, g1, p, p)
        dist, upward = height_above(model, lanes, ground, p)
        if dist < sides.reach:
            dist, upward = depth_of(model, lanes, g1, ground, p, dist, upward)
        if dist < least:
            least, found = dist, 1
            point, normal = p.copy(), upward.copy()
    if found == 1:
        put_touch(model, one, sides, point, least, normal, lanes.real(0.0))


@func
def ground_in_field(model, one, g1: ti.i32, g2: ti.i32, sides, low, high):
    """Store the candidates at vertices of height field g1 under a box around mesh g2, from `low` to `high`.

    `sides` is the pose of the height field in the frame of the mesh.
    """
    lanes = one.ccd_lanes
    ground = ground_under(model, lanes, g1, low, high)
    for r in range(ground.r0, ground.r1 + 2):
        for c in range(ground.c0, ground.c1 + 2):
            if ground.r0 <= ground.r1 and ground.c0 <= ground.c1 and reaches(model, lanes, g1, ground, r, c, low.z):
                if height_of(model, lanes, ground, r, c) >= low.z:
                    p = sides.seen(vertex(model, lanes, ground, r, c))
                    value, outward, _bound = distance_from(model, one, g2, p)
                    if value < sides.reach:
                        put_touch(model, one, sides, p, value, outward, lanes.real(0.0))
