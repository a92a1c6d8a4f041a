"""The material of rigid bodies: their density, friction and contact stiffness, and how matter touches them."""

from typing import Any

from ...physics.machine.scalars import as_flag
from ..checks import numbers
from ..records import put, put_numbers, record


@record
class Rigid:
    """A rigid body's material.

    Attributes:
        rho: density, kg/m3, of shapes and meshes, and of geoms that weigh by their volume in a file: shapes of a
            density of 0, shapes with a mass, and bodies with an inertia keep it. None: 600 for shapes and meshes; in
            MJCF the file's value; in URDF without a value, 600 for bodies without joints, and 1500 with joints.
        friction: sliding friction coefficient; None: 1 for shapes and meshes, else the file's.
        friction_torsional: torsional friction, m; None: 0.005 for shapes and meshes, else the file's.
        friction_rolling: rolling friction, m; None: 0.0001 for shapes and meshes, else the file's.
        sol_params: stiffness of contacts, (7,): time constant (s), damping ratio, then dmin, dmax, width (m),
            midpoint, power, as MuJoCo's solref and solimp; None: from `RigidOptions`, or from the file.
        gravity_compensation: share of its weight that is taken off; 1: it floats.
        sdf_cell_size, sdf_min_res, sdf_max_res: of distance fields: cells (m), and how many along the longest side.
        needs_coup: whether matter (`materials.MPM`) touches it.
        coup_friction: coefficient of friction of matter on it.
        coup_softness: distance at which the contact of matter fades, m.
        coup_restitution: share of its speed with which matter leaves it, from 0 to 1.
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
    needs_coup: bool = True
    coup_friction: float = 0.1
    coup_softness: float = 0.002
    coup_restitution: float = 0.0

    def __post_init__(self) -> None:
        """Refuse numbers that no material has.

        Raises:
            ValueError: the message has the argument.
        """
        put_numbers(self, "rho", above=0.0)
        put_numbers(self, "friction", "friction_torsional", "friction_rolling", "sdf_cell_size", least=0.0)
        put_numbers(self, "gravity_compensation")
        put(self, needs_coup=as_flag("Rigid: needs_coup", self.needs_coup))
        put_numbers(self, "coup_friction", "coup_softness", least=0.0)
        put_numbers(self, "coup_restitution", least=0.0, most=1.0)
        if self.sol_params is not None:
            put(self, sol_params=numbers("Rigid", "sol_params", self.sol_params, 7))
