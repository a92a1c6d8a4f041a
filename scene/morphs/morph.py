"""The pose of an entity, which all morphs have."""

from typing import Any, ClassVar

from ...physics.machine.scalars import as_count
from ..checks import numbers
from ..poses import quat_of_euler, unit_quat
from ..records import put, record

ALL_BITS = 0xFFFF
"""A bit mask that meets all others."""


@record
class Morph:
    """A shape and the pose at which its entity begins.

    Attributes:
        pos: position of the entity, (3,) m.
        euler: angles, (3,) degrees; or
        quat: a quaternion, (4,), w first, of any length but 0.
        visualization: whether it is drawn.
        collision: whether it touches anything.
    """

    pos: Any = (0.0, 0.0, 0.0)
    euler: Any = None
    quat: Any = None
    visualization: bool = True
    collision: bool = True
    NAME: ClassVar[str] = "morph"

    def __post_init__(self) -> None:
        """Raise if the pose is invalid.

        Raises:
            ValueError: the message has the argument.
        """
        owner = type(self).__name__
        if self.pos is not None:
            put(self, pos=numbers(owner, "pos", self.pos, 3))
        if self.euler is not None:
            if self.quat is not None:
                raise ValueError(f"{owner}: give euler or quat, not both")
            put(self, euler=numbers(owner, "euler", self.euler, 3))
            put(self, quat=tuple(quat_of_euler(self.euler).tolist()))
        elif self.quat is not None:
            quat = numbers(owner, "quat", self.quat, 4)
            if not any(quat):
                raise ValueError(f"{owner}: quat={self.quat!r}: a quaternion must have a length")
            put(self, quat=tuple(unit_quat(quat).tolist()))
        if not self.visualization and not self.collision:
            raise ValueError(f"{owner}: visualization and collision cannot both be False: nothing would be left")

    @property
    def place(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Position (3,) m and quaternion (4,) at which the entity begins."""
        return self.pos or (0.0, 0.0, 0.0), self.quat or (1.0, 0.0, 0.0, 0.0)


@record
class Nowhere(Morph):
    """No shape: particles of matter that do not exist yet, which an emitter brings.

    Attributes:
        n_particles: how many.
    """

    n_particles: int
    NAME: ClassVar[str] = "emitter"

    def __post_init__(self) -> None:
        """Refuse a number below 1; errors as in `Morph`."""
        super().__post_init__()
        put(self, n_particles=as_count("Nowhere: n_particles", self.n_particles))
