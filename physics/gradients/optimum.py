"""The tangents of qacc, by the condition at the optimum of the constrained acceleration.

At the optimum the gradient of the cost is zero: M qacc - (smooth forces) - J' f(J qacc - aref) = 0. Along a direction,
H dqacc = -d(gradient at constant qacc), with the Hessian H of Newton's method: the implicit function theorem (Blondel
et al., Efficient and modular implicit differentiation, 2022). So nothing of the iteration is differentiated.
"""

from ..base.math import func
from ..base.stage import STAGES, Stage, stage
from ..mechanics.constraint.hessian import solve_hessian, start_hessian, update_hessian
from ..mechanics.constraint.islands import dofs_of, trees_of
from ..mechanics.constraint.problem import BLOCKS, SOLUTION, constraint_force, place_blocks
from ..mechanics.dynamics.smooth import FORCES, MOTION, RESIDUAL, force_residual

OPTIMUM: dict[str, Stage] = {}
"""The stages of this file by name; no step has them."""
_GROUPS = "tile_ngroup tree_group group_tree group_treeadr group_treenum group_dofadr group_dofnum group_dof"
_HESSIAN = "H H_rownnz H_rowadr H_colind H_order H_parent H_ncouple H_couple depth_place"
_WEIGHTS = "block_column block_weight cone_zone cone_weight weight_change cross_change cone_row tree_part"


@stage(
    registry=OPTIMUM,
    reads=(*BLOCKS, "M M_rownnz M_rowadr M_colind", _GROUPS),
    updates=(*SOLUTION, _HESSIAN, _WEIGHTS, "tree_done"),
)
def factor_optimum(model, work):
    """Factor the Hessian of the final active set in H_L; Newton's last one belongs to the step before the last."""
    for g in range(work.tile_ngroup[0]):
        first, end = trees_of(work, g)
        for s in range(first, end):
            work.tree_done[work.group_tree[s]] = work.real(0.0)
        place_blocks(work, first, end, work.qacc)
        start_hessian(model, work, first, end)
        update_hessian(model, work, first, end, 1)


@stage(
    registry=OPTIMUM,
    reads=(*FORCES, *BLOCKS, "H_L H_inv H_rownnz H_rowadr H_colind H_order H_parent H_ncouple H_couple", _GROUPS),
    updates=(MOTION, *SOLUTION, "qfrc_unbalanced tree_step tree_done"),
    hooks=RESIDUAL,
)
def acceleration_tangent(model, work):
    """Set the tangents of qacc, given the factor of `factor_optimum`."""
    for i in range(model.nv):
        work.twins.qacc[i] = work.real(0.0)
    force_residual(model, work, work.qacc)
    for g in range(work.tile_ngroup[0]):
        first, end = trees_of(work, g)
        _force_at_optimum(model, work, first, end)
        for s in range(first, end):
            start, behind = dofs_of(model, work.group_tree[s])
            for i in range(start, behind):
                work.search[i] = work.qfrc_unbalanced[i] + work.qfrc_constraint[i]
        solve_hessian(model, work.plain, g, work.twins.search)
    for i in range(model.nv):
        work.twins.qacc[i] = work.twins.search[i]


@stage(
    registry=OPTIMUM,
    reads=(*BLOCKS, "H_rownnz", _GROUPS),
    updates=(*SOLUTION, "tree_step tree_done"),
)
def force_tangent(model, work):
    """Set the tangents of the constraint forces, given those of qacc."""
    for g in range(work.tile_ngroup[0]):
        first, end = trees_of(work, g)
        _force_at_optimum(model, work, first, end)


@func
def _force_at_optimum(model, work, first, end):
    """Set the constraint forces on the trees of a group at qacc."""
    for s in range(first, end):
        tree = work.group_tree[s]
        work.tree_step[tree] = work.real(0.0)
        work.tree_done[tree] = work.real(0.0)
    place_blocks(work, first, end, work.qacc)
    constraint_force(model, work, first, end)


def stage_named(name: str) -> Stage:
    """Return a stage of a step, or of this file."""
    return OPTIMUM[name] if name in OPTIMUM else STAGES[name]
