"""The pairs of each row of the table: those of the model's list, or those that a sweep found.

They are in a file without the sweep, so that stages that only walk over pairs do not depend on all that it needs.
"""

import taichi as ti

from ....base.math import func
from .broad_phase import WITH_GROUND


@func
def first_pair(model, work, row):
    """Return the number of the first pair of a table row; pairs found by a sweep are numbered after listed ones."""
    first = model.pair_start[row]
    if ti.static(model.has.sweep and not WITH_GROUND[row]):
        first = model.npair + work.listed_start[row]
    return first


@func
def end_of_pairs(model, work, row):
    """Return the number after the last pair of a table row."""
    end = model.pair_start[row + 1]
    if ti.static(model.has.sweep and not WITH_GROUND[row]):
        end = model.npair + work.listed_start[row + 1]
    return end


@func
def geoms_of(model, work, p: ti.i32):
    """Return both geoms of pair p."""
    g1, g2 = 0, 0
    if ti.static(model.has.sweep):
        if p < model.npair:
            g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
        else:
            g1, g2 = work.listed_geom1[p - model.npair], work.listed_geom2[p - model.npair]
    else:
        g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
    return g1, g2
