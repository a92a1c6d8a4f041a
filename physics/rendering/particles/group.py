"""ParticleGroup: particles that are drawn beside the geoms of a model, and the pose source that has them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from ...base.arguments import CheckedEnvs, real_array
from ...machine.scalars import as_count

GROUPS = "particle_groups"
"""The attribute by which a pose source has groups of particles; it is optional."""
MOST_PARTICLES = 2**24
"""Particles of an environment, all groups together: single precision holds their numbers."""
_SHARES = ("roughness", "specular", "metallic")


class ParticleLook(NamedTuple):
    """The part of a group that its row of the render model follows from; equal looks share tables."""

    particles: int
    rgba: tuple[float, ...]
    finish: tuple[float, float, float, float, float]  # roughness, specular, metallic, emission, ior
    id: int | None
    entity: int | None
    cell: float | None  # None: spheres


@dataclass(frozen=True, kw_only=True, eq=False)
class ParticleGroup:
    """Particles of one look, n in each environment: spheres, or the smooth surface around them.

    Spheres receive and throw shadows, hide geoms and are hidden by them, and are in mirrors. A particle whose place is
    not finite is not drawn.

    Attributes:
        centers: (num_envs, n, 3) m, world.
        radius: m, one number, or (n,).
        active: (num_envs, n) bool: the particles that are there; None: all.
        rgba: red, green, blue and opacity, 0 to 1, as shown on a screen.
        colors: (n, 3) or (num_envs, n, 3): the particles' red, green and blue instead; None: that of `rgba`. A surface
            has one colour.
        roughness, specular, metallic: from 0 to 1, as materials of MJCF have them.
        emission: light that is sent out, as a multiple of the colour.
        ior: index of refraction, for path tracing; None: it is no glass and no liquid.
        id: the number in the output "segmentation"; None: ngeom + the place in the list of groups.
        entity: the number in the output "entity"; None: nbody + the place in the list of groups. The output "body"
            has that default, too.
        as_surface: True: draw the surface of the liquid that particles of about `radius` make.
        cell: side of the cells from which the surface is made, m; None: the mean radius.

    Raises:
        ValueError: shapes do not fit, or a number is impossible for its field; the message has the field.
        TypeError: `centers` is no tensor.
    """

    centers: torch.Tensor
    radius: Any
    active: torch.Tensor | None = None
    rgba: Sequence[float] = (0.76, 0.60, 0.40, 1.0)
    colors: torch.Tensor | None = None
    roughness: float = 0.8
    specular: float = 0.2
    metallic: float = 0.0
    emission: float = 0.0
    ior: float | None = None
    id: int | None = None
    entity: int | None = None
    as_surface: bool = False
    cell: float | None = None

    def __post_init__(self) -> None:
        """Refuse impossible fields."""
        if not isinstance(self.centers, torch.Tensor):
            raise TypeError(f"ParticleGroup: centers: expected a tensor, not {type(self.centers).__name__}")
        shape = tuple(self.centers.shape)
        if self.centers.ndim != 3 or shape[2] != 3 or shape[1] < 1 or not self.centers.is_floating_point():
            raise ValueError(
                f"ParticleGroup: centers: expected real numbers (num_envs, n, 3), got {self.centers.dtype} {shape}"
            )
        self._check("active", self.active, [shape[:2]])
        self._check("colors", self.colors, [(shape[1], 3), shape])
        radius = self.radius if isinstance(self.radius, torch.Tensor) else real_array("radius", self.radius)
        if tuple(radius.shape) not in ((), (shape[1],)):
            raise ValueError(f"ParticleGroup: radius: expected one number or ({shape[1]},), got {tuple(radius.shape)}")
        if not isinstance(radius, torch.Tensor) and not (np.isfinite(radius) & (radius > 0)).all():
            raise ValueError("ParticleGroup: radius: expected metres above 0")
        rgba = real_array("ParticleGroup: rgba", self.rgba)
        if rgba.shape != (4,) or not ((rgba >= 0) & (rgba <= 1)).all():
            raise ValueError(f"ParticleGroup: rgba={self.rgba!r}: expected four numbers from 0 to 1")
        for name, low, high in [*((name, 0, 1) for name in _SHARES), ("emission", 0, np.inf), ("ior", 1, np.inf)]:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"ParticleGroup: {name}={value!r}: expected a number from {low} to {high}")
        for name in ("id", "entity"):
            if getattr(self, name) is not None:
                as_count(f"ParticleGroup: {name}", getattr(self, name), least=0)
        if self.cell is not None and not 0 < self.cell < np.inf:
            raise ValueError(f"ParticleGroup: cell={self.cell!r}: expected metres above 0")

    def _check(self, name: str, given: Any, shapes: list[tuple[int, ...]]) -> None:
        if given is not None and (not isinstance(given, torch.Tensor) or tuple(given.shape) not in shapes):
            got = tuple(given.shape) if isinstance(given, torch.Tensor) else type(given).__name__
            raise ValueError(f"ParticleGroup: {name}: expected a tensor {' or '.join(map(str, shapes))}, got {got}")

    @property
    def look(self) -> ParticleLook:
        """The part that the row of the render model follows from."""
        finish = self.roughness, self.specular, self.metallic, self.emission, self.ior or 0.0
        cell = (self.cell or float(torch.as_tensor(self.radius).mean())) if self.as_surface else None
        return ParticleLook(self.centers.shape[1], tuple(map(float, self.rgba)), finish, self.id, self.entity, cell)

    def of(self, envs: CheckedEnvs | None) -> "ParticleGroup":
        """Return the group of some environments; None: of all."""
        if envs is None:
            return self
        index = envs.index.to(self.centers.device)
        active = None if self.active is None else self.active[index]
        colors = self.colors if self.colors is None or self.colors.ndim == 2 else self.colors[index]
        return replace(self, centers=self.centers[index], active=active, colors=colors)

    def there(self) -> torch.Tensor:
        """Return the particles that are drawn, (num_envs, n) bool."""
        finite = torch.isfinite(self.centers).all(dim=-1)
        return finite if self.active is None else finite & self.active.to(finite)

    def radii(self, dtype: torch.dtype) -> torch.Tensor:
        """Return the radii (n,) m, where the centers are."""
        return torch.as_tensor(self.radius, dtype=dtype, device=self.centers.device).expand(self.centers.shape[1])


def groups_in(source: Any, envs: CheckedEnvs | None, num_envs: int) -> tuple[ParticleGroup, ...]:
    """Return the groups that a pose source has, of some environments; None: of all.

    Raises:
        TypeError: one of them is no `ParticleGroup`.
        ValueError: one is of another number of environments, or the particles are too many.
    """
    groups = tuple(getattr(source, GROUPS, ()))
    for group in groups:
        if not isinstance(group, ParticleGroup):
            raise TypeError(f"{GROUPS}: expected ParticleGroup, not {type(group).__name__}")
        if len(group.centers) != num_envs:
            raise ValueError(f"{GROUPS}: {len(group.centers)} environments of particles, and {num_envs} of bodies")
    if sum(group.centers.shape[1] for group in groups) > MOST_PARTICLES:
        raise ValueError(f"{GROUPS}: an environment can have {MOST_PARTICLES:,} particles at most")
    return tuple(group.of(envs) for group in groups)


class WithParticles:
    """A pose source, such as a `RigidSolver` or environments, that also has groups of particles.

    Renderers draw it in place of the source, and so does the viewer; all else is the source's.

        renderer.render(WithParticles(solver, [ParticleGroup(centers=places, radius=0.005)]))

    Args:
        source: the pose source.
        groups: the groups, or a function that returns the present ones.
    """

    def __init__(self, source: Any, groups: Sequence[ParticleGroup] | Callable[[], Sequence[ParticleGroup]]) -> None:
        self._source, self._groups = source, groups

    @property
    def particle_groups(self) -> Sequence[ParticleGroup]:
        """The present groups."""
        return self._groups() if callable(self._groups) else self._groups

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._source, name)
