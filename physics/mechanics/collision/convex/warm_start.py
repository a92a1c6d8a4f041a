"""The axis that last separated two convex shapes, where the next search starts.

From step to step most near pairs stay separated along the same axis. One support point along it proves that; a search
from the start takes two to five. If it does not prove it, the search starts anew, so results do not depend on it.

An axis is stored as one number, exact in single precision: its components, scaled to at most 127, are bytes.
"""

import taichi as ti

from ....base.math import Vec3, func
from .gjk import FOUND, NO_AREA

LARGEST, MIDDLE, BYTE = 127.0, 128.0, 256.0


@func
def last_axis(one):
    """Return the stored axis of the current pair; zero if there is none."""
    lanes, code = one.ccd_lanes, one.ccd_lanes.real(0.0) + one.pair_axis[one.tile_pair[0]]
    axis = Vec3(lanes.real(0.0), lanes.real(0.0), lanes.real(0.0))
    if code > 0.0:
        z = ti.floor(code / BYTE**2)
        y = ti.floor((code - z * BYTE**2) / BYTE)
        x = code - z * BYTE**2 - y * BYTE
        axis = Vec3(x - MIDDLE, y - MIDDLE, z - MIDDLE)
    return axis


@func
def keep_axis(one, search):
    """Store the axis along which a search has found the shapes separated; none if it has found a contact."""
    axis, code = search.near, one.ccd_lanes.real(0.0)
    largest = ti.max(ti.abs(axis.x), ti.abs(axis.y), ti.abs(axis.z))
    if search.phase != FOUND and largest > NO_AREA and largest < 1.0 / NO_AREA:
        scale = LARGEST / largest
        x, y, z = ti.round(axis.x * scale), ti.round(axis.y * scale), ti.round(axis.z * scale)
        code = (x + MIDDLE) + (y + MIDDLE) * BYTE + (z + MIDDLE) * BYTE**2
    one.pair_axis[one.tile_pair[0]] = one.lanes.cast(code)
