"""Forward kinematics: from coordinates to the poses of bodies, joints and colliding geoms."""

import taichi as ti

from ..math import Quat, Vec3
from ..math.quaternion import from_axis_angle

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3
"""Joint types, MuJoCo's mjtJoint."""


@ti.func
def forward_kinematics(model: ti.template(), work: ti.template()):
    """xpos, xquat and xaxis of all bodies and joints, parents before children.

    Offsets from the root of a tree are kept beside world positions: what depends on distances inside a mechanism loses
    no digits when it is far from the origin.
    """
    fine = work.fine
    zero = fine.lanes.real(0.0)
    one = fine.lanes.real(1.0)
    origin = Vec3(zero, zero, zero)
    fine.xpos.put(0, origin)
    fine.root_offset.put(0, origin)
    work.inertial_offset.put(0, work.lanes.rounded(origin))
    fine.xquat.put(0, Quat(one, zero, zero, zero))
    for b in range(1, model.nbody):
        if model.body_is_free[b] == 1:
            _floating_body(model, work, b)
        else:
            _jointed_body(model, work, b)
        quat = fine.xquat[b].normalized()
        fine.xquat.put(b, quat)
        work.inertial_offset.put(b, work.lanes.rounded(fine.root_offset[b] + quat.rotate(model.body_ipos[b])))


@ti.func
def _floating_body(model: ti.template(), work: ti.template(), b: ti.i32):
    fine = work.fine
    j = model.body_jntadr[b]
    q = model.jnt_qposadr[j]
    zero = fine.lanes.real(0.0)
    pos = Vec3(fine.qpos[q], fine.qpos[q + 1], fine.qpos[q + 2])
    quat = Quat(fine.qpos[q + 3], fine.qpos[q + 4], fine.qpos[q + 5], fine.qpos[q + 6])
    fine.xpos.put(b, pos)
    fine.xquat.put(b, quat.normalized())
    origin = Vec3(zero, zero, zero)
    fine.root_offset.put(b, origin)
    work.anchor_offset.put(j, work.lanes.rounded(origin))
    work.xaxis.put(j, Vec3(work.real(0.0), work.real(0.0), work.real(1.0)))


@ti.func
def _jointed_body(model: ti.template(), work: ti.template(), b: ti.i32):
    """A body on a chain of joints. A root is placed in the world, then what was found is taken relative to it."""
    fine = work.fine
    parent = model.body_parentid[b]
    parent_quat = fine.xquat[parent]
    pos = fine.root_offset[parent] + parent_quat.rotate(model.fine.body_pos[b])
    quat = parent_quat * model.fine.body_quat[b]
    first = model.body_jntadr[b]
    last = first + model.body_jntnum[b]
    for j in range(first, last):
        axis = quat.rotate(model.fine.jnt_axis[j])
        offset = model.fine.jnt_pos[j]
        anchor = pos.copy()
        if model.jnt_centred[j] == 0:
            anchor = pos + quat.rotate(offset)
        work.anchor_offset.put(j, work.lanes.rounded(anchor))
        work.xaxis.put(j, work.lanes.rounded(axis))
        q = model.jnt_qposadr[j]
        if model.jnt_type[j] == SLIDE:
            pos = pos + axis * (fine.qpos[q] - model.fine.qpos0[q])
        else:
            if model.jnt_type[j] == HINGE:
                quat = quat * from_axis_angle(fine.lanes, model.fine.jnt_axis[j], fine.qpos[q] - model.fine.qpos0[q])
            else:
                quat = quat * Quat(fine.qpos[q], fine.qpos[q + 1], fine.qpos[q + 2], fine.qpos[q + 3]).normalized()
            if model.jnt_centred[j] == 0:
                pos = anchor - quat.rotate(offset)
    fine.xquat.put(b, quat)
    if parent == 0:
        for j in range(first, last):
            work.anchor_offset.put(j, work.lanes.rounded(work.anchor_offset[j] - pos))
        fine.xpos.put(b, pos)
        zero = fine.lanes.real(0.0)
        fine.root_offset.put(b, Vec3(zero, zero, zero))
    else:
        fine.xpos.put(b, fine.xpos[model.body_rootid[b]] + pos)
        fine.root_offset.put(b, pos)


@ti.func
def geom_frames(model: ti.template(), work: ti.template()):
    """Position, offset from the root of its tree, and z axis of every geom that can collide."""
    fine = work.fine
    for g in range(model.ngeom):
        if model.geom_collides[g] == 1:
            b = model.geom_bodyid[g]
            body = fine.xquat[b]
            zero = fine.lanes.real(0.0)
            quat = body * model.fine.geom_quat[g]
            offset = fine.root_offset[b] + body.rotate(model.fine.geom_pos[g])
            fine.geom_offset.put(g, offset)
            fine.geom_xpos.put(g, fine.xpos[model.body_rootid[b]] + offset)
            fine.geom_axis.put(g, quat.rotate(Vec3(zero, zero, fine.lanes.real(1.0))))
