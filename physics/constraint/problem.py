"""Newton's method and conjugate gradients share this: the cost, jar and forces at the accelerations qacc + dqacc."""

import taichi as ti

from ..fields import SMALL_BITS, below
from .cost import block_force
from .rows import add_transpose_times_force, jacobian_times


@ti.func
def problem_scale(model: ti.template(), work: ti.template()):
    """One over the trace of M (MuJoCo with constraint islands), or the constant without islands."""
    trace = work.real(0.0)
    for i in range(model.nv):
        trace += work.M[work.M_pattern.start(i)]
    scale = 1.0 / trace
    if model.some(work.lanes, model.solver_scale[0] > 0.0):  # in all environments or in none
        scale = work.real(model.solver_scale[0])
    return scale


@ti.func
def clear_solution(model: ti.template(), work: ti.template()):
    """Set dqacc = 0 and M_dqacc = 0: the solution starts at qacc."""
    for i in range(model.nv):
        work.dqacc[i] = work.real(0.0)
        work.M_dqacc[i] = work.real(0.0)


@ti.func
def place_blocks(work: ti.template(), count: ti.i32, v: ti.template(), done: ti.template()):
    """block_jar = J v - aref of the first `count` blocks, in lanes that are not done."""
    jacobian_times(work, count, v)
    for k in range(count):
        for c in range(work.block_dim[k]):
            x = work.block_Jv.at(k, c) - work.block_aref.at(k, c)
            work.block_jar.at(k, c)._assign(ti.select(done > 0.5, work.block_jar.at(k, c), x))


@ti.func
def move(model: ti.template(), work: ti.template(), step: ti.template()):
    """Add step search to dqacc and step M_search to M_dqacc; `constraint_force` computes the forces there."""
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        work.dqacc[i] = work.dqacc[i] + step * work.search[i]
        work.M_dqacc[i] = work.M_dqacc[i] + step * work.M_search[i]


@ti.func
def constraint_force(model: ti.template(), work: ti.template(), count: ti.i32, step: ti.template()):
    """Add step block_Jv to block_jar of the first `count` blocks; set block_force and qfrc_constraint = J' force."""
    for i in range(model.nv):
        work.qfrc_constraint[i] = work.real(0.0)
    for k in range(count):
        dim = work.block_dim[k]
        move_block(work.blocks, k, dim, step)
        block_force(work, work.blocks, k, dim)
        add_transpose_times_force(work, k)


@ti.func
def move_block(rows: ti.template(), k: ti.i32, dim: ti.i32, step: ti.template()):
    """Add step Jv to the jar of one block."""
    for c in range(dim):
        rows.jar.at(k, c)._assign(rows.jar.at(k, c) + step * rows.Jv.at(k, c))
