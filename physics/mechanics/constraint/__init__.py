"""Soft constraints and the two solvers of their convex problem.

The acceleration qacc (nv,) minimises the cost

    1/2 (a - a0)' M (a - a0) + sum over rows of s(J a - aref)

over accelerations a, with a0 the unconstrained acceleration (qacc_smooth), J the constraint Jacobian (MuJoCo's efc_J)
and aref the reference acceleration (efc_aref); see the MuJoCo documentation, Computation: The constraint model, and
Todorov 2014, "Convex and analytically-invertible dynamics with contacts and constraints". A row of stiffness D (efc_D,
one over the regulariser R) costs D x^2 / 2 where x = J a - aref < 0, and nothing elsewhere. Its force (efc_force) is
minus the derivative of its cost.

Words of this room:
    block: one constraint: a contact with all of its rows, or one row of a limit, friction loss or equality. The fields
        block_* hold blocks: first `tile_conadr` that are not contacts, then one for each contact slot.
    axis: a component of contact space: normal, two tangents, spin, two rolls. A contact of condim d has the first d.
        Its 2 (d - 1) pyramid rows are x_normal +- mu_i x_i with one common D, so products and Hessians need d rows
        of J.
    jar: J qacc - aref of an axis. Jv: J times the search direction.
    tile, lane: W environments that are solved side by side, and one of them. A mask holds 1.0 or 0.0 for each lane.
    group, island: trees that blocks couple in some lane of the tile, and trees coupled in one lane (`islands`).

Parts with constraint rows (`parts.part.ConstraintRows`) and `contacts` append blocks; `rows` multiplies by their
Jacobians; `cost` (with
`cone` for elliptic cones) has the cost of a block and its derivatives. The problem (`problem`) and the line search
(`line_search`) serve two solvers: `newton`, whose Hessian is in `hessian` and `hessian_pattern`, and
`conjugate_gradients`, for scenes of many bodies, over the contacts of each lane (`own_contacts`, `bodies`).
"""
