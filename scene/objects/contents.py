"""The contents of a scene, which the objects of the scene share."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...physics.solver.solver import RigidSolver
from ..entity.entity import RigidEntity
from ..entity.mpm_entity import MPMEntity
from ..errors import SceneOrderError
from ..model.compose import SEPARATOR, Piece
from ..model.lights import Light
from ..model.variants import Variants
from ..options import (
    LegacyCouplerOptions,
    MPMOptions,
    ProfilingOptions,
    RigidOptions,
    SimOptions,
    ViewerOptions,
    VisOptions,
)
from ..pictures.camera import Camera
from ..pictures.debug import DebugObject
from ..pictures.segmentation import Segmentation
from ..recorders.manager import RecorderManager
from ..renderers import Renderer
from ..sensors.manager import SensorManager
from ..world import World


@dataclass(eq=False)
class SceneContents:
    """The options, entities, lights, cameras and sensors of a scene, and its environments.

    Attributes:
        sim_options, rigid_options, vis_options, viewer_options, profiling_options, renderer: as of `Scene`.
        mpm_options, coupler_options: as of `Scene`.
        entities: in the order in which they were added.
        pieces: by the number of a rigid entity its piece of the model.
        variants: entities whose shapes differ from environment to environment.
        lights: of the whole scene.
        cameras: in the order in which they were added.
        camera_options: the options with which each of them was made.
        drawn: the debug objects that pictures and pages show.
        sensors: all of them.
        built_with: arguments of `Scene.build`; None before.
        closed: True after `Scene.close`.
    """

    sim_options: SimOptions
    rigid_options: RigidOptions
    vis_options: VisOptions
    viewer_options: ViewerOptions
    profiling_options: ProfilingOptions
    renderer: Renderer
    mpm_options: MPMOptions
    coupler_options: LegacyCouplerOptions
    entities: list[RigidEntity | MPMEntity] = field(default_factory=list)
    pieces: dict[int, Piece] = field(default_factory=dict)
    variants: list[Variants] = field(default_factory=list)
    lights: list[Light] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)
    camera_options: list[dict[str, Any]] = field(default_factory=list)
    drawn: list[DebugObject] = field(default_factory=list)
    sensors: SensorManager = field(default_factory=SensorManager)
    built_with: dict[str, Any] | None = None
    environments: World | None = None
    closed: bool = False

    @cached_property
    def recorders(self) -> RecorderManager:
        """The functions that are called after steps, and their files."""
        return RecorderManager(self.dt)

    @property
    def dt(self) -> float:
        """Seconds that a step simulates."""
        return self.sim_options.dt

    @property
    def requires_grad(self) -> bool:
        """True if the state is part of torch's graph (`SimOptions`)."""
        return self.sim_options.requires_grad

    @property
    def substeps(self) -> int:
        """Physics steps in a step."""
        return self.sim_options.substeps

    @property
    def bodies(self) -> list[RigidEntity]:
        """The entities that are rigid, in the order in which they were added."""
        return [entity for entity in self.entities if isinstance(entity, RigidEntity)]

    def free_name(self, name: object) -> str:
        """Return the name of a new entity.

        Raises:
            ValueError: it is taken or invalid.
        """
        if not isinstance(name, str) or not name or SEPARATOR in name:
            raise ValueError(f"name={name!r}: expected a name without '{SEPARATOR}'")
        if name in self.entity_names:
            raise ValueError(f"name={name!r}: the scene has an entity of this name; choose another")
        return name

    @property
    def entity_names(self) -> list[str]:
        """Names of the entities."""
        return [entity.name for entity in self.entities]

    @property
    def has_lights(self) -> bool:
        """True if the scene has lights, which replace the sun."""
        return bool(self.lights)

    @property
    def is_built(self) -> bool:
        """True after `Scene.build`."""
        return self.environments is not None

    @property
    def world(self) -> World:
        """The built scene, as its entities see it."""
        return self.built("world")

    @property
    def rigid_solver(self) -> RigidSolver:
        """The solver of the built scene: a `tumble.physics.RigidSolver`."""
        return self.built("rigid_solver").solver

    @property
    def n_envs(self) -> int:
        """Number of environments, as `Scene.build` was given."""
        return self.built("n_envs").n_envs

    @cached_property
    def segmentation(self) -> Segmentation:
        """The meaning of segmented pictures."""
        self.built("segmentation")
        return Segmentation(self.entities, self.vis_options.segmentation_level)

    @property
    def segmentation_idx_dict(self) -> dict[int, Any]:
        """By number in a segmented picture, the part that it stands for: `Segmentation.idx_dict`."""
        return self.segmentation.idx_dict

    def built(self, call: str) -> World:
        """Return the environments.

        Raises:
            SceneOrderError: the scene is not built, or closed.
        """
        if self.environments is None:
            reason = "the scene is closed; make a new one" if self.closed else "call scene.build() first"
            raise SceneOrderError(f"{call}: {reason}")
        return self.environments

    def require_not_built(self, call: str) -> None:
        """Raise SceneOrderError if the scene is built or closed."""
        if self.environments is not None or self.closed:
            state = "closed" if self.closed else "built already"
            raise SceneOrderError(f"{call}: the scene is {state}; make a new Scene")
