"""The matter of a task: liquid, sand or dough in the same environments as the bodies of its model.

A task returns it from `Task.matter`, or has a scene with entities of `materials.MPM`. It is stepped with the bodies, is
in pictures, and part of every saved state. All particles of an environment have one order, that of `matters`;
`self.particles["water"]` are those of one.

| where | name | shape | what |
|---|---|---|---|
| `reads` | `particles_pos` | (n, particles, 3) | positions, m |
| `reads` | `particles_vel` | (n, particles, 3) | velocities, m/s |
| `reads` | `particles_strain` | (n, particles, 6) | elastic strain b - 1: xx yy zz xy xz yz |
| `reads` | `particles_active` | (n, particles) | whether they exist, bool |
| `Start.particles` | `pos`, `vel`, `active` | as above | when an episode begins; missing ones are the matter's |
| `parameters` | `water.viscosity` | (n,) | numbers of materials, by the matter's name |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..arrays import Array, ArrayKind
from .scene_entities import NamedParts

if TYPE_CHECKING:
    from ...soft import Matter

READS = {f"particles_{name}": name for name in ("pos", "vel", "strain", "active")}
"""Names in `Task.reads`, and those of the solver of matter."""
STARTS = {"pos": (3,), "vel": (3,), "active": ()}
"""Names in `Start.particles`, and the shape of one particle's numbers."""


@dataclass(frozen=True, kw_only=True)
class TaskMatter:
    """The matter in each environment, and how it is stepped and drawn.

    Attributes:
        matters: particles, by material; `tumble.soft.Matter`.
        lower_bound, upper_bound: corners of the box that matter cannot leave, (3,), m.
        grid_density: cells in a metre; bodies are at least 1.5 cells thick, or matter passes through them.
        dt: length of a substep, s: a whole part of the model's timestep.
        geoms: names or numbers of the geoms that it touches; None: all that touch anything.
        friction, softness, restitution: of contact with each of these geoms, or one for all: a coefficient, m, a share.
        looks: by name of matter, fields of `tumble.physics.rendering.ParticleGroup`, such as {"rgba": ..., "radius":
            ..., "as_surface": True}; what is missing follows from the material.
    """

    matters: Sequence["Matter"]
    lower_bound: Sequence[float]
    upper_bound: Sequence[float]
    grid_density: float = 64.0
    dt: float = 1e-3
    geoms: Sequence[str | int] | None = None
    friction: Any = 0.1
    softness: Any = 0.002
    restitution: Any = 0.0
    looks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of particles in an environment."""
        return sum(matter.count for matter in self.matters)

    @property
    def slices(self) -> Mapping[str, slice]:
        """The particles of each matter by its name; an unknown one is refused with the nearest."""
        found, start = dict[str, slice](), 0
        for matter in self.matters:
            found[matter.name] = slice(start, start + matter.count)
            start += matter.count
        return NamedParts("the task", "matter", found)


def require_matter(task: str, matter: Any) -> TaskMatter:
    """Return the result of a task's `matter`, after checks.

    Raises:
        TypeError: it is no `TaskMatter`.
        ValueError: two kinds of matter have one name, there is none, or a look is of none.
    """
    if not isinstance(matter, TaskMatter):
        raise TypeError(f"{task}.matter returned {type(matter).__name__}; needed is a tumble.envs.TaskMatter")
    names = [each.name for each in matter.matters]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{task}.matter: matters are named {names}; needed is at least one, each by its own name")
    for name in matter.looks:
        if name not in names:
            raise ValueError(f"{task}.matter: looks of {name!r}; there is {', '.join(names)}")
    return matter


def checked_particles(
    where: str, particles: Any, n: int, matter: TaskMatter | None, kind: ArrayKind
) -> dict[str, Array]:
    """Check particles that a task's `reset` returned for n environments.

    Args:
        where: task and method, for messages.
        particles: by the names of `STARTS`, each (n, particles, ...), or (particles, ...) for all.
        n: number of environments.
        matter: of the task; None if it has none.
        kind: of the batch's arrays.

    Raises:
        TypeError: they are no mapping.
        KeyError: there is no such name.
        ValueError: the task has no matter, or a shape is wrong; the message has the right one.
    """
    if not isinstance(particles, Mapping):
        raise TypeError(f'{where}: particles is {type(particles).__name__}; needed is a mapping, {{"pos": array}}')
    if matter is None:
        raise ValueError(f"{where}: particles: the task has no matter; return it from `matter`")
    checked = {}
    for name, values in particles.items():
        if name not in STARTS:
            raise KeyError(f"{where}: particles: nothing is named {name!r}; there are {', '.join(STARTS)}")
        single = (matter.count, *STARTS[name])
        numbers = kind.numbers(values)
        if tuple(numbers.shape) not in ((n, *single), single):
            raise ValueError(f"{where}: particles {name!r} has shape {tuple(numbers.shape)}; needed is {(n, *single)}")
        checked[name] = numbers
    return checked
