"""Tendons: lengths, their derivatives by the dofs, and their rates (MuJoCo documentation, Computation: Tendons).

A fixed tendon's length is a weighted sum of coordinates. A spatial one runs from site to site; each link of its path
may go around a sphere or a cylinder. A straight piece gains length with the velocity of its ends along it.
"""

import taichi as ti

from ..math import Vec3, func
from ..math.lanes import in_each_lane
from ..stage import stage
from .wrapping import wrap

SHORTEST = 1e-15
"""Metres; MuJoCo's mjMINVAL: shorter pieces have no direction, and count as along x."""
FIRST, SECOND, GEOM = 1, 2, 4
"""Bits of `link_moves`: a dof moves the first site, the second, the geom between them."""


@stage(
    when=lambda has: has.tendons,
    reads="qpos qvel xpos xquat root_offset com_offset cdof",
    writes="ten_velocity link_*",
    updates="ten_length ten_J wrap_*",
)
def tendon_lengths(model, work):
    """ten_length, ten_J and ten_velocity."""
    for t in range(model.ntendon):
        first, end = model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]
        length = work.real(0.0)
        for at in range(first, end):
            coef = work.real(model.tendon_coef[at])
            length += coef * work.qpos[model.tendon_qposadr[at]]
            work.ten_J[at] = coef
        work.ten_length[t] = length
        if ti.static(model.has.spatial_tendons):
            for link in range(model.tendon_linkadr[t], model.tendon_linkadr[t] + model.tendon_linknum[t]):
                _add_link(model, work, t, link)
        speed = work.real(0.0)
        for at in range(first, end):
            speed += work.ten_J[at] * work.qvel[model.tendon_dof[at]]
        work.ten_velocity[t] = speed


@func
def _add_link(model, work, t: ti.i32, link: ti.i32):
    """Add a link to ten_length and ten_J. Where it is straight it meets and leaves its geom where it begins."""
    start = link_end(model, work, model.link_body1[link], model.link_pos1[link])
    stop = link_end(model, work, model.link_body2[link], model.link_pos2[link])
    across = work.lanes.cast(apart(model, work, model.link_body1[link], start, model.link_body2[link], stop))
    zero = work.real(0.0)
    out, back, arc = across.copy(), across.copy(), work.real(-1.0)
    meets, leaves = Vec3(zero, zero, zero), Vec3(zero, zero, zero)
    if ti.static(model.has.wrapping):
        if model.link_shape[link] > 0:
            out, back, meets, leaves = _go_round(model, work, link, start, stop, across)
            arc = work.wrap_arc[0]
    far, near = out.norm(), back.norm()
    total = ti.select(arc >= 0.0, far + near + arc, far)
    work.ten_length[t] = work.ten_length[t] + total * model.link_share[link]
    dir1, dir2 = direction(work, out, far), direction(work, back, near)
    work.link_out.put(link, dir1)
    work.link_back.put(link, dir2)
    work.link_meets.put(link, meets)
    work.link_leaves.put(link, leaves)
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
    """Set wrap_arc. The ways to a link's geom and on from it, and where it meets and leaves it, from its root."""
    g, b1, b2 = model.link_geom[link], model.link_body1[link], model.link_body2[link]
    b = model.geom_bodyid[g]
    centre = link_end(model, work, b, model.geom_pos[g])
    quat = work.lanes.cast(work.xquat[b] * model.geom_quat[g])
    begin = work.lanes.cast(apart(model, work, b, centre, b1, start))
    behind = work.lanes.cast(apart(model, work, b, centre, b2, stop))
    work.wrap_from.put(0, quat.conjugate().rotate(begin))
    work.wrap_to.put(0, quat.conjugate().rotate(behind))
    if model.link_sided[link] == 1:
        side = model.link_sidebody[link]
        beside = apart(model, work, b, centre, side, link_end(model, work, side, model.link_sidepos[link]))
        work.wrap_beside.put(0, quat.conjugate().rotate(work.lanes.cast(beside)))
    in_each_lane(wrap, model, work, (link,))
    bent = work.wrap_arc[0] >= 0.0
    on1, on2 = quat.rotate(work.wrap_on[0]), quat.rotate(work.wrap_on[1])
    out, back = (on1 - begin).select(bent, across), (behind - on2).select(bent, across)
    middle = work.lanes.cast(centre)
    return out, back, middle + on1.select(bent, begin), middle + on2.select(bent, begin)


@func
def _all(model, link: ti.i32):
    """What a dof moves that moves a link as one."""
    return FIRST + SECOND + (GEOM if model.link_shape[link] > 0 else 0)


@func
def link_end(model, work, b: ti.i32, pos):
    """A point of body b, from the root of its tree."""
    zero = work.precise_lanes.real(0.0)
    return work.root_offset[b] + work.xquat[b].rotate(Vec3(zero + pos.x, zero + pos.y, zero + pos.z))


@func
def apart(model, work, b1: ti.i32, point1, b2: ti.i32, point2):
    """From a point of body b1 to one of b2, each given from its root: in one tree its place cancels."""
    return (point2 - point1) + (work.xpos[model.body_rootid[b2]] - work.xpos[model.body_rootid[b1]])


@func
def direction(work, v, length):
    """Unit vector along v."""
    zero = work.real(0.0)
    inverse = 1.0 / ti.max(length, SHORTEST)
    return (v * inverse).select(length >= SHORTEST, Vec3(work.real(1.0), zero, zero))
