"""Matter: particles of one material, as a solver is made of them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .materials import MatterMaterial


@dataclass(frozen=True)
class Matter:
    """Particles of one material.

    Attributes:
        name: for messages.
        material: what they are of.
        positions: where they begin, (n, 3), m; those that do not exist yet begin anywhere inside of the bounds.
        velocity: at the begin, (3,), m/s.
        exists: whether they exist from the begin; else `MPMSolver.emit` and `set_active` bring them.
        volume: of a particle, m3.
    """

    name: str
    material: MatterMaterial
    positions: np.ndarray
    volume: float
    velocity: Any = (0.0, 0.0, 0.0)
    exists: bool = True
    count: int = field(init=False)

    def __post_init__(self) -> None:
        """Refuse invalid positions.

        Raises:
            ValueError: with the name.
        """
        positions = np.asarray(self.positions, np.float32)
        if positions.ndim != 2 or positions.shape[1] != 3 or not len(positions):
            raise ValueError(f"matter '{self.name}': expected positions (n, 3) of at least one particle")
        if not np.isfinite(positions).all():
            raise ValueError(f"matter '{self.name}': a position is not finite")
        if not self.volume > 0:
            raise ValueError(f"matter '{self.name}': volume={self.volume:g}: expected a volume above 0, m3")
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "count", len(positions))
