"""The declaration of what kernels compute in the search for static geoms near moving ones, in a grid.

Sizes are those of `fields`, and: ngridone: 1 with a grid, else 0; ngridgeom: moving geoms that meet static ones of the
grid; nstatichit: static geoms found near them, of all lanes; nstaticstart: lists of these, one for each moving geom and
lane, and one; nstaticlane: lanes; nstaticnear: static geoms, and one; nclasspair: pairs of moving geoms and classes.
"""

from ...base.fields import Field

_F = Field

GRID: tuple[Field, ...] = (
    _F("grid_low", ("ngridgeom",), 3, "m", "lower corner of a box around a moving geom and its margin"),
    _F("grid_high", ("ngridgeom",), 3, "m", "upper corner of that box"),
    _F("grid_center", ("ngridgeom",), 3, "m", "centre of the moving geom"),
    _F("grid_axes", ("ngridgeom",), 9, "", "axes of the moving geom"),
    _F("grid_half", ("ngridgeom",), 3, "m", "half sides of a box around its core"),
    _F("grid_reach", ("ngridgeom",), 1, "m", "its radius around the core, and its margin"),
    _F("grid_under", ("ngridone",), 6, "", "first and last block under a tree along x, and along y; range of z there"),
    _F("grid_range", ("ngridgeom",), 5, "", "first and last cell under the box along x, and along y; 1: there are any"),
    _F("static_pos", ("ngridone",), 3, "m", "geom_pos of the lane's static geom in the pair that is being processed"),
    _F("static_quat", ("ngridone",), 4, "", "geom_quat of it"),
    _F("static_size", ("ngridone",), 3, "m", "geom_size of it"),
    _F("static_half", ("ngridone",), 3, "m", "geom_half of it"),
    _F("static_rbound", ("ngridone",), 1, "m", "geom_rbound of it"),
    _F("static_detect", ("ngridone",), 1, "m", "geom_detect of it"),
    _F("static_found", ("ngridone",), 2, "", "the lane's geoms in contacts that are appended; -1: those of the slot"),
)
"""Intermediate values of the search in a grid of static geoms (`collision.static_grid`)."""

GRID_INDICES: tuple[Field, ...] = (
    _F(
        "static_hit",
        ("nstatichit",),
        1,
        "",
        "static geom near a moving one: its index in static_geom",
        small=True,
    ),
    _F("static_pair", ("nstatichit",), 1, "", "pair of the moving geom and the class of the static one"),
    _F(
        "static_start",
        ("nstaticstart",),
        1,
        "",
        "first of these entries for each moving geom and lane",
    ),
    _F("static_next", ("nstaticlane",), 1, "", "next entry of the lane for the current pair"),
    _F("static_near", ("nstaticnear",), 1, "", "static geoms whose boxes meet that of a moving geom, by index"),
    _F("class_hit", ("nclasspair",), 1, "", "1: a static geom of the class is near the moving geom in some lane"),
    _F("tile_nstatic", ("ngridone",), 1, "", "entries of static_hit in use"),
    _F("tile_more", ("ngridone",), 1, "", "1: some lane has more entries for the current pair"),
)
"""Static geoms that a grid finds near moving ones, for each lane by itself."""
