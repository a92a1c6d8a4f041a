"""A plane against shapes with corners: cylinder, box and convex mesh."""

import taichi as ti

from .contact_point import ContactPoint
from .contacts import append, detection_distance
from .primitives import MINIMUM, zero_vector

HALF_SQRT3 = 0.8660254037844386


@ti.func
def _offer(
    model: ti.template(),
    work: ti.template(),
    g1: ti.i32,
    g2: ti.i32,
    dist: ti.template(),
    point: ti.template(),
    normal: ti.template(),
    present: ti.template(),
):
    """Append a contact whose point lies on the shape's surface; half the depth moves it midway."""
    contact = ContactPoint(dist, point - normal * (dist * 0.5), normal, zero_vector(work.precise_lanes))
    append(model, work, g1, g2, contact, present)


@ti.func
def plane_cylinder(model: ti.template(), work: ti.template(), g1: ti.i32, g2: ti.i32):
    """The lowest points of both rims, then two more on the lower rim that make a triangle with its lowest."""
    lanes = work.precise_lanes
    reach = detection_distance(model, g1, g2)
    radius, half = model.geom_size.at(g2, 0), model.geom_size.at(g2, 1)
    normal, center = work.geom_axis[g1], work.geom_xpos[g2]
    height = (center - work.geom_xpos[g1]).dot(normal)
    axes = (work.xquat[model.geom_bodyid[g2]] * model.geom_quat[g2]).matrix()
    lean = normal.dot(axes.z)
    axis = axes.z * ti.select(lean > 0.0, -lanes.real(1.0), lanes.real(1.0))
    lean = -ti.abs(lean)
    # downhill in the plane of a rim: from components of the normal, as differences of vectors would lose digits
    # where the cylinder stands almost upright
    x, y = -normal.dot(axes.x), -normal.dot(axes.y)
    length = ti.sqrt(x * x + y * y)
    scale = radius / ti.max(length, MINIMUM)
    rim = (axes.x * radius).select(length < MINIMUM, axes.x * (x * scale) + axes.y * (y * scale))
    drop = ti.select(length < MINIMUM, radius * normal.dot(axes.x), -(radius * length))
    axis = axis * half
    lean = lean * half
    low = height + lean + drop
    touching = lanes.mask(low <= reach)
    _offer(model, work, g1, g2, low, center + rim + axis, normal, touching)
    high = height - lean + drop
    _offer(model, work, g1, g2, high, center + rim - axis, normal, touching * lanes.mask(high <= reach))
    across = rim.cross(axis)
    across = across * (HALF_SQRT3 * radius / ti.max(across.norm(), MINIMUM))
    third = height + lean - drop * 0.5
    present = touching * lanes.mask(third <= reach)
    for sign in range(2):
        _offer(model, work, g1, g2, third, center + across * (1.0 - 2.0 * sign) + axis - rim * 0.5, normal, present)


@ti.func
def plane_box(model: ti.template(), work: ti.template(), g1: ti.i32, g2: ti.i32):
    """The first four corners, in MuJoCo's order, that point down and are within reach."""
    lanes = work.precise_lanes
    normal, center = work.geom_axis[g1], work.geom_xpos[g2]
    height = (center - work.geom_xpos[g1]).dot(normal)
    if lanes.any(lanes.mask(height <= detection_distance(model, g1, g2) + model.geom_rbound[g2])):
        axes = (work.xquat[model.geom_bodyid[g2]] * model.geom_quat[g2]).matrix()
        size = model.geom_size[g2]
        found = lanes.real(0.0)
        for i in range(8):
            x = size.x * (2.0 * (i & 1) - 1.0)
            y = size.y * (2.0 * ((i >> 1) & 1) - 1.0)
            z = size.z * (2.0 * ((i >> 2) & 1) - 1.0)
            corner = axes.x * x + axes.y * y + axes.z * z
            drop = normal.dot(corner)
            present = (
                lanes.mask(height + drop <= detection_distance(model, g1, g2))
                * lanes.mask(drop <= 0.0)
                * lanes.mask(found < 3.5)
            )
            found += present
            _offer(model, work, g1, g2, height + drop, center + corner, normal, present)


@ti.func
def plane_mesh(model: ti.template(), work: ti.template(), g1: ti.i32, g2: ti.i32):
    """The lowest vertex, then up to three more of its face that looks most towards the plane.

    As of a box's corners, MuJoCo takes only vertices that are not above the geom's centre.
    """
    lanes = work.precise_lanes
    normal, center = work.geom_axis[g1], work.geom_xpos[g2]
    height = (center - work.geom_xpos[g1]).dot(normal)
    if lanes.any(lanes.mask(height <= detection_distance(model, g1, g2) + model.geom_rbound[g2])):
        axes = (work.xquat[model.geom_bodyid[g2]] * model.geom_quat[g2]).matrix()
        up = axes.transpose_times(normal)
        first = model.geom_vertadr[g2]
        lowest = up.dot(model.vert_pos[first])
        best = lanes.real(0.0)
        for i in range(1, model.geom_vertnum[g2]):
            drop = up.dot(model.vert_pos[first + i])
            best = ti.select(drop < lowest, lanes.real(i), best)
            lowest = ti.min(drop, lowest)
        corner = _facing_corner(model, work, first, best, up)
        for k in range(4):
            local = zero_vector(lanes)
            present = lanes.real(0.0)
            for lane in ti.static(range(lanes.width)):  # vertices differ between lanes: gathered one by one
                v = ti.cast(lanes.get(best, lane), ti.i32)
                if k > 0:
                    v = -1
                    c = ti.cast(lanes.get(corner, lane), ti.i32)
                    if c >= 0:
                        v = model.corner_next.at(c, k - 1)
                if v >= 0:
                    point = model.vert_pos[first + v]
                    lanes.put(local.x, lane, point.x)
                    lanes.put(local.y, lane, point.y)
                    lanes.put(local.z, lane, point.z)
                    lanes.put(present, lane, 1.0)
            offset = axes.times(local)
            drop = normal.dot(offset)
            present = present * lanes.mask(height + drop <= detection_distance(model, g1, g2)) * lanes.mask(drop <= 0.0)
            _offer(model, work, g1, g2, height + drop, center + offset, normal, present)


@ti.func
def _facing_corner(model: ti.template(), work: ti.template(), first: ti.i32, best: ti.template(), up: ti.template()):
    """For each lane, the corner of its vertex `best` whose face looks most against `up`; -1 without faces."""
    lanes = work.precise_lanes
    corner = lanes.real(-1.0)
    for lane in ti.static(range(lanes.width)):
        v = first + ti.cast(lanes.get(best, lane), ti.i32)
        steepest = ti.cast(2.0, lanes.dtype)
        start = model.vert_corneradr[v]
        for c in range(start, start + model.vert_cornernum[v]):
            facing = model.corner_normal[c]
            slope = (
                facing.x * lanes.get(up.x, lane) + facing.y * lanes.get(up.y, lane) + facing.z * lanes.get(up.z, lane)
            )
            if slope < steepest:
                steepest = slope
                lanes.put(corner, lane, c)
    return corner
