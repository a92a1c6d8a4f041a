"""The kinematics of a chain in a kernel: poses of its bodies, errors of its targets, and their derivatives."""

import taichi as ti

from ...base.joints import free_frame, motion_subspace, move_frame
from ...base.math import Quat, Vec3, func
from ...base.math.quaternion import rotation_vector
from ...base.math.trigonometry import atan2
from ...base.math.vector import zero_vector

ALL_AXES = 4
"""The number in `target_turning` of a target whose orientation counts with all axes."""
TINY = 1e-12


@func
def place_bodies(chain, work):
    """Set xpos and xquat of all bodies, and xaxis and anchor_offset of all joints, from qpos."""
    lanes = work.lanes
    work.xpos.put(0, zero_vector(lanes))
    work.xquat.put(0, Quat(lanes.real(1.0), lanes.real(0.0), lanes.real(0.0), lanes.real(0.0)))
    for b in range(1, chain.nbody):
        first = chain.body_jntadr[b]
        if chain.body_is_free[b] == 1:
            pos, quat = free_frame(chain, work, lanes, chain.jnt_qposadr[first])
            work.anchor_offset.put(first, pos)
            work.xpos.put(b, pos)
            work.xquat.put(b, quat)
        else:
            parent = chain.body_parentid[b]
            parent_quat = work.xquat[parent]
            pos = work.xpos[parent] + parent_quat.rotate(chain.body_pos[b])
            quat = parent_quat * chain.body_quat[b]
            for j in range(first, first + chain.body_jntnum[b]):
                move_frame(chain, work, j, pos, quat)
            work.xpos.put(b, pos)
            work.xquat.put(b, quat.normalized())


@func
def obey_laws(chain, work):
    """Set the coordinates that follow others, in the order of the laws."""
    for k in range(chain.nlaw):
        follower, leader = chain.dof_qposadr[chain.law_follower[k]], chain.dof_qposadr[chain.law_leader[k]]
        away = work.qpos[leader] - chain.qpos0[leader]
        value = work.real(0.0)
        for back in range(chain.nterm):
            value = value * away + chain.law[k, chain.nterm - 1 - back]
        work.qpos[follower] = chain.qpos0[follower] + value


@func
def _lead(chain, work):
    """Add followers' derivatives to those of the dofs that they follow; the followers' become 0."""
    for last in range(chain.nlaw):
        k = chain.nlaw - 1 - last
        follower, leader = chain.law_follower[k], chain.law_leader[k]
        at = chain.dof_qposadr[leader]
        away, slope = work.qpos[at] - chain.qpos0[at], work.real(0.0)
        for back in range(chain.nterm - 1):
            power = chain.nterm - 1 - back
            slope = slope * away + ti.cast(power, ti.f64) * chain.law[k, power]
        for r in range(chain.nrow):
            work.jac[r, leader] += slope * work.jac[r, follower]
            work.jac[r, follower] = 0.0


@func
def target_frame(chain, work, t: ti.i32):
    """Return position (m) and orientation of target t in the world."""
    b = chain.target_body[t]
    quat = work.xquat[b]
    return work.xpos[b] + quat.rotate(chain.target_point[t]), quat * chain.target_quat[t]


@func
def _axis(lanes, quat, turning: ti.i32):
    """Return the axis of a frame that `turning`, 1 to 3, stands for."""
    return quat.matrix().column(turning - 1)


@func
def _turn_between(lanes, a, b):
    """Return the rotation vector (rad) of the shortest rotation that takes one unit vector to another."""
    across = a.cross(b)
    sine = across.norm()
    angle = atan2(lanes, sine, a.dot(b))
    # opposite vectors: any axis across them
    if sine < TINY:
        across = a.cross(Vec3(lanes.real(1.0), lanes.real(0.0), lanes.real(0.0)))
        if ti.abs(a.x) > 0.9:
            across = a.cross(Vec3(lanes.real(0.0), lanes.real(1.0), lanes.real(0.0)))
        sine = across.norm()
    return across * (angle / sine)


@func
def measure(chain, work, goals, env: ti.i32, pos_tol, rot_tol):
    """Set `error`; return its square and 1 if all targets are within the tolerances, else 0."""
    lanes = work.lanes
    square, within = lanes.real(0.0), 1
    for t in range(chain.ntarget):
        pos, quat = target_frame(chain, work, t)
        mask = chain.target_mask[t]
        away = Vec3(goals[env, t, 0], goals[env, t, 1], goals[env, t, 2]) - pos
        away = Vec3(away.x * mask.x, away.y * mask.y, away.z * mask.z)
        turn = zero_vector(lanes)
        turning = chain.target_turning[t]
        if turning > 0:
            goal = Quat(goals[env, t, 3], goals[env, t, 4], goals[env, t, 5], goals[env, t, 6])
            if turning == ALL_AXES:
                turn._assign(rotation_vector(lanes, goal * quat.conjugate()))
            else:
                turn._assign(_turn_between(lanes, _axis(lanes, quat, turning), _axis(lanes, goal, turning)))
        length, angle = away.dot(away), turn.dot(turn)
        if not (length <= pos_tol * pos_tol and angle <= rot_tol * rot_tol):
            within = 0
        square += length + angle
        for c in ti.static(range(3)):
            work.error[6 * t + c] = away.parts()[c]
            work.error[6 * t + 3 + c] = turn.parts()[c]
    return square, within


@func
def differentiate(chain, work, masked: ti.i32):
    """Set `jac`: six rows for each target; if `masked` is 1, zeros for masked rows, followers and dofs that stay."""
    lanes = work.lanes
    for b in range(1, chain.nbody):
        first = chain.body_jntadr[b]
        for j in range(first, first + chain.body_jntnum[b]):
            motion_subspace(chain, work, b, j)
    for t in range(chain.ntarget):
        pos, quat = target_frame(chain, work, t)
        turning = chain.target_turning[t]
        mask = chain.target_mask[t]
        axis = zero_vector(lanes)
        if masked == 1 and 0 < turning < ALL_AXES:
            axis._assign(_axis(lanes, quat, turning))
        for d in range(chain.nv):
            lin, rot = zero_vector(lanes), zero_vector(lanes)
            if chain.target_dof[t, d] == 1 and (masked == 0 or chain.dof_moves[d] == 1):
                motion = work.cdof[d]
                lin._assign(motion.lin + motion.rot.cross(pos))
                rot._assign(motion.rot)
                if masked == 1:
                    lin._assign(Vec3(lin.x * mask.x, lin.y * mask.y, lin.z * mask.z))
                    rot._assign(rot - axis * axis.dot(rot))  # a rotation about an aligned axis changes nothing
                    if turning == 0:
                        rot._assign(zero_vector(lanes))
            for c in ti.static(range(3)):
                work.jac[6 * t + c, d] = lin.parts()[c]
                work.jac[6 * t + 3 + c, d] = rot.parts()[c]
    if masked == 1:
        _lead(chain, work)
