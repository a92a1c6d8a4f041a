"""Any convex shape against another: GJK if they are separate, EPA if they overlap.

Shapes are cores with a radius around them (`support`). The distance of the surfaces is that of the cores minus both
radii. Distance and depth are searched in one loop around a single call of `support`, which is most of the code. The
model's `ccd_tolerance` and `ccd_iterations` are the tolerance and the most steps.

If cores are apart, their distance less the radii is exact. If they overlap or nearly touch, MuJoCo seeks the depth of
the whole shapes: spheres and capsules with their radii, and each shape with half the pair's margin around it. Such
shapes are smooth, and many directions give a depth within `ccd_tolerance` of the least; which one is found depends on
the path of the search. So Tumble takes the same path: the search restarts with support points moved outward. If
`ccd_tolerance` is 1e-9 m or less, the result is that of the cores, which are searched in fewer steps.

From step to step most near pairs stay separated along the same axis, so the search starts there. One support point
along it proves that; a search from the start takes two to five. If it does not prove it, the search starts again, so
results do not depend on the axis. An axis is stored as one number, exact in single precision: its components, scaled to
at most 127, are bytes.
"""

from typing import Any

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.lanes import LaneValue, let
from ....base.shapes import SPHERE
from ..closed_forms.primitives import zero_vector
from ..contact_point import ContactPoint
from ..explicit_pairs import detection_distance
from ..poses import root_of
from ..work_list import lane_by_lane, put_point
from .epa import (
    expand,
    keep_shallowest,
    nearest_face,
    simplex_as_face,
    start_polytope,
    take_shallowest,
    touching_face,
)
from .flat_sides import corner_of, has_flats, place_on
from .gjk import (
    DEPTH,
    DISTANCE,
    FILL,
    FOUND,
    NO_AREA,
    NOTHING,
    across,
    is_corner,
    move_corner,
    put_corner,
    refine,
    start_search,
)
from .manifold import put_flat_contacts
from .mpr import seek_portal
from .support import core_radius, has_corners, place_geoms, support
from .tilts import begin_turns, put_tilted, turn_geom, untilted

NEAR = 1e-9
"""Relative to the sizes of both shapes: at a smaller distance its direction is undefined, and EPA is used."""
FLAT = 1e-8
"""Relative to the sizes: a simplex with less height does not start a polytope."""
SEEN = 1e-12
"""Relative to the sizes: a face is visible from points higher above it; between rounding and the depth's tolerance."""
CLOSE = 1e-15
"""Relative to a squared distance: bounds with a smaller difference count as equal."""


class SearchLimits(LaneValue):
    """The tolerances of the search of a pair, in metres.

    Attributes:
        reach: distance of the cores beyond which there is no contact.
        near: see NEAR.
        flat: see FLAT.
        seen: see SEEN.
        exact: largest difference of the bounds of a depth.
        tolerance: largest difference of the bounds of a distance; 0: as small as rounding allows.
        touch: distance of the cores below which they have a depth, not a distance.
        grow1: enlargement of geom 1 beyond its core while its depth is searched (`convex`).
        grow2: the same for geom 2.
    """

    def __init__(self, *lengths: Any) -> None:
        self.reach, self.near, self.flat, self.seen, self.exact = map(let, lengths[:5])
        self.tolerance, self.touch, self.grow1, self.grow2 = map(let, lengths[5:])

    def parts(self) -> tuple:
        """Return the components."""
        lengths = self.reach, self.near, self.flat, self.seen, self.exact
        return *lengths, self.tolerance, self.touch, self.grow1, self.grow2


@func
def convex_convex(model, work, g1: ti.i32, g2: ti.i32, near):
    """Find the contacts of a pair: one, up to four of flat sides, or up to five by tilts."""
    if ti.static(model.has.tilts):
        lane_by_lane(_tilted_contacts, model, work, g1, g2, near)
    else:
        lane_by_lane(_contacts, model, work, g1, g2, near)


@func
def _contacts(model, one, g1: ti.i32, g2: ti.i32):
    """Find the contacts of a pair in one lane, whose views are `model` and `one`."""
    place_geoms(model, one, g1, g2)
    limits = search_limits(model, one, g1, g2, detection_distance(model, g1, g2))
    allow_growth(model, one, g1, g2, limits)
    search = _search(model, one, g1, g2, limits)
    if search.phase == FOUND:
        _put_contact(model, one, g1, g2, search, limits)
    if ti.static(model.has.warm):
        keep_axis(one, search)


