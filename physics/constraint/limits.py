"""Limits as constraints: one block for each side of a hinge, slide or tendon, one for the cone of a ball joint."""

import taichi as ti

from ..math import Quat, func
from ..math.quaternion import rotation_vector
from ..sensed.limit_readings import forget_limit, note_limit
from ..stage import stage
from .impedance import MINIMUM, impedance, regularizer
from .rows import append_row, append_tendon


@stage(
    reads="qpos qvel ten_length ten_J",
    writes="limit_pos limit_vel block_D block_aref block_dim limit_seen limit_block tile_tenadr",
    updates="block_J block_dofnum block_dofadr block_jacadr block_dof tile_conadr tile_ndof tile_njac",
)
def limit_blocks(model, work):
    """A block for every limit that is within its margin in some lane, those of tendons last."""
    if ti.static(model.has.tendons):
        work.tile_tenadr.put(0, work.tile_conadr[0])
    for row in range(model.nlimit):
        if ti.static(model.has.sensors):
            forget_limit(model, work, row)
        if ti.static(model.has.tendons):
            if model.limit_tendon[row] >= 0:
                _tendon_limit(model, work, row)
            else:
                _joint_limit(model, work, row)
                work.tile_tenadr.put(0, work.tile_conadr[0])
        else:
            _joint_limit(model, work, row)


@func
def _tendon_limit(model, work, row: ti.i32):
    """A tendon must stay shorter, or longer."""
    t, side = model.limit_tendon[row], ti.cast(model.limit_side[row], work.lanes.dtype)
    dist = (model.limit_value[row] - work.ten_length[t]) * side
    work.limit_block[row] = -1
    if _near(model, work, row, dist):
        k = append_tendon(model, work, t, -side)
        work.limit_block[row] = k
        _finish(model, work, k, row, dist)


@func
def _joint_limit(model, work, row: ti.i32):
    """One side of a joint, or the cone of a ball joint."""
    if model.limit_side[row] == 0:
        if ti.static(model.has.ball_joints):
            _ball_limit(model, work, row)
    else:
        side = ti.cast(model.limit_side[row], work.lanes.dtype)
        dist = (model.limit_value[row] - work.qpos[model.limit_qposadr[row]]) * side
        if _near(model, work, row, dist):
            k = _append(model, work, row, 1)
            work.block_J[work.block_jacadr[k]] = work.real(-side)
            _finish(model, work, k, row, dist)


@func
def _ball_limit(model, work, row: ti.i32):
    """The angle of the joint's rotation from the reference must stay below the limit."""
    q = model.limit_qposadr[row]
    quat = Quat(work.qpos[q], work.qpos[q + 1], work.qpos[q + 2], work.qpos[q + 3]).normalized()
    turn = rotation_vector(work.lanes, quat)
    angle = turn.norm()
    dist = model.limit_value[row] - angle
    if _near(model, work, row, dist):
        k = _append(model, work, row, 3)
        axis = turn * (-1.0 / ti.max(angle, MINIMUM))
        for c in ti.static(range(3)):
            work.block_J[work.block_jacadr[k] + (2 - c)] = axis.parts()[c]
        _finish(model, work, k, row, dist)


@func
def _near(model, work, row: ti.i32, dist):
    """Whether in any lane the limit is a constraint."""
    return work.lanes.any(work.lanes.mask(dist < model.limit_margin[row]))


@func
def _append(model, work, row: ti.i32, dofs: ti.i32):
    """A block for the limit on so many dofs, in descending order; its number."""
    k = append_row(work, dofs)
    for c in range(dofs):
        work.block_dof.put(work.block_dofadr[k] + c, model.limit_dofadr[row] + (dofs - 1 - c))
    return k


@func
def _finish(model, work, k: ti.i32, row: ti.i32, dist):
    """block_D and block_aref of block k, whose Jacobian is known."""
    depth = dist - model.limit_margin[row]
    solimp = model.limit_solimp
    dmin, dmax, width = solimp.at(row, 0), solimp.at(row, 1), solimp.at(row, 2)
    imp = impedance(model, work.lanes, dmin, dmax, width, solimp.at(row, 3), solimp.at(row, 4), depth)
    stiffness = 1.0 / regularizer(imp, model.limit_diagonal[row])
    work.block_D[k] = ti.select(depth < 0.0, stiffness, work.real(0.0))
    speed = work.real(0.0)
    for e in range(work.block_dofnum[k]):
        speed += work.block_J[work.block_jacadr[k] + e] * work.qvel[work.block_dof[work.block_dofadr[k] + e]]
    if ti.static(model.has.sensors):
        note_limit(model, work, row, k, depth, speed)
    pull = imp * depth * model.limit_stiffness[row]
    work.block_aref.at(k, 0)._assign(-(speed * model.limit_damping[row] + pull))
