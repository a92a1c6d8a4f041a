"""Forward kinematics: from coordinates to the poses of bodies, joints and colliding geoms (mj_kinematics)."""

import taichi as ti

from ...base.joints import free_frame, move_frame
from ...base.math import Quat, Vec3, func
from ...base.stage import stage


@stage(
    reads="qpos mocap_pos mocap_quat eval_rest",
    writes="inertial_offset xaxis",
    updates="xpos xquat root_offset anchor_offset",
)
def forward_kinematics(model, work):
    """Set xpos, xquat, root_offset and inertial_offset of all bodies, and xaxis and anchor_offset of all joints.

    Parents come before their children. Positions from the root of the tree are kept beside world positions: quantities
    that depend on distances within a mechanism then lose no digits if it is far from the origin.
    """
    # The world body.
    zero = work.precise_lanes.real(0.0)
    one = work.precise_lanes.real(1.0)
    origin = Vec3(zero, zero, zero)
    work.xpos.put(0, origin)
    work.root_offset.put(0, origin)
    work.inertial_offset.put(0, work.lanes.cast(origin))
    work.xquat.put(0, Quat(one, zero, zero, zero))
    # All other bodies; quaternions are normalised.
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
def _floating_body(model, work, b: ti.i32):
    """Set the pose of body b, whose only joint is a free joint, and the anchor and axis of that joint."""
    j = model.body_jntadr[b]
    zero = work.precise_lanes.real(0.0)
    pos, quat = free_frame(model, work, work.precise_lanes, model.jnt_qposadr[j])
    work.xpos.put(b, pos)
    work.xquat.put(b, quat)
    origin = Vec3(zero, zero, zero)
    work.root_offset.put(b, origin)
    work.anchor_offset.put(j, work.lanes.cast(origin))
    work.xaxis.put(j, Vec3(work.real(0.0), work.real(0.0), work.real(1.0)))


@func
def _mocap_body(model, work, b: ti.i32):
    """Set the pose of a mocap body to the user's; a quaternion of length zero counts as the identity."""
    lanes, k = work.precise_lanes, model.body_mocapid[b]
    zero = lanes.real(0.0)
    quat = work.mocap_quat[k]
    work.xpos.put(b, lanes.cast(work.mocap_pos[k]))
    work.xquat.put(b, lanes.cast(quat))
    work.root_offset.put(b, Vec3(zero, zero, zero))


@func
def _jointed_body(model, work, b: ti.i32):
    """Set the pose of body b on its parent, moved by its joints, and their axes and anchors.

    A root is placed in the world; then its anchors are made relative to it.
    """
    # The frame relative to the parent, then moved by each joint.
    parent = model.body_parentid[b]
    parent_quat = work.xquat[parent]
    pos = work.root_offset[parent] + parent_quat.rotate(model.body_pos[b])
    quat = parent_quat * model.body_quat[b]
    first = model.body_jntadr[b]
    last = first + model.body_jntnum[b]
    for j in range(first, last):
        move_frame(model, work, j, pos, quat)
    work.xquat.put(b, quat)
    if parent == 0:
        for j in range(first, last):
            work.anchor_offset.put(j, work.lanes.cast(work.anchor_offset[j] - pos))
        work.xpos.put(b, pos)
        zero = work.precise_lanes.real(0.0)
        work.root_offset.put(b, Vec3(zero, zero, zero))
    else:
        work.xpos.put(b, work.xpos[model.body_rootid[b]] + pos)
        work.root_offset.put(b, pos)


@stage(reads="xpos xquat root_offset", writes="geom_xpos geom_offset geom_axis")
def geom_frames(model, work):
    """Set geom_xpos, geom_offset and geom_axis of every geom that can collide and is not in a grid."""
    for k in range(model.nframed):
        place_geom(model, work, model.framed_geom[k])


@func
def place_geom(model, work, g: ti.i32):
    """Set geom_xpos, geom_offset and geom_axis of geom g; the arguments may be the views of one lane."""
    b = model.geom_bodyid[g]
    body = work.xquat[b]
    zero = work.precise_lanes.real(0.0)
    quat = body * model.geom_quat[g]
    offset = work.root_offset[b] + body.rotate(model.geom_pos[g])
    work.geom_offset.put(g, offset)
    work.geom_xpos.put(g, work.xpos[model.body_rootid[b]] + offset)
    work.geom_axis.put(g, quat.rotate(Vec3(zero, zero, work.precise_lanes.real(1.0))))
