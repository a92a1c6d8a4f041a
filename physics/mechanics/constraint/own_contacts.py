"""Active contacts compacted per lane: entry j of own_* holds the j-th active contact of each lane.

A contact slot belongs to one pair of geoms in all lanes, so in a scene of many bodies there are several times as many
slots as any lane has contacts. Conjugate gradients loop over the contacts many times, so they loop over this packed
list and gather the numbers of bodies. Contacts of two moving bodies come first, up to entry `tile_nboth`, then, up to
`tile_nown`, contacts whose first geom is static. Both kinds keep their order, so a lane's sums do not depend on the
other lanes. If a lane has fewer contacts of a kind than another, its surplus entries have zero stiffness and act on the
world.

The code runs one lane after the other, once before and once after a solution.
"""

import taichi as ti

from ...base.math import func
from ...base.math.lanes import in_each_lane


@func
def pack_contacts(model, work):
    """Fill own_* from the contact slots and their blocks, and side_*, the list of contacts of every body."""
    for b in range(model.nbody):
        work.body_sides[b] = work.real(0.0)
    # Contacts of two moving bodies (kind 0), then contacts with a static first geom (kind 1).
    first = 0
    for kind in range(2):
        in_each_lane(_pack_kind, model, work, (kind, first))
        behind = ti.cast(work.lanes.largest(work.own_behind.at(0, kind)), ti.i32)
        # Empty entries up to the longest lane's, and one behind the last.
        in_each_lane(_clear_from, model, work, (kind, behind + kind))
        if kind == 0:
            work.tile_nboth[0] = behind
        first = behind
    work.tile_nown[0] = first
    _list_sides(model, work, first)


@func
def _pack_kind(model, one, kind: ti.i32, first: ti.i32):
    """Copy the active contacts of a kind to entry `first` and the next ones, in the lane whose view is `one`."""
    j = first
    for k in range(one.tile_ncon[0]):
        static = 1 if model.body_lastdof[model.geom_bodyid[one.con_geom1[k]]] < 0 else 0
        if static == kind:
            if one.block_D[one.tile_conadr[0] + k] > 0.0:
                _pack(model, one, k, j)
                j += 1
    one.own_behind.at(0, kind)._assign(ti.cast(j, one.lanes.dtype))


@func
def _behind(one, kind: ti.i32):
    """Return the entry after the lane's last contact of a kind."""
    return ti.cast(one.own_behind.at(0, kind), ti.i32)


@func
def _pack(model, one, k: ti.i32, j: ti.i32):
    """Copy contact slot k to entry j of the lane."""
    block, dtype = one.tile_conadr[0] + k, one.lanes.dtype
    dim = one.block_dim[block]
    # Frame, reference, stiffness and friction in contact space.
    one.own_slot[j] = ti.cast(k, dtype)
    one.own_frame.copy_item(j, one.con_frame, k, 9)
    for c in range(model.naxis):
        aref = one.block_aref.at(block, c)
        one.own_jar.at(j, c)._assign(ti.select(c < dim, -aref, aref * 0.0))
    stiffness = one.block_D[block]
    for c in range(1, ti.max(model.naxis, 2)):
        there = ti.cast(c < dim, dtype)
        if dim == 1 and c == 1:  # no friction: one row, or, among pyramids, two with half of the stiffness
            there = 0.5 if model.naxis > 1 and ti.static(not model.has.elliptic) else 1.0
        mu = one.block_friction.at(block, c - 1)
        one.own_D.at(j, c - 1)._assign(stiffness * there)
        one.own_friction.at(j, c - 1)._assign(ti.select(c < dim, mu, mu * 0.0))
    if ti.static(model.has.elliptic):
        one.own_mu[j] = one.cone_mu[block]
    # Both bodies and the arms from their trees' centres of mass; static bodies are the world.
    for side in range(2):
        b = model.geom_bodyid[one.con_geom1[k] if side == 0 else one.con_geom2[k]]
        root = model.body_rootid[b]
        for c in range(3):
            one.own_arm.at(j, 3 * side + c)._assign(one.con_pos.at(k, c) - one.subtree_com.at(root, c))
        if model.body_lastdof[b] < 0:
            b = 0
        else:
            one.body_sides[b] = one.body_sides[b] + 1.0
        one.own_body.at(j, side)._assign(ti.cast(b, dtype))


@func
def _clear_from(model, one, kind: ti.i32, end: ti.i32):
    """Fill the lane's entries behind its contacts of a kind up to `end` with empty ones: no stiffness, on the world."""
    for j in range(_behind(one, kind), end):
        for field, width in ti.static(
            (
                (one.own_slot, 1),
                (one.own_frame, 9),
                (one.own_jar, 6),
                (one.own_Jv, 6),
                (one.own_D, 5),
                (one.own_friction, 5),
                (one.own_arm, 6),
                (one.own_body, 2),
                (one.own_push, 6),
            )
        ):
            for c in range(width):
                field.at(j, c)._assign(0.0)


@func
def _list_sides(model, work, empty: ti.i32):
    """List the contacts of every body (side_*), in all lanes as many as in the lane that has most.

    `empty` is the number of an empty contact, which fills the lists of the other lanes.
    """
    # Lay out every body's list, filled with the empty contact.
    total = 0
    for b in range(model.nbody):
        most = ti.cast(work.lanes.largest(work.body_sides[b]), ti.i32)
        work.body_sideadr[b] = total
        work.body_sidenum[b] = most
        for side in range(total, total + most):
            work.side_contact[side] = work.real(empty)
            for c in range(3):
                work.side_arm.at(side, c)._assign(work.real(0.0))
            work.side_sign[side] = work.real(0.0)
        work.body_sides[b] = work.real(0.0)
        total += most
    in_each_lane(_enter_sides, model, work, ())


@func
def _enter_sides(model, one):
    """Enter every contact of a lane in the lists of its bodies."""
    for j in range(_behind(one, 1)):
        for side in range(2):
            b = ti.cast(one.own_body.at(j, side), ti.i32)
            if b > 0:
                at = one.body_sideadr[b] + ti.cast(one.body_sides[b], ti.i32)
                one.body_sides[b] = one.body_sides[b] + 1.0
                one.side_contact[at] = ti.cast(j, one.lanes.dtype)
                one.side_sign[at] = 2.0 * side - 1.0
                for c in range(3):
                    one.side_arm.at(at, c)._assign(one.own_arm.at(j, 3 * side + c))


@func
def unpack_contacts(model, work):
    """Copy forces and jar of the packed contacts back to the blocks of their slots."""
    # Slots without an active contact in a lane have no force there.
    for k in range(work.tile_ncon[0]):
        for c in range(work.block_dim[work.tile_conadr[0] + k]):
            work.block_force.at(work.tile_conadr[0] + k, c)._assign(work.real(0.0))
    in_each_lane(_unpack, model, work, ())


@func
def _unpack(model, one):
    """Copy forces and jar of a lane."""
    for kind in range(2):
        start = 0 if kind == 0 else one.tile_nboth[0]
        for j in range(start, _behind(one, kind)):
            block = one.tile_conadr[0] + ti.cast(one.own_slot[j], ti.i32)
            dim = one.block_dim[block]
            one.block_force.copy_item(block, one.own_force, j, dim)
            one.block_jar.copy_item(block, one.own_jar, j, dim)
