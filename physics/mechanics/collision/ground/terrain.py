"""Contacts of a height field with a convex solid.

The surface pushes out whatever is below it. Each triangle pushes along its normal, each convex edge along directions
between the normals beside it, and nothing else pushes: on a flat field of any cell size a solid has the contacts that
it has on a plane. A fixed rule keeps a few of the places in contact (`candidates`). With the option hfield="mujoco"
contacts are MuJoCo's, those of prisms.

The mid phase compares the box around a solid with the largest height under it. Only cells under the box are looked at,
so the size of a field costs nothing.

A prism is a convex piece under a triangle, tested by GJK and EPA, with one contact at most; a field has the first
fifty, in the order of rows, columns and triangles.
"""

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.lanes import in_each_lane
from ....base.shapes import CURVED, HALF_CORES, ROUNDED
from ....base.shapes.by_kind import by_kind, is_one_of
from ..candidates import CLOSE, clear_candidates, reduce_candidates
from ..closed_forms.primitives import zero_vector
from ..contact_point import ContactPoint
from ..contacts import looked_at
from ..convex.convex import seek
from ..convex.epa import touching_face
from ..convex.gjk import FOUND
from ..convex.support import core_radius
from ..explicit_pairs import detection_distance
from ..pair_table import PRISMS
from ..poses import geom_axes, root_of, seen_from_root
from ..work_list import geoms_of, lane_by_lane, list_pair, put_point
from .ground_cells import ground_under, highest_below, vertex
from .round_on_ground import axis_on_ridges, ball
from .solid_on_ground import corners_on_ground, curve_on_ground, piece_limits, solid_on_ridges


@func
def list_near_ground(model, work, first: ti.i32, end: ti.i32):
    """List the pairs of `first` to `end` whose geom 2 is not wholly above the ground under it (mid phase)."""
    lanes = work.precise_lanes
    for p in range(first, end):
        g1, g2 = geoms_of(model, work, p)
        # The box around geom 2 in the field's frame, not larger than its bounding sphere.
        axes1, axes2 = geom_axes(model, work, g1), geom_axes(model, work, g2)
        center = axes1.transpose_times(seen_from_root(model, work, g1, g2) - work.geom_offset[g1])
        x, y, z = axes1.transpose_times(axes2.x), axes1.transpose_times(axes2.y), axes1.transpose_times(axes2.z)
        size, most = model.geom_half[g2], model.geom_rbound[g2] + lanes.real(0.0)
        half = Vec3(
            ti.min(ti.abs(x.x) * size.x + ti.abs(y.x) * size.y + ti.abs(z.x) * size.z, most),
            ti.min(ti.abs(x.y) * size.x + ti.abs(y.y) * size.y + ti.abs(z.y) * size.z, most),
            ti.min(ti.abs(x.z) * size.x + ti.abs(y.z) * size.y + ti.abs(z.z) * size.z, most),
        )
        work.box_center.put(0, work.lanes.cast(center))
        work.box_half.put(0, work.lanes.cast(half))
        in_each_lane(_look_below, model, work, (g1, g2))
        list_pair(work, p, lanes.cast(work.wanted[0] * looked_at(model, work, g1, g2)))


@func
def _look_below(model, one, g1: ti.i32, g2: ti.i32):
    """Set the mask `wanted` of a lane: the ground under the box around geom 2 reaches it, within detection distance."""
    lanes, reach = one.lanes, detection_distance(model, g1, g2)
    center, half = one.box_center[0], one.box_half[0]
    reach = reach + 1e-5 * (ti.abs(center.x) + ti.abs(center.y) + ti.abs(center.z))  # more than rounding
    half = half + Vec3(reach, reach, reach)
    top = highest_below(model, lanes, g1, center - half, center + half)
    one.wanted[0] = lanes.mask(center.z - half.z <= top)


