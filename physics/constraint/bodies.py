"""Contacts by way of bodies: the velocities of both, and the wrench on both, instead of a list of dofs.

A sweep from the roots makes the bodies' velocities out of the dofs', a contact reads those of its two bodies and pushes
back on them, and a sweep to the roots makes forces on dofs out of wrenches (Featherstone 2008, section 5.3). Motions
and wrenches are about the centre of mass of the tree, as `cdof` is.
"""

import taichi as ti

from ..math import Mat3, Motion, Vec3


@ti.func
def body_motions(model: ti.template(), work: ti.template(), v: ti.template()):
    """cg_motion of every body when the dofs move at v."""
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    work.cg_motion.put(0, Motion(none, none))
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


@ti.func
def contact_velocity(
    model: ti.template(), work: ti.template(), k: ti.i32, block: ti.i32, motions: ti.template(), to: ti.template()
):
    """Velocity of geom 2 relative to geom 1 in the space of contact k, to the numbers `to` of its block."""
    zero = work.real(0.0)
    slide, turn = Vec3(zero, zero, zero), Vec3(zero, zero, zero)
    dim = work.block_dim[block]
    for side in ti.static(range(2)):
        b = _body(model, work, k, side)
        if model.body_lastdof[b] >= 0:
            motion = motions[b]
            arm = work.con_pos[k] - work.subtree_com[model.body_rootid[b]]
            velocity = motion.lin + motion.rot.cross(arm)
            if ti.static(side == 1):
                slide = slide + velocity
                turn = turn + motion.rot
            else:
                slide = slide - velocity
                turn = turn - motion.rot
    frame = _frame(work, k)
    to.at(block, 0)._assign(frame.x.dot(slide))
    if dim > 1:
        to.at(block, 1)._assign(frame.y.dot(slide))
        to.at(block, 2)._assign(frame.z.dot(slide))
    if dim > 3:
        to.at(block, 3)._assign(frame.x.dot(turn))
    if dim > 4:
        to.at(block, 4)._assign(frame.y.dot(turn))
        to.at(block, 5)._assign(frame.z.dot(turn))


@ti.func
def clear_wrenches(model: ti.template(), work: ti.template()):
    """cg_wrench = 0."""
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    for b in range(model.nbody):
        work.cg_wrench.put(b, Motion(none, none))


@ti.func
def add_contact_wrench(model: ti.template(), work: ti.template(), k: ti.i32, block: ti.i32):
    """Let block_force of contact k push both of its bodies."""
    zero = work.real(0.0)
    dim = work.block_dim[block]
    frame = _frame(work, k)
    force, torque = frame.x * work.block_force.at(block, 0), Vec3(zero, zero, zero)
    if dim > 1:
        force += frame.y * work.block_force.at(block, 1) + frame.z * work.block_force.at(block, 2)
    if dim > 3:
        torque += frame.x * work.block_force.at(block, 3)
    if dim > 4:
        torque += frame.y * work.block_force.at(block, 4) + frame.z * work.block_force.at(block, 5)
    for side in ti.static(range(2)):
        b = _body(model, work, k, side)
        if model.body_lastdof[b] >= 0:
            arm = work.con_pos[k] - work.subtree_com[model.body_rootid[b]]
            wrench = Motion(torque + arm.cross(force), force)
            if ti.static(side == 1):
                work.cg_wrench.put(b, work.cg_wrench[b] + wrench)
            else:
                work.cg_wrench.put(b, work.cg_wrench[b] - wrench)


@ti.func
def add_wrenches(model: ti.template(), work: ti.template()):
    """qfrc_constraint += what the wrenches on all bodies do to the dofs; cg_wrench then holds those of subtrees."""
    for k in range(1, model.nbody):
        b = model.nbody - k
        wrench = work.cg_wrench[b]
        first = model.body_dofadr[b]
        start = first
        if model.body_is_free[b] == 1:
            work.qfrc_constraint[first] = work.qfrc_constraint[first] + wrench.lin.x
            work.qfrc_constraint[first + 1] = work.qfrc_constraint[first + 1] + wrench.lin.y
            work.qfrc_constraint[first + 2] = work.qfrc_constraint[first + 2] + wrench.lin.z
            start = first + 3
        for i in range(start, first + model.body_dofnum[b]):
            work.qfrc_constraint[i] = work.qfrc_constraint[i] + work.cdof[i].dot(wrench)
        parent = model.body_parentid[b]
        if parent > 0:
            work.cg_wrench.put(parent, work.cg_wrench[parent] + wrench)


@ti.func
def _body(model: ti.template(), work: ti.template(), k: ti.i32, side: ti.template()):
    """The body of geom 1 or 2 of contact k."""
    return model.geom_bodyid[work.con_geom1[k] if ti.static(side == 0) else work.con_geom2[k]]


@ti.func
def _frame(work: ti.template(), k: ti.i32):
    f = work.con_frame
    return Mat3(
        Vec3(f.at(k, 0), f.at(k, 1), f.at(k, 2)),
        Vec3(f.at(k, 3), f.at(k, 4), f.at(k, 5)),
        Vec3(f.at(k, 6), f.at(k, 7), f.at(k, 8)),
    )
