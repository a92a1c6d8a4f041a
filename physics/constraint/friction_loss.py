"""Friction loss of dofs and tendons: one row for each, which resists motion with a force of at most the loss.

MuJoCo documentation, Computation: Friction loss. The reference acceleration is pure damping, as there is no position to
return to; so stiffness and damping do not depend on the state, and are numbers of the model.
"""

import taichi as ti

from ..math import func
from ..stage import stage
from .rows import append_row, append_tendon


@stage(
    reads="qvel ten_velocity ten_J",
    writes="block_reach block_D block_aref block_J block_dim block_dofnum block_dof",
    updates="block_dofadr block_jacadr tile_conadr tile_ndof tile_njac",
)
def friction_blocks(model, work):
    """Append a block for every dof and tendon that has friction loss, after those of equalities."""
    if ti.static(model.has.friction_loss):
        for row in range(model.nfriction):
            k, speed = work.tile_conadr[0], work.real(0.0)
            if ti.static(model.has.tendons):
                t = model.friction_tendon[row]
                if t >= 0:
                    append_tendon(model, work, t, 1.0)
                    speed = work.ten_velocity[t]
                else:
                    speed = _append_dof(model, work, row)
            else:
                speed = _append_dof(model, work, row)
            loss, stiffness = work.real(model.friction_loss[row]), work.real(model.friction_D[row])
            work.block_D[k] = ti.select(loss > 0.0, stiffness, work.real(0.0))  # some environments may have none
            work.block_reach[k] = loss / stiffness
            work.block_aref.at(k, 0)._assign(-(speed * model.friction_damping[row]))


@func
def _append_dof(model, work, row: ti.i32):
    """Append a row on the dof of a friction loss; return the dof's velocity (m/s or rad/s)."""
    k = append_row(work, 1)
    dof = model.friction_dofadr[row]
    work.block_dof.put(work.block_dofadr[k], dof)
    work.block_J[work.block_jacadr[k]] = work.real(1.0)
    return work.qvel[dof]
