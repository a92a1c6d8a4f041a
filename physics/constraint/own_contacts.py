"""The active contacts of each lane, packed: entry j of own_* holds the lane's own j-th active contact.

A contact slot belongs to one pair of geoms in all lanes, so in a scene of many bodies there are several times as many
slots as any lane has contacts. Conjugate gradients loop over the contacts many times, so they loop over this packed
list and gather the numbers of bodies. Contacts of two moving bodies come first, up to entry `tile_nboth`, then, up to
`tile_nown`, those whose first geom is static. Both kinds keep their order, so a lane's sums do not depend on the other
lanes. If a lane has fewer contacts of a kind than another, its surplus entries have zero stiffness and act on the
world.

The code runs one lane after the other, once before and once after a solution.
"""

import taichi as ti

from ..math import func


@func
def pack_contacts(model, work):
    """Fill own_* from the contact slots and their blocks, and side_*, the list of contacts of every body."""
    lanes = work.lanes
    for b in range(model.nbody):
        work.body_sides[b] = work.real(0.0)
    # Contacts of two moving bodies (kind 0), then those with a static first geom (kind 1).
    first = 0
    for kind in range(2):
        behind = first
        for lane in range(lanes.width):
            j = first
            for k in range(work.tile_ncon[0]):
                if _kind(model, work, k) == kind:
                    if work.block_D.of_lane(lanes, lane, work.tile_conadr[0] + k) > 0.0:
                        _pack(model, work, lane, k, j)
                        j += 1
            work.own_behind.of_lane(lanes, lane, 0, kind)._assign(ti.cast(j, lanes.dtype))
            behind = ti.max(behind, j)
        # Empty entries up to the longest lane's.
        for lane in range(lanes.width):
            for j in range(_behind(work, lane, kind), behind + kind):  # and one behind the last
                _clear(work, lane, j)
        if kind == 0:
            work.tile_nboth[0] = behind
        first = behind
    work.tile_nown[0] = first
    _list_sides(model, work, first)


@func
def _kind(model, work, k: ti.i32):
    """Return 1 if the first geom of contact slot k is static, else 0."""
    return 1 if model.body_lastdof[model.geom_bodyid[work.con_geom1[k]]] < 0 else 0


@func
def _behind(work, lane: ti.i32, kind: ti.i32):
    """Return the entry after the lane's last contact of a kind."""
    return ti.cast(work.own_behind.of_lane(work.lanes, lane, 0, kind), ti.i32)


@func
def _pack(model, work, lane: ti.i32, k: ti.i32, j: ti.i32):
    """Copy contact slot k to entry j of the lane."""
    lanes, block = work.lanes, work.tile_conadr[0] + k
    dim = work.block_dim[block]
    # Frame, reference, stiffness and friction in contact space.
    work.own_slot.of_lane(lanes, lane, j)._assign(ti.cast(k, lanes.dtype))
    work.own_frame.copy_lane(lanes, lane, j, work.con_frame, k, 9)
    for c in range(model.naxis):
        aref = work.block_aref.of_lane(lanes, lane, block, c)
        work.own_jar.of_lane(lanes, lane, j, c)._assign(ti.select(c < dim, -aref, aref * 0.0))
    stiffness = work.block_D.of_lane(lanes, lane, block)
    for c in range(1, ti.max(model.naxis, 2)):
        there = ti.cast(c < dim, lanes.dtype)
        if dim == 1 and c == 1:  # no friction: one row, or, among pyramids, two with half of the stiffness
            there = 0.5 if model.naxis > 1 and ti.static(not model.has.elliptic) else 1.0
        mu = work.block_friction.of_lane(lanes, lane, block, c - 1)
        work.own_D.of_lane(lanes, lane, j, c - 1)._assign(stiffness * there)
        work.own_friction.of_lane(lanes, lane, j, c - 1)._assign(ti.select(c < dim, mu, mu * 0.0))
    if ti.static(model.has.elliptic):
        work.own_mu.copy_lane(lanes, lane, j, work.cone_mu, block, 1)
    # Both bodies and the arms from their trees' centres of mass; static bodies are the world.
    for side in range(2):
        b = model.geom_bodyid[work.con_geom1[k] if side == 0 else work.con_geom2[k]]
        root = model.body_rootid[b]
        for c in range(3):
            arm = work.con_pos.of_lane(lanes, lane, k, c) - work.subtree_com.of_lane(lanes, lane, root, c)
            work.own_arm.of_lane(lanes, lane, j, 3 * side + c)._assign(arm)
        if model.body_lastdof[b] < 0:
            b = 0
        else:
            so_far = work.body_sides.of_lane(lanes, lane, b)
            work.body_sides.of_lane(lanes, lane, b)._assign(so_far + 1.0)
        work.own_body.of_lane(lanes, lane, j, side)._assign(ti.cast(b, lanes.dtype))


