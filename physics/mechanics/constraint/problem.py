"""The cost function around the current iterate, shared by Newton's method and conjugate gradients.

The functions work on the entries of group_tree from `first` to before `end`: trees that are solved together.
"""

import taichi as ti

from ...base.fields import SMALL_BITS, below
from ...base.math import func
from .cost import block_force
from .islands import dofs_of, island_sum
from .rows import add_transpose_times_force, block_times

SOLUTION = (
    "dqacc M_dqacc gradient search M_search qacc qfrc_constraint tree_scale tree_done",
    "block_jar block_Jv block_force block_tree tree_blockadr tree_blocknum tree_block H_L H_inv",
)
BLOCKS = (
    "block_D block_friction block_aref block_reach cone_mu block_J tile_conadr",
    "block_dim block_dofnum block_dofadr block_jacadr block_dof con_geom1 con_geom2",
)
"""Fields that both solvers load and store, and fields that they load, for the declarations of their stages."""


@func
def set_scale(model, work, first: ti.i32, end: ti.i32):
    """Set tree_scale of all trees from the trace of M of their islands."""
    for s in range(first, end):
        t = work.group_tree[s]
        start, behind = dofs_of(model, t)
        work.tree_part.at(t, 0)._assign(trace_of_mass(work, start, behind))
    for s in range(first, end):
        t = work.group_tree[s]
        work.tree_scale[t] = scale_of(model, work, island_sum(work, first, end, t, 0))


@func
def trace_of_mass(work, first: ti.i32, end: ti.i32):
    """Return the trace of M over the rows `first` to before `end`."""
    trace = work.real(0.0)
    for i in range(first, end):
        trace += work.M[work.M_pattern.start(i)]
    return trace


@func
def scale_of(model, work, trace):
    """Return the scale of an island's gradient and improvement: 1 / `trace`, or a constant without islands."""
    scale = 1.0 / trace
    if model.any_true(work.lanes, model.solver_scale[0] > 0.0):  # in all environments or in none
        scale = work.real(model.solver_scale[0])
    return scale


@func
def clear_solution(model, work):
    """Start the iteration at qacc: set dqacc and M dqacc to 0."""
    for i in range(model.nv):
        work.dqacc[i] = work.real(0.0)
        work.M_dqacc[i] = work.real(0.0)


@func
def multiply_blocks(work, first: ti.i32, end: ti.i32, v):
    """Set block_Jv to J v for all blocks of the trees; `v` (nv,)."""
    for s in range(first, end):
        t = work.group_tree[s]
        for b in range(work.tree_blockadr[t], work.tree_blockadr[t] + work.tree_blocknum[t]):
            block_times(work, work.tree_block[b], v)


@func
def place_blocks(work, first: ti.i32, end: ti.i32, v):
    """Set block_jar to J v - aref, except in lanes that have converged."""
    multiply_blocks(work, first, end, v)
    for s in range(first, end):
        t = work.group_tree[s]
        for b in range(work.tree_blockadr[t], work.tree_blockadr[t] + work.tree_blocknum[t]):
            k = work.tree_block[b]
            for c in range(work.block_dim[k]):
                x = work.block_Jv.at(k, c) - work.block_aref.at(k, c)
                work.block_jar.at(k, c)._assign(ti.select(work.tree_done[t] > 0.5, work.block_jar.at(k, c), x))


@func
def sums_along(model, work, t: ti.i32):
    """Return sums over the dofs of tree t for a line search along `search`.

    They are the first and second derivative at step 0 of the cost without constraints, the squared length of `search`,
    and its product with the gradient.
    """
    linear, quadratic, square, descent = work.real(0.0), work.real(0.0), work.real(0.0), work.real(0.0)
    start, behind = dofs_of(model, t)
    for k in range(start, behind):
        i = below(SMALL_BITS, k)
        direction = work.search[i]
        linear += direction * (work.M_dqacc[i] - work.qfrc_unbalanced[i])
        quadratic += direction * work.M_search[i]
        square += direction * direction
        descent += direction * work.gradient[i]
    return linear, quadratic, square, descent


@func
def move_dofs(model, work, first: ti.i32, end: ti.i32):
    """Add tree_step times `search` to dqacc, and tree_step times M search to M dqacc."""
    for s in range(first, end):
        t = work.group_tree[s]
        step = work.real(0.0) + work.tree_step[t]
        start, behind = dofs_of(model, t)
        for k in range(start, behind):
            i = below(SMALL_BITS, k)
            work.dqacc[i] = work.dqacc[i] + step * work.search[i]
            work.M_dqacc[i] = work.M_dqacc[i] + step * work.M_search[i]


@func
def constraint_force(model, work, first: ti.i32, end: ti.i32):
    """Move all blocks tree_step along block_Jv; set their forces there, and qfrc_constraint = J' force."""
    for s in range(first, end):
        t = work.group_tree[s]
        start, behind = dofs_of(model, t)
        for i in range(start, behind):
            work.qfrc_constraint[i] = work.real(0.0)
    for s in range(first, end):
        t = work.group_tree[s]
        step = work.real(0.0) + work.tree_step[t]
        for b in range(work.tree_blockadr[t], work.tree_blockadr[t] + work.tree_blocknum[t]):
            k = work.tree_block[b]
            dim = work.block_dim[k]
            move_block(work.blocks, k, dim, step)
            block_force(work, work.blocks, k, dim)
            add_transpose_times_force(work, k)


@func
def move_block(rows, k: ti.i32, dim: ti.i32, step):
    """Add `step` times Jv to the jar of block k."""
    for c in range(dim):
        rows.jar.at(k, c)._assign(rows.jar.at(k, c) + step * rows.Jv.at(k, c))
