"""Matter in pictures and on pages: a group of particles for each entity, with the look of its surface."""

from collections.abc import Sequence

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


def _group_of(entity: MPMEntity, scale: float) -> ParticleGroup:
    surface, solver = entity.surface, entity.solver
    own = slice(entity.particle_start, entity.particle_end)
    color, shining = surface.emissive or surface.color or GREY, 0.0
    if surface.emissive:
        shining = max(1.0, *surface.emissive)
        color = tuple(part / shining for part in color)
    roughness = surface.ROUGHNESS if surface.roughness is None else surface.roughness
    metallic = surface.METALLIC if surface.metallic is None else surface.metallic
    opacity = 1.0 if surface.opacity is None else surface.opacity
    return ParticleGroup(
        centers=solver.get("pos", None, own),
        radius=0.5 * scale * entity.particle_size,
        active=solver.get("active", None, own),
        rgba=(*(min(part, 1.0) for part in color), opacity),
        roughness=roughness,
        specular=0.5 * (1.0 - roughness) + 0.5 * metallic,
        metallic=metallic,
        emission=shining,
        ior=surface.ior if opacity < 1.0 else None,
        as_surface=(entity.vis_mode or surface.vis_mode) == "recon",
    )