@func
def _clear(work, lane: ti.i32, j: ti.i32):
    """Make entry j of the lane an empty contact: zero stiffness, on the world."""
    for field, width in ti.static(
        (
            (work.own_slot, 1),
            (work.own_frame, 9),
            (work.own_jar, 6),
            (work.own_Jv, 6),
            (work.own_D, 5),
            (work.own_friction, 5),
            (work.own_arm, 6),
            (work.own_body, 2),
            (work.own_push, 6),
        )
    ):
        for c in range(width):
            field.of_lane(work.lanes, lane, j, c)._assign(0.0)


@func
def _list_sides(model, work, empty: ti.i32):
    """List the contacts of every body (side_*), in all lanes as many as in the lane that has most.

    `empty` is the number of an empty contact, which fills the lists of the other lanes.
    """
    lanes = work.lanes
    # Lay out every body's list, filled with the empty contact.
    total = 0
    for b in range(model.nbody):
        most = 0
        for lane in range(lanes.width):
            most = ti.max(most, ti.cast(work.body_sides.of_lane(lanes, lane, b), ti.i32))
        work.body_sideadr[b] = total
        work.body_sidenum[b] = most
        for side in range(total, total + most):
            work.side_contact[side] = work.real(empty)
            for c in range(3):
                work.side_arm.at(side, c)._assign(work.real(0.0))
            work.side_sign[side] = work.real(0.0)
        work.body_sides[b] = work.real(0.0)
        total += most
    # Enter every contact in the lists of its bodies.
    for lane in range(lanes.width):
        for j in range(_behind(work, lane, 1)):
            for side in range(2):
                b = ti.cast(work.own_body.of_lane(lanes, lane, j, side), ti.i32)
                if b > 0:
                    so_far = work.body_sides.of_lane(lanes, lane, b)
                    at = work.body_sideadr[b] + ti.cast(so_far, ti.i32)
                    work.body_sides.of_lane(lanes, lane, b)._assign(so_far + 1.0)
                    work.side_contact.of_lane(lanes, lane, at)._assign(ti.cast(j, lanes.dtype))
                    work.side_sign.of_lane(lanes, lane, at)._assign(2.0 * side - 1.0)
                    for c in range(3):
                        arm = work.own_arm.of_lane(lanes, lane, j, 3 * side + c)
                        work.side_arm.of_lane(lanes, lane, at, c)._assign(arm)


@func
def unpack_contacts(model, work):
    """Copy forces and jar of the packed contacts back to the blocks of their slots."""
    lanes, first = work.lanes, work.tile_conadr[0]
    # Slots without an active contact in a lane have no force there.
    for k in range(work.tile_ncon[0]):
        for c in range(work.block_dim[first + k]):
            work.block_force.at(first + k, c)._assign(work.real(0.0))
    for lane in range(lanes.width):
        for kind in range(2):
            start = 0 if kind == 0 else work.tile_nboth[0]
            for j in range(start, _behind(work, lane, kind)):
                block = first + ti.cast(work.own_slot.of_lane(lanes, lane, j), ti.i32)
                dim = work.block_dim[block]
                work.block_force.copy_lane(lanes, lane, block, work.own_force, j, dim)
                work.block_jar.copy_lane(lanes, lane, block, work.own_jar, j, dim)
