"""Pictures of a scene: the state that they show, the overlays beside geoms, the environments that stand together."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch

from ...physics.rendering.look import Look
from ...physics.rendering.particles.group import ParticleGroup
from ...physics.solver.readout.contacts import Contacts
from ..entity.entity import RigidEntity
from ..entity.mpm_entity import MPMEntity
from ..options import VisOptions
from ..renderers import BatchRenderer, RayTracer, Renderer
from ..world import Envs, World
from .debug import DebugObject
from .debug_pictures import DebugOverlay, ShowDrawn
from .segmentation import Segmentation

MIRROR = 0.5
"""Reflectance of planes that are to mirror."""


class Pictured(Protocol):
    """The parts of a scene's contents that pictures need."""

    vis_options: VisOptions
    renderer: Renderer
    entities: list[RigidEntity | MPMEntity]
    drawn: list[DebugObject]

    @property
    def bodies(self) -> list[RigidEntity]:
        """The rigid ones of the entities."""

    @property
    def dt(self) -> float:
        """Seconds of a step."""

    @property
    def has_lights(self) -> bool:
        """True if it has lights."""

    @property
    def segmentation(self) -> Segmentation:
        """The meaning of segmented pictures."""


class PresentPoses:
    """The poses of a scene at its present state, as a renderer reads them."""

    def __init__(self, world: World) -> None:
        self._world, self.model = world, world.model
        self.num_envs, self.device, self.dtype = world.count, world.solver.device, world.solver.dtype
        self.parameters = world.solver.parameters

    @torch.no_grad()
    def get_many(self, names: Sequence[str], envs_idx: Envs = None) -> dict[str, torch.Tensor]:
        """Return fields by MuJoCo's names, (n, ...) of the environments."""
        return self._world.get_many(names, envs_idx)

    @property
    def particle_groups(self) -> Sequence[ParticleGroup]:
        """The particles of the scene's matter."""
        return () if self._world.matter is None else self._world.matter.particle_groups

    @property
    def contacts(self) -> Contacts:
        """The contacts of all environments."""
        return self._world.contacts


def show_of(scene: Pictured, drawn: DebugOverlay) -> ShowDrawn:
    """Return what is drawn beside geoms: frames by options, contacts of entities that ask for it, and debug objects."""
    vis = scene.vis_options
    frames = {"body": vis.link_frame_size} if vis.show_link_frame else {}
    if vis.show_world_frame:
        frames["world"] = vis.world_frame_size
    geoms = [
        geom
        for entity in scene.bodies
        if entity.visualize_contact
        for geom in range(entity.geom_start, entity.geom_end)
    ]
    return ShowDrawn(
        drawn=drawn,
        frames=frames or None,
        contact_forces=bool(geoms),
        contact_geoms=tuple(geoms),
        force_scale=vis.contact_force_scale,
    )


def look_of(scene: Pictured) -> Look:
    """Return light and colours of pictures, by the scene's options.

    The lights of the scene, if there are any, replace the sun and the light of the sky.

    Raises:
        ValueError: options that path tracing has others for.
    """
    vis = scene.vis_options
    colors = {"background_color": vis.background_color, "ambient_light": vis.ambient_light}
    if isinstance(scene.renderer, RayTracer):
        for name, value in {**colors, "shadow": None if vis.shadow else False}.items():
            if value is not None:
                raise ValueError(
                    f"VisOptions: {name}={value!r}: paths of light have no such option; RayTracer(env_surface="
                    "gs.surfaces.Emission(...)) sets the surroundings"
                )
    mirror = None if vis.plane_reflection is None else MIRROR if vis.plane_reflection else 0.0
    lit: dict[str, Any] = {"lights": "file", "exposure": 1.0, "occlusion": 0.0} if scene.has_lights else {}
    return Look(
        **lit,
        background_rgb=vis.background_color,
        ambient_rgb=vis.ambient_light,
        shadows=vis.shadow,
        floor_mirror=mirror,
    )


def are_together(scene: Pictured, world: World) -> bool:
    """Return True if one picture shows the environments side by side, at the spacing that `build` was given.

    Pictures are of single environments with `VisOptions(split_envs=True)` and `renderers.BatchRenderer`.
    """
    apart = bool(world.offsets.any())
    return apart and not scene.vis_options.split_envs and not isinstance(scene.renderer, BatchRenderer)


def rendered(scene: Pictured, world: World) -> list[int]:
    """Return the environments that are drawn together.

    Raises:
        IndexError: one of them does not exist.
    """
    asked = scene.vis_options.rendered_envs_idx
    if asked is None:
        return list(range(world.count))
    envs = [int(env) for env in np.atleast_1d(asked)]
    for env in envs:
        if not 0 <= env < world.count:
            raise IndexError(f"VisOptions: rendered_envs_idx: environment {env} is not in 0 to {world.count - 1}")
    return envs
