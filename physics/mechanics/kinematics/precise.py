"""The pose of a geom in double precision, computed from qpos, in a kernel of single precision.

It decides rare cases in which the rounding of a pose would matter.
"""

import taichi as ti

from ...base.joints import free_frame, leave_frame
from ...base.math import Vec3, func


@func
def precise_geom(model, work, g: ti.i32, center, axis):
    """Set the variables `center` and `axis`, of double lanes, to world position (m) and z axis of geom g.

    They are transformed from frame to frame: through the joints of a body, last to first, then to its parent.
    """
    lanes = work.double_lanes
    zero = lanes.real(0.0)
    # In the body frame, then up to the world.
    center._assign(model.precise.geom_pos[g] + Vec3(zero, zero, zero))
    turn = model.precise.geom_quat[g]
    axis._assign(turn.rotate(Vec3(zero, zero, lanes.real(1.0))))
    b = model.geom_bodyid[g]
    while b > 0:
        first = model.body_jntadr[b]
        count = model.body_jntnum[b]
        if model.body_is_free[b] == 1:
            pos, quat = free_frame(model, work, lanes, model.jnt_qposadr[first])
            center._assign(quat.rotate(center) + pos)
            axis._assign(quat.rotate(axis))
        else:
            for k in range(count):
                leave_frame(model, work, first + count - 1 - k, center, axis)
            quat = model.precise.body_quat[b]
            center._assign(quat.rotate(center) + model.precise.body_pos[b])
            axis._assign(quat.rotate(axis))
        b = model.body_parentid[b]
