"""Narrow phase: the contacts of every pair of geoms, by the routine of their types.

To add a pair of types: its geometry in `primitives`, its routine here and in `ROUTINES`, its row in
`model.pair_table.PAIR_TABLE`. Pairs of a group in `LISTED` go through a work list (`work_list`).
Poses have the precision of `work.precise_lanes` (`Features.mixed_precision`); `append` rounds contacts to `work.lanes`.
"""

import taichi as ti

from ..hooks import CONTACTS_AGAIN, PAIR_MASK
from ..kinematics.precise import precise_geom
from ..math import func
from ..math.lanes import traced
from ..model.pair_table import GROUPS, PAIR_TABLE
from ..model.static_grid import GROUPS as BY_GRID
from ..stage import stage
from .box_box import box_box
from .capsule_box import capsule_box
from .contacts import APPENDED, LIST, append, clear_contacts, limit_contacts, looked_at
from .convex import convex_convex
from .pairs_by_hand import detection_distance
from .plane_hulls import list_near_planes, plane_box, plane_cylinder, plane_ellipsoid, plane_mesh
from .poses import bounds_meet, cautious, root_of, seen_from_root
from .primitives import (
    CONCENTRIC,
    MINIMUM,
    closest_on_segments,
    nearly_parallel,
    overlap_ends,
    plane_point,
    segment_parameter,
    sphere_sphere,
    zero_vector,
)
from .sphere_hulls import sphere_box, sphere_cylinder
from .static_contacts import HITS, STAGED, take_static
from .static_grid import find_static
from .sweep import end_of_pairs, first_pair, geoms_of, sweep
from .work_list import LISTED_PAIRS, append_points, clear_list, list_near


@func
def _touching_distance(model, g1: ti.i32, g2: ti.i32):
    """Return the sum of both radii and the detection distance (m): spheres farther apart have no contact."""
    return cautious(model.geom_size.at(g1, 0) + model.geom_size.at(g2, 0) + detection_distance(model, g1, g2))


