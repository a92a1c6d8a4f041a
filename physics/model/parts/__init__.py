"""The parts: mechanisms of the engine, one file each, in the order in which stages call their code.

To add one, write its file and its row here.
"""

from . import (
    activation,
    adhesion,
    dc_motor,
    deadband,
    delays,
    drag,
    equality,
    fluid,
    friction_loss,
    gravcomp,
    joint_forces,
    limits,
    matter,
    orientation,
    pid,
    plastic,
    polynomials,
    sensor_delays,
    sleeping,
    surface_velocity,
    tendons,
    transmissions,
)
from .part import KINDS_OF_ROWS, ActuatorKind, ConstraintRows, Number, Part

_ROWS = (equality, friction_loss, limits)
_PATHS = (tendons, transmissions)
_FORCES = (fluid, gravcomp, polynomials, plastic, matter)
_ACTUATORS = (activation, pid, dc_motor, orientation, delays, joint_forces)
_CONTACTS = (surface_velocity, adhesion)
_EXAMPLES = (deadband, drag)
_MODULES = (*_ROWS, *_PATHS, *_FORCES, *_ACTUATORS, *_CONTACTS, *_EXAMPLES, sleeping, sensor_delays)
PARTS: tuple[Part, ...] = tuple(module.PART for module in _MODULES)
NUMBERS: dict[str, Number] = {name: number for part in PARTS for name, number in part.numbers.items()}
ACTUATOR_KINDS: tuple[ActuatorKind, ...] = tuple(part.actuator for part in PARTS if part.actuator is not None)
ROWS: tuple[ConstraintRows, ...] = tuple(part.rows for part in PARTS if part.rows is not None)
TWO_SIDED: tuple[str, ...] = tuple(part.name for part in PARTS if part.rows is not None and part.rows.two_sided)
"""Features of kernels with rows that hold both ways."""

for _part in PARTS:
    _part.join()
assert [rows.kind for rows in ROWS] == sorted((rows.kind for rows in ROWS), key=KINDS_OF_ROWS.index), "order of rows"
