"""The separating axis of two boxes (Gottschalk, Lin, Manocha, OBBTree, 1996), in all lanes at once.

Candidates are the face normals of both boxes and the cross products of their edges. If none of them separates the
boxes, the axis of least overlap determines the kind of contact, by its `code`: 0-2, a face of box 1; 3-5, a face of
box 2; 6 + 3 i + j, edge i of box 1 with edge j of box 2. A face is preferred if an edge is hardly better, since a face
gives several contacts, on which a box rests stably. The rules are MuJoCo 4's.
"""

from typing import Any

import taichi as ti

from ....base.math import Lanes, Mat3, Vec3, func
from ....base.math.lanes import LaneValue, let

SLACK = {False: 1e-6, True: 1e-13}
"""The rounding error of an overlap, relative to the sum of all half extents, in single and in double precision."""
PARALLEL = {False: 1e-7, True: 1e-16}
"""The squared sine below which two edges have no common perpendicular."""
EDGE_BIAS = 1e-6
"""The relative amount by which the separation of an edge axis must exceed the best one so far."""
ALIKE, WORSE = 0.99, 0.05
"""An edge axis whose cosine to the best face normal exceeds ALIKE must be better by the relative amount WORSE."""
FIRST_EDGE = 6


class BoxPair(LaneValue):
    """Two boxes relative to each other.

    Attributes:
        apart: centre of box 2 relative to that of box 1 (m), in world axes.
        axes1: axes of box 1.
        axes2: axes of box 2.
        size1: half extents of box 1 (m).
        size2: half extents of box 2 (m).
    """

    def __init__(self, apart: Vec3, axes1: Mat3, axes2: Mat3, size1: Vec3, size2: Vec3) -> None:
        self.apart, self.axes1, self.axes2 = apart.copy(), axes1.copy(), axes2.copy()
        self.size1, self.size2 = size1.copy(), size2.copy()

    def parts(self) -> tuple:
        """Return the components."""
        return self.apart, self.axes1, self.axes2, self.size1, self.size2

    def slack(self, lanes: Lanes) -> Any:
        """Return the separation (m) up to which the boxes count as touching."""
        extents = (*self.size1.parts(), *self.size2.parts())
        return let(sum(extents[1:], extents[0]) * SLACK[lanes.double])


class Separation(LaneValue):
    """The best axis so far: separation along it (m), its code, and `alike`, its cosine to the best face normal."""

    def __init__(self, dist: Any, code: Any, alike: Any) -> None:
        self.dist, self.code, self.alike = let(dist), let(code), let(alike)

    def parts(self) -> tuple:
        """Return the components."""
        return self.dist, self.code, self.alike

    def offer(self, lanes: Lanes, better: Any, dist: Any, code: int, alike: Any) -> None:
        """Take another axis in the lanes where it is better."""
        better = let(better)
        self.dist._assign(ti.select(better, dist, self.dist))
        self.code._assign(ti.select(better, lanes.real(code), self.code))
        self.alike._assign(ti.select(better, alike, self.alike))


@func
def separating_axis(lanes, boxes, reach, near):
    """Return the code of the contact's axis, and the mask of lanes where no axis separates by more than `reach` (m)."""
    # the best face normal, then edges, which lanes with a separating face need not try
    least = reach + boxes.slack(lanes)
    best = Separation(lanes.real(-1e30), lanes.real(0.0), lanes.real(0.0))
    _faces(lanes, boxes, best)
    present = near * lanes.mask(best.dist <= least)
    if lanes.any(present):
        face, face_code = lanes.real(0.0) + best.dist, lanes.real(0.0) + best.code
        largest = _edges(lanes, boxes, best, _face_normal(boxes, face_code))
        present = present * lanes.mask(largest <= least)
        # an edge axis nearly parallel to the best face normal, and hardly better, gives way to the face
        doubtful = (best.dist < face + WORSE * ti.abs(face) + 1e-15) & (best.alike > ALIKE)
        best.code = ti.select(doubtful, face_code, best.code)
    return best.code, present


@func
def _faces(lanes, boxes, best):
    """Offer the face normals of both boxes to `best`."""
    one = lanes.real(0.0)
    for i in ti.static(range(3)):
        seen = boxes.axes2.transpose_times(boxes.axes1.parts()[i])
        dist = ti.abs(boxes.apart.dot(boxes.axes1.parts()[i])) - boxes.size1.parts()[i] - _reach(seen, boxes.size2)
        best.offer(lanes, dist > best.dist, dist, i, one)
    for j in ti.static(range(3)):
        seen = boxes.axes1.transpose_times(boxes.axes2.parts()[j])
        dist = ti.abs(boxes.apart.dot(boxes.axes2.parts()[j])) - boxes.size2.parts()[j] - _reach(seen, boxes.size1)
        best.offer(lanes, dist > best.dist, dist, 3 + j, one)


@func
def _reach(direction, size):
    """Return the extent (m) of a box from its centre along a direction in the box's frame."""
    return ti.abs(direction.x) * size.x + ti.abs(direction.y) * size.y + ti.abs(direction.z) * size.z


@func
def _face_normal(boxes, code):
    """Return the normal of the face with this code, in world axes."""
    normal = boxes.axes1.x.copy()
    for k in ti.static(range(1, 3)):
        normal = boxes.axes1.parts()[k].select(code > k - 0.5, normal)
    for k in ti.static(range(3)):
        normal = boxes.axes2.parts()[k].select(code > k + 2.5, normal)
    return normal


@func
def _edges(lanes, boxes, best, face_normal):
    """Offer the cross products of the edges to `best`; return the largest separation along any of them."""
    face = lanes.real(0.0) + best.dist
    largest = lanes.real(-1e30)
    for i in ti.static(range(3)):
        for j in ti.static(range(3)):
            # the unit vector perpendicular to both edges
            axis = boxes.axes1.parts()[i].cross(boxes.axes2.parts()[j])
            square = axis.dot(axis)
            axis = axis * (1.0 / ti.sqrt(ti.max(square, PARALLEL[lanes.double])))
            # the separation along it; none if the edges are parallel
            seen1, seen2 = boxes.axes1.transpose_times(axis), boxes.axes2.transpose_times(axis)
            dist = ti.abs(boxes.apart.dot(axis)) - _reach(seen1, boxes.size1) - _reach(seen2, boxes.size2)
            dist = ti.select(square < PARALLEL[lanes.double], lanes.real(-1e30), dist)
            largest = ti.max(largest, dist)
            # an edge must beat the best axis by EDGE_BIAS, and the best face
            better = (dist - EDGE_BIAS * ti.abs(dist) > best.dist) & (dist > face)
            best.offer(lanes, better, dist, FIRST_EDGE + 3 * i + j, ti.abs(axis.dot(face_normal)))
    return largest
