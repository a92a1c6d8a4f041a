"""The solver of a scene's matter: an `MPMSolver` with the names that Genesis' solver has, too."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...physics.solver.user.tensors import StateGroup
from ...soft.mpm.solver import MPMSolver
from ..entity.mpm_entity import MPMEntity
from ..options import MPMOptions
from .tensors import groups_of


class SceneMPMSolver(MPMSolver):
    """The solver of a scene's matter.

    Args:
        entities: the matter.
        num_envs: number of environments.
        options: grid, bounds, particles.
        dt: length of a substep, s.
        gravity: (3,) m/s2.

    Attributes:
        entities (list[MPMEntity]): the matter, in the order of its particles.
        grid_density (float): cells of the grid in a metre.
        particle_size (float): side of the cube that a particle stands for, m.
        particles, particles_ng, particles_info, particles_render (StateGroup): tensors of all particles.
    """

    particles: StateGroup
    particles_ng: StateGroup
    particles_info: StateGroup
    particles_render: StateGroup

    def __init__(
        self, entities: Sequence[MPMEntity], num_envs: int, options: MPMOptions, dt: float, gravity: Any
    ) -> None:
        matters, bounds = [entity.matter for entity in entities], (options.lower_bound, options.upper_bound)
        super().__init__(matters, num_envs, *bounds, options.grid_density, dt, gravity)
        self.entities, self.particle_size = list(entities), options.spacing
        self.grid_density = float(options.grid_density)
        vars(self).update(groups_of(self))

    @property
    def particle_radius(self) -> float:
        """Half the size of a particle, m."""
        return self.particle_size / 2

    @property
    def inv_dx(self) -> float:
        """Cells of the grid in a metre."""
        return self.grid_density

    @property
    def lower_bound(self) -> np.ndarray:
        """The lower corner of the box that matter cannot leave, (3,) m."""
        return self.domain.lower.copy()

    @property
    def upper_bound(self) -> np.ndarray:
        """The upper corner of the box that matter cannot leave, (3,) m."""
        return self.domain.upper.copy()

    @property
    def grid_res(self) -> np.ndarray:
        """Numbers of nodes of the grid, (3,)."""
        return self.domain.nodes.copy()

    @property
    def is_built(self) -> bool:
        """True: the scene is built."""
        return True

    @property
    def enable_CPIC(self) -> bool:
        """False: thin bodies do not divide matter."""
        return False
