"""Any convex shape against another: GJK where they are apart, EPA where they overlap.

Shapes are cores with a radius around them (`support`): cores that are apart have their distance, and the radii come off
it. Gap and depth are sought in one loop around the only call of `support`, which is most of the code. What they are to
be exact to, and in how many steps, are the model's `ccd_tolerance` and `ccd_iterations`.
"""

from typing import Any

import taichi as ti
from taichi.lang.impl import expr_init

from ..math import func
from ..math.lanes import LaneValue
from ..shapes import SPHERE
from .contact_point import ContactPoint
from .epa import (
    expand,
    keep_shallowest,
    nearest_face,
    simplex_as_face,
    start_polytope,
    take_shallowest,
    touching_face,
)
from .flat_sides import has_flats
from .gjk import (
    DEPTH,
    DISTANCE,
    FILL,
    FOUND,
    NOTHING,
    across,
    is_corner,
    move_corner,
    put_corner,
    refine,
    start_search,
)
from .grown import allow_growth, shrink_corners, start_grown, wants_growth
from .manifold import put_flat_contacts
from .mpr import seek_portal
from .pairs_by_hand import detection_distance
from .poses import root_of
from .primitives import zero_vector
from .support import core_radius, has_corners, place_geoms, support
from .tilts import begin_turns, put_tilted, turn_geom, untilted
from .warm_start import keep_axis, last_axis
from .work_list import lane_by_lane, put_point

NEAR = 1e-9
"""Of the sizes of both shapes: nearer to each other, their distance has no direction, and the faces there have one."""
FLAT = 1e-8
"""Of the sizes: a simplex that is no higher does not begin a polytope."""
SEEN = 1e-12
"""Of the sizes: a face sees what is higher above it; between rounding and the exactness of the depth."""
CLOSE = 1e-15
"""Of a squared distance: bounds that are as close to each other count as equal."""


class Limits(LaneValue):
    """What counts as nothing in the search of a pair, in metres.

    Attributes:
        reach: cores that are farther apart have no contact.
        near: see NEAR.
        flat: see FLAT.
        seen: see SEEN.
        exact: how close the bounds of the depth must be.
        tolerance: the same of the distance; 0: as close as rounding allows.
        touch: cores that are nearer to each other have a depth, not a distance.
        grow1: by how much geom 1 is larger than its core where its depth is sought (`collision.grown`).
        grow2: the same of geom 2.
    """

    def __init__(self, *lengths: Any) -> None:
        self.reach, self.near, self.flat, self.seen, self.exact = map(expr_init, lengths[:5])
        self.tolerance, self.touch, self.grow1, self.grow2 = map(expr_init, lengths[5:])

    def parts(self) -> tuple:
        """The components."""
        lengths = self.reach, self.near, self.flat, self.seen, self.exact
        return *lengths, self.tolerance, self.touch, self.grow1, self.grow2


@func
def convex_convex(model, work, g1: ti.i32, g2: ti.i32, near):
    """One contact, or up to four of flat sides, or up to five by tilts."""
    if ti.static(model.has.tilts):
        lane_by_lane(_tilted_contacts, model, work, g1, g2, near)
    else:
        lane_by_lane(_contacts, model, work, g1, g2, near)


@func
def _contacts(model, one, g1: ti.i32, g2: ti.i32):
    """In one lane, whose views are `model` and `one`."""
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
    """As `_contacts`, in a loop around the only search: as the geoms are, and with geom 2 in every turn."""
    place_geoms(model, one, g1, g2)
    limits = search_limits(model, one, g1, g2, detection_distance(model, g1, g2))
    tilt = untilted(one)
    while tilt.turn <= tilt.turns:
        turn_geom(one, tilt)
        search = _search(model, one, g1, g2, limits)
        if search.phase == FOUND:
            face, between, on1 = touching_face(one, search, limits.seen)
            normal = one.ccd_normal[search.chosen]
            if tilt.turn > 0:
                put_tilted(model, one, g1, g2, tilt, on1, between, normal)
            else:
                zero = one.ccd_lanes.real(0.0)  # nothing grows where there are tilts
                middle = _middle(model, one, g1, g2, on1, between, normal, zero)
                if _put_first(model, one, g1, g2, search, face, middle, zero) == 1 and model.geom_type[g1] != SPHERE:
                    begin_turns(one, tilt, middle, normal)
        tilt.turn += 1


@func
def _search(model, one, g1: ti.i32, g2: ti.i32, limits):
    """By the method that the model asks for."""
    if ti.static(model.has.mpr):
        return _by_portal(model, one, g1, g2, limits)
    elif ti.static(model.has.warm):
        return _seek_warm(model, one, g1, g2, limits)
    else:
        return seek(model, one, g1, g2, limits, FOUND)


@func
def _by_portal(model, one, g1: ti.i32, g2: ti.i32, limits):
    """By MPR, and by GJK and EPA where that has no answer."""
    search = seek_portal(model, one, g1, g2, limits)
    if search.phase == DISTANCE:
        search = seek(model, one, g1, g2, limits, FOUND)
    return search


@func
def _seek_warm(model, one, g1: ti.i32, g2: ti.i32, limits):
    """As `seek`, but first across the axis that parted the shapes when they were last looked at.

    It proves that they are apart, or says nothing: contacts are those of a search from the start.
    """
    search = start_search(one.ccd_lanes, one.ccd_frame[0] - one.ccd_frame[4])
    axis, toward = last_axis(one), search.near.copy()
    if axis.dot(axis) > 0.0:
        search.near, search.warm = axis, 1
    _go_on(model, one, g1, g2, limits, FOUND, search, toward)
    return search


