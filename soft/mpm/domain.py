"""The domain of a solver: its grid, its walls, and what fits into them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .kernels.layout import LANES, MARGIN
from .materials import Liquid, MatterMaterial
from .matter import Matter

COURANT, COURANT_OF_LIQUIDS = 1.0, 0.45
"""Cells that a wave of pressure may cross in a step: beyond, a block that fell at 2 m/s burst in our trials."""
DIFFUSION = 0.1
"""The largest viscosity times dt / rho dx2."""
MOST_NODES = 2**26
"""Nodes of a grid: 1 GiB for each thread."""


@dataclass(frozen=True)
class Domain:
    """A box that matter stays in, with a grid.

    Attributes:
        lower, upper: the walls, (3,), m.
        dx: length of a cell, m.
        origin: place of the first node, (3,), m.
        nodes: numbers of nodes, (3,).
    """

    lower: np.ndarray
    upper: np.ndarray
    dx: float
    origin: np.ndarray
    nodes: np.ndarray

    @staticmethod
    def of(lower: Sequence[float], upper: Sequence[float], grid_density: float) -> "Domain":
        """Return the domain between two corners (m), with a density of cells (1/m).

        Raises:
            ValueError: there is no room between them, or too much for a grid.
        """
        low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
        if low.shape != (3,) or high.shape != (3,) or not np.isfinite([low, high]).all():
            raise ValueError("lower_bound, upper_bound: expected three finite numbers each, m")
        if not (math.isfinite(grid_density) and grid_density > 0):
            raise ValueError(f"grid_density={grid_density:g}: expected cells in a metre, above 0")
        dx = 1.0 / grid_density
        if not (high - low >= 2 * dx).all():
            raise ValueError(
                f"lower_bound={tuple(low)}, upper_bound={tuple(high)}: expected at least two cells of {dx:.4g} m "
                "between them along each axis"
            )
        counts = np.ceil((high - low) / dx - 1e-6) + 2 * MARGIN + 1
        if counts.prod() > MOST_NODES:
            fits = grid_density * (MOST_NODES / counts.prod()) ** (1 / 3)
            raise ValueError(
                f"the bounds have {counts.prod():.3g} nodes at grid_density={grid_density:g}, and {MOST_NODES} are the "
                f"most: draw the bounds closer, or take a grid_density of at most {fits:.3g}"
            )
        return Domain(low, high, dx, low - MARGIN * dx, counts.astype(np.int64))

    def require_inside(self, matter: Matter) -> None:
        """Refuse matter outside of the walls.

        Raises:
            ValueError: with the matter's name, and bounds that would do.
        """
        low, high = matter.positions.min(axis=0), matter.positions.max(axis=0)
        slack = 1e-4 * self.dx
        if (low < self.lower - slack).any() or (high > self.upper + slack).any():
            raise ValueError(
                f"matter '{matter.name}' reaches from {triple(low)} to {triple(high)} m, beyond the bounds from "
                f"{triple(self.lower)} to {triple(self.upper)}: move it, or widen lower_bound and upper_bound to "
                f"{triple(np.minimum(low, self.lower))} and {triple(np.maximum(high, self.upper))}"
            )

    def require_step(self, matter: Matter, dt: float) -> None:
        """Refuse a time step that is too long for matter.

        Raises:
            ValueError: with the matter's name, and the longest step that would do.
        """
        most = self.longest_step(matter.material)
        if not dt <= most * (1 + 1e-9):
            raise ValueError(
                f"matter '{matter.name}': a step of {dt:.4g} s is too long for {type(matter.material).__name__}(E="
                f"{matter.material.E:g}, nu={matter.material.nu:g}, rho={matter.material.rho:g}) in cells of "
                f"{self.dx:.4g} m: at most {most:.3g} s; take more substeps, a softer material or a lower grid_density"
            )

    def longest_step(self, material: MatterMaterial) -> float:
        """Return the longest time step (s) for a material: of pressure waves, and of viscosity."""
        liquid = isinstance(material, Liquid)
        speed = math.sqrt(material.stiffness / material.rho)
        most = (COURANT_OF_LIQUIDS if liquid else COURANT) * self.dx / max(speed, 1e-12)
        if isinstance(material, Liquid) and material.viscosity > 0:
            most = min(most, DIFFUSION * self.dx**2 * material.rho / material.viscosity)
        return most


def blocks_of(count: int) -> int:
    """Return the number of blocks of so many particles."""
    return -(-count // LANES)


def triple(x: Any) -> str:
    """Return three numbers as people read them."""
    return "(" + ", ".join(f"{v:.4g}" for v in x) + ")"
