"""Matter and bodies for tests."""

import numpy as np

from tumble.physics import Model, RigidSolver
from tumble.soft import Coupler, Matter, MPMSolver


def filled(low, cells, dx, per_cell=2):
    """Particles of a box of cells, (n, 3), m."""
    axes = [start + (np.arange(per_cell * n) + 0.5) * dx / per_cell for start, n in zip(low, cells, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)


def matter_of(material, low, cells, dx, name="matter", **options):
    """Matter that fills a box of cells."""
    return Matter(name, material, filled(low, cells, dx), (dx / 2) ** 3, **options)


def coupled(xml, matters, n=1, substeps=10, friction=0.1, **domain):
    """A coupler of a model of MJCF, whose bodies are inside of <worldbody>, with matter."""
    matter = MPMSolver(matters, n, **domain)
    timestep = substeps * matter.dt
    gravity = " ".join(map(str, domain.get("gravity", (0, 0, -9.81))))
    text = f"<mujoco><option timestep='{timestep!r}' gravity='{gravity}'/><worldbody>{xml}</worldbody></mujoco>"
    return Coupler(RigidSolver(Model.from_mjcf(text, matter=True), n), matter, friction=friction, softness=0.0)