@func
def _tilted_contacts(model, one, g1: ti.i32, g2: ti.i32):
    """Find the contacts of a pair in one lane by tilts: as the geoms are, then with geom 2 in several rotations.

    The search is called once, in a loop, so that its code is there once.
    """
    place_geoms(model, one, g1, g2)
    limits = search_limits(model, one, g1, g2, detection_distance(model, g1, g2))
    tilt = untilted(one)
    # The first pass finds the contact; it starts the rotations if the contact is a single one.
    while tilt.turn <= tilt.turns:
        turn_geom(one, tilt)
        search = _search(model, one, g1, g2, limits)
        if search.phase == FOUND:
            face, between, on1 = touching_face(one, search, limits.seen)
            normal = one.ccd_normal[search.chosen]
            if tilt.turn > 0:
                put_tilted(model, one, g1, g2, tilt, on1, between, normal)
            else:
                zero = one.ccd_lanes.real(0.0)  # geoms are not enlarged with tilts
                middle = _middle(model, one, g1, g2, on1, between, normal, zero)
                if _put_first(model, one, g1, g2, search, face, middle, zero) == 1 and model.geom_type[g1] != SPHERE:
                    begin_turns(one, tilt, middle, normal)
        tilt.turn += 1


@func
def _search(model, one, g1: ti.i32, g2: ti.i32, limits):
    """Return the search of a pair, by the method that the model selects."""
    if ti.static(model.has.mpr):
        return _by_portal(model, one, g1, g2, limits)
    elif ti.static(model.has.warm):
        return _seek_warm(model, one, g1, g2, limits)
    else:
        return seek(model, one, g1, g2, limits, FOUND)


@func
def _by_portal(model, one, g1: ti.i32, g2: ti.i32, limits):
    """Search by MPR, and if that has no answer by GJK and EPA."""
    search = seek_portal(model, one, g1, g2, limits)
    if search.phase == DISTANCE:
        search = seek(model, one, g1, g2, limits, FOUND)
    return search


@func
def _seek_warm(model, one, g1: ti.i32, g2: ti.i32, limits):
    """Search as `seek` does, but first along the axis that last separated the shapes.

    That axis proves that they are separate, or it has no effect: contacts come from a search from the start.
    """
    search = start_search(one.ccd_lanes, one.ccd_frame[0] - one.ccd_frame[4])
    axis, toward = last_axis(one), search.near.copy()
    if axis.dot(axis) > 0.0:
        search.near, search.warm = axis, 1
    _go_on(model, one, g1, g2, limits, FOUND, search, toward)
    return search


@func
def seek(model, one, g1: ti.i32, g2: ti.i32, limits, last: ti.i32):
    """Search the distance or depth of the geoms in `ccd_frame`, up to the phase `last`."""
    search = start_search(one.ccd_lanes, one.ccd_frame[0] - one.ccd_frame[4])
    _go_on(model, one, g1, g2, limits, last, search, search.near.copy())
    return search


@func
def _go_on(model, one, g1: ti.i32, g2: ti.i32, limits, last: ti.i32, search, toward):
    """Continue a search up to the phase `last`; `toward` is the first direction if the search starts again."""
    while search.phase < last:
        # The direction of the next support point, by the phase.
        direction = search.near * (-1.0 / search.near.norm())
        if search.phase == DEPTH:
            if search.faces == 0:
                start_polytope(one, search)
            search.chosen = nearest_face(one, search.faces)
            direction = one.ccd_normal[search.chosen]
        elif search.phase == FILL:
            direction = across(one, search.kept) * (1.0 - 2.0 * search.turned)
        # The support point, of the enlarged geoms if they are enlarged.
        point, on1, mark1, mark2 = support(model, one, g1, g2, direction)
        if search.grown == 1:
            point, on1 = point + direction * (limits.grow1 + limits.grow2), on1 + direction * limits.grow1
        search.trips += 1
        # Store it as a corner, and take the step of the phase.
        if search.phase == DISTANCE:
            put_corner(one, 3, point, on1, mark1, mark2)
            if search.warm == 1 and not _apart(search, limits, point):
                search.near, search.warm, search.trips = toward, 0, 0
            else:
                _approach(model, one, search, limits, point)
                if wants_growth(model, search, limits) == 1:
                    start_grown(model, one, search, limits, toward)
        elif search.phase == FILL:
            put_corner(one, search.kept, point, on1, mark1, mark2)
            _fill(one, search, limits, direction.dot(point - one.ccd_point[0]))
        else:
            put_corner(one, search.points, point, on1, mark1, mark2)
            _grow(model, one, search, limits, direction.dot(point))


