"""Friction of geoms: the shared coefficients, and per-environment ratios."""

from abc import ABC, abstractmethod

import numpy as np

from ..physics.base.arguments import CheckedEnvs, as_real, on_host
from ..physics.solver.solver import RigidSolver
from .checks import Numbers

SLIDING, TORSIONAL, ROLLING = range(3)
"""Places in MuJoCo's geom_friction."""


class Friction:
    """The friction coefficients of all geoms.

    Attributes:
        base: (ngeom, 3): sliding, torsional (m), rolling (m); of all environments, before ratios.
    """

    def __init__(self, solver: RigidSolver) -> None:
        self._solver = solver
        self.base = np.array(solver.model.mj.geom_friction)
        self._ratio: np.ndarray | None = None

    def set_base(self, geoms: np.ndarray, place: int, name: str, value: Numbers) -> None:
        """Give geoms (k,) a coefficient in all environments; ratios stay.

        Raises:
            ValueError: it is negative or not finite, with the name of the argument.
        """
        coefficient = as_real(name, value)
        if not 0.0 <= coefficient < np.inf:
            raise ValueError(f"{name}={value!r}: it must be finite and not negative")
        self.base[geoms, place] = coefficient
        self._apply(geoms, None)

    def set_ratio(self, geoms: np.ndarray, ratios: np.ndarray, envs: CheckedEnvs | None) -> None:
        """Multiply the sliding friction of geoms (k,) by ratios (n, k) in environments."""
        if self._ratio is None:
            self._ratio = np.ones((self._solver.num_envs, len(self.base)))
        self._ratio[self._rows(envs), geoms] = ratios
        self._apply(geoms, envs)

    def _apply(self, geoms: np.ndarray, envs: CheckedEnvs | None) -> None:
        values = self.base[geoms]
        if self._ratio is not None:
            ratio = self._ratio[self._rows(envs), geoms][..., None]
            values = values * np.concatenate((ratio, np.ones((*ratio.shape[:2], 2))), -1)
        self._solver.parameters.set_items(envs, geom_friction=(geoms, values))

    def _rows(self, envs: CheckedEnvs | None) -> np.ndarray:
        """Return environments (n, 1) for an array of all."""
        index = np.arange(self._solver.num_envs) if envs is None else on_host(envs.index)
        return np.asarray(index)[:, None]


class WithFriction(ABC):
    """An entity, a link or a geom, whose friction coefficients are set in all environments."""

    @abstractmethod
    def _frictional(self) -> tuple[Friction, np.ndarray]:
        """Return the friction of the scene, and the numbers of the geoms, (k,)."""

    def set_friction(self, friction: float) -> None:
        """Set the sliding friction coefficient in all environments."""
        self._set_friction(SLIDING, "friction", friction)

    def set_friction_torsional(self, friction_torsional: float) -> None:
        """Set the torsional friction coefficient, m, in all environments."""
        self._set_friction(TORSIONAL, "friction_torsional", friction_torsional)

    def set_friction_rolling(self, friction_rolling: float) -> None:
        """Set the rolling friction coefficient, m, in all environments."""
        self._set_friction(ROLLING, "friction_rolling", friction_rolling)

    def _set_friction(self, place: int, name: str, value: float) -> None:
        friction, geoms = self._frictional()
        friction.set_base(geoms, place, name, value)
