"""The matter of a built scene beside its bodies: steps, resets, states."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...physics.machine.closed import invalidate
from ...physics.rendering.particles.group import ParticleGroup
from ...physics.run.interface import CLOSED, ClosedSolverError
from ...soft.coupling.coupler import Coupler
from ...soft.mpm.solver import MEMORY
from ..entity.entity import RigidEntity
from ..entity.mpm_entity import MPMEntity
from ..options import MPMOptions, SimOptions
from ..pictures.particles import groups_of
from ..world import Envs, World
from .emitter import Emitter
from .solver import SceneMPMSolver

DIGEST = "digest"
_OF_EMITTERS = "emitter_"


class SceneMatterWorld:
    """The matter of a built scene.

    Args:
        world: the built scene.
        entities: its matter.
        emitters: those of some of it.
        bodies: the rigid entities that matter touches.
        options: of matter.
        sim: time and gravity.
        scale: factor of the diameters with which particles are drawn.

    Attributes:
        solver: of the matter.
        coupler: what steps it with the bodies.
    """

    def __init__(
        self,
        world: World,
        entities: Sequence[MPMEntity],
        emitters: Sequence[Emitter],
        bodies: Sequence[RigidEntity],
        options: MPMOptions,
        sim: SimOptions,
        scale: float = 1.0,
    ) -> None:
        self._world, self._emitters, self._scale = world, list(emitters), scale
        dt = sim.timestep if options.dt is None else options.dt
        gravity = sim.gravity if options.gravity is None else options.gravity
        self.solver = SceneMPMSolver(entities, world.count, options, dt, gravity)
        start = 0
        for entity in entities:
            entity.place(world, start)
            start += entity.n_particles
        for emitter in emitters:
            emitter.place(world)
        touched = _touched(world, bodies)
        self.coupler = Coupler(world.solver, self.solver, **touched)
        self._digest = _digest_of(entities, self.solver, touched)

    def step(self, n: int) -> None:
        """Take n physics steps, with the substeps of matter in each."""
        self.coupler.step(n)

    def reset(self, envs: Envs) -> None:
        """Put matter of environments where it began."""
        self.solver.reset(envs)
        for emitter in self._emitters:
            emitter.memory[self._rows(envs)] = 0.0

    def close(self) -> None:
        """End it: all that is asked of its solver raises ClosedSolverError."""
        invalidate(self.solver, ClosedSolverError, CLOSED)

    @property
    def particle_groups(self) -> list[ParticleGroup]:
        """The particles as they are drawn."""
        return groups_of(self.solver.entities, self._scale)

    # states

    def state_of(self, envs: Envs) -> dict[str, torch.Tensor]:
        """Return all that the future of matter depends on, (k, ...) each."""
        state = self.solver.state_dict(envs)
        rows = self._rows(envs)
        for number, emitter in enumerate(self._emitters):
            state[f"{_OF_EMITTERS}{number}"] = torch.from_numpy(emitter.memory[rows])
        state[DIGEST] = torch.full((len(rows), 1), self._digest)
        return state

    def checked(self, state: Mapping[str, torch.Tensor], envs: Envs) -> dict[str, torch.Tensor]:
        """Return a state of as many environments, whose digest is taken off; of one row, all get that.

        Raises:
            ValueError: it is of other matter.
        """
        rows, digest = self._world.how_many(envs), state.get(DIGEST)
        names = {*MEMORY, DIGEST, *(f"{_OF_EMITTERS}{number}" for number in range(len(self._emitters)))}
        if set(state) != names or digest is None or bool((digest != self._digest).any()):
            raise ValueError(
                "state: its matter is other matter, or has other options (dt, bounds, grid, contacts): build the scene "
                "as it was"
            )
        found = {name: part for name, part in state.items() if name != DIGEST}
        return {name: part if len(part) == rows else part.expand(rows, *part.shape[1:]) for name, part in found.items()}

    def load(self, state: Mapping[str, torch.Tensor], envs: Envs) -> None:
        """Go on from a state that `checked` returned."""
        own = {name: part for name, part in state.items() if not name.startswith(_OF_EMITTERS)}
        self.solver.load_state_dict(own, envs)
        for number, emitter in enumerate(self._emitters):
            emitter.memory[self._rows(envs)] = state[f"{_OF_EMITTERS}{number}"].cpu().numpy()

    def _rows(self, envs: Envs) -> np.ndarray:
        return self._world.indices(envs).cpu().numpy()


def _touched(world: World, bodies: Sequence[RigidEntity]) -> dict[str, Any]:
    """Return the geoms that matter touches, and the numbers of their contacts, as a coupler takes them."""
    mjm = world.model.mj
    found: dict[str, list[Any]] = {name: [] for name in ("geoms", "friction", "softness", "restitution")}
    for entity in bodies:
        own, material = np.arange(entity.geom_start, entity.geom_end), entity.material
        own = own[(mjm.geom_contype[own] | mjm.geom_conaffinity[own]) != 0]
        found["geoms"] += own.tolist()
        for name in ("friction", "softness", "restitution"):
            found[name] += [getattr(material, f"coup_{name}")] * len(own)
    return found


def _digest_of(entities: Sequence[MPMEntity], solver: SceneMPMSolver, touched: Mapping[str, Any]) -> int:
    """Return a number by which states of other matter are known."""
    domain, digest = solver.domain, hashlib.sha1(usedforsecurity=False)
    numbers = (solver.dt, solver.dx, *domain.lower, *domain.upper, *(x for row in touched.values() for x in row))
    digest.update(np.array(numbers, np.float64).tobytes())
    for entity in entities:
        digest.update(f"{entity.name} {entity.matter.material.law} {entity.n_particles};".encode())
    return int.from_bytes(digest.digest()[:7], "little")
