"""Matter in pictures and on pages: a group of particles for each entity, with the look of its surface."""

from collections.abc import Sequence
from typing import Any

from ...physics.rendering.particles.group import ParticleGroup
from ..entity.mpm_entity import MPMEntity
from ..model.dress import GREY


def groups_of(entities: Sequence[MPMEntity], scale: float) -> list[ParticleGroup]:
    """Return the particles of entities at the present state, in their order.

    Args:
        entities: matter of a built scene.
        scale: factor of the diameters.
    """
    return [_group_of(entity, scale) for entity in entities]


def look_of(entity: MPMEntity, scale: float) -> dict[str, Any]:
    """Return the fields of a `ParticleGroup` that follow from an entity's surface and size."""
    surface, shining = entity.surface, 0.0
    color = surface.emissive or surface.color or GREY
    if surface.emissive:
        shining = max(1.0, *surface.emissive)
        color = tuple(part / shining for part in color)
    roughness = surface.ROUGHNESS if surface.roughness is None else surface.roughness
    metallic = surface.METALLIC if surface.metallic is None else surface.metallic
    opacity = 1.0 if surface.opacity is None else surface.opacity
    return {
        "radius": 0.5 * scale * entity.particle_size,
        "rgba": (*(min(part, 1.0) for part in color), opacity),
        "roughness": roughness,
        "specular": 0.5 * (1.0 - roughness) + 0.5 * metallic,
        "metallic": metallic,
        "emission": shining,
        "ior": surface.ior if opacity < 1.0 else None,
        "as_surface": (entity.vis_mode or surface.vis_mode) == "recon",
    }


def _group_of(entity: MPMEntity, scale: float) -> ParticleGroup:
    solver, own = entity.solver, slice(entity.particle_start, entity.particle_end)
    centers, active = solver.get("pos", None, own), solver.get("active", None, own)
    return ParticleGroup(centers=centers, active=active, **look_of(entity, scale))
