"""The contact list. Only this file writes it.

A slot belongs to one pair of geoms in all lanes, so everything after collision detection is arithmetic in lanes without
gathering. The list has a slot as soon as one lane has the contact; in other lanes the slot has zero stiffness. The
sequence of an environment's own contacts, and with it every result, does not depend on its neighbours.

With a grid of static geoms, a slot may stand for different ones in its lanes: `con_own1`, `con_own2` (`static_grid`).

A contact that a mechanism pulls (adhesion) is a *tether* beyond its margin: it has a normal force only.
"""

import taichi as ti

from ...base.hooks import CONTACT_PULL, PAIR_MASK
from ...base.math import Mat3, Vec3, func
from ...base.math.lanes import in_each_lane, traced
from .explicit_pairs import contact_margin, contact_pull

LIST = "tile_ncon con_count con_dist con_pos con_frame con_present con_geom1 con_geom2 con_pair con_tether con_own*"
APPENDED = f"{LIST} con_needed need_ncon"
"""The fields that `keep_deepest` and `append` load and store, for the declarations of stages."""
MINIMUM = 1e-15
ALIGNED = {False: 1e-6, True: 1e-15}  # the sine below which a tangent hint counts as parallel to the normal


@traced
def has_pairs_in_slots(has):
    """Return True if a kernel needs con_pair and con_tether: two geoms may have several contacts at one place."""
    return has.repeated_pairs or not CONTACT_PULL.is_empty(has)


@func
def clear_contacts(work):
    """Clear the list."""
    work.tile_ncon[0] = 0
    work.con_count[0] = work.real(0.0)
    work.con_needed[0] = work.real(0.0)


@func
def limit_contacts(model, work):
    """Keep only the deepest `max_contacts` contacts of lanes with more, and set `contacts_full` there."""
    most = ti.cast(model.max_contacts, work.lanes.dtype)
    if work.lanes.any(work.lanes.mask(work.con_count[0] > most)):
        keep_deepest(model, work)
    full = work.lanes.mask(work.con_needed[0] > most)
    work.contacts_full[0] = ti.max(work.contacts_full[0], full * work.con_needed[0])


@func
def keep_deepest(model, work):
    """Remove the shallowest contacts from lanes with more than `max_contacts`; then close the gaps in the list.

    Of equally deep contacts the first ones stay. A tile's list has room for `max_contacts` in each lane.
    """
    in_each_lane(_drop_shallowest, model, work, ())
    # Move the slots that some lane still has to the front.
    used = 0
    for k in range(work.tile_ncon[0]):
        if work.lanes.any(work.con_present[k]):
            if used < k:
                work.con_geom1.put(used, work.con_geom1[k])
                work.con_geom2.put(used, work.con_geom2[k])
                if ti.static(has_pairs_in_slots(model.has)):
                    work.con_pair[used] = work.con_pair[k]
                    work.con_tether[used] = work.con_tether[k]
                if ti.static(model.has.grid):
                    work.con_own1[used] = work.con_own1[k]
                    work.con_own2[used] = work.con_own2[k]
                work.con_dist[used] = work.con_dist[k]
                work.con_present[used] = work.con_present[k]
                work.con_pos.put(used, work.con_pos[k])
                for c in range(6):
                    work.con_frame.at(used, c)._assign(work.con_frame.at(k, c))
            used += 1
    work.tile_ncon[0] = used


@func
def _drop_shallowest(model, one):
    """Remove the shallowest contacts from a lane, whose view is `one`, until `max_contacts` are left."""
    most, dtype = model.max_contacts, one.lanes.dtype
    count = ti.cast(one.con_count[0], ti.i32)
    for _excess in range(count - most):
        shallowest, dist = 0, ti.cast(-1e30, dtype)
        for k in range(one.tile_ncon[0]):
            here = one.con_dist[k]
            if one.con_present[k] > 0.5 and here >= dist:
                shallowest, dist = k, here
        one.con_present[shallowest] = 0.0
    one.con_count[0] = ti.cast(ti.min(count, most), dtype)


@func
def _make_room(model, work):
    """Free the last slot, as all ncon slots are in use.

    At the largest capacity the shallowest contacts are removed; otherwise the need for a larger one is recorded in
    need_ncon, and the last slot is overwritten: the tile is computed again.
    """
    if model.ncon == model.most_ncon:
        keep_deepest(model, work)
    else:
        work.need_ncon[0] = ti.max(work.need_ncon[0], model.ncon) + 1
        work.tile_ncon[0] = model.ncon - 1


@func
def looked_at(model, work, g1: ti.i32, g2: ti.i32):
    """Return the mask of lanes in which contacts of two geoms are detected."""
    wanted = work.real(1.0)
    for mask in ti.static(PAIR_MASK.of(model.has)):
        wanted = wanted * mask(model, work, g1, g2)
    return wanted


