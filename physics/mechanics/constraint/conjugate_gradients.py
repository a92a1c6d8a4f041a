"""Nonlinear preconditioned conjugate gradients for the constrained acceleration: only the preconditioner is factored.

The cost, the unknown dqacc, the line search and the stopping rule by the gradient are the same as in `newton`. The
direction
is Polak and Ribiere's, restarted where it would not descend (Nocedal and Wright 2006, section 5.2). Unlike in MuJoCo,
an improvement below the tolerance does not end the iteration: a single step may gain little far from the solution. In
lanes without active constraints the preconditioner is M, and the first step reaches the solution.
"""

import taichi as ti

from ...base.fields import SMALL_BITS, below
from ...base.math import func
from ...base.stage import stage
from ..dynamics.tree_matrix import multiply, multiply_body, solve_body, solve_from_root, solve_to_root
from .bodies import body_motions, collect_wrenches, own_velocity, own_wrench
from .cost import block_curve, block_force
from .islands import list_blocks
from .line_search import TRIALS, search
from .own_contacts import pack_contacts, unpack_contacts
from .preconditioner import precondition
from .problem import (
    BLOCKS,
    SOLUTION,
    clear_solution,
    constraint_force,
    move_block,
    move_dofs,
    multiply_blocks,
    set_scale,
    sums_along,
)

CLOSE = 10.0
"""Scaled gradient, in multiples of the tolerance, that ends the iteration: qacc then has a relative error of 1e-5."""
SLOPE = 1e-2
"""Fraction of the initial slope that the line search may leave."""
FINITE, TINY = 1e38, 1e-30


@stage(
    when=lambda has: has.cg,
    reads=(
        *(*BLOCKS, "M M_rownnz M_rowadr M_colind cdof subtree_com con_pos con_frame tile_ncon qfrc_unbalanced"),
        "tree_island group_tree group_dofadr group_dofnum group_dof",
    ),
    writes="tree_change solver_niter",
    updates=(
        *(*SOLUTION, *TRIALS, "cg_* side_* body_sideadr body_sidenum body_sides tile_nboth tile_nown"),
        "own_behind own_slot own_body own_arm own_frame own_D own_friction own_mu own_jar own_Jv own_force own_push",
    ),
)
def acceleration_by_gradients(model, work):
    """Solve for qacc by conjugate gradients; set qfrc_constraint, block_force and solver_niter.

    On entry qacc is the warm start, and qfrc_unbalanced the residual force there.
    """
    lanes = work.lanes
    # Preconditioner, contacts packed by lane, start at qacc.
    list_blocks(model, work, work.tile_conadr[0])
    set_scale(model, work, 0, 1)
    precondition(model, work)
    pack_contacts(model, work)
    _begin(model, work)
    iterations, before = work.real(0.0), work.real(1.0)
    going, rounds = 1, 0
    while going == 1:
        curve = _rows_along(model, work)
        work.tree_step[0] = work.real(1.0)
        # Round 0 only evaluates at the start; later rounds search along the direction.
        if rounds == 0:
            for i in range(model.nv):
                work.search[i] = work.real(0.0)
        else:
            _step(model, work, curve)
            iterations += 1.0 - work.tree_done[0]
            work.tree_done[0] = ti.max(work.tree_done[0], lanes.mask(work.tree_step[0] == 0.0))
        # Forces and gradient at the new point; convergence by the gradient's scaled length.
        _force(model, work)
        length = work.tree_scale[0] * ti.sqrt(_gradient(model, work))
        over = ti.max(lanes.mask(length < CLOSE * model.tolerance[0]), 1.0 - lanes.mask(length < FINITE))
        work.tree_done[0] = ti.max(work.tree_done[0], over)
        # Next direction, unless all lanes are done.
        if rounds < model.iterations and lanes.any(1.0 - work.tree_done[0]):
            before = _direction(model, work, before)
            rounds += 1
        else:
            going = 0
    unpack_contacts(model, work)
    work.solver_niter[0] = iterations
    for i in range(model.nv):
        work.qacc[i] = work.qacc[i] + work.dqacc[i]


@func
def _begin(model, work):
    """Start at qacc: jar is -aref, and the first step, of length 1 along J qacc, makes it J qacc - aref."""
    clear_solution(model, work)
    work.tree_done[0] = work.real(0.0)
    for i in range(model.nv):
        work.search[i] = work.qacc[i]
        work.gradient[i] = work.real(0.0)
    for k in range(work.tile_conadr[0]):
        work.block_jar.at(k, 0)._assign(-work.block_aref.at(k, 0))


