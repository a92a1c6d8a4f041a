"""The axis across which two convex shapes were last apart: the first place to look whether they still are.

From step to step most pairs that are near stay apart, and across the same axis. A support point there proves it, where
a search from the start takes two to five. It proves that or nothing, so results do not depend on it.

An axis is one number, exact in single precision: its components, the largest of which is 127, are bytes.
"""

import taichi as ti

from ..math import Vec3, func
from .gjk import FOUND, NO_AREA

LARGEST, MIDDLE, BYTE = 127.0, 128.0, 256.0


@func
def last_axis(one):
    """That of the pair in hand; zero where there is none."""
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
    """After a search: the axis where it found the shapes apart, and none where it did not."""
    axis, code = search.near, one.ccd_lanes.real(0.0)
    largest = ti.max(ti.abs(axis.x), ti.abs(axis.y), ti.abs(axis.z))
    if search.phase != FOUND and largest > NO_AREA and largest < 1.0 / NO_AREA:
        scale = LARGEST / largest
        x, y, z = ti.round(axis.x * scale), ti.round(axis.y * scale), ti.round(axis.z * scale)
        code = (x + MIDDLE) + (y + MIDDLE) * BYTE + (z + MIDDLE) * BYTE**2
    one.pair_axis[one.tile_pair[0]] = one.lanes.cast(code)
