"""Products with contact Jacobians by way of bodies: O(bodies + contacts), without a list of dofs for each contact.

A sweep from the roots computes the velocities of bodies from dof velocities; a contact reads the velocities of its two
bodies and applies its wrench to them; and a sweep to the roots turns wrenches into forces on dofs (Featherstone 2008,
section 5.3). Motions and wrenches are about the centre of mass of the tree, as `cdof` is.
"""

import taichi as ti

from ...base.math import Mat3, SpatialMotion, Vec3, func
from ...base.math.lanes import let, traced

FURTHER_AXES = ((1, (1, 2)), (3, (3,)), (4, (4, 5)))
"""Axes besides the normal, by the dimension (`condim`) that a contact must exceed to have them."""


@func
def contact_velocity(model, work, k: ti.i32, block: ti.i32):
    """Set block_aref to the velocity of geom 2 relative to geom 1 in the space of contact slot k (m/s, rad/s)."""
    zero = work.real(0.0)
    slide, turn = Vec3(zero, zero, zero), Vec3(zero, zero, zero)
    for side in ti.static(range(2)):
        b = model.geom_bodyid[work.con_geom1[k] if ti.static(side == 0) else work.con_geom2[k]]
        if model.body_lastdof[b] >= 0:
            motion = work.cvel[b] * ti.static(2.0 * side - 1.0)
            slide = slide + motion.lin + motion.rot.cross(work.con_pos[k] - work.subtree_com[model.body_rootid[b]])
            turn = turn + motion.rot
    _store_axes(work.block_aref, block, work.block_dim[block], contact_frame(work.con_frame, k), slide, turn)


@func
def body_motions(model, work, v):
    """Set cg_motion of every body for the dof velocities `v` (nv,)."""
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    work.cg_motion.put(0, SpatialMotion(none, none))
    for b in range(1, model.nbody):
        motion = work.cg_motion[model.body_parentid[b]]
        first = model.body_dofadr[b]
        start = first
        if model.body_is_free[b] == 1:
            motion.lin += Vec3(v[first], v[first + 1], v[first + 2])
            start = first + 3
        for i in range(start, first + model.body_dofnum[b]):
            motion += work.cdof[i] * v[i]
        work.cg_motion.put(b, motion)


@func
def own_velocity(model, work, j: ti.i32, both):
    """Set own_Jv: the motion of geom 2 relative to geom 1, at cg_motion, in the space of the lanes' j-th contacts.

    `both`, a Python bool, says that geom 1 may move too.
    """
    motion = _gathered_motion(work, j, 1)
    turn = motion.rot.copy()
    slide = motion.lin + motion.rot.cross(_arm(work, j, 1))
    if ti.static(both):
        other = _gathered_motion(work, j, 0)
        turn -= other.rot
        slide -= other.lin + other.rot.cross(_arm(work, j, 0))
    _store_axes(work.own_Jv, j, model.naxis, contact_frame(work.own_frame, j), slide, turn)


@func
def _gathered_motion(work, j: ti.i32, side):
    """Return cg_motion of the first (`side` 0) or second body of each lane's j-th contact."""
    b = ti.cast(work.own_body.at(j, side), ti.i32)
    numbers = work.cg_motion.gather(work.lanes, b, 0, 6)
    return SpatialMotion(Vec3(numbers[0], numbers[1], numbers[2]), Vec3(numbers[3], numbers[4], numbers[5]))


@func
def _arm(work, j: ti.i32, side):
    """Return the vector from the centre of mass of the body's tree to the j-th contact (m); `side` as above."""
    at = ti.static(3 * side)
    return Vec3(work.own_arm.at(j, at), work.own_arm.at(j, at + 1), work.own_arm.at(j, at + 2))


@func
def own_wrench(model, work, j: ti.i32):
    """Set own_push to the wrench of own_force on geom 2, in world axes (N m, N)."""
    wrench = contact_wrench(work, contact_frame(work.own_frame, j), work.own_force, j, model.naxis, 0.0)
    work.own_push.put(j, wrench)


