"""The parts: mechanisms of the engine, one file each, in the order in which stages call their code.

To add one, write its file and its row here.
"""

from . import dc_motor, deadband, drag, gravcomp, orientation, pid, plastic
from .part import ActuatorKind, Number, Part

PARTS: tuple[Part, ...] = tuple(
    module.PART for module in (gravcomp, plastic, pid, dc_motor, orientation, deadband, drag)
)
NUMBERS: dict[str, Number] = {name: number for part in PARTS for name, number in part.numbers.items()}
ACTUATOR_KINDS: tuple[ActuatorKind, ...] = tuple(part.actuator for part in PARTS if part.actuator is not None)
