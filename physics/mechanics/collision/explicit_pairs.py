"""Explicit pairs of geoms: MJCF's `<contact><pair>`, each with its contact parameters.

They are found by their two geoms, so that the stages between detection and constraint do not handle them apart, and a
model without such pairs has no code for them.
"""

import taichi as ti

from ...base.hooks import CONTACT_PULL
from ...base.math import func


@func
def explicit_pair(model, g1: ti.i32, g2: ti.i32):
    """Return the number of the explicit pair of two geoms, the smaller type first; -1 if their parameters are mixed."""
    found = -1
    if ti.static(model.has.explicit_pairs):
        first = model.explicit_start[g1]
        for k in range(first, first + model.explicit_count[g1]):
            if model.explicit_geom2[k] == g2:
                found = model.explicit_pair[k]
    return found


@func
def pair_of_contact(model, work, k: ti.i32):
    """Return the number of the explicit pair that contact slot k belongs to; -1 if its parameters are mixed."""
    pair = -1
    if ti.static(model.has.repeated_pairs):
        pair = work.con_pair[k]
    else:
        pair = explicit_pair(model, work.con_geom1[k], work.con_geom2[k])
    return pair


@func
def detection_distance(model, g1: ti.i32, g2: ti.i32):
    """Return the distance (m) below which contacts of two geoms are detected: the largest of their explicit pairs'."""
    reach = model.geom_detect[g1] + model.geom_detect[g2]
    if ti.static(model.has.repeated_pairs):
        # the largest of all explicit pairs of both geoms; without one the sum of both geoms'
        found = 0
        for k in range(model.explicit_start[g1], model.explicit_start[g1] + model.explicit_count[g1]):
            if model.explicit_geom2[k] == g2:
                mine = model.pair_detect[model.explicit_pair[k]]
                if found == 1:
                    mine = ti.max(mine, reach)
                reach = mine
                found = 1
    elif ti.static(model.has.explicit_pairs):
        pair = explicit_pair(model, g1, g2)
        if pair >= 0:
            reach = model.pair_detect[pair]
    return reach


@func
def contact_margin(model, pair: ti.i32, g1: ti.i32, g2: ti.i32):
    """Return the distance (m) below which a contact is a constraint; `pair` is from `pair_of_contact`."""
    margin = model.geom_margin[g1] + model.geom_margin[g2]
    if ti.static(model.has.explicit_pairs):
        if pair >= 0:
            margin = model.pair_margin[pair]
    return margin


@func
def contact_pull(model, work, pair: ti.i32, g1: ti.i32, g2: ti.i32):
    """Return the force (N) with which mechanisms pull the geoms together; `pair` is from `pair_of_contact`."""
    pull = work.real(0.0)
    for pull_of in ti.static(CONTACT_PULL.of(model.has)):
        pull += pull_of(model, pair, g1, g2)
    return pull
