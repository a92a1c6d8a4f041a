"""MuJoCo's contacts of a height field: those of a solid with the prism under each triangle, the first fifty.

A prism is a convex piece, tested by GJK and EPA, with one contact at most, in the order of rows, columns and triangles.
"""

import taichi as ti

from ....base.math import Vec3, func
from ..closed_forms.primitives import zero_vector
from ..contact_point import ContactPoint
from ..convex.convex import seek
from ..convex.epa import touching_face
from ..convex.gjk import FOUND
from ..convex.support import core_radius
from ..pair_table import PRISMS
from .ground_cells import vertex
from .solid_on_ground import piece_limits

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
