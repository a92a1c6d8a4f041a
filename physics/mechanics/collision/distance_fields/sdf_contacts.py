"""Contacts by distance fields: of a mesh that is not convex with any solid, another such mesh, or a plane.

Each geom of a pair is sampled in the field of the other (`sdf_samples`): many points of meshes, corners and edges of
other solids. Their distances and directions come from the field; the field of a solid that is no mesh is exact. If
no point touches, or there are few of them, sharp edges of meshes are looked at as well. Of all that touches the deepest
and the widest spread are kept (`candidates`).

A mesh with a distance field meets a height field by points of both: sampled points of the mesh are tested against the
ground under them, and vertices of the ground under the mesh in the field of the mesh.
"""

import taichi as ti

from ....base.math import Mat3, Vec3, func
from ....base.math.vector import zero_vector
from ....base.shapes import WITH_FIELDS
from ....base.shapes.by_kind import is_one_of
from ..candidates import CLOSE, clear_candidates, reduce_candidates
from ..contact_point import ContactPoint
from ..convex.support import place_geoms
from ..explicit_pairs import detection_distance
from ..ground.ground_cells import ground_under, height_of, highest_below, reaches, vertex
from ..ground.ground_depth import depth_of, height_above
from ..poses import root_of
from ..work_list import lane_by_lane, put_point
from .sdf_samples import Sides, put_touch, scan, scan_edges, scan_points
from .sdf_values import distance_from

FEW = 64
"""Sharp edges of a pair up to which they are looked at even if points touch."""


@func
def field_solid(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the contacts of a pair whose geom 2 has a distance field."""
    lane_by_lane(_contacts, model, work, g1, g2, near)


@func
def plane_field(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the contacts of a plane with a mesh that has a distance field."""
    lane_by_lane(_on_plane, model, work, g1, g2, near)


@func
def _on_plane(model, one, g1: ti.i32, g2: ti.i32):
    """Find the contacts of a plane in one lane, whose views are `model` and `one`."""
    lanes = one.ccd_lanes
    place_geoms(model, one, g1, g2)
    clear_candidates(one)
    close = CLOSE * lanes.real(model.geom_rbound[g2])
    scan_points(model, one, g2, g1, _sides(model, one, 1, lanes.real(detection_distance(model, g1, g2)), close))
    _put_all(model, one, g1, close)


@func
def hfield_field(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the contacts of a height field with a mesh that has a distance field."""
    lane_by_lane(_on_ground, model, work, g1, g2, near)


@func
def _on_ground(model, one, g1: ti.i32, g2: ti.i32):
    """Find the contacts of a height field in one lane, whose views are `model` and `one`."""
    lanes = one.ccd_lanes
    place_geoms(model, one, g1, g2)
    clear_candidates(one)
    close, reach = CLOSE * lanes.real(model.geom_rbound[g2]), lanes.real(detection_distance(model, g1, g2))
    mesh = _sides(model, one, 1, reach, close)
    points_on_ground(model, one, g1, g2, mesh)
    # The box around the mesh in the frame of the height field.
    size, half = lanes.cast(model.geom_half[g2]), Vec3(reach, reach, reach)
    for k in ti.static(range(3)):
        along = mesh.parts()[k]
        half = half + Vec3(ti.abs(along.x), ti.abs(along.y), ti.abs(along.z)) * size.parts()[k]
    ground = _sides(model, one, 0, reach, close)
    ground_in_field(model, one, g1, g2, ground, mesh.shift - half, mesh.shift + half)
    _put_all(model, one, g1, close)


@func
def _contacts(model, one, g1: ti.i32, g2: ti.i32):
    """Find the contacts of a pair in one lane, whose views are `model` and `one`."""
    lanes = one.ccd_lanes
    place_geoms(model, one, g1, g2)
    clear_candidates(one)
    close = CLOSE * lanes.real(model.geom_rbound[g2])
    # Points of geom 1 in the field of geom 2, and the other way round; then edges of meshes in the same way.
    turn, turns = 0, 4
    while turn < turns:
        a, b, side = g1, g2, 0
        if turn & 1 == 1:
            a, b, side = g2, g1, 1
        sides = _sides(model, one, side, lanes.real(detection_distance(model, g1, g2)), close)
        if turn < 2:
            scan(model, one, a, b, sides)
        elif is_one_of(model.geom_type[a], WITH_FIELDS):
            scan_edges(model, one, a, b, sides)
        turn += 1
        if turn == 2 and one.hit_count[0] > 0 and _edges(model, g1) + _edges(model, g2) > FEW:
            turns = 2
    _put_all(model, one, g1, close)


@func
def _edges(model, g: ti.i32):
    """Return the number of sharp edges of a mesh, and 0 for other solids."""
    count = 0
    if is_one_of(model.geom_type[g], WITH_FIELDS):
        count = model.sdf_edgenum[model.geom_sdfid[g]]
    return count


@func
def _put_all(model, one, g1: ti.i32, close):
    """Store the candidates that are kept as points of the pair."""
    lanes = one.ccd_lanes
    reduce_candidates(one, close)
    base = root_of(model, one, g1) + one.geom_offset[g1]
    for k in range(one.hit_count[0]):
        pos = base + one.precise_lanes.cast(one.hit_pos[k])
        contact = ContactPoint(one.hit_dist[k], pos, one.hit_normal[k], zero_vector(lanes))
        put_point(one, k, contact, lanes.real(1.0))


@func
def _sides(model, one, side: ti.i32, reach, close):
    """Return the pose of geom `side` (0 or 1) of the pair in `ccd_frame` in the frame of the other."""
    own, other = 4 * side, 4 - 4 * side
    frame = Mat3(one.ccd_frame[other + 1], one.ccd_frame[other + 2], one.ccd_frame[other + 3])
    x, y = frame.transpose_times(one.ccd_frame[own + 1]), frame.transpose_times(one.ccd_frame[own + 2])
    z = frame.transpose_times(one.ccd_frame[own + 3])
    shift = frame.transpose_times(one.ccd_frame[own] - one.ccd_frame[other])
    return Sides(x, y, z, shift, reach, close, one.ccd_lanes.real(2.0 * side - 1.0))


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
