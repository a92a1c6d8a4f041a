"""Contacts of a plane with an ellipsoid, cylinder, box or convex mesh, in the lanes of the mask `near`."""

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.elementary import with_limit
from ....base.math.lanes import in_lanes_of
from ..contact_point import ContactPoint
from ..explicit_pairs import detection_distance
from ..poses import geom_axes
from ..work_list import list_pair, put_point
from .primitives import MINIMUM, zero_vector

HALF_SQRT3 = 0.8660254037844386
MOST = 4  # contacts of a plane with a hull


@func
def list_near_planes(model, work, first: ti.i32, end: ti.i32):
    """List the pairs of `first` to `end` whose geom 2 is near the plane with its bounding sphere (mid phase)."""
    for p in range(first, end):
        g1, g2 = model.pair_geom1[p], model.pair_geom2[p]  # planes are never swept over
        height = (work.geom_xpos[g2] - work.geom_xpos[g1]).dot(work.geom_axis[g1])
        list_pair(work, p, work.precise_lanes.mask(height <= detection_distance(model, g1, g2) + model.geom_rbound[g2]))


@func
def _put(work, k: ti.i32, dist, point, normal, present):
    """Store point k of the pair, at a point of the shape's surface, moved midway by half the distance."""
    put_point(
        work, k, ContactPoint(dist, point - normal * (dist * 0.5), normal, zero_vector(work.precise_lanes)), present
    )


