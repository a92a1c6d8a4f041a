"""What Newton's method and conjugate gradients share: the cost around the point that a solution has reached."""

import taichi as ti

from ..fields import SMALL_BITS, below
from .bodies import add_contact_wrench, add_wrenches, clear_wrenches
from .cost import block_force
from .rows import add_transpose_times_force, count_blocks, count_listed, jacobian_times


@ti.func
def problem_scale(model: ti.template(), work: ti.template()):
    """One over the trace of M (MuJoCo with constraint islands), or the constant without islands."""
    trace = work.real(0.0)
    for i in range(model.nv):
        trace += work.M[work.M_pattern.start(i)]
    scale = 1.0 / trace
    if model.solver_scale[0] > 0.0:
        scale = work.real(model.solver_scale[0])
    return scale


@ti.func
def place_blocks(model: ti.template(), work: ti.template(), done: ti.template()):
    """block_jar at qacc, but in lanes that are done."""
    jacobian_times(model, work, work.qacc)
    for k in range(count_blocks(work)):
        for c in range(work.block_dim[k]):
            x = work.block_Jv.at(k, c) - work.block_aref.at(k, c)
            work.block_jar.at(k, c)._assign(ti.select(done > 0.5, work.block_jar.at(k, c), x))


@ti.func
def move(model: ti.template(), work: ti.template(), step: ti.template()):
    """Go `step` times along `search`, M search at hand where it will be needed; `constraint_force` moves the blocks."""
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        work.dqacc[i] = work.dqacc[i] + step * work.search[i]
        work.M_dqacc[i] = work.M_dqacc[i] + step * work.M_search[i]


@ti.func
def constraint_force(model: ti.template(), work: ti.template(), step: ti.template()):
    """Move block_jar `step` times along block_Jv; forces of all blocks there, and qfrc_constraint = J' force."""
    for i in range(model.nv):
        work.qfrc_constraint[i] = work.real(0.0)
    for k in range(count_listed(model, work)):
        _move_block(work, k, step)
        block_force(work, k)
        add_transpose_times_force(work, k)
    if ti.static(model.has.cg):
        clear_wrenches(model, work)
        for k in range(work.tile_ncon[0]):
            block = work.tile_nlim[0] + k
            _move_block(work, block, step)
            block_force(work, block)
            add_contact_wrench(model, work, k, block)
        add_wrenches(model, work)


@ti.func
def _move_block(work: ti.template(), k: ti.i32, step: ti.template()):
    for c in range(work.block_dim[k]):
        work.block_jar.at(k, c)._assign(work.block_jar.at(k, c) + step * work.block_Jv.at(k, c))
