"""Matter of a scene before and after it is built: entities of particles, emitters, the solver."""

from typing import Any

import numpy as np

from ..entity.entity import RigidEntity
from ..entity.mpm_entity import MPMEntity
from ..errors import SceneOrderError
from ..materials.mpm import Base
from ..morphs import Morph, Nowhere
from ..pictures import debug
from ..surfaces import Default, Surface
from .contents import SceneContents

EMITTED = (0.6, 0.8, 1.0, 1.0)
"""The colour of what an emitter brings."""
EDGES = (0.0, 1.0, 1.0, 1.0)
"""The colour of the edges of matter's bounds."""


class SceneMatter:
    """The matter of a scene.

    Args:
        contents: of the scene.
        scene: the scene.
    """

    def __init__(self, contents: SceneContents, scene: Any) -> None:
        self._contents, self._scene = contents, scene
        self._emitters: list[Any] = []

    @property
    def entities(self) -> list[MPMEntity]:
        """The entities that are matter."""
        return [entity for entity in self._contents.entities if isinstance(entity, MPMEntity)]

    def add(
        self, name: str | None, made_of: tuple[Morph, Base, Surface], vis_mode: str | None, visualize_contact: bool
    ) -> MPMEntity:
        """Return a new entity of particles; arguments and errors as of `Scene.add_entity` and `particles_of`."""
        from ..matter.particles import particles_of

        contents, (morph, material, _) = self._contents, made_of
        if visualize_contact:
            raise ValueError("visualize_contact=True: the contacts of matter are no points; leave it out")
        options, idx = contents.mpm_options, len(contents.entities)
        name = contents.free_name(f"{morph.NAME}_{idx}" if name is None else name)
        dt = contents.sim_options.timestep if options.dt is None else options.dt
        matter = particles_of(name, idx, morph, material, options, dt)
        entity = MPMEntity(self._scene, idx, name, made_of, matter, options.spacing, vis_mode)
        contents.entities.append(entity)
        return entity

    def add_emitter(
        self, material: Base, max_particles: int = 20000, surface: Surface | None = None, name: str | None = None
    ) -> Any:
        """Add a source of particles, which `emit` and `emit_omni` of the returned `Emitter` bring into being.

        Args:
            material: of the particles, one of `materials.MPM`.
            max_particles: how many there are; then the oldest are taken again.
            surface: their appearance; None: `surfaces.Default(color=(0.6, 0.8, 1.0, 1.0))`.
            name: of the entity that they are; None: "emitter" and its number.

        Raises:
            SceneOrderError: the scene is built.
            TypeError: the material is none of matter.
            ValueError: a number is impossible.
        """
        from ..matter.emitter import Emitter

        contents = self._contents
        contents.require_not_built("add_emitter")
        if not isinstance(material, Base):
            raise TypeError(f"add_emitter: material={material!r}: expected one of materials.MPM, such as MPM.Liquid()")
        look = Default(color=EMITTED) if surface is None else surface
        if not isinstance(look, Surface):
            raise TypeError(f"add_emitter: surface={surface!r}: expected one of surfaces")
        entity = self.add(name, (Nowhere(n_particles=max_particles), material, look), None, False)
        entity.emitted = True
        self._emitters.append(Emitter(entity, contents.dt))
        return self._emitters[-1]

    @property
    def emitters(self) -> list[Any]:
        """All emitters, in the order in which they were added."""
        return list(self._emitters)

    @property
    def mpm_solver(self) -> Any:
        """The solver of the built scene's matter.

        Raises:
            SceneOrderError: the scene is not built, or has no matter.
        """
        matter = self._contents.built("mpm_solver").matter
        if matter is None:
            raise SceneOrderError("mpm_solver: the scene has no matter: add an entity with a material of materials.MPM")
        return matter.solver

    @property
    def solvers(self) -> list[Any]:
        """The solvers of the built scene: that of rigid bodies, and that of matter if it has any."""
        world = self._contents.built("solvers")
        return [world.solver] if world.matter is None else [world.solver, world.matter.solver]

    def require_possible(self) -> None:
        """Refuse scenes whose matter cannot be simulated.

        Raises:
            NotImplementedError: gradients are required.
            ValueError: it would touch shapes that differ from environment to environment.
        """
        if not self.entities:
            return
        if self._contents.requires_grad:
            raise NotImplementedError("requires_grad=True: steps of matter have no gradients; leave matter out")
        touched = {entity.name for entity in self._coupled()}
        for variants in self._contents.variants:
            if variants.name in touched:
                raise ValueError(
                    f"entity '{variants.name}': matter touches no shapes that differ between environments; give it "
                    "materials.Rigid(needs_coup=False), or one morph"
                )

    def build(self) -> None:
        """Make the matter of a built scene, if it has any; errors as of `MPMSolver` and `Coupler`."""
        if not self.entities:
            return
        from ..matter.world import SceneMatterWorld

        contents = self._contents
        world, options, vis = contents.world, contents.mpm_options, contents.vis_options
        parts = self.entities, self.emitters, self._coupled()
        world.matter = SceneMatterWorld(world, *parts, options, contents.sim_options, vis.particle_size_scale)
        if vis.visualize_mpm_boundary:
            bounds = (options.lower_bound, options.upper_bound)
            contents.drawn.append(debug.box(np.array(bounds), EDGES, True, 0.002))

    @property
    def particle_groups(self) -> list[Any]:
        """The particles of the built scene as renderers and pages draw them; none in a scene without matter."""
        world = self._contents.environments
        return [] if world is None or world.matter is None else world.matter.particle_groups

    def _coupled(self) -> list[RigidEntity]:
        """Return the rigid entities that matter touches."""
        if not self._contents.coupler_options.rigid_mpm:
            return []
        return [entity for entity in self._contents.bodies if entity.material.needs_coup]
