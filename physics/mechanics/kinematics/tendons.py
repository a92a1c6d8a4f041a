"""Tendons: lengths, their derivatives by the dofs, and their rates (MuJoCo documentation, Computation: Tendons).

A fixed tendon's length is a weighted sum of coordinates. A spatial tendon runs from site to site; each link of its path
may wrap around a sphere or a cylinder. The length of a straight segment changes by the velocity of its ends along it.
"""

import taichi as ti

from ...base.math import Vec3, func
from ...base.math.lanes import in_each_lane
from ...base.stage import stage
from .wrapping import wrap

SHORTEST = 1e-15
"""Metres; MuJoCo's mjMINVAL: shorter segments have no direction, and count as along x."""
FIRST, SECOND, GEOM = 1, 2, 4
"""Bits of `link_moves`: a dof moves the first site, the second site, the geom between them."""


@stage(
    when=lambda has: has.tendons,
    reads="qpos qvel xpos xquat root_offset com_offset cdof",
    writes="ten_velocity link_*",
    updates="ten_length ten_J wrap_*",
)
def tendon_lengths(model, work):
    """Set ten_length, ten_J and ten_velocity of every tendon."""
    for t in range(model.ntendon):
        first, end = model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]
        # Fixed part: coefficients times coordinates; then the links of a spatial tendon.
        length = work.real(0.0)
        for at in range(first, end):
            coef = work.real(model.tendon_coef[at])
            length += coef * work.qpos[model.tendon_qposadr[at]]
            work.ten_J[at] = coef
        work.ten_length[t] = length
        if ti.static(model.has.spatial_tendons):
            for link in range(model.tendon_linkadr[t], model.tendon_linkadr[t] + model.tendon_linknum[t]):
                _add_link(model, work, t, link)
        # Velocity: ten_J times qvel.
        speed = work.real(0.0)
        for at in range(first, end):
            speed += work.ten_J[at] * work.qvel[model.tendon_dof[at]]
        work.ten_velocity[t] = speed


@func
def _add_link(model, work, t: ti.i32, link: ti.i32):
    """Add a link to ten_length and ten_J, and set link_out, link_back, link_meets and link_leaves.

    A straight link has its contact points with the geom, link_meets and link_leaves, at its start.
    """
    # Both ends, the segment between them, and the segments to and from the geom if the path wraps.
    start = link_end(model, work, model.link_body1[link], model.link_pos1[link])
    stop = link_end(model, work, model.link_body2[link], model.link_pos2[link])
    across = work.lanes.cast(offset_between(model, work, model.link_body1[link], start, model.link_body2[link], stop))
    zero = work.real(0.0)
    out, back, arc = across.copy(), across.copy(), work.real(-1.0)
    meets, leaves = Vec3(zero, zero, zero), Vec3(zero, zero, zero)
    if ti.static(model.has.wrapping):
        if model.link_shape[link] > 0:
            out, back, meets, leaves = _go_round(model, work, link, start, stop, across)
            arc = work.wrap_arc[0]
    # Length: both straight segments and the arc.
    far, near = out.norm(), back.norm()
    total = ti.select(arc >= 0.0, far + near + arc, far)
    work.ten_length[t] = work.ten_length[t] + total * model.link_share[link]
    dir1, dir2 = direction(work, out, far), direction(work, back, near)
    work.link_out.put(link, dir1)
    work.link_back.put(link, dir2)
    work.link_meets.put(link, meets)
    work.link_leaves.put(link, leaves)
    # Jacobian: every dof that moves the sites and the geom relative to each other changes the straight segments.
    for e in range(model.tendon_dofnum[t]):
        moves = model.link_moves[model.link_movesadr[link] + e]
        if moves != 0 and moves != _all(model, link):
            at = model.tendon_dofadr[t] + e
            i = model.tendon_dof[at]
            motion, com = work.cdof[i], work.com_offset[model.body_rootid[model.dof_bodyid[i]]]
            gain = work.real(0.0)
            if moves & FIRST != 0:
                gain -= dir1.dot(motion.lin + motion.rot.cross(work.lanes.cast(start) - com))
            if moves & SECOND != 0:
                gain += dir2.dot(motion.lin + motion.rot.cross(work.lanes.cast(stop) - com))
            if ti.static(model.has.wrapping):
                if moves & GEOM != 0:
                    gain += dir1.dot(motion.lin + motion.rot.cross(meets - com))
                    gain -= dir2.dot(motion.lin + motion.rot.cross(leaves - com))
            work.ten_J[at] = work.ten_J[at] + gain * model.link_share[link]


@func
def _go_round(model, work, link: ti.i32, start, stop, across):
    """Set wrap_arc; return the segments to and from a link's geom, and the points where the path meets and leaves it.

    The points are from the root of the geom's tree. If the path does not wrap, both segments are the whole link.
    """
    g, b1, b2 = model.link_geom[link], model.link_body1[link], model.link_body2[link]
    b = model.geom_bodyid[g]
    centre = link_end(model, work, b, model.geom_pos[g])
    quat = work.lanes.cast(work.xquat[b] * model.geom_quat[g])
    # Both sites and the side site in the frame of the geom.
    begin = work.lanes.cast(offset_between(model, work, b, centre, b1, start))
    behind = work.lanes.cast(offset_between(model, work, b, centre, b2, stop))
    work.wrap_from.put(0, quat.conjugate().rotate(begin))
    work.wrap_to.put(0, quat.conjugate().rotate(behind))
    if model.link_sided[link] == 1:
        side = model.link_sidebody[link]
        beside = offset_between(model, work, b, centre, side, link_end(model, work, side, model.link_sidepos[link]))
        work.wrap_beside.put(0, quat.conjugate().rotate(work.lanes.cast(beside)))
    # The shortest path in each lane, back in the world's axes.
    in_each_lane(wrap, model, work, (link,))
    bent = work.wrap_arc[0] >= 0.0
    on1, on2 = quat.rotate(work.wrap_on[0]), quat.rotate(work.wrap_on[1])
    out, back = (on1 - begin).select(bent, across), (behind - on2).select(bent, across)
    middle = work.lanes.cast(centre)
    return out, back, middle + on1.select(bent, begin), middle + on2.select(bent, begin)


@func
def _all(model, link: ti.i32):
    """Return the bits of a dof that moves both sites and the geom of a link together: it does not change its length."""
    return FIRST + SECOND + (GEOM if model.link_shape[link] > 0 else 0)


@func
def link_end(model, work, b: ti.i32, pos):
    """Return a point of body b, given in its frame, from the root of its tree."""
    zero = work.precise_lanes.real(0.0)
    return work.root_offset[b] + work.xquat[b].rotate(Vec3(zero + pos.x, zero + pos.y, zero + pos.z))


@func
def offset_between(model, work, b1: ti.i32, point1, b2: ti.i32, point2):
    """Return the vector from a point of body b1 to one of b2, each given from its root; one common root cancels."""
    return (point2 - point1) + (work.xpos[model.body_rootid[b2]] - work.xpos[model.body_rootid[b1]])


@func
def direction(work, v, length):
    """Return the unit vector along v, whose length is given."""
    zero = work.real(0.0)
    inverse = 1.0 / ti.max(length, SHORTEST)
    return (v * inverse).select(length >= SHORTEST, Vec3(work.real(1.0), zero, zero))
