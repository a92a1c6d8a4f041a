"""MPMEntity: matter of a scene, its particles in all environments."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ...physics.base.arguments import real_array
from ..checks import Indices, Numbers
from ..compat.absent import refusal_of_call
from ..errors import SceneOrderError
from ..materials.mpm import Base
from ..morphs import Morph
from ..records import Uid
from ..surfaces import MATTER_MODES, Surface
from ..world import Envs, World
from .index import local_numbers

if TYPE_CHECKING:
    from ...soft.mpm.matter import Matter

MODES = ("visual", *MATTER_MODES)
"""The ways in which matter may be drawn; "visual" is "particle", as particles carry no mesh."""


@dataclass(frozen=True, eq=False)
class MPMEntityState:
    """The state of the n particles of an entity in k environments, without the first dimension in a scene of one.

    Attributes:
        entity: the entity.
        pos, vel: positions (k, n, 3) m, and velocities, m/s.
        C: affine velocities (k, n, 3, 3), 1/s.
        strain: elastic strain b - 1 of the left Cauchy-Green tensor, (k, n, 6): xx yy zz xy xz yz.
        volume: change of volume, as the material's law counts it, (k, n).
        active: which particles exist, (k, n) bool.
    """

    entity: "MPMEntity"
    pos: torch.Tensor
    vel: torch.Tensor
    C: torch.Tensor
    strain: torch.Tensor
    volume: torch.Tensor
    active: torch.Tensor


class MPMEntity:
    """Matter of a scene: particles of one material, the same number in all environments.

    `envs_idx` are k environments and tensors are (k, ...), without their first dimension in a scene without a batch, as
    `EntityIndex` has it; `particles_idx_local` are m particles of the entity in the same forms. Setters act at once.

    Attributes:
        scene: the scene.
        idx: number among the scene's entities.
        name: its name.
        morph, material, surface: the arguments of `Scene.add_entity`.
        matter: its particles as they begin.
        particle_size: side of the cube that a particle stands for, m.
        vis_mode: how it is drawn, "particle" or "recon"; None: as its surface says.
        emitted: whether an emitter brings its particles.

    Raises:
        SceneOrderError: in all methods, if the scene is not built yet.
        IndexError: in all methods, for an environment or a particle that does not exist.
        ValueError: in all methods, for a wrong shape, and for numbers that are not finite.
    """

    visualize_contact, attached_to, attached_link, is_attached = False, None, None, False
    n_links = n_dofs = n_geoms = 0

    def __init__(
        self,
        scene: Any,
        idx: int,
        name: str,
        made_of: tuple[Morph, Base, Surface],
        matter: "Matter",
        particle_size: float,
        vis_mode: str | None = None,
    ) -> None:
        self.scene, self.idx, self.name = scene, idx, name
        self.morph, self.material, self.surface = made_of
        self.shapes = [self.morph]
        self.matter, self.particle_size, self.vis_mode = matter, particle_size, vis_mode
        for mode in (vis_mode, self.surface.vis_mode):
            if mode not in (None, *MODES):
                raise ValueError(f"entity '{name}': vis_mode={mode!r}: of matter it is {' or '.join(map(repr, MODES))}")
        self.emitted = False
        self._world: World | None = None
        self._start = 0

    def __repr__(self) -> str:
        return f"MPMEntity('{self.name}', {self.n_particles} particles of {type(self.material).__name__})"

    def __getattr__(self, name: str) -> Any:
        """Refuse a call of Genesis that is not here, with the reason; raises AttributeError."""
        raise AttributeError(refusal_of_call(name))

    def place(self, world: World, start: int) -> None:
        """Take its place in a built scene: the number of its first particle."""
        self._world, self._start = world, start

    # names and numbers

    @property
    def uid(self) -> Uid:
        """Its name, of which the scene has no other."""
        return Uid(self.name)

    @property
    def is_built(self) -> bool:
        """True if the scene is built."""
        return self._world is not None

    @property
    def n_particles(self) -> int:
        """Number of its particles, also of those that do not exist yet."""
        return self.matter.count

    @property
    def particle_start(self) -> int:
        """Number in the scene of its first particle."""
        self._built()
        return self._start

    @property
    def particle_end(self) -> int:
        """One more than the number in the scene of its last particle."""
        return self.particle_start + self.n_particles

    @property
    def init_particles(self) -> np.ndarray:
        """The places where its particles begin, (n_particles, 3) m."""
        return self.matter.positions.copy()

    @property
    def solver(self) -> Any:
        """The solver of the scene's matter: `scene.mpm_solver`."""
        return self._built().matter.solver

    # particles

    def get_particles_pos(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return positions, (k, n_particles, 3) m."""
        return self._get("pos", envs_idx)

    def get_particles_vel(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return velocities, (k, n_particles, 3) m/s."""
        return self._get("vel", envs_idx)

    def get_particles_active(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return which particles exist, (k, n_particles) bool."""
        return self._get("active", envs_idx)

    def set_particles_pos(self, poss: Numbers, particles_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Put particles somewhere, (k, m, 3) or (m, 3) m, at rest and without strain.

        Raises:
            ValueError: a place is outside of the bounds.
        """
        world, envs, particles = self._chosen(particles_idx_local, envs_idx)
        solver = world.matter.solver
        solver.set("pos", poss, envs, particles)
        for name in ("vel", "C", "strain", "volume"):
            solver.set(name, 0.0, envs, particles)

    def set_particles_vel(self, vels: Numbers, particles_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Give particles velocities, (k, m, 3), (m, 3) or (3,) m/s."""
        world, envs, particles = self._chosen(particles_idx_local, envs_idx)
        world.matter.solver.set("vel", vels, envs, particles)

    def set_particles_active(self, actives: Any, particles_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Switch particles on or off, (k, m), (m,) or one flag; those that are off have no mass, and stay."""
        world, envs, particles = self._chosen(particles_idx_local, envs_idx)
        world.matter.solver.set_active(actives, envs, particles)

    # the whole

    def set_position(self, value: Numbers, envs_idx: Indices = None) -> None:
        """Put all particles somewhere, (k, n_particles, 3) or (n_particles, 3) m; or the whole, (k, 3) or (3,) m.

        The whole has the shape in which it began, and stands where its morph would with such a `pos`.
        """
        places = torch.as_tensor(value if isinstance(value, torch.Tensor) else real_array("value", value))
        if places.ndim == 1 or (places.ndim == 2 and len(places) != self.n_particles):
            origin = np.asarray(self.morph.place[0])
            places = places[..., None, :] + torch.as_tensor(self.matter.positions - origin, device=places.device)
        self.set_particles_pos(places, None, envs_idx)

    def set_velocity(self, vels: Numbers, envs_idx: Indices = None) -> None:
        """Give all particles velocities, (k, n_particles, 3) or (n_particles, 3), or one, (3,) m/s."""
        self.set_particles_vel(vels, None, envs_idx)

    def set_active(self, actives: Any, envs_idx: Indices = None) -> None:
        """Switch all particles on or off, (k, n_particles), (n_particles,) or one flag."""
        self.set_particles_active(actives, None, envs_idx)

    def activate(self, envs_idx: Indices = None) -> None:
        """Switch all particles on."""
        self.set_active(True, envs_idx)

    def deactivate(self, envs_idx: Indices = None) -> None:
        """Switch all particles off."""
        self.set_active(False, envs_idx)

    def get_mass(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the mass of the particles that exist, (k,) kg."""
        world, envs, _ = self._chosen(None, envs_idx)
        solver, exists = world.matter.solver, self._read("active", envs)
        each = solver.masses[world.indices(envs), self._start]
        return world.out(each * exists.sum(dim=1))

    def get_state(self, envs_idx: Indices = None) -> MPMEntityState:
        """Return the state of all particles; `Scene.get_state` has that of the scene, to the last bit."""
        names = ("pos", "vel", "C", "strain", "volume", "active")
        found = {name: self._get(name, envs_idx) for name in names}
        found["C"] = found["C"].unflatten(-1, (3, 3))
        return MPMEntityState(self, **found)

    def find_closest_particle(self, pos: Numbers, envs_idx: Indices = None) -> torch.Tensor:
        """Return the number within the entity of the particle nearest to a point, (k,) int32.

        Args:
            pos: (k, 3) or (3,) m.
            envs_idx: which environments; None: all.
        """
        world, envs, _ = self._chosen(None, envs_idx)
        point = world.tensor("pos", pos, envs, 3)
        far = (self._read("pos", envs) - point[:, None]).square().sum(dim=-1)
        return world.out(far.argmin(dim=1).to(torch.int32))

    def get_particles_in_bbox(self, bbox_min: Numbers, bbox_max: Numbers) -> torch.Tensor:
        """Return which particles are in a box between two corners (3,) m, (environments, n_particles) bool.

        A scene without a batch has the first dimension here, too.
        """
        world, _, _ = self._chosen(None, None)
        low, high = (world.tensor(name, x, None, 3) for name, x in (("bbox_min", bbox_min), ("bbox_max", bbox_max)))
        places = self._read("pos", None)
        return ((places >= low[:, None]) & (places <= high[:, None])).all(dim=-1)

    # inside

    def _built(self) -> Any:
        if self._world is None:
            raise SceneOrderError(f"entity '{self.name}': call scene.build() first")
        return self._world

    def _chosen(self, particles_idx_local: Indices, envs_idx: Indices) -> tuple[Any, Envs, Any]:
        """Return the built scene, environments, and numbers of particles in the scene."""
        world = self._built()
        envs = world.envs(envs_idx)
        if particles_idx_local is None:
            return world, envs, slice(self._start, self._start + self.n_particles)
        owner = f"entity '{self.name}'"
        local = local_numbers(owner, "particles_idx_local", particles_idx_local, self.n_particles)
        return world, envs, self._start + local

    def _read(self, name: str, envs: Envs) -> torch.Tensor:
        """Return a quantity of all particles, (k, n_particles, ...)."""
        return self._built().matter.solver.get(name, envs, slice(self._start, self._start + self.n_particles))

    def _get(self, name: str, envs_idx: Indices) -> torch.Tensor:
        world = self._built()
        return world.out(self._read(name, world.envs(envs_idx)))