@func
def search_limits(model, one, g1: ti.i32, g2: ti.i32, farthest):
    """Return the `SearchLimits` of a pair that has no contact if its surfaces are farther apart than `farthest` (m).

    Searches stop where MuJoCo's do. Cores with corners have finitely many directions, and are searched to the end
    whatever `ccd_tolerance` is. Others are searched to that tolerance; if they have neither a radius nor a margin, they
    touch if their distance is below it.
    """
    reach = farthest + core_radius(model, one, g1) + core_radius(model, one, g2)
    size = model.geom_rbound[g1] + model.geom_rbound[g2]
    near, seen, tolerance = size * NEAR, size * SEEN, one.ccd_lanes.real(model.ccd_tolerance[0])
    touch = near
    if has_corners(model, g1) and has_corners(model, g2):
        tolerance = one.ccd_lanes.real(0.0)
    elif reach == 0.0:
        touch = ti.max(near, tolerance)
    zero = one.ccd_lanes.real(0.0)
    return SearchLimits(reach, near, size * FLAT, seen, ti.max(tolerance, seen * 2.0), tolerance, touch, zero, zero)


@func
def _apart(search, limits, point):
    """Return True if the plane through a new corner, normal to `near`, proves that the cores are `reach` apart."""
    bound = search.near.dot(point)
    return bound > 0.0 and bound * bound >= limits.reach * limits.reach * search.near.dot(search.near)


@func
def _approach(model, one, search, limits, point):
    """Take a step of GJK with the new corner, which is corner 3."""
    bound, before = search.near.dot(point), search.square
    exact = ti.max(0.5 * limits.tolerance**2, before * CLOSE)
    # Separate by more than reach; converged; or refine the simplex.
    if _apart(search, limits, point):
        search.phase = NOTHING
    else:
        ended = search.kept > 0 and (before - bound <= exact or is_corner(one, search.kept, point, limits.seen) == 1)
        if not ended:
            if search.kept == 0:
                move_corner(one, 0, 3)
            if refine(one, search) == 1:
                search.phase, search.trips = DEPTH, 0
            elif search.square <= limits.near**2 or (search.kept > 1 and search.square <= limits.touch**2):
                search.phase, search.trips = FILL, 0
            else:
                ended = search.square >= before or search.trips >= model.ccd_iterations
        if ended:  # the nearest point has converged: its plane separates the shapes, or they touch
            if bound > 0.0 and search.square > limits.touch**2:
                simplex_as_face(one, search)
                search.phase = FOUND
            else:
                search.phase, search.trips = FILL, 0


@func
def _fill(one, search, limits, rise):
    """Add the new corner, at height `rise` above the simplex, unless the simplex would remain flat."""
    if ti.abs(rise) > limits.flat:
        search.kept += 1
        search.turned = 0
        if search.kept == 4:
            search.phase, search.trips, search.filled = DEPTH, 0, 1
    elif search.turned == 1:
        search.phase = NOTHING  # the difference is flat: one of the shapes is flat or a point, and has no depth
    else:
        search.turned = 1


@func
def _grow(model, one, search, limits, height):
    """Take a step of EPA with the new corner, behind the others; the distance of its plane is `height`."""
    keep_shallowest(model, one, search, height)
    low = one.ccd_height[search.chosen]
    last = search.trips >= model.ccd_iterations + search.filled  # MuJoCo does not count the corner that was filled in
    # Bounds agree; or stop early where MuJoCo does; or expand the polytope.
    if height - low <= limits.exact and height - search.depth <= limits.exact:
        search.phase = FOUND
    elif last and model.ccd_follows == 1 and low > 0.0 and low < search.depth - limits.near:
        search.phase = FOUND  # not converged, as MuJoCo's at this step
    else:
        full = last or search.points + 1 >= model.nccdpoint
        if not full:
            full = expand(model, one, search, limits.seen) == 0
        if full:
            take_shallowest(model, one, search)
            search.phase = FOUND