@func
def contact_wrench(work, frame, force, k: ti.i32, dim: ti.i32, pull):
    """Return torque and force on geom 2 in world axes of a contact force.

    Args:
        work: the workspace.
        frame: the contact's frame, its columns normal and tangents.
        force: a field of forces in contact space (N, N m), and its item k.
        k: the item.
        dim: number of axes.
        pull: force that pulls the contact, to subtract from the normal force (N).
    """
    zero = work.real(0.0)
    push, torque = frame.x * (force.at(k, 0) - pull), Vec3(zero, zero, zero)
    if dim > 1:
        push += frame.y * force.at(k, 1) + frame.z * force.at(k, 2)
    if dim > 3:
        torque += frame.x * force.at(k, 3)
    if dim > 4:
        torque += frame.y * force.at(k, 4) + frame.z * force.at(k, 5)
    return SpatialMotion(torque, push)


@func
def collect_wrenches(model, work):
    """Add the forces of all contacts on the dofs to qfrc_constraint; cg_wrench becomes the wrench on every subtree."""
    # Wrench of the contacts on every body.
    for b in range(model.nbody):
        work.cg_wrench.put(b, _wrench_on(model, work, b))
    # Leaves to root: forces on the body's dofs; the wrench is passed on to the parent.
    for k in range(1, model.nbody):
        b = model.nbody - k
        wrench = work.cg_wrench[b]
        first = model.body_dofadr[b]
        start = first
        if model.body_is_free[b] == 1:
            for c in ti.static(range(3)):
                work.qfrc_constraint[first + c] = work.qfrc_constraint[first + c] + wrench.lin.parts()[c]
            start = first + 3
        for i in range(start, first + model.body_dofnum[b]):
            work.qfrc_constraint[i] = work.qfrc_constraint[i] + work.cdof[i].dot(wrench)
        parent = model.body_parentid[b]
        if parent > 0:
            work.cg_wrench.put(parent, work.cg_wrench[parent] + wrench)


@func
def _wrench_on(model, work, b: ti.i32):
    """Return the sum of the wrenches of all contacts on body b."""
    lanes, pushes = work.lanes, work.own_push
    zero = work.real(0.0)
    force, torque = Vec3(zero, zero, zero), Vec3(zero, zero, zero)
    first = work.body_sideadr[b]
    for s in range(first, first + work.body_sidenum[b]):
        j = ti.cast(work.side_contact[s], ti.i32)
        numbers = pushes.gather(lanes, j, 3, 3)
        push = Vec3(numbers[0], numbers[1], numbers[2]) * work.side_sign[s]
        force += push
        torque += work.side_arm[s].cross(push)
        if model.naxis > 3:
            turn = pushes.gather(lanes, j, 0, 3)
            torque += Vec3(turn[0], turn[1], turn[2]) * work.side_sign[s]
    return SpatialMotion(torque, force)


@func
def contact_frame(field, k: ti.i32):
    """Return the frame in item k of `field`: its columns are the contact's normal and two tangents."""
    return Mat3(
        Vec3(field.at(k, 0), field.at(k, 1), field.at(k, 2)),
        Vec3(field.at(k, 3), field.at(k, 4), field.at(k, 5)),
        Vec3(field.at(k, 6), field.at(k, 7), field.at(k, 8)),
    )


@func
def contact_axis(work, k: ti.i32, axis: ti.i32, motion, arm):
    """Return component `axis`, a run-time integer, of a motion in contact slot k's space; `arm` is to the contact."""
    frame = contact_frame(work.con_frame, k)
    along = motion.lin + motion.rot.cross(arm)
    direction = frame.column(axis)
    if axis > 2:
        along = motion.rot.copy()
        direction = frame.column(axis - 3)
    return direction.dot(along)


@func
def _store_axes(to, k: ti.i32, dim: ti.i32, frame, slide, turn):
    """Store the components of a relative motion in contact space: normal, two tangents, spin, two rolls."""
    to.at(k, 0)._assign(contact_component(frame, slide, turn, 0))
    for least, axes in ti.static(FURTHER_AXES):
        if dim > least:
            for c in ti.static(axes):
                to.at(k, c)._assign(contact_component(frame, slide, turn, c))


@traced
def contact_component(frame, slide, turn, c):
    """Return component c, a Python integer, of a relative motion in contact space."""
    axis = (frame.x, frame.y, frame.z)[c % 3]
    return let(axis.dot(slide if c < 3 else turn))