@func
def plane_sphere(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contact of a plane and a sphere."""
    lanes = work.precise_lanes
    radius = model.geom_size.at(g2, 0)
    contact = plane_point(lanes, work.geom_xpos[g1], work.geom_axis[g1], work.geom_xpos[g2], radius)
    append(model, work, g1, g2, contact, lanes.mask(contact.dist <= detection_distance(model, g1, g2)))


@func
def plane_capsule(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contacts of a plane with both end spheres of a capsule; the first tangent follows the capsule."""
    lanes = work.precise_lanes
    plane, normal = work.geom_xpos[g1], work.geom_axis[g1]
    axis = work.geom_axis[g2]
    for end in range(2):
        half = model.geom_size.at(g2, 1) * (1.0 - 2.0 * end)
        contact = plane_point(lanes, plane, normal, work.geom_xpos[g2] + axis * half, model.geom_size.at(g2, 0))
        contact = contact.with_tangent(axis)
        append(model, work, g1, g2, contact, lanes.mask(contact.dist <= detection_distance(model, g1, g2)))


@func
def _append_spheres(model, work, g1: ti.i32, g2: ti.i32, center1, center2, wanted, concentric):
    """Append the contact of two spheres with the radii of both geoms, in lanes of the mask `wanted`; return its mask.

    If the centres are closer than `concentric` (m), their difference gives no direction. Capsules that share an end,
    such as limbs at a joint, have centres there that differ by rounding, and along most directions one would be pushed
    along its own axis.
    """
    lanes = work.precise_lanes
    apart = center2 - center1
    # a quick test of the centres' distance, then the contact itself
    touching = _touching_distance(model, g1, g2)
    present = lanes.mask(apart.dot(apart) <= touching * touching) * wanted
    if lanes.any(present):
        contact = sphere_sphere(
            lanes,
            center1,
            work.geom_axis[g1],
            model.geom_size.at(g1, 0),
            center2,
            work.geom_axis[g2],
            model.geom_size.at(g2, 0),
            concentric,
        )
        present = lanes.mask(contact.dist <= detection_distance(model, g1, g2)) * wanted
        append(model, work, g1, g2, contact.translated(root_of(model, work, g1)), present)
    return present


@func
def sphere_sphere_pair(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contact of two spheres."""
    center1, center2 = work.geom_offset[g1], seen_from_root(model, work, g1, g2)
    _append_spheres(model, work, g1, g2, center1, center2, work.precise_lanes.real(1.0), MINIMUM)


@func
def sphere_capsule(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contact of a sphere with the nearest sphere in a capsule."""
    lanes = work.precise_lanes
    center1, center2 = work.geom_offset[g1], seen_from_root(model, work, g1, g2)
    if lanes.any(bounds_meet(model, work, g1, g2, center1 - center2)):
        half = work.geom_axis[g2] * model.geom_size.at(g2, 1)
        nearest = center2 + half * segment_parameter(center1, center2, half)
        concentric = ti.static(CONCENTRIC[lanes.double])
        _append_spheres(model, work, g1, g2, center1, nearest, lanes.real(1.0), concentric)


@func
def _exact_parameters(model, work, g1: ti.i32, g2: ti.i32):
    """Return `closest_on_segments` of two capsules, computed from qpos on in double precision.

    If the axes of capsules meet at an angle of a thousandth, an error of 1e-7 in their directions moves the closest
    point by a hundredth of their length.
    """
    lanes = work.double_lanes
    center1, center2 = zero_vector(lanes), zero_vector(lanes)
    half1, half2 = zero_vector(lanes), zero_vector(lanes)
    for side in range(2):
        g = g1
        if side == 1:
            g = g2
        # the geom's centre and axis from qpos on
        center, axis = zero_vector(lanes), zero_vector(lanes)
        precise_geom(model, work, g, center, axis)
        half = axis * lanes.real(model.geom_size.at(g, 1))
        if side == 0:
            center1, half1 = center, half
        else:
            center2, half2 = center, half
    x1, x2, parallel = closest_on_segments(lanes, center1, half1, center2, half2)
    return work.lanes.cast(x1), work.lanes.cast(x2), work.lanes.cast(parallel)


@func
def capsule_capsule(model, work, g1: ti.i32, g2: ti.i32):
    """Append the contact of two capsules, or two if they are parallel: at both ends of the overlap of their axes."""
    lanes = work.precise_lanes
    center1, center2 = work.geom_offset[g1], seen_from_root(model, work, g1, g2)
    if lanes.any(bounds_meet(model, work, g1, g2, center1 - center2)):
        half1 = work.geom_axis[g1] * model.geom_size.at(g1, 1)
        half2 = work.geom_axis[g2] * model.geom_size.at(g2, 1)
        # parameters of the closest points on both axes, in double precision if the axes are nearly parallel
        x1, x2, parallel = closest_on_segments(lanes, center1, half1, center2, half2)
        if ti.static(not lanes.double):
            near = nearly_parallel(lanes, half1, half2)
            beside = (center1 - center2).cross(half1)  # their distance times the length of half1
            close = 1.05 * _touching_distance(model, g1, g2) + 0.02 * model.geom_size.at(g2, 1)
            near = near * lanes.mask(beside.dot(beside) <= close * close * half1.dot(half1))
            if lanes.any(near):
                exact1, exact2, decided = _exact_parameters(model, work, g1, g2)
                x1 = ti.select(near > 0.5, exact1, x1)
                x2 = ti.select(near > 0.5, exact2, x2)
                parallel = ti.select(near > 0.5, decided, parallel)
        # one contact, or in lanes with parallel axes both ends of the overlap
        wanted = lanes.real(1.0)
        trials = 1
        if lanes.any(parallel):
            trials = 2
        for trial in range(trials):
            if trials == 2:
                end1, end2 = overlap_ends(center1, half1, center2, half2, lanes.real(trial))
                x1 = ti.select(parallel > 0.5, end1, x1)
                x2 = ti.select(parallel > 0.5, end2, x2)
                if trial == 1:
                    wanted = parallel
            nearest1, nearest2 = center1 + half1 * x1, center2 + half2 * x2
            _append_spheres(model, work, g1, g2, nearest1, nearest2, wanted, ti.static(CONCENTRIC[lanes.double]))


ROUND_WITH_PLANES = {"plane_sphere": plane_sphere, "plane_capsule": plane_capsule}
HULLS_WITH_PLANES = {
    "plane_ellipsoid": plane_ellipsoid,
    "plane_cylinder": plane_cylinder,
    "plane_box": plane_box,
    "plane_mesh": plane_mesh,
}
ROUND = {
    "sphere_sphere": sphere_sphere_pair,
    "sphere_capsule": sphere_capsule,
    "capsule_capsule": capsule_capsule,
}
SOLIDS = {
    "sphere_cylinder": sphere_cylinder,
    "sphere_box": sphere_box,
    "capsule_box": capsule_box,
    "box_box": box_box,
}
CONVEX = {"convex_convex": convex_convex}
ROUTINES = {**ROUND_WITH_PLANES, **HULLS_WITH_PLANES, **ROUND, **SOLIDS, **CONVEX}
"""Functions that find the contacts of two geoms, by `PairType.routine`; those of work lists also take a lane mask."""

LISTED = {group: tuple(row for row, pair in enumerate(PAIR_TABLE) if pair.group == group) for group in GROUPS}
"""Rows of the table that go through a work list, by their group; the rows of a group are consecutive."""
_NAMES = [pair.routine for pair in PAIR_TABLE]
SERVED = {
    group: tuple(
        (name, tuple(row for row in rows if _NAMES[row] == name)) for name in dict.fromkeys(_NAMES[row] for row in rows)
    )
    for group, rows in LISTED.items()
}
"""For each of these groups its routines, each with the rows that it serves, which are consecutive as well."""


@traced
def _with_points(has, group):
    """Return the routines of a group, each with the rows that it serves and the most points of a pair."""
    return [(name, of, max(PAIR_TABLE[row].most_contacts(has.tilts) for row in of)) for name, of in SERVED[group]]


@func
def collide(model, work):
    """Find all contacts, and once more as long as a mechanism asks for it, such as where one wakes a tree."""
    if ti.static(CONTACTS_AGAIN.is_empty(model.has)):
        _narrow_phase(model, work)
    else:
        work.search_again[0] = 1
        while work.search_again[0] == 1:
            work.search_again[0] = 0
            _narrow_phase(model, work)
            for check in ti.static(CONTACTS_AGAIN.of(model.has)):
                check(model, work)


@func
def _narrow_phase(model, work):
    """Fill the contact list with every contact closer than margins and gaps, in the order of the table's rows."""
    for kind in ti.static(KINDS_OF_PAIRS):
        kind(model, work)


@stage(
    reads="geom_xpos xpos xquat root_offset",
    writes="con_count con_needed tile_ncon listed_geom1 listed_geom2 static_found geom_axis class_hit",
    updates=(
        "sweep_* wanted need_nlisted listed_start grid_* hit_static hit_pair hit_start tile_nhit static_near",
        "geom_xpos geom_offset",
    ),
)
def begin_contacts(model, work):
    """Empty the contact list; if the model has too many pairs for a list, find the near ones by a sweep or a grid."""
    clear_contacts(work)
    if ti.static(model.has.sweep):
        sweep(model, work)
    if ti.static(model.has.grid):
        find_static(model, work)


@stage(reads="geom_xpos geom_axis listed_geom1 listed_geom2 static_found", updates=APPENDED, hooks=(PAIR_MASK,))
def collide_round_with_planes(model, work):
    """Append contacts of planes with spheres and capsules."""
    _take_pairs(model, work, ROUND_WITH_PLANES)


@stage(
    when=lambda has: has.hulls,
    reads="geom_xpos geom_axis xquat listed_geom1 listed_geom2 static_found",
    writes="tile_pair",
    updates=(APPENDED, LISTED_PAIRS, "mesh_*"),
    hooks=(PAIR_MASK,),
)
def collide_hulls_with_planes(model, work):
    """Append contacts of planes with all other shapes."""
    _take_list(model, work, "hulls", HULLS_WITH_PLANES, list_near_planes)


@stage(reads="qpos xpos geom_offset geom_axis listed_* static_found", updates=APPENDED, hooks=(PAIR_MASK,))
def collide_round(model, work):
    """Append contacts between spheres and capsules."""
    _take_pairs(model, work, ROUND)


@stage(
    when=lambda has: has.solids,
    reads=("xpos xquat root_offset listed_*", HITS),
    writes="tile_pair",
    updates=(APPENDED, LISTED_PAIRS, STAGED, "geom_axis wanted box_code polygon"),
    hooks=(PAIR_MASK,),
)
def collide_solids(model, work):
    """Append contacts of pairs with boxes and cylinders that have a closed form."""
    _take_list(model, work, "solids", SOLIDS, list_near)


@stage(
    when=lambda has: has.convex,
    reads=("xpos xquat root_offset listed_*", HITS),
    writes="geom_axis",
    updates=(APPENDED, LISTED_PAIRS, STAGED, "wanted tile_pair pair_axis ccd_*"),
    hooks=(PAIR_MASK,),
)
def collide_convex(model, work):
    """Append contacts of all other pairs of convex shapes."""
    _take_list(model, work, "convex", CONVEX, list_near)


@stage(reads="con_needed", updates=f"{LIST} contacts_full")
def end_contacts(model, work):
    """Keep the deepest contacts of environments that have more than `max_contacts`."""
    limit_contacts(model, work)


KINDS_OF_PAIRS = (
    begin_contacts,
    collide_round_with_planes,
    collide_hulls_with_planes,
    collide_round,
    collide_solids,
    collide_convex,
    end_contacts,
)
"""The stages of the narrow phase, in the order of the rows of the table that they serve."""


@func
def _take_pairs(model, work, routines):
    """Call the routine of every pair of some rows of the table, without a work list."""
    for name, routine in ti.static(list(routines.items())):
        row = ti.static(_NAMES.index(name))
        for p in range(first_pair(model, work, row), end_of_pairs(model, work, row)):
            g1, g2 = geoms_of(model, work, p)
            if ti.static(PAIR_MASK.is_empty(model.has)):
                routine(model, work, g1, g2)
            elif work.lanes.any(looked_at(model, work, g1, g2)):
                routine(model, work, g1, g2)


@func
def _take_list(model, work, group, routines, mid_phase):
    """Fill the work list with the near pairs of a group; call the routine of each, and append its points."""
    rows = ti.static(LISTED[group])
    clear_list(model, work)
    mid_phase(model, work, first_pair(model, work, rows[0]), end_of_pairs(model, work, rows[-1]))
    for k in range(work.tile_nnear[0]):
        p = work.near_pair[k]
        g1, g2 = geoms_of(model, work, p)
        work.tile_pair[0] = p - first_pair(model, work, rows[0])
        for routine, served in ti.static(SERVED[group]):
            if p >= first_pair(model, work, served[0]) and p < end_of_pairs(model, work, served[-1]):
                routines[routine](model, work, g1, g2, work.near[k])
        append_points(model, work, g1, g2, model.npoint)
    if ti.static(model.has.grid and group in BY_GRID):
        take_static(model, work, rows, _with_points(model.has, group), routines)
