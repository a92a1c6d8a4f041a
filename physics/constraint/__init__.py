"""Soft constraints and their solver.

Constraint forces minimise the cost 1/2 (a - a0)' M (a - a0) + sum of s(J a - aref) over accelerations a, with a0 the
unconstrained acceleration (MuJoCo documentation, Computation: The constraint model). A row with stiffness D costs
D x^2 / 2 where x = J a - aref < 0 and nothing elsewhere.

Constraints are blocks in one list: `limits` and `contacts` make them, `cost` says what they cost, `rows` multiplies by
their Jacobians. A contact of dimension d is kept in contact space, the d axes (normal, two tangents, spin, two rolls):
its 2 (d - 1) pyramid rows are x_normal +- mu_i x_i with one common D, so products and Hessians need d rows instead.

Two solvers share the problem (`problem`) and the line search: `newton`, with a Hessian (`hessian`,
`hessian_pattern`), and `conjugate_gradients` for crowds, over each lane's own contacts (`own_contacts`) by way of
bodies (`bodies`).
"""
