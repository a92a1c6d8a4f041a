"""Forces on bodies from outside: MuJoCo's cfrc_ext (mj_rnePostConstraint)."""

import taichi as ti

from ..dynamics.body_forces import applied_to
from ..math import Mat3, Motion, Vec3


@ti.func
def external_force(model: ti.template(), work: ti.template()):
    """cfrc_ext: torque and force of the user and of all contacts on each body, about the tree's centre of mass."""
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    for b in range(model.nbody):
        work.cfrc_ext.put(b, Motion(none, none))
    if work.applied[0] == 1:
        for b in range(1, model.nbody):
            force, torque = applied_to(work, b)
            arm = work.inertial_offset[b] - work.com_offset[model.body_rootid[b]]
            work.cfrc_ext.put(b, Motion(torque + arm.cross(force), force))
    for k in range(work.tile_ncon[0]):
        block = work.tile_conadr[0] + k
        dim = work.block_dim[block]
        frame = Mat3(_row(work, k, 0), _row(work, k, 3), _row(work, k, 6))
        force = frame.x * work.block_force.at(block, 0)
        torque = none.copy()
        if dim > 1:
            force = force + (frame.y * work.block_force.at(block, 1) + frame.z * work.block_force.at(block, 2))
        if dim > 3:
            torque = torque + frame.x * work.block_force.at(block, 3)
        if dim > 4:
            torque = torque + (frame.y * work.block_force.at(block, 4) + frame.z * work.block_force.at(block, 5))
        for side in range(2):
            b = model.geom_bodyid[work.con_geom1[k] if side == 0 else work.con_geom2[k]]
            if b > 0:
                arm = work.con_pos[k] - work.subtree_com[model.body_rootid[b]]
                wrench = Motion(torque + arm.cross(force), force) * (2.0 * side - 1.0)
                work.cfrc_ext.put(b, work.cfrc_ext[b] + wrench)


@ti.func
def _row(work: ti.template(), k: ti.i32, c: ti.template()):
    return Vec3(work.con_frame.at(k, c), work.con_frame.at(k, c + 1), work.con_frame.at(k, c + 2))