@func
def _rows_along(model, work):
    """Set Jv of all blocks along `search`; return the second derivative of their cost along it at step 0."""
    curve = work.real(0.0)
    multiply_blocks(work, 0, 1, work.search)
    for k in range(work.tile_conadr[0]):
        curve += block_curve(work, work.blocks, k, work.block_dim[k])
    body_motions(model, work, work.search)
    for j in range(work.tile_nboth[0]):
        own_velocity(model, work, j, True)
        curve += block_curve(work, work.own, j, model.naxis)
    for j in range(work.tile_nboth[0], work.tile_nown[0]):
        own_velocity(model, work, j, False)
        curve += block_curve(work, work.own, j, model.naxis)
    return curve


@func
def _force(model, work):
    """Move all blocks tree_step along Jv; set their forces, and qfrc_constraint = J' force."""
    constraint_force(model, work, 0, 1)
    step = work.real(0.0) + work.tree_step[0]
    for j in range(work.tile_nown[0]):
        move_block(work.own, j, model.naxis, step)
        block_force(work, work.own, j, model.naxis)
        own_wrench(model, work, j)
    collect_wrenches(model, work)


@func
def _gradient(model, work):
    """Set `gradient`, cg_change (its change) and cg_scaled (a copy to be preconditioned); return its squared length."""
    square = work.real(0.0)
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        gradient = (work.M_dqacc[i] - work.qfrc_unbalanced[i]) - work.qfrc_constraint[i]
        work.cg_change[i] = gradient - work.gradient[i]
        work.cg_scaled[i] = gradient
        work.gradient[i] = gradient
        square += gradient * gradient
    return square


@func
def _direction(model, work, before):
    """Set the search direction -z + beta search, with z = P^-1 gradient and beta = z' change / `before`, at least 0.

    The direction is just -z in lanes in which the other would not descend. Returns z' gradient, the next `before`.
    """
    solve_preconditioner(model, work, work.cg_scaled)
    now, gained, along = work.real(0.0), work.real(0.0), work.real(0.0)
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        z = work.cg_scaled[i]
        now += work.gradient[i] * z
        gained += work.cg_change[i] * z
        along += work.gradient[i] * work.search[i]
    # Polak and Ribiere's beta; 0 where the direction would not descend.
    beta = ti.max(gained / ti.max(before, TINY), 0.0)  # lanes that are done may have had no gradient at all
    beta = ti.select(beta * along < now, beta, work.real(0.0))
    for k in range(model.nv):
        i = below(SMALL_BITS, k)
        work.search[i] = beta * work.search[i] - work.cg_scaled[i]
    return now


@func
def _step(model, work, curve):
    """Move along `search` to the minimum, and set tree_step, 0 in lanes that have converged.

    `curve` is the second derivative of the blocks' cost at step 0.
    """
    multiply_mass(model, work, work.search, work.M_search)
    linear, quadratic, _square, descent = sums_along(model, work, 0)
    work.tree_linear[0] = linear
    work.tree_quadratic[0] = quadratic
    work.tree_enough[0] = ti.abs(descent) * SLOPE
    work.tree_settled[0] = work.tree_done[0]
    # First trial: the minimum if the active set does not change.
    work.tree_step[0] = -descent / (quadratic + curve)
    search(model, work, 0, 1, False)
    work.tree_step[0] = ti.select(work.tree_done[0] > 0.5, work.real(0.0), work.tree_step[0])
    move_dofs(model, work, 0, 1)


@func
def solve_preconditioner(model, work, x):
    """Overwrite `x` (nv,) by P^-1 x, with P the matrix of `preconditioner`."""
    for t in range(model.ntree):
        first = model.tree_dofadr[t]
        if model.tree_is_body[t] == 1:
            solve_body(first, work.M_pattern.start(first), work.H_L, work.H_inv, x)
        else:
            solve_to_root(first, first + model.tree_dofnum[t], work.M_pattern, work.H_L, x)
            dofs = work.group_dofadr[t]  # without couplings every tree is a group
            behind = dofs + work.group_dofnum[t]
            solve_from_root(dofs, behind, work.group_dof, work.M_pattern, work.H_L, work.H_inv, x)


@func
def multiply_mass(model, work, x, y):
    """Set `y` = M x; both (nv,)."""
    for t in range(model.ntree):
        first = model.tree_dofadr[t]
        if model.tree_is_body[t] == 1:
            multiply_body(first, work.M_pattern.start(first), work.M, x, y)
        else:
            multiply(first, first + model.tree_dofnum[t], work.M_pattern, work.M, x, y)
