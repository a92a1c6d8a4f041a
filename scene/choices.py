"""Names of choices, as scripts write them: `gs.constraint_solver.Newton`."""


class integrator:
    """Names of integrators."""

    Euler = "Euler"
    implicitfast = "implicitfast"
    approximate_implicitfast = "approximate_implicitfast"
    implicit = "implicit"
    RK4 = "RK4"


class constraint_solver:
    """Names of constraint solvers."""

    Newton = "Newton"
    CG = "CG"


class friction_cone:
    """Names of friction cones."""

    pyramidal = "pyramidal"
    elliptic = "elliptic"
