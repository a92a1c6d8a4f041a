"""The pose of a geom in double precision, computed from qpos, in a kernel of single precision.

It serves rare questions that the rounding of a pose would decide.
"""

import taichi as ti

from ..math import Quat, Vec3, func
from ..math.quaternion import from_axis_angle
from .forward import BALL, HINGE, SLIDE, coordinate, orientation, position


@func
def precise_geom(model, work, g: ti.i32, center, axis):
    """Position in the world (m) and z axis of geom g, to the variables `center` and `axis`, of double lanes.

    A point of the geom goes from frame to frame: through the joints of a body, last to first, then to its parent.
    """
    lanes = work.double_lanes
    zero = lanes.real(0.0)
    center._assign(model.precise.geom_pos[g] + Vec3(zero, zero, zero))
    turn = model.precise.geom_quat[g]
    axis._assign(turn.rotate(Vec3(zero, zero, lanes.real(1.0))))
    b = model.geom_bodyid[g]
    while b > 0:
        first = model.body_jntadr[b]
        count = model.body_jntnum[b]
        if model.body_is_free[b] == 1:
            q = model.jnt_qposadr[first]
            quat = orientation(model, work, lanes, q + 3)
            center._assign(quat.rotate(center) + position(model, work, lanes, q))
            axis._assign(quat.rotate(axis))
        else:
            for k in range(count):
                _through_joint(model, work, first + count - 1 - k, center, axis)
            quat = model.precise.body_quat[b]
            center._assign(quat.rotate(center) + model.precise.body_pos[b])
            axis._assign(quat.rotate(axis))
        b = model.body_parentid[b]


@func
def _through_joint(model, work, j: ti.i32, center, axis):
    """Take `center` and `axis` from the frame behind joint j to the frame before it."""
    lanes = work.double_lanes
    q = model.jnt_qposadr[j]
    along = model.precise.jnt_axis[j]
    if model.jnt_type[j] == SLIDE:
        way = coordinate(model, work, lanes, q) - model.precise.qpos0[q]
        center._assign(center + Vec3(way * along.x, way * along.y, way * along.z))
    else:
        anchor = model.precise.jnt_pos[j]
        quat = Quat(lanes.real(1.0), lanes.real(0.0), lanes.real(0.0), lanes.real(0.0))
        if model.jnt_type[j] == HINGE:
            quat._assign(from_axis_angle(lanes, along, coordinate(model, work, lanes, q) - model.precise.qpos0[q]))
        if model.jnt_type[j] == BALL:
            quat._assign(orientation(model, work, lanes, q))
        center._assign(quat.rotate(center - anchor) + anchor)
        axis._assign(quat.rotate(axis))