@func
def plane_ellipsoid(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the deepest point: with half axes S and u = R^T n it is -S (S u) / |S u| in the geom's frame."""
    lanes = work.precise_lanes
    normal, center, axes = work.geom_axis[g1], work.geom_xpos[g2], geom_axes(model, work, g2)
    up, size = axes.transpose_times(normal), model.geom_size[g2]
    stretched = Vec3(up.x * size.x, up.y * size.y, up.z * size.z)
    depth = stretched.norm()  # from the centre to the point, along the normal
    scale = -1.0 / ti.max(depth, MINIMUM)
    point = Vec3(stretched.x * size.x, stretched.y * size.y, stretched.z * size.z) * scale
    dist = (center - work.geom_xpos[g1]).dot(normal) - depth
    present = near * lanes.mask(dist <= detection_distance(model, g1, g2))
    _put(work, 0, dist, center + axes.times(point), normal, present)


@func
def plane_cylinder(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the lowest points of both rims, and two more on the lower rim that form a triangle with its lowest point."""
    lanes = work.precise_lanes
    reach = detection_distance(model, g1, g2)
    radius, half = model.geom_size.at(g2, 0), model.geom_size.at(g2, 1)
    normal, center = work.geom_axis[g1], work.geom_xpos[g2]
    height = (center - work.geom_xpos[g1]).dot(normal)
    axes = geom_axes(model, work, g2)
    # The axis directed down, and its cosine with the normal.
    lean = normal.dot(axes.z)
    axis = axes.z * ti.select(lean > 0.0, -lanes.real(1.0), lanes.real(1.0))
    lean = -ti.abs(lean)
    # The direction of the rim's lowest point, from components of the normal: differences of vectors would lose digits
    # if the cylinder is almost upright.
    x, y = -normal.dot(axes.x), -normal.dot(axes.y)
    length = ti.sqrt(x * x + y * y)
    scale = radius / ti.max(length, MINIMUM)
    rim = (axes.x * radius).select(length < MINIMUM, axes.x * (x * scale) + axes.y * (y * scale))
    drop = ti.select(length < MINIMUM, radius * normal.dot(axes.x), -(radius * length))
    # Half the axis, and the direction across it in the rim.
    axis = axis * half
    lean = lean * half
    across = rim.cross(axis)
    across = across * (HALF_SQRT3 * radius / ti.max(across.norm(), MINIMUM))
    touching = near * lanes.mask(height + lean + drop <= reach)
    for k in range(MOST):  # a times rim, b times axis, c times across
        a, b, c = 1.0, 1.0, 0.0
        if k == 1:
            b = -1.0
        if k > 1:
            a, c = -0.5, 5.0 - 2.0 * k
        dist = height + lean * b + drop * a
        dist = with_limit(dist, length < MINIMUM, dist + across.dot(normal) * c)  # upright, the rim is at one height
        point = center + across * c + axis * b + rim * a
        _put(work, k, dist, point, normal, touching * lanes.mask(dist <= reach))


@func
def plane_box(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the first four corners, in MuJoCo's order, that are below the centre and within detection distance."""
    lanes = work.precise_lanes
    normal, center = work.geom_axis[g1], work.geom_xpos[g2]
    height = (center - work.geom_xpos[g1]).dot(normal)
    axes = geom_axes(model, work, g2)
    size = model.geom_size[g2]
    found = lanes.real(0.0)
    # Corner i: bit 0, 1, 2 set is the positive side of x, y, z.
    for i in range(8):
        x = size.x * (2.0 * (i & 1) - 1.0)
        y = size.y * (2.0 * ((i >> 1) & 1) - 1.0)
        z = size.z * (2.0 * ((i >> 2) & 1) - 1.0)
        corner = axes.x * x + axes.y * y + axes.z * z
        drop = normal.dot(corner)
        present = near * lanes.mask(height + drop <= detection_distance(model, g1, g2)) * lanes.mask(drop <= 0.0)
        present = present * lanes.mask(found < MOST - 0.5)
        found += present
        _put(work, i, height + drop, center + corner, normal, present)


@func
def plane_mesh(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the lowest vertex, and up to three more of its face that is the most parallel to the plane.

    As for a box, MuJoCo takes only vertices that are not above the geom's centre. The lowest vertex is searched in all
    lanes together; its faces, which differ between lanes, lane by lane.
    """
    lanes = work.precise_lanes
    reach = detection_distance(model, g1, g2)
    normal, center = work.geom_axis[g1], work.geom_xpos[g2]
    height = (center - work.geom_xpos[g1]).dot(normal)
    axes = geom_axes(model, work, g2)
    up = axes.transpose_times(normal)
    # The lowest vertex of the mesh.
    first = model.geom_vertadr[g2]
    lowest = up.dot(model.vert_pos[first])
    best = lanes.real(0.0)
    for i in range(1, model.geom_vertnum[g2]):
        drop = up.dot(model.vert_pos[first + i])
        best = ti.select(drop < lowest, lanes.real(i), best)
        lowest = ti.min(drop, lowest)
    # The vertices of its face, then their distances.
    touching = near * lanes.mask(height + lowest <= reach)
    work.mesh_up.put(0, work.lanes.cast(up))
    work.mesh_lowest[0] = work.lanes.cast(best)
    work.mesh_corners[0] = work.lanes.cast(touching)
    in_lanes_of(work.mesh_corners, _lowest_corners, model, work, (first,))
    for k in range(MOST):
        offset = axes.times(work.mesh_corner[k])
        drop = normal.dot(offset)
        present = touching * lanes.mask(work.mesh_corners[0] > k)
        present = present * lanes.mask(height + drop <= reach) * lanes.mask(drop <= 0.0)
        _put(work, k, height + drop, center + offset, normal, present)


@func
def _lowest_corners(model, one, first: ti.i32):
    """Set mesh_corner and mesh_corners of one lane, whose view is `one`; `first` is the first vertex of the mesh.

    Of the faces around the lowest vertex, the one whose normal is the most opposite to mesh_up is taken.
    """
    up = one.mesh_up[0]
    v = first + ti.cast(one.mesh_lowest[0], ti.i32)
    # The face around the lowest vertex whose normal is the most opposite to mesh_up.
    corner = -1
    steepest = ti.cast(2.0, one.lanes.dtype)
    start = model.vert_corneradr[v]
    for c in range(start, start + model.vert_cornernum[v]):
        slope = up.dot(model.corner_normal[c])
        if slope < steepest:
            steepest, corner = slope, c
    # Its vertices: the lowest one, and up to three that follow.
    count = 0
    while v >= 0:
        one.mesh_corner.put(count, model.vert_pos[v])
        v = -1
        if corner >= 0 and count < MOST - 1:
            v = model.corner_next.at(corner, count)
            if v >= 0:
                v += first
        count += 1
    one.mesh_corners[0] = ti.cast(count, one.lanes.dtype)
