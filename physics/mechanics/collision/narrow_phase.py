"""Narrow phase: the contacts of every pair of geoms, by the routine of their types.

To add a pair of types: its geometry in `primitives`, its routine in a file beside this one and in `ROUTINES`, its row
in `model.pair_table.PAIR_TABLE`. Pairs of a `PairGroup` go through a work list (`work_list`).
Poses have the precision of `work.precise_lanes` (`Features.mixed_precision`); `append` rounds contacts to `work.lanes`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import taichi as ti

from ...base.hooks import CONTACTS_AGAIN, PAIR_MASK
from ...base.math import func
from ...base.stage import stage
from .broad.static_contacts import HITS, STAGED, take_static
from .broad.static_grid import find_static
from .broad.static_grid_model import GROUPS as BY_GRID
from .broad.sweep import sweep
from .closed_forms.box_box import box_box
from .closed_forms.capsule_box import capsule_box
from .closed_forms.plane_hulls import list_near_planes, plane_box, plane_cylinder, plane_ellipsoid, plane_mesh
from .closed_forms.round_pairs import capsule_capsule, plane_capsule, plane_sphere, sphere_capsule, sphere_sphere_pair
from .closed_forms.sphere_hulls import sphere_box, sphere_cylinder
from .contacts import APPENDED, LIST, clear_contacts, limit_contacts, looked_at
from .convex.convex import convex_convex
from .distance_fields.sdf_contacts import field_solid, hfield_field, plane_field
from .ground.terrain import hfield_solid, list_near_ground
from .pair_table import PAIR_TABLE
from .work_list import LISTED_PAIRS, append_points, clear_list, end_of_pairs, first_pair, geoms_of, list_near

SEARCH = "ccd_frame ccd_point ccd_on1 ccd_normal ccd_height ccd_mark* ccd_corners ccd_seen ccd_edge"
"""The fields that only GJK and EPA use (`convex.seek`)."""


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
FIELD_PLANES = {"plane_field": plane_field}
FIELD_TERRAIN = {"hfield_field": hfield_field}
FIELDS = {"field_solid": field_solid}
TERRAIN = {"hfield_solid": hfield_solid}
ROUTINES = {
    **ROUND_WITH_PLANES,
    **HULLS_WITH_PLANES,
    **ROUND,
    **SOLIDS,
    **CONVEX,
    **TERRAIN,
    **FIELD_PLANES,
    **FIELD_TERRAIN,
    **FIELDS,
}
"""Functions that find the contacts of two geoms, by `PairType.routine`; routines of work lists take a lane mask."""


class PairGroup(NamedTuple):
    """Consecutive rows of the table whose pairs go through a work list.

    A kernel names only its group, so that it is the same for models that differ in other groups.

    Attributes:
        rows: the rows.
        served: routines, each with the rows that it serves, which are consecutive as well, and the most points of a
            pair of these rows without tilts and with them.
        by_grid: True if a grid finds pairs with static geoms of these rows.
    """

    rows: tuple[int, ...]
    served: tuple[tuple[Any, tuple[int, ...], int, int], ...]
    by_grid: bool


def _group(name: str, routines: Mapping[str, Any]) -> PairGroup:
    """Return the rows of a group of the table."""
    rows = tuple(row for row, pair in enumerate(PAIR_TABLE) if pair.group == name)
    served = []
    for of, routine in routines.items():
        own = tuple(row for row in rows if PAIR_TABLE[row].routine == of)
        most, tilted = (max(PAIR_TABLE[row].most_contacts(tilts, False) for row in own) for tilts in (False, True))
        served.append((routine, own, most, tilted))
    return PairGroup(rows, tuple(served), name in BY_GRID)


def _alone(routines: Mapping[str, Any]) -> tuple[tuple[Any, int], ...]:
    """Return routines that serve one row each, without a work list, with their rows."""
    names = [pair.routine for pair in PAIR_TABLE]
    return tuple((routine, names.index(name)) for name, routine in routines.items())


PAIRS_WITH_PLANES, PAIRS = _alone(ROUND_WITH_PLANES), _alone(ROUND)
LISTED_HULLS, LISTED_SOLIDS = _group("hulls", HULLS_WITH_PLANES), _group("solids", SOLIDS)
LISTED_CONVEX, LISTED_TERRAIN = _group("convex", CONVEX), _group("terrain", TERRAIN)
LISTED_FIELD_PLANES, LISTED_FIELD_TERRAIN = _group("field_planes", FIELD_PLANES), _group("field_terrain", FIELD_TERRAIN)
LISTED_FIELDS = _group("fields", FIELDS)


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
        "sweep_* wanted need_nlisted listed_start grid_* static_hit static_pair static_start tile_nstatic static_near",
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
    _take_pairs(model, work, PAIRS_WITH_PLANES)


@stage(
    when=lambda has: has.hulls,
    reads="geom_xpos geom_axis xquat listed_geom1 listed_geom2 static_found",
    writes="tile_pair",
    updates=(APPENDED, LISTED_PAIRS, "mesh_*"),
    hooks=(PAIR_MASK,),
)
def collide_hulls_with_planes(model, work):
    """Append contacts of planes with all other shapes."""
    _take_list(model, work, LISTED_HULLS, list_near_planes)


@stage(reads="qpos xpos geom_offset geom_axis listed_* static_found", updates=APPENDED, hooks=(PAIR_MASK,))
def collide_round(model, work):
    """Append contacts between spheres and capsules."""
    _take_pairs(model, work, PAIRS)


@stage(
    when=lambda has: has.solids,
    reads=("xpos xquat root_offset listed_*", HITS),
    writes="tile_pair",
    updates=(APPENDED, LISTED_PAIRS, STAGED, "geom_axis wanted box_code polygon"),
    hooks=(PAIR_MASK,),
)
def collide_solids(model, work):
    """Append contacts of pairs with boxes and cylinders that have a closed form."""
    _take_list(model, work, LISTED_SOLIDS, list_near)


@stage(
    when=lambda has: has.convex,
    reads=("xpos xquat root_offset listed_* piece_*", HITS),
    writes="geom_axis",
    updates=(APPENDED, LISTED_PAIRS, STAGED, "wanted tile_pair pair_axis ccd_*"),
    hooks=(PAIR_MASK,),
)
def collide_convex(model, work):
    """Append contacts of all other pairs of convex shapes."""
    _take_list(model, work, LISTED_CONVEX, list_near)


@stage(
    when=lambda has: has.field_planes,
    reads="geom_xpos geom_axis xpos xquat geom_offset listed_geom1 listed_geom2 static_found",
    writes="tile_pair",
    updates=(APPENDED, LISTED_PAIRS, "wanted ccd_frame hit_*"),
    hooks=(PAIR_MASK,),
)
def collide_field_planes(model, work):
    """Append contacts of planes with meshes that have distance fields."""
    _take_list(model, work, LISTED_FIELD_PLANES, list_near_planes)


@stage(
    when=lambda has: has.field_terrain,
    reads="xpos xquat geom_offset listed_geom1 listed_geom2 static_found",
    writes="tile_pair",
    updates=(APPENDED, LISTED_PAIRS, "wanted box_center box_half ccd_frame hit_*"),
    hooks=(PAIR_MASK,),
)
def collide_field_terrain(model, work):
    """Append contacts of height fields with meshes that have distance fields."""
    _take_list(model, work, LISTED_FIELD_TERRAIN, list_near_ground)


@stage(
    when=lambda has: has.fields,
    reads="geom_xpos xpos xquat geom_offset listed_* static_found",
    writes="tile_pair",
    updates=(APPENDED, LISTED_PAIRS, "wanted ccd_frame hit_*"),
    hooks=(PAIR_MASK,),
)
def collide_fields(model, work):
    """Append contacts of meshes that have distance fields with solids and with each other."""
    _take_list(model, work, LISTED_FIELDS, list_near)


@stage(
    when=lambda has: has.terrain,
    reads="xpos xquat geom_offset listed_geom1 listed_geom2 static_found",
    writes="tile_pair",
    updates=(APPENDED, LISTED_PAIRS, SEARCH, "wanted box_center box_half piece_* hit_*"),
    hooks=(PAIR_MASK,),
)
def collide_terrain(model, work):
    """Append contacts of height fields with convex shapes."""
    _take_list(model, work, LISTED_TERRAIN, list_near_ground)


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
    collide_terrain,
    collide_field_planes,
    collide_field_terrain,
    collide_fields,
    end_contacts,
)
"""The stages of the narrow phase, in the order of the rows of the table that they serve."""


@func
def _take_pairs(model, work, routines):
    """Call the routine of every pair of some rows of the table, without a work list."""
    for routine, row in ti.static(routines):
        for p in range(first_pair(model, work, row), end_of_pairs(model, work, row)):
            g1, g2 = geoms_of(model, work, p)
            if ti.static(PAIR_MASK.is_empty(model.has)):
                routine(model, work, g1, g2)
            elif work.lanes.any(looked_at(model, work, g1, g2)):
                routine(model, work, g1, g2)


@func
def _take_list(model, work, group, mid_phase):
    """Fill the work list with the near pairs of a group; call the routine of each, and append its points."""
    rows = ti.static(group.rows)
    clear_list(model, work)
    mid_phase(model, work, first_pair(model, work, rows[0]), end_of_pairs(model, work, rows[-1]))
    for k in range(work.tile_nnear[0]):
        p = work.near_pair[k]
        g1, g2 = geoms_of(model, work, p)
        work.tile_pair[0] = p - first_pair(model, work, rows[0])
        for routine, served, _most, _tilted in ti.static(group.served):
            if p >= first_pair(model, work, served[0]) and p < end_of_pairs(model, work, served[-1]):
                routine(model, work, g1, g2, work.near[k])
        append_points(model, work, g1, g2, model.npoint)
    if ti.static(model.has.grid and group.by_grid):
        take_static(model, work, rows, group.served)
