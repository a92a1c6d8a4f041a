"""Materials of entities: what they weigh, and how they touch."""

from typing import Any

from .checks import numbers
from .records import put, put_numbers, record


@record
class Rigid:
    """A rigid body's material.

    Attributes:
        rho: density, kg/m3, of shapes and meshes, and of what weighs by its volume in a file: shapes of a density of 0,
            those with a mass, and bodies with an inertia keep it. None: 600 for shapes and meshes; in MJCF what the
            file says; in URDF, where that says nothing, 600 for what has no joints, and 1500 for what has.
        friction: sliding friction coefficient; None: 1 for shapes and meshes, and what a file says.
        friction_torsional: torsional friction, m; None: 0.005 for shapes and meshes, and what a file says.
        friction_rolling: rolling friction, m; None: 0.0001 for shapes and meshes, and what a file says.
        sol_params: stiffness of contacts, (7,): time constant (s), damping ratio, then dmin, dmax, width (m),
            midpoint, power, as MuJoCo's solref and solimp; None: those of `RigidOptions`, and what a file says.
        gravity_compensation: share of its weight that is taken off; 1: it floats.
        sdf_cell_size, sdf_min_res, sdf_max_res: of distance fields: cells (m), and how many along the longest side.
    """

    rho: float | None = None
    friction: float | None = None
    friction_torsional: float | None = None
    friction_rolling: float | None = None
    sol_params: Any = None
    gravity_compensation: float = 0.0
    sdf_cell_size: float = 0.005
    sdf_min_res: int = 32
    sdf_max_res: int = 128

    def __post_init__(self) -> None:
        """Refuse numbers that no material has.

        Raises:
            ValueError: with the argument.
        """
        put_numbers(self, "rho", above=0.0)
        put_numbers(self, "friction", "friction_torsional", "friction_rolling", "sdf_cell_size", least=0.0)
        put_numbers(self, "gravity_compensation")
        if self.sol_params is not None:
            put(self, sol_params=numbers("Rigid", "sol_params", self.sol_params, 7))
