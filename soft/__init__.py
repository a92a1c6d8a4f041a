"""Matter that flows: a solver for it beside that of rigid bodies, and a coupler that joins both.

`Matter` is particles of a material (`Liquid`, `Sand`, ...), `MPMSolver` moves it, `Coupler` steps it with a solver of
rigid bodies.
"""

from .coupling.coupler import Coupler, ThinGeomWarning
from .mpm.materials import Elastic, ElastoPlastic, Liquid, Sand, Snow
from .mpm.matter import Matter
from .mpm.solver import MPMSolver

__all__ = [
    "Coupler",
    "Elastic",
    "ElastoPlastic",
    "Liquid",
    "MPMSolver",
    "Matter",
    "Sand",
    "Snow",
    "ThinGeomWarning",
]
