"""From a morph and a material to particles."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...physics.base.rotations import quat_to_matrix
from ...soft.mpm import sampling
from ...soft.mpm.domain import Domain
from ...soft.mpm.matter import Matter
from ..materials.mpm import Base
from ..model.mesh_file import mesh_surface
from ..morphs import Box, Cylinder, Mesh, Morph, Nowhere, Sphere
from ..options import MPMOptions

_Placed = tuple[np.ndarray, float]
"""Places (n, 3) m, and the volume that all of them fill, m3."""


def particles_of(name: str, number: int, morph: Morph, material: Base, options: MPMOptions, dt: float) -> Matter:
    """Return the particles of an entity.

    Args:
        name: of the entity.
        number: of the entity, by which places at random are drawn, so that they are the same in each run.
        morph: a box, a sphere, a cylinder, a mesh, or nowhere.
        material: what they are of.
        options: size of the particles, bounds and grid.
        dt: length of a substep, s.

    Raises:
        TypeError: the morph is of another kind.
        ValueError: a mesh is not closed; there would be too many particles; they are outside of the bounds; the time
            step is too long for the material.
        ModelLoadError: a file is missing or broken.
    """
    domain = Domain.of(options.lower_bound, options.upper_bound, options.grid_density)
    if isinstance(morph, Nowhere):
        sampling.require_particles(f"entity '{name}'", morph.n_particles)
        middle = np.broadcast_to((domain.lower + domain.upper) / 2, (morph.n_particles, 3))
        matter = Matter(name, material.matter(), middle, options.spacing**3, exists=False)
    else:
        places, volume = _placed(name, morph, options.spacing, random_of(material, number))
        pos, quat = morph.place
        places = places @ quat_to_matrix(np.asarray(quat, float)).T + np.asarray(pos)
        matter = Matter(name, material.matter(), places, volume / len(places))
        domain.require_inside(matter)
    domain.require_step(matter, dt)
    return matter


def random_of(material: Base, *seed: int) -> np.random.Generator | None:
    """Return the generator of places at random, or None for a material whose particles lie on a grid."""
    return np.random.default_rng(seed) if material.is_random else None


def _placed(name: str, morph: Morph, spacing: float, rng: np.random.Generator | None) -> _Placed:
    maker = _MAKERS.get(type(morph))
    if maker is None:
        known = ", ".join(kind.__name__ for kind in (*_MAKERS, Nowhere))
        raise TypeError(f"entity '{name}': matter fills no {type(morph).__name__}; it fills {known}")
    try:
        places, volume = maker(morph, spacing, rng)
        if not len(places):
            raise ValueError(f"no particle of {spacing:g} m fits into it")
        return places, volume
    except ValueError as error:
        where = f"'{morph.file}'" if isinstance(morph, Mesh) else f"{type(morph).__name__}"
        raise ValueError(f"entity '{name}', {where}: {error}") from error


_MAKERS: dict[type[Morph], Callable[[Any, float, np.random.Generator | None], _Placed]] = {
    Box: lambda box, spacing, rng: (sampling.in_box(box.size, spacing, rng), float(np.prod(box.size))),
    Sphere: lambda ball, spacing, rng: (
        sampling.in_ball(ball.radius, spacing, rng),
        4 / 3 * np.pi * ball.radius**3,
    ),
    Cylinder: lambda one, spacing, rng: (
        sampling.in_cylinder(one.radius, one.height, spacing, rng),
        np.pi * one.radius**2 * one.height,
    ),
    Mesh: lambda mesh, spacing, rng: sampling.in_mesh(*mesh_surface(mesh), spacing, rng),
}
"""The function that places particles, by the kind of the morph."""
