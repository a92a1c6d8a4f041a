"""Pairs of geoms that have contact parameters of their own (MJCF's `<contact><pair>`), found by their two geoms.

So nothing on a contact's way has to know where its pair came from, and a model without such pairs pays nothing.
"""

import taichi as ti


@ti.func
def pair_by_hand(model: ti.template(), g1: ti.i32, g2: ti.i32):
    """Number of the pair by hand of two geoms, the smaller type first; -1: their parameters are mixed."""
    found = -1
    if ti.static(model.has.pairs_by_hand):
        first = model.hand_start[g1]
        for k in range(first, first + model.hand_count[g1]):
            if model.hand_geom2[k] == g2:
                found = model.hand_pair[k]
    return found


@ti.func
def detection_distance(model: ti.template(), g1: ti.i32, g2: ti.i32):
    """Contacts of two geoms that are closer than this are detected."""
    reach = model.geom_detect[g1] + model.geom_detect[g2]
    if ti.static(model.has.pairs_by_hand):
        pair = pair_by_hand(model, g1, g2)
        if pair >= 0:
            reach = model.pair_detect[pair]
    return reach