@func
def append(model, work, g1: ti.i32, g2: ti.i32, contact, present):
    """Append a contact of two geoms for the lanes of the mask `present`, if there are any.

    If the geoms have several explicit pairs, a contact is appended for each of them.
    """
    here = work.lanes.cast(present) * looked_at(model, work, g1, g2)
    if work.lanes.any(here):
        found = work.lanes.cast(contact)
        if ti.static(has_pairs_in_slots(model.has)):
            _append_each(model, work, g1, g2, found, here)
        else:
            _append(model, work, g1, g2, found, here)


@func
def _append(model, work, g1: ti.i32, g2: ti.i32, found, here):
    """Store a contact in the next slot."""
    if work.tile_ncon[0] == model.ncon:
        _make_room(model, work)
    k = work.tile_ncon[0]
    work.tile_ncon[0] = k + 1
    work.con_count[0] = work.con_count[0] + here
    work.con_needed[0] = work.con_needed[0] + here
    work.con_geom1.put(k, g1)
    work.con_geom2.put(k, g2)
    work.con_dist[k] = found.dist
    work.con_present[k] = here
    if ti.static(model.has.grid):
        work.con_own1[k] = _own(work, 0, g1)
        work.con_own2[k] = _own(work, 1, g2)
    work.con_pos.put(k, found.pos)
    work.con_frame.put_numbers(k, 0, found.normal.numbers())
    work.con_frame.put_numbers(k, 3, found.tangent.numbers())


@func
def _own(work, side, g: ti.i32):
    """Return the geom of each lane in a contact that is being appended: the hit of the grid, or the slot's geom."""
    found = work.static_found.at(0, side)
    return ti.select(found >= 0.0, found, work.real(g))


@func
def _append_each(model, work, g1: ti.i32, g2: ti.i32, found, here):
    """Append a slot for each explicit pair of the geoms, or one slot if they have no explicit pair.

    A contact that is pulled has no friction beyond its margin: lanes in which it is there have a separate slot,
    with con_tether = 1.
    """
    behind = model.explicit_start[g1] + model.explicit_count[g1]
    mixed = 1
    # The explicit pairs of g1, then the mixed parameters of the geoms if none of them has g2.
    for h in range(model.explicit_start[g1], behind + 1):
        pair, wanted = -1, mixed
        if h < behind:
            wanted = 0
            if model.explicit_geom2[h] == g2:
                pair, wanted, mixed = model.explicit_pair[h], 1, 0
        if wanted == 1:
            # Lanes within the pair's detection distance, split by whether the contact is a tether.
            mine = work.real(0.0) + here
            if ti.static(model.has.repeated_pairs):
                if pair >= 0:
                    mine = mine * work.lanes.mask(found.dist <= model.pair_detect[pair])
            beyond = work.real(0.0)
            if ti.static(not CONTACT_PULL.is_empty(model.has)):
                pull = contact_pull(model, work, pair, g1, g2)
                away = found.dist >= contact_margin(model, pair, g1, g2)
                beyond = work.lanes.mask(away) * work.lanes.mask(pull != 0.0)
            for tether in range(2):
                lanes = mine * ti.select(tether == 1, beyond, 1.0 - beyond)
                if work.lanes.any(lanes):
                    _append(model, work, g1, g2, found, lanes)
                    work.con_pair[work.tile_ncon[0] - 1] = pair
                    work.con_tether[work.tile_ncon[0] - 1] = tether


@func
def complete_frame(work, k: ti.i32):
    """Set the contact frame of slot k from its normal and tangent hint, as mju_makeFrame does; return its rows."""
    lanes = work.lanes
    zero = work.real(0.0)
    one = work.real(1.0)
    normal = Vec3(work.con_frame.at(k, 0), work.con_frame.at(k, 1), work.con_frame.at(k, 2))
    hint = Vec3(work.con_frame.at(k, 3), work.con_frame.at(k, 4), work.con_frame.at(k, 5))
    upright = ti.abs(normal.y) < 0.5
    default = Vec3(zero, ti.select(upright, one, zero), ti.select(upright, zero, one))
    # The hint, or a default axis far from the normal; then its part normal to the normal, or x if there is none.
    tangent = default.select(hint.dot(hint) < 0.25, hint)
    tangent = tangent - normal * normal.dot(tangent)
    length = tangent.norm()
    sideways = tangent * (1.0 / ti.max(length, MINIMUM))
    tangent = Vec3(one, zero, zero).select(length < ALIGNED[lanes.double], sideways)
    third = normal.cross(tangent)
    work.con_frame.put_numbers(k, 3, tangent.numbers())
    work.con_frame.put_numbers(k, 6, third.numbers())
    return Mat3(normal, tangent, third)
