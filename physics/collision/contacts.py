"""The list of contacts: the one place that writes them.

A slot belongs to one pair of geoms in all lanes, so everything after collision is arithmetic in lanes without
gathering. The list holds a slot as soon as one lane has the contact; the others carry it with zero stiffness. An
environment's own sequence of contacts, and with it every result, does not depend on its neighbours.
"""

import taichi as ti

from ..hooks import CONTACT_PULL, PAIR_MASK
from ..math import Mat3, Vec3, func
from ..math.lanes import in_each_lane, traced
from .pairs_by_hand import contact_margin, contact_pull

LIST = "tile_ncon con_count con_dist con_pos con_frame con_present con_geom1 con_geom2 con_pair con_tether"
APPENDED = f"{LIST} con_needed need_ncon"
"""What `keep_deepest` and `append` load and store, for the declarations of stages."""
MINIMUM = 1e-15
ALIGNED = {False: 1e-6, True: 1e-15}  # below this sine a tangent hint counts as parallel to the normal


@traced
def has_pairs_in_slots(has):
    """Return True if a kernel needs con_pair and con_tether: two geoms may have several contacts at one place."""
    return has.repeated_pairs or not CONTACT_PULL.is_empty(has)


@func
def clear_contacts(work):
    """Empty the list."""
    work.tile_ncon[0] = 0
    work.con_count[0] = work.real(0.0)
    work.con_needed[0] = work.real(0.0)


@func
def limit_contacts(model, work):
    """Where lanes have more contacts than `max_contacts`, keep their deepest and set `contacts_full`."""
    most = ti.cast(model.max_contacts, work.lanes.dtype)
    if work.lanes.any(work.lanes.mask(work.con_count[0] > most)):
        keep_deepest(model, work)
    full = work.lanes.mask(work.con_needed[0] > most)
    work.contacts_full[0] = ti.max(work.contacts_full[0], full * work.con_needed[0])


@func
def keep_deepest(model, work):
    """Take the shallowest contacts from lanes with more than `max_contacts`; then close the gaps in the list.

    Of contacts as deep as each other the first ones stay. A tile's list has room for as many contacts in each lane.
    """
    in_each_lane(_drop_shallowest, model, work, ())
    used = 0
    for k in range(work.tile_ncon[0]):
        if work.lanes.any(work.con_present[k]):
            if used < k:
                work.con_geom1.put(used, work.con_geom1[k])
                work.con_geom2.put(used, work.con_geom2[k])
                if ti.static(has_pairs_in_slots(model.has)):
                    work.con_pair[used] = work.con_pair[k]
                    work.con_tether[used] = work.con_tether[k]
                work.con_dist[used] = work.con_dist[k]
                work.con_present[used] = work.con_present[k]
                work.con_pos.put(used, work.con_pos[k])
                for c in range(6):
                    work.con_frame.at(used, c)._assign(work.con_frame.at(k, c))
            used += 1
    work.tile_ncon[0] = used


@func
def _drop_shallowest(model, one):
    """Take the shallowest contacts from a lane, whose view is `one`, until `max_contacts` are left."""
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
    """Keep the deepest contacts of a full list; or, where it may become longer, count, and give the last slot up."""
    if model.ncon == model.most_ncon:
        keep_deepest(model, work)
    else:
        work.need_ncon[0] = ti.max(work.need_ncon[0], model.ncon) + 1
        work.tile_ncon[0] = model.ncon - 1


@func
def looked_at(model, work, g1: ti.i32, g2: ti.i32):
    """Return the mask of lanes in which contacts of two geoms are looked for."""
    wanted = work.real(1.0)
    for mask in ti.static(PAIR_MASK.of(model.has)):
        wanted = wanted * mask(model, work, g1, g2)
    return wanted


@func
def append(model, work, g1: ti.i32, g2: ti.i32, contact, present):
    """Add a contact of two geoms in the lanes of the mask `present`, if there are any.

    Of two geoms with several pairs by hand it is one for each of these.
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
    """A contact in the next slot."""
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
    work.con_pos.put(k, found.pos)
    work.con_frame.put_numbers(k, 0, found.normal.numbers())
    work.con_frame.put_numbers(k, 3, found.tangent.numbers())


@func
def _append_each(model, work, g1: ti.i32, g2: ti.i32, found, here):
    """A slot for each pair by hand of the geoms, or one if there is none.

    A contact that is pulled has no friction beyond its margin: lanes in which it is there have a slot apart, a tether.
    """
    behind = model.hand_start[g1] + model.hand_count[g1]
    mixed = 1
    for h in range(model.hand_start[g1], behind + 1):
        pair, wanted = -1, mixed
        if h < behind:
            wanted = 0
            if model.hand_geom2[h] == g2:
                pair, wanted, mixed = model.hand_pair[h], 1, 0
        if wanted == 1:
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
    """Contact frame of slot k from its normal and tangent hint, as MuJoCo's mju_makeFrame builds it; its rows."""
    lanes = work.lanes
    zero = work.real(0.0)
    one = work.real(1.0)
    normal = Vec3(work.con_frame.at(k, 0), work.con_frame.at(k, 1), work.con_frame.at(k, 2))
    hint = Vec3(work.con_frame.at(k, 3), work.con_frame.at(k, 4), work.con_frame.at(k, 5))
    upright = ti.abs(normal.y) < 0.5
    default = Vec3(zero, ti.select(upright, one, zero), ti.select(upright, zero, one))
    tangent = default.select(hint.dot(hint) < 0.25, hint)
    tangent = tangent - normal * normal.dot(tangent)
    length = tangent.norm()
    sideways = tangent * (1.0 / ti.max(length, MINIMUM))
    tangent = Vec3(one, zero, zero).select(length < ALIGNED[lanes.double], sideways)
    third = normal.cross(tangent)
    work.con_frame.put_numbers(k, 3, tangent.numbers())
    work.con_frame.put_numbers(k, 6, third.numbers())
    return Mat3(normal, tangent, third)