@func
def _put_contact(model, one, g1: ti.i32, g2: ti.i32, search, limits):
    """Store the contact at the face of the polytope nearest to the origin, or the contacts of flat sides there."""
    face, between, on1 = touching_face(one, search, limits.seen)
    shrunk1, shrunk2 = search.grown * limits.grow1, search.grown * limits.grow2
    middle = _middle(model, one, g1, g2, on1, between, one.ccd_normal[search.chosen], shrunk1 - shrunk2)
    _put_first(model, one, g1, g2, search, face, middle, shrunk1 + shrunk2)


@func
def _middle(model, one, g1: ti.i32, g2: ti.i32, on1, between, normal, grown):
    """Return the midpoint of the nearest surface points, from geom 1's centre.

    `on1` is the nearest point of geom 1's core, `between` the vector to it from that of geom 2's core. `grown` is the
    enlargement of geom 1 beyond its core minus that of geom 2.
    """
    radius1, radius2 = core_radius(model, one, g1), core_radius(model, one, g2)
    return on1 - between * 0.5 + normal * (0.5 * (radius1 - radius2 - grown))


@func
def _put_first(model, one, g1: ti.i32, g2: ti.i32, search, face: ti.i32, middle, grown):
    """Store the contact at `middle`, or the contacts of flat sides there; return 1 if it is a single one.

    `grown` is the sum of the enlargements of both geoms beyond their cores.
    """
    lanes, alone = one.ccd_lanes, 0
    normal = one.ccd_normal[search.chosen]
    dist = grown - one.ccd_height[search.chosen] - core_radius(model, one, g1) - core_radius(model, one, g2)
    pos = root_of(model, one, g1) + one.geom_offset[g1] + one.precise_lanes.cast(middle)
    contact = ContactPoint(dist, pos, normal, zero_vector(lanes))
    if dist < detection_distance(model, g1, g2):
        # Contacts of flat sides if there are any, else the single contact.
        found = 0
        if model.multiccd == 1 and has_flats(model, g1) and has_flats(model, g2):
            if search.grown == 1:
                shrink_corners(model, one, g1, g2, one.ccd_corners[face])
            found = put_flat_contacts(model, one, g1, g2, one.ccd_corners[face], normal)
        if found == 0:
            put_point(one, 0, contact, lanes.real(1.0))
            alone = 1
    return alone


@func
def allow_growth(model, one, g1: ti.i32, g2: ti.i32, limits):
    """Set in `Limits` how far each geom of a pair grows (m); not at all with MPR or tilts, or a small ccd_tolerance."""
    if ti.static(not (model.has.tilts or model.has.mpr)):
        if model.ccd_follows == 1:
            half = 0.5 * ti.max(detection_distance(model, g1, g2), 0.0)
            limits.grow1 = core_radius(model, one, g1) + half
            limits.grow2 = core_radius(model, one, g2) + half


@func
def wants_growth(model, search, limits):
    """Return 1 if the cores overlap or nearly touch, so that the geoms grow; 0 if the search continues unchanged."""
    deep = search.phase == DEPTH or search.phase == FILL
    if search.phase == FOUND:
        deep = search.square <= model.ccd_tolerance[0] * model.ccd_tolerance[0]
    return ti.select(deep and search.grown == 0 and limits.grow1 + limits.grow2 > 0.0, 1, 0)


@func
def start_grown(model, one, search, limits, toward):
    """Restart the search with the grown geoms; smooth shapes count as touching if closer than the tolerance."""
    search.near, search.square = toward, one.ccd_lanes.real(1e30)
    search.phase, search.trips, search.kept, search.grown = DISTANCE, 0, 0, 1
    limits.tolerance = one.ccd_lanes.real(model.ccd_tolerance[0])
    limits.exact = ti.max(limits.exact, limits.tolerance)
    limits.touch = ti.max(limits.near, limits.tolerance)
    limits.reach = one.ccd_lanes.real(0.0)


@func
def shrink_corners(model, one, g1: ti.i32, g2: ti.i32, corners: ti.i32):
    """Move the points of both geoms at a face of the polytope back to the surfaces of the original shapes."""
    for k in range(3):
        corner = corner_of(corners, k)
        on2 = one.ccd_on1[corner] - one.ccd_point[corner]
        on1 = place_on(model, one, g1, 0, one.ccd_mark1[corner], one.ccd_on1[corner])
        one.ccd_point.put(corner, on1 - place_on(model, one, g2, 1, one.ccd_mark2[corner], on2))
        one.ccd_on1.put(corner, on1)


LARGEST, MIDDLE, BYTE = 127.0, 128.0, 256.0


@func
def last_axis(one):
    """Return the stored axis of the current pair; zero if no axis is stored."""
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
