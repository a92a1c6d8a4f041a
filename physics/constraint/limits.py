"""Joint limits as constraints: one row for each side of a hinge or slide, one for the cone of a ball joint."""

import taichi as ti

from ..math import Quat
from ..math.quaternion import rotation_vector
from .impedance import MINIMUM, impedance, regularizer


@ti.func
def limit_rows(model: ti.template(), work: ti.template()):
    """Fill the list of limits with every one that is within its margin in some lane."""
    work.tile_nlim.put(0, 0)
    for row in range(model.nlimit):
        if model.limit_side[row] == 0:
            if ti.static(model.has.rotations):
                _ball_limit(model, work, row)
        else:
            side = ti.cast(model.limit_side[row], work.lanes.dtype)
            dist = (model.limit_value[row] - work.qpos[model.limit_qposadr[row]]) * side
            if _append(model, work, row, dist):
                k = work.tile_nlim[0] - 1
                work.lim_J.at(k, 0)._assign(work.real(-side))
                _finish(model, work, k, row, 1)


@ti.func
def _ball_limit(model: ti.template(), work: ti.template(), row: ti.i32):
    """The angle of the joint's rotation from the reference must stay below the limit."""
    q = model.limit_qposadr[row]
    quat = Quat(work.qpos[q], work.qpos[q + 1], work.qpos[q + 2], work.qpos[q + 3]).normalized()
    turn = rotation_vector(work.lanes, quat)
    angle = turn.norm()
    if _append(model, work, row, model.limit_value[row] - angle):
        k = work.tile_nlim[0] - 1
        axis = turn * (-1.0 / ti.max(angle, MINIMUM))
        work.lim_J.put(k, axis)
        _finish(model, work, k, row, 3)


@ti.func
def _append(model: ti.template(), work: ti.template(), row: ti.i32, dist: ti.template()):
    """Add a slot for the limit if it is near in any lane; whether it was added."""
    added = work.lanes.any(work.lanes.mask(dist < model.limit_margin[row]))
    if added:
        k = work.tile_nlim[0]
        work.tile_nlim.put(0, k + 1)
        work.lim_row.put(k, row)
        work.lim_dist[k] = dist
    return added


@ti.func
def _finish(model: ti.template(), work: ti.template(), k: ti.i32, row: ti.i32, dofs: ti.template()):
    """lim_D and lim_ref of slot k, whose distance and Jacobian are known."""
    depth = work.lim_dist[k] - model.limit_margin[row]
    imp = impedance(model, work.lanes, model.limit_solimp, row, depth)
    stiffness = 1.0 / regularizer(imp, model.limit_diagonal[row])
    work.lim_D[k] = ti.select(depth < 0.0, stiffness, work.real(0.0))
    speed = work.real(0.0)
    for c in ti.static(range(dofs)):
        speed += work.lim_J.at(k, c) * work.qvel[model.limit_dofadr[row] + c]
    work.lim_ref[k] = speed * model.limit_damping[row] + imp * depth * model.limit_stiffness[row]
