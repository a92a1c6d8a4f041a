"""Friction loss of dofs as constraints: a block of one row for each, which holds the dof with a force up to the loss.

MuJoCo documentation, Computation: Friction loss. The reference acceleration only damps, as there is no position to
return to; so stiffness and damping are the same in all states, and numbers of the model.
"""

import taichi as ti

from .rows import append_row


@ti.func
def friction_blocks(model: ti.template(), work: ti.template()):
    """A block for every dof that has friction loss, behind those of equalities."""
    if ti.static(model.has.friction_loss):
        for row in range(model.nfriction):
            k = append_row(work, 1)
            dof = model.friction_dofadr[row]
            work.block_dof.put(work.block_dofadr[k], dof)
            work.block_J[work.block_jacadr[k]] = work.real(1.0)
            loss, stiffness = work.real(model.friction_loss[row]), work.real(model.friction_D[row])
            work.block_D[k] = ti.select(loss > 0.0, stiffness, work.real(0.0))  # some environments may have none
            work.block_reach[k] = loss / stiffness
            work.block_aref.at(k, 0)._assign(-(work.qvel[dof] * model.friction_damping[row]))