@func
def seek(model, one, g1: ti.i32, g2: ti.i32, limits, last: ti.i32):
    """Search the gap or depth of geoms that stand in `ccd_frame`, up to the phase `last`."""
    search = start_search(one.ccd_lanes, one.ccd_frame[0] - one.ccd_frame[4])
    _go_on(model, one, g1, g2, limits, last, search, search.near.copy())
    return search


@func
def _go_on(model, one, g1: ti.i32, g2: ti.i32, limits, last: ti.i32, search, toward):
    """`toward` is where a search begins whose axis proves nothing, and where one begins again."""
    while search.phase < last:
        direction = search.near * (-1.0 / search.near.norm())
        if search.phase == DEPTH:
            if search.faces == 0:
                start_polytope(one, search)
            search.chosen = nearest_face(one, search.faces)
            direction = one.ccd_normal[search.chosen]
        elif search.phase == FILL:
            direction = across(one, search.kept) * (1.0 - 2.0 * search.turned)
        point, on1, mark1, mark2 = support(model, one, g1, g2, direction)
        if search.grown == 1:
            point, on1 = point + direction * (limits.grow1 + limits.grow2), on1 + direction * limits.grow1
        search.trips += 1
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
    """The `Limits` of a pair that is of no interest where its surfaces are as far apart as `farthest`.

    Searches stop where MuJoCo's do. Cores with corners have finitely many directions, and are searched to the end
    whatever `ccd_tolerance` is. Others are searched to that tolerance; if they have neither a radius nor a margin, they
    touch where their distance is below it.
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
    return Limits(reach, near, size * FLAT, seen, ti.max(tolerance, seen * 2.0), tolerance, touch, zero, zero)


@func
def _apart(search, limits, point):
    """Whether the plane through a new corner across `near` proves that the cores are as far apart as `reach`."""
    bound = search.near.dot(point)
    return bound > 0.0 and bound * bound >= limits.reach * limits.reach * search.near.dot(search.near)


@func
def _approach(model, one, search, limits, point):
    """A step of GJK with the new corner in place 3."""
    bound, before = search.near.dot(point), search.square
    exact = ti.max(0.5 * limits.tolerance**2, before * CLOSE)
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
        if ended:  # the nearest point is as near as it gets; its plane is between the shapes, or they touch
            if bound > 0.0 and search.square > limits.touch**2:
                simplex_as_face(one, search)
                search.phase = FOUND
            else:
                search.phase, search.trips = FILL, 0


@func
def _fill(one, search, limits, rise):
    """The simplex takes the new corner, which is `rise` above it, unless it is as flat with it."""
    if ti.abs(rise) > limits.flat:
        search.kept += 1
        search.turned = 0
        if search.kept == 4:
            search.phase, search.trips, search.filled = DEPTH, 0, 1
    elif search.turned == 1:
        search.phase = NOTHING  # one of the shapes is flat, or a point: there is no depth
    else:
        search.turned = 1


@func
def _grow(model, one, search, limits, height):
    """A step of EPA with the new corner behind the others, `height` being where its plane is."""
    keep_shallowest(model, one, search, height)
    low = one.ccd_height[search.chosen]
    last = search.trips >= model.ccd_iterations + search.filled  # what is filled in is MuJoCo's without a step
    if height - low <= limits.exact and height - search.depth <= limits.exact:
        search.phase = FOUND
    elif last and model.ccd_follows == 1 and low > 0.0 and low < search.depth - limits.near:
        search.phase = FOUND  # on the way still, and where MuJoCo is
    else:
        full = last or search.points + 1 >= model.nccdpoint
        if not full:
            full = expand(model, one, search, limits.seen) == 0
        if full:
            take_shallowest(model, one, search)
            search.phase = FOUND


@func
def _put_contact(model, one, g1: ti.i32, g2: ti.i32, search, limits):
    """The contact at the polytope's face that is nearest to the origin, or those of flat sides there."""
    face, between, on1 = touching_face(one, search, limits.seen)
    shrunk1, shrunk2 = search.grown * limits.grow1, search.grown * limits.grow2
    middle = _middle(model, one, g1, g2, on1, between, one.ccd_normal[search.chosen], shrunk1 - shrunk2)
    _put_first(model, one, g1, g2, search, face, middle, shrunk1 + shrunk2)


@func
def _middle(model, one, g1: ti.i32, g2: ti.i32, on1, between, normal, grown):
    """Between the nearest points, seen from geom 1's centre; `on1` is that of its core, `between` the way from 2's.

    `grown` is by how much more geom 1 is larger than its core there than geom 2 is.
    """
    radius1, radius2 = core_radius(model, one, g1), core_radius(model, one, g2)
    return on1 - between * 0.5 + normal * (0.5 * (radius1 - radius2 - grown))


@func
def _put_first(model, one, g1: ti.i32, g2: ti.i32, search, face: ti.i32, middle, grown):
    """The contact there, or those of flat sides. Returns 1 where it is alone.

    `grown` is by how much both geoms are larger there than their cores.
    """
    lanes, alone = one.ccd_lanes, 0
    normal = one.ccd_normal[search.chosen]
    dist = grown - one.ccd_height[search.chosen] - core_radius(model, one, g1) - core_radius(model, one, g2)
    pos = root_of(model, one, g1) + one.geom_offset[g1] + one.precise_lanes.cast(middle)
    contact = ContactPoint(dist, pos, normal, zero_vector(lanes))
    if dist < detection_distance(model, g1, g2):
        found = 0
        if model.multiccd == 1 and has_flats(model, g1) and has_flats(model, g2):
            if search.grown == 1:
                shrink_corners(model, one, g1, g2, one.ccd_corners[face])
            found = put_flat_contacts(model, one, g1, g2, one.ccd_corners[face], normal)
        if found == 0:
            put_point(one, 0, contact, lanes.real(1.0))
            alone = 1
    return alone
