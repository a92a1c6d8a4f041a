"""Forward kinematics: from coordinates to the poses of bodies, joints and colliding geoms."""

import taichi as ti

from ..math import Quat, Vec3, func
from ..math.quaternion import from_axis_angle
from ..stage import stage

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3
"""Joint types, MuJoCo's mjtJoint."""


@stage(
    reads="qpos mocap_pos mocap_quat eval_rest",
    writes="inertial_offset xaxis",
    updates="xpos xquat root_offset anchor_offset",
)
def forward_kinematics(model, work):
    """xpos, xquat and xaxis of all bodies and joints, parents before children.

    Offsets from the root of a tree are kept beside world positions: what depends on distances inside a mechanism loses
    no digits when it is far from the origin.
    """
    zero = work.precise_lanes.real(0.0)
    one = work.precise_lanes.real(1.0)
    origin = Vec3(zero, zero, zero)
    work.xpos.put(0, origin)
    work.root_offset.put(0, origin)
    work.inertial_offset.put(0, work.lanes.cast(origin))
    work.xquat.put(0, Quat(one, zero, zero, zero))
    for b in range(1, model.nbody):
        if model.body_is_free[b] == 1:
            _floating_body(model, work, b)
        elif model.body_mocapid[b] >= 0:
            _mocap_body(model, work, b)
        else:
            _jointed_body(model, work, b)
        quat = work.xquat[b].normalized()
        work.xquat.put(b, quat)
        work.inertial_offset.put(b, work.lanes.cast(work.root_offset[b] + quat.rotate(model.body_ipos[b])))


@func
def coordinate(model, work, lanes, q: ti.i32):
    """Coordinate q where positions are evaluated: at qpos, and in mixed precision at qpos + eval_rest."""
    value = lanes.cast(work.qpos[q])
    if ti.static(model.has.mixed_precision):
        value += lanes.cast(work.eval_rest[q])
    return value


@func
def position(model, work, lanes, q: ti.i32):
    """The vector that begins at coordinate q."""
    x, y = coordinate(model, work, lanes, q), coordinate(model, work, lanes, q + 1)
    return Vec3(x, y, coordinate(model, work, lanes, q + 2))


@func
def orientation(model, work, lanes, q: ti.i32):
    """The unit quaternion that begins at coordinate q."""
    rest = position(model, work, lanes, q + 1)
    return Quat(coordinate(model, work, lanes, q), rest.x, rest.y, rest.z).normalized()


@func
def _floating_body(model, work, b: ti.i32):
    j = model.body_jntadr[b]
    q = model.jnt_qposadr[j]
    lanes = work.precise_lanes
    zero = lanes.real(0.0)
    work.xpos.put(b, position(model, work, lanes, q))
    work.xquat.put(b, orientation(model, work, lanes, q + 3))
    origin = Vec3(zero, zero, zero)
    work.root_offset.put(b, origin)
    work.anchor_offset.put(j, work.lanes.cast(origin))
    work.xaxis.put(j, Vec3(work.real(0.0), work.real(0.0), work.real(1.0)))


@func
def _mocap_body(model, work, b: ti.i32):
    """A body of the world that stands where the user puts it; a quaternion without length turns nothing."""
    lanes, k = work.precise_lanes, model.body_mocapid[b]
    zero = lanes.real(0.0)
    quat = work.mocap_quat[k]
    work.xpos.put(b, lanes.cast(work.mocap_pos[k]))
    work.xquat.put(b, lanes.cast(quat))
    work.root_offset.put(b, Vec3(zero, zero, zero))


@func
def _jointed_body(model, work, b: ti.i32):
    """A body on a chain of joints. A root is placed in the world, then what was found is taken relative to it."""
    lanes = work.precise_lanes
    parent = model.body_parentid[b]
    parent_quat = work.xquat[parent]
    pos = work.root_offset[parent] + parent_quat.rotate(model.body_pos[b])
    quat = parent_quat * model.body_quat[b]
    first = model.body_jntadr[b]
    last = first + model.body_jntnum[b]
    for j in range(first, last):
        axis = quat.rotate(model.jnt_axis[j])
        offset = model.jnt_pos[j]
        anchor = pos.copy()
        if model.jnt_at_origin[j] == 0:
            anchor = pos + quat.rotate(offset)
        work.anchor_offset.put(j, work.lanes.cast(anchor))
        work.xaxis.put(j, work.lanes.cast(axis))
        q = model.jnt_qposadr[j]
        if model.jnt_type[j] == SLIDE:
            pos = pos + axis * (coordinate(model, work, lanes, q) - model.qpos0[q])
        else:
            if model.jnt_type[j] == HINGE:
                quat = quat * from_axis_angle(
                    lanes, model.jnt_axis[j], coordinate(model, work, lanes, q) - model.qpos0[q]
                )
            else:
                quat = quat * orientation(model, work, lanes, q)
            if model.jnt_at_origin[j] == 0:
                pos = anchor - quat.rotate(offset)
    work.xquat.put(b, quat)
    if parent == 0:
        for j in range(first, last):
            work.anchor_offset.put(j, work.lanes.cast(work.anchor_offset[j] - pos))
        work.xpos.put(b, pos)
        zero = lanes.real(0.0)
        work.root_offset.put(b, Vec3(zero, zero, zero))
    else:
        work.xpos.put(b, work.xpos[model.body_rootid[b]] + pos)
        work.root_offset.put(b, pos)


@stage(reads="xpos xquat root_offset", writes="geom_xpos geom_offset geom_axis")
def geom_frames(model, work):
    """Position, offset from the root of its tree, and z axis of every geom that can collide."""
    for g in range(model.ngeom):
        if model.geom_collides[g] == 1:
            b = model.geom_bodyid[g]
            body = work.xquat[b]
            zero = work.precise_lanes.real(0.0)
            quat = body * model.geom_quat[g]
            offset = work.root_offset[b] + body.rotate(model.geom_pos[g])
            work.geom_offset.put(g, offset)
            work.geom_xpos.put(g, work.xpos[model.body_rootid[b]] + offset)
            work.geom_axis.put(g, quat.rotate(Vec3(zero, zero, work.precise_lanes.real(1.0))))
