"""CoupledSolver: bodies and matter that step together, as the environments of a task see them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...physics import Model, RigidSolver
from ...physics.machine.closed import invalidate
from ...physics.machine.scalars import as_count
from ...physics.rendering.particles.group import ParticleGroup
from ...physics.run.interface import CLOSED, ClosedSolverError
from ...physics.solver.user.solver_names import SolverNames
from ...soft import Coupler, Elastic, ElastoPlastic, Liquid, MPMSolver, Sand, Snow
from ..task.matter import READS, TaskMatter
from ..task.scene_entities import nearest
from .materials import MaterialTable
from .state import CoupledParameters, CoupledQuantities, CoupledState

_LOOKS: dict[type, dict[str, Any]] = {
    Liquid: {"rgba": (0.25, 0.55, 0.85, 1.0), "roughness": 0.1, "specular": 0.6, "as_surface": True},
    Sand: {"rgba": (0.82, 0.68, 0.44, 1.0), "roughness": 0.95, "specular": 0.05},
    Snow: {"rgba": (0.94, 0.96, 0.98, 1.0), "roughness": 0.9},
    Elastic: {"rgba": (0.85, 0.45, 0.4, 1.0), "as_surface": True},
    ElastoPlastic: {"rgba": (0.92, 0.82, 0.64, 1.0), "as_surface": True},
}
"""The look of matter of which a task says nothing, by material."""
_RADIUS = {True: 0.75, False: 0.55}
"""Radius of a particle, as a share of the edge of the cube that it stands for: of a surface, and of spheres."""


class CoupledSolver(SolverNames):
    """Bodies of a model and matter, in `num_envs` environments.

    It has the members of `RigidSolver` that environments use, with the same arguments, results and errors: `state`
    covers both, `get` has quantities of particles ("particles_pos"), and parameters have those of materials
    ("water.viscosity"). An environment that one of the two solvers stops is stopped in both.

    Args:
        model: loaded with `matter=True`.
        num_envs: number of environments.
        outputs: quantities that every step delivers.
        matter: of the task.

    Attributes:
        rigid (RigidSolver): bodies.
        matter (MPMSolver): particles.
        coupler (Coupler): steps both.

    Raises:
        ValueError: matter does not fit its bounds, time steps do not fit, or a geom does not exist.
    """

    state: CoupledState

    def __init__(self, model: Model, num_envs: int, outputs: Sequence[str], matter: TaskMatter) -> None:
        wanted = [name for name in outputs if name not in READS]
        self.rigid = rigid = RigidSolver(model, num_envs=num_envs, outputs=wanted)
        bounds = matter.lower_bound, matter.upper_bound
        gravity = model.mj.opt.gravity.tolist()
        self.matter = MPMSolver(matter.matters, num_envs, *bounds, matter.grid_density, matter.dt, gravity)
        geoms = None if matter.geoms is None else [_geom(model, geom) for geom in matter.geoms]
        contact = {"friction": matter.friction, "softness": matter.softness, "restitution": matter.restitution}
        self.coupler = Coupler(rigid, self.matter, geoms, **contact)
        self.model, self.num_envs, self.runtime = model, rigid.num_envs, rigid.runtime
        self.device, self.dtype = rigid.device, rigid.dtype
        self.notes = [*rigid.notes, *self.coupler.notes]
        self._looks, table = matter.looks, MaterialTable(self.matter)
        for name in SolverNames.__annotations__:
            setattr(self, name, getattr(rigid, name))
        self.state = CoupledState(rigid, self.matter, table)
        self.quantities = CoupledQuantities(rigid, self.matter)
        self.parameters = CoupledParameters(rigid, self.matter, table)
        self._objects = [self, self.matter, self.state, self.quantities, self.parameters]
        for part in self._objects:
            self.runtime.adopt(part)

    def __repr__(self) -> str:
        return f"CoupledSolver({self.num_envs} environments, {self.matter.n_particles} particles, {self.rigid!r})"

    def step(self, n: int = 1, ctrl: Any = None) -> None:
        """Take `n` physics steps, with the substeps of matter in each; arguments as of `RigidSolver.step`."""
        self.runtime.require()
        self.coupler.step(as_count("n", n), ctrl)
        self.state.written.zero_()

    def set_state(self, qpos: Any = None, qvel: Any = None, envs_idx: Any = None, act: Any = None, **more: Any) -> None:
        """Write coordinates and velocities of bodies: `RigidSolver.set_state`."""
        self.state.set(envs_idx, qpos=qpos, qvel=qvel, act=act, **more)

    def set_particles(self, envs_idx: Any = None, **values: Any) -> None:
        """Write particles: `state.set_particles`."""
        self.state.set_particles(envs_idx, **values)

    def forward(self, envs_idx: Any = None) -> None:
        """Bring the derived quantities of environments to their present state; nothing moves."""
        self.rigid.forward(envs_idx)

    def forward_changed(self) -> None:
        """Call `forward` for the environments that changed since."""
        self.rigid.forward_changed()

    def close(self) -> None:
        """Give the memory of this batch back; all else asked of the solver and its objects raises ClosedSolverError."""
        rigid = self.rigid
        for part in self._objects:
            invalidate(part, ClosedSolverError, CLOSED, keeps=("close",))
        rigid.close()

    @property
    def particle_groups(self) -> list[ParticleGroup]:
        """The particles as they are drawn at the present state, a group for each matter."""
        groups, solver = [], self.matter
        for each, start in zip(solver.matters, solver.starts[:-1], strict=True):
            own = slice(start, start + each.count)
            usual = next((look for kind, look in _LOOKS.items() if isinstance(each.material, kind)), {})
            look = {**usual, **self._looks.get(each.name, {})}
            share = _RADIUS[bool(look.get("as_surface"))]
            look = {"radius": share * float(np.cbrt(each.volume)), **look}
            active = solver.get("active", None, own)
            groups.append(ParticleGroup(centers=solver.get("pos", None, own), active=active, **look))
        return groups


def _geom(model: Model, geom: str | int) -> int:
    """Return the number of a geom.

    Raises:
        ValueError: no geom has that name; the message has the nearest.
    """
    if not isinstance(geom, str):
        return int(geom)
    names = [model.mj.geom(number).name for number in range(model.mj.ngeom)]
    if geom not in names:
        raise ValueError(
            f"matter touches no geom {geom!r}, for the model has none; {nearest(geom, filter(None, names))}"
        )
    return names.index(geom)