@func
def hfield_solid(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the contacts of a height field and a solid."""
    lane_by_lane(_contacts, model, work, g1, g2, near)


@func
def _contacts(model, one, g1: ti.i32, g2: ti.i32):
    """Find the contacts of a pair in one lane, whose views are `model` and `one`."""
    lanes = one.ccd_lanes
    half = _place(model, one, g1, g2)
    reach = lanes.real(detection_distance(model, g1, g2))
    low, high = one.ccd_frame[4] - half, one.ccd_frame[4] + half
    around = Vec3(reach, reach, reach)
    ground = ground_under(model, lanes, g1, low - around, high + around)
    if ti.static(model.has.prisms):
        prism_contacts(model, one, g1, g2, ground, low.z, reach, _put)
    else:
        close = CLOSE * lanes.real(model.geom_rbound[g2])
        clear_candidates(one)
        _find(model, one, g1, g2, ground, low.z - reach, reach, close)
        reduce_candidates(one, close)
        for k in range(one.hit_count[0]):
            contact = ContactPoint(one.hit_dist[k], one.hit_pos[k], one.hit_normal[k], zero_vector(lanes))
            _put(model, one, g1, contact, k)


@func
def _find(model, one, g1: ti.i32, g2: ti.i32, ground, low, reach, close):
    """Find the candidates of a solid, by its kind; `low` is its lowest height, less `reach` (m)."""
    lanes, kind = one.ccd_lanes, model.geom_type[g2]
    if is_one_of(kind, ROUNDED):
        radius = lanes.real(model.geom_size.at(g2, 0))
        half = one.ccd_frame[7] * by_kind(kind, HALF_CORES, lanes.real(0.0), model, lanes, g2)
        ends = ti.select(half.dot(half) > 0.0, 2, 1)
        for end in range(ends):
            ball(model, one, g1, one.ccd_frame[4] + half * (1.0 - 2.0 * end), radius, reach, close)
        if ends == 2:
            axis_on_ridges(model, one, g1, ground, low, one.ccd_frame[4], half, radius, reach, close)
    else:
        if is_one_of(kind, CURVED):
            curve_on_ground(model, one, g1, g2, ground, low, reach, close)
        else:
            top = highest_below(model, lanes, g1, _corner(ground, 0), _corner(ground, 1))
            corners_on_ground(model, one, g1, g2, ground, top, reach, close)
        solid_on_ridges(model, one, g1, g2, ground, low, reach, close)


@func
def _corner(ground, upper: ti.i32):
    """Return a point in the first cell of the range, or in the last one if `upper` is 1 (m)."""
    r, c = ground.r0 + upper * (ground.r1 - ground.r0), ground.c0 + upper * (ground.c1 - ground.c0)
    return Vec3(ground.x + ground.dx * (c + 0.5), ground.y + ground.dy * (r + 0.5), ground.x * 0.0)


@func
def _place(model, one, g1: ti.i32, g2: ti.i32):
    """Fill `ccd_frame` with the pose of geom 2 in the field's frame; return half the sides of the box around it (m)."""
    lanes = one.ccd_lanes
    axes1 = lanes.cast(geom_axes(model, one, g1))
    axes2 = lanes.cast(geom_axes(model, one, g2))
    size, half = lanes.cast(model.geom_half[g2]), zero_vector(lanes)
    one.ccd_frame.put(4, axes1.transpose_times(lanes.cast(seen_from_root(model, one, g1, g2) - one.geom_offset[g1])))
    for k in ti.static(range(3)):
        unit, axis = [0.0, 0.0, 0.0], axes1.transpose_times(axes2.parts()[k])
        unit[k] = 1.0
        one.ccd_frame.put(1 + k, Vec3(lanes.real(unit[0]), lanes.real(unit[1]), lanes.real(unit[2])))
        one.ccd_frame.put(5 + k, axis)
        half = half + Vec3(ti.abs(axis.x), ti.abs(axis.y), ti.abs(axis.z)) * size.parts()[k]
    most = lanes.real(model.geom_rbound[g2])
    return Vec3(ti.min(half.x, most), ti.min(half.y, most), ti.min(half.z, most))


@func
def _put(model, one, g1: ti.i32, contact, k: ti.i32):
    """Store point k of the pair, a contact in the frame of the field."""
    lanes = one.ccd_lanes
    axes = lanes.cast(geom_axes(model, one, g1))
    pos = root_of(model, one, g1) + one.geom_offset[g1] + one.precise_lanes.cast(axes.times(contact.pos))
    put_point(one, k, ContactPoint(contact.dist, pos, axes.times(contact.normal), zero_vector(lanes)), lanes.real(1.0))


TOP, SIZE = 3, 6
"""The first corner of a prism's top, and the number of its corners."""


@func
def prism_contacts(model, one, g1: ti.i32, g2: ti.i32, ground, low, margin, routine):
    """Call routine(model, one, g1, contact, number) for the contacts of a solid whose lowest height is `low`."""
    found = 0
    for r in range(ground.r0, ground.r1 + 1):
        for c in range(ground.c0, ground.c1 + 1):
            for side in range(2):
                top = _set_prism(model, one, g1, ground, r, c, side)
                if top + margin >= low and found < PRISMS:
                    limits = piece_limits(model, one, g2, top, core_radius(model, one, g2) + margin)
                    if model.ccd_follows == 1:
                        limits.grow1 = 0.5 * margin
                        limits.grow2 = core_radius(model, one, g2) + 0.5 * margin
                    search = seek(model, one, g1, g2, limits, FOUND)
                    if search.phase == FOUND:
                        contact = _contact(model, one, g2, search, limits)
                        if contact.dist < margin:
                            routine(model, one, g1, contact, found)
                            found += 1


@func
def _contact(model, one, g2: ti.i32, search, limits):
    """Return the contact that a search has found, in the frame of the field."""
    _face, between, on1 = touching_face(one, search, limits.seen)
    normal, radius = one.ccd_normal[search.chosen], core_radius(model, one, g2)
    shrunk1, shrunk2 = search.grown * limits.grow1, search.grown * limits.grow2
    dist = shrunk1 + shrunk2 - one.ccd_height[search.chosen] - radius
    pos = on1 - between * 0.5 - normal * (0.5 * (radius + shrunk1 - shrunk2))
    return ContactPoint(dist, pos, normal, zero_vector(one.ccd_lanes))


@func
def _set_prism(model, one, g1: ti.i32, ground, r: ti.i32, c: ti.i32, side: ti.i32):
    """Make the prism under a triangle the current piece; return its largest height (m)."""
    lanes, top = one.ccd_lanes, one.ccd_lanes.real(-1e30)
    center = zero_vector(lanes)
    bottom = -lanes.real(model.hfield_size.at(model.geom_hfieldid[g1], 3))
    for k in range(3):
        # MuJoCo's order: (r + 1, c), (r, c), (r + 1, c + 1), then (r, c), (r + 1, c + 1), (r, c + 1).
        step = k + side
        corner = vertex(model, lanes, ground, r + 1 - step % 2, c + step // 2)
        one.piece_corner.put(TOP + k, corner)
        one.piece_corner.put(k, Vec3(corner.x, corner.y, bottom))
        top = ti.max(top, corner.z)
    one.piece_size[0] = SIZE
    for k in range(SIZE):
        center = center + one.piece_corner[k] * (1.0 / SIZE)
    for k in range(SIZE):
        one.piece_corner.put(k, one.piece_corner[k] - center)
    one.ccd_frame.put(0, center)
    return top
