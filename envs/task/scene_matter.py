"""The matter of a task's scene, as a task that names its matter itself has it."""

from typing import TYPE_CHECKING

import numpy as np

from .matter import TaskMatter, require_matter

if TYPE_CHECKING:
    from ...physics import Model
    from ...scene import Scene


def matter_of_scene(scene: "Scene", model: "Model", task: str) -> TaskMatter:
    """Return the matter of a scene: its entities of particles, and the bodies that they touch.

    Args:
        scene: of the task, not built.
        model: that the scene was compiled to.
        task: name of the task, for messages.

    Raises:
        ValueError: matter would touch shapes that differ between environments, or an option does not fit.
    """
    from ...scene.pictures.particles import look_of

    scene.matter.require_possible()
    contents, mjm = scene.contents, model.mj
    options, sim = contents.mpm_options, contents.sim_options
    contacts: dict[str, list[float]] = {"friction": [], "softness": [], "restitution": []}
    geoms: list[int] = []
    coupled = contents.coupler_options.rigid_mpm
    for entity, places in zip(contents.bodies, scene.ranges(model), strict=True):
        if coupled and entity.material.needs_coup:
            own = np.arange(places.start["geom"], places.end["geom"])
            own = own[(mjm.geom_contype[own] | mjm.geom_conaffinity[own]) != 0]
            geoms += own.tolist()
            for name, values in contacts.items():
                values += [getattr(entity.material, f"coup_{name}")] * len(own)
    entities, scale = scene.matter.entities, contents.vis_options.particle_size_scale
    return require_matter(
        task,
        TaskMatter(
            matters=[entity.matter for entity in entities],
            lower_bound=options.lower_bound,
            upper_bound=options.upper_bound,
            grid_density=options.grid_density,
            dt=sim.timestep if options.dt is None else options.dt,
            geoms=geoms,
            looks={entity.name: look_of(entity, scale) for entity in entities},
            **contacts,
        ),
    )
