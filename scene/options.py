"""Options of a scene: time and gravity, contacts and their solver, pictures and viewers."""

from typing import Any

from ..physics.scalars import as_count, as_flag
from .checks import number, numbers
from .records import nearest, put, record

INTEGRATORS = {
    "Euler": "euler",
    "implicitfast": "implicitfast",
    "approximate_implicitfast": "implicitfast",
    "implicit": "implicit",
    "RK4": "rk4",
}
"""MuJoCo's integrator by a user's name for it."""
SOLVERS = {"Newton": "newton", "CG": "cg"}
CONES = {"pyramidal": "pyramidal", "elliptic": "elliptic"}


@record
class SimOptions:
    """Time and gravity.

    Attributes:
        dt: seconds that `Scene.step` simulates.
        substeps: physics steps in one `Scene.step`; the physics' own time step is dt / substeps.
        gravity: (3,) m/s2; a number is taken along z.
    """

    dt: float = 0.01
    substeps: int = 1
    gravity: Any = (0.0, 0.0, -9.81)
    requires_grad: bool = False

    def __post_init__(self) -> None:
        """Refuse impossible times.

        Raises:
            ValueError: with the argument.
        """
        put(self, dt=number("SimOptions", "dt", self.dt, above=0.0))
        put(self, substeps=as_count("SimOptions: substeps", self.substeps))
        along_z = isinstance(self.gravity, int | float)
        put(self, gravity=numbers("SimOptions", "gravity", (0.0, 0.0, self.gravity) if along_z else self.gravity, 3))
        if self.requires_grad:
            raise ValueError("SimOptions: requires_grad=True: steps have no gradients yet; leave it out")

    @property
    def timestep(self) -> float:
        """The physics' own time step, s."""
        return self.dt / self.substeps


@record
class RigidOptions:
    """Contacts, constraints and integration of rigid bodies.

    Attributes:
        enable_collision: whether anything touches.
        enable_joint_limit: whether joints have limits.
        enable_self_collision: whether links of one entity touch each other.
        enable_adjacent_collision: whether a link touches its parent.
        disable_constraint: switches contacts, limits, friction losses and equalities off.
        integrator: "approximate_implicitfast" or "implicitfast", "Euler", "implicit" or "RK4".
        constraint_solver: "Newton" or "CG".
        iterations: most iterations of that.
        tolerance: at which it stops, in MuJoCo's units; None: 1e-8.
        ls_iterations, ls_tolerance: of its line search.
        noslip_iterations, noslip_tolerance: of the noslip solver, 0: none.
        friction_cone: "pyramidal" or "elliptic".
        enable_torsional_friction, enable_rolling_friction: whether shapes and meshes resist spinning, and rolling.
        impratio: how much stiffer contacts are along their friction, with elliptic cones; None: 1.
        constraint_timeconst: time constant of contacts of shapes and meshes, s; physics takes no less than twice its
            time step.
        max_contacts: most contacts of an environment; None: as many as the model may need.
    """

    enable_collision: bool = True
    enable_joint_limit: bool = True
    enable_self_collision: bool = True
    enable_adjacent_collision: bool = False
    disable_constraint: bool = False
    integrator: str = "implicitfast"
    constraint_solver: str = "Newton"
    iterations: int = 100
    tolerance: float | None = None
    ls_iterations: int = 50
    ls_tolerance: float = 0.01
    noslip_iterations: int = 0
    noslip_tolerance: float = 1e-6
    friction_cone: str = "pyramidal"
    enable_torsional_friction: bool = False
    enable_rolling_friction: bool = False
    impratio: float | None = None
    constraint_timeconst: float = 0.01
    max_contacts: int | None = None

    def __post_init__(self) -> None:
        """Refuse options that no physics has.

        Raises:
            ValueError: with the argument.
        """
        for name, known in (("integrator", INTEGRATORS), ("constraint_solver", SOLVERS), ("friction_cone", CONES)):
            if getattr(self, name) not in known:
                raise ValueError(f"RigidOptions: {name}={getattr(self, name)!r}{nearest(getattr(self, name), known)}")
        for name in (
            *("enable_collision", "enable_joint_limit", "enable_self_collision", "enable_adjacent_collision"),
            *("disable_constraint", "enable_torsional_friction", "enable_rolling_friction"),
        ):
            put(self, **{name: as_flag(f"RigidOptions: {name}", getattr(self, name))})
        put(self, iterations=as_count("RigidOptions: iterations", self.iterations))
        put(self, ls_iterations=as_count("RigidOptions: ls_iterations", self.ls_iterations))
        put(self, noslip_iterations=as_count("RigidOptions: noslip_iterations", self.noslip_iterations, least=0))
        for name in ("tolerance", "impratio", "ls_tolerance", "noslip_tolerance", "constraint_timeconst"):
            if getattr(self, name) is not None:
                put(self, **{name: number("RigidOptions", name, getattr(self, name), above=0.0)})
        if self.max_contacts is not None:
            put(self, max_contacts=as_count("RigidOptions: max_contacts", self.max_contacts))
