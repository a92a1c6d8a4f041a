"""Products and solutions with matrices of M's pattern, tree by tree, with short code for trees of one free body."""

from ...base.math import func
from ..dynamics.body_matrix import multiply_body, solve_body
from ..dynamics.tree_matrix import multiply, solve_from_root, solve_to_root


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
