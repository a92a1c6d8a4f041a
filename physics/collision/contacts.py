"""The list of contacts: the one place that writes them.

A slot belongs to one pair of geoms in all lanes, so everything after collision is arithmetic in lanes without
gathering. The list holds a slot as soon as one lane has the contact; the others carry it with zero stiffness. An
environment's own sequence of contacts, and with it every result, does not depend on its neighbours.
"""

import taichi as ti

from ..math import Mat3, Vec3

MINIMUM = 1e-15
ALIGNED = {False: 1e-6, True: 1e-15}  # below this sine a tangent hint counts as parallel to the normal


@ti.func
def detection_distance(model: ti.template(), g1: ti.i32, g2: ti.i32):
    """Contacts of two geoms that are closer than this are detected."""
    return model.geom_detect[g1] + model.geom_detect[g2]


@ti.func
def append(work: ti.template(), g1: ti.i32, g2: ti.i32, touch: ti.template(), present: ti.template()):
    """Add a contact of two geoms in the lanes of the mask `present`, if there are any."""
    if work.lanes.any(present):
        k = work.tile_ncon[0]
        work.tile_ncon[0] = k + 1
        work.con_geom1.put(k, g1)
        work.con_geom2.put(k, g2)
        found = work.lanes.rounded(touch)
        work.con_dist[k] = found.dist
        work.con_present[k] = work.lanes.rounded(present)
        work.con_pos.put(k, found.pos)
        work.con_frame.put_numbers(k, 0, found.normal.numbers())
        work.con_frame.put_numbers(k, 3, found.tangent.numbers())


@ti.func
def complete_frame(work: ti.template(), k: ti.i32):
    """Contact frame of slot k from its normal and tangent hint, as MuJoCo's mju_makeFrame builds it; its rows."""
    lanes = work.lanes
    zero = work.real(0.0)
    one = work.real(1.0)
    normal = Vec3(work.con_frame.at(k, 0), work.con_frame.at(k, 1), work.con_frame.at(k, 2))
    hint = Vec3(work.con_frame.at(k, 3), work.con_frame.at(k, 4), work.con_frame.at(k, 5))
    upright = ti.abs(normal.y) < 0.5
    default = Vec3(zero, ti.select(upright, one, zero), ti.select(upright, zero, one))
    tangent = default.select(hint.dot(hint) < 0.25, hint)
    tangent = tangent - normal * normal.dot(tangent)
    length = tangent.norm()
    sideways = tangent * (1.0 / ti.max(length, MINIMUM))
    tangent = Vec3(one, zero, zero).select(length < ALIGNED[lanes.double], sideways)
    third = normal.cross(tangent)
    work.con_frame.put_numbers(k, 3, tangent.numbers())
    work.con_frame.put_numbers(k, 6, third.numbers())
    return Mat3(normal, tangent, third)
