"""Emitter: brings particles of matter into being, of which it has a fixed number."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...soft.mpm import sampling
from ...soft.mpm.domain import triple
from ..checks import Indices, number, numbers
from ..entity.mpm_entity import MPMEntity
from ..records import Uid, nearest
from ..world import World
from .particles import random_of

SHAPES = ("circle", "sphere", "square", "rectangle")
NEXT, WAITING, DRAWN = range(3)
"""Columns of an emitter's memory: the next particle, the length that waits to be emitted (m), droplets so far."""
_HOLE = 0.4
"""The empty part of the ball of `emit_omni`, as a share of its radius."""


class Emitter:
    """A source of particles, which come from a store of fixed size and are taken again, the oldest first.

    Its memory is each environment's own, and part of the scene's state; a reset empties it.

    Attributes:
        entity: the particles.
    """

    def __init__(self, entity: MPMEntity, dt: float) -> None:
        self.entity, self._dt = entity, dt
        self._memory: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"Emitter('{self.entity.name}', {self.max_particles} particles)"

    def place(self, world: World) -> None:
        """Take its place in a built scene."""
        self._memory = np.zeros((world.count, 3))

    @property
    def uid(self) -> Uid:
        """The name of its entity."""
        return self.entity.uid

    @property
    def max_particles(self) -> int:
        """The number of its particles."""
        return self.entity.n_particles

    @property
    def solver(self) -> Any:
        """The solver of the scene's matter."""
        return self.entity.solver

    @property
    def memory(self) -> np.ndarray:
        """The numbers that its future depends on, (environments, 3) float64; errors as of `MPMEntity`."""
        self.entity.solver  # noqa: B018  # it says if the scene is not built
        assert self._memory is not None
        return self._memory

    @property
    def next_particle(self) -> Any:
        """The particle that comes next: a number, or (environments,) of them if these differ."""
        found = self.memory[:, NEXT].astype(int)
        return int(found[0]) if (found == found[0]).all() else found

    def reset(self, envs_idx: Indices = None) -> None:
        """Begin with the first particle again; those that exist stay."""
        self.memory[self._rows(envs_idx)] = 0.0

    def emit(
        self,
        droplet_shape: str,
        droplet_size: float | Sequence[float],
        droplet_length: float | None = None,
        pos: Any = (0.5, 0.5, 1.0),
        direction: Any = (0, 0, -1),
        theta: float = 0.0,
        speed: float = 1.0,
        p_size: float | None = None,
        envs_idx: Indices = None,
    ) -> None:
        """Bring a droplet into being.

        Args:
            droplet_shape: "circle" (a cylinder along the direction), "sphere", "square" or "rectangle".
            droplet_size: diameter or side, m; of a rectangle both sides.
            droplet_length: along the direction, m; None: as far as a step of the scene takes it, and nothing until
                that is as long as a particle. A sphere comes whole, whatever this length is.
            pos: its middle, (3,) m.
            direction: in which it flies, (3,) of any length but 0.
            theta: turn around the direction, rad.
            speed: m/s.
            p_size: distance of its particles, m; None: their size.
            envs_idx: which environments; None: all.

        Raises:
            ValueError: an argument is impossible, the droplet has more particles than there are, or reaches beyond the
                bounds; nothing is emitted then.
        """
        sides = _sides(droplet_shape, droplet_size)
        size = self.entity.particle_size if p_size is None else number("emit", "p_size", p_size, above=0.0)
        speed = number("emit", "speed", speed)
        turn = _turn(numbers("emit", "direction", direction, 3), number("emit", "theta", theta))
        middle = np.asarray(numbers("emit", "pos", pos, 3))

        def droplet(length: float, rng: Any) -> tuple[np.ndarray, np.ndarray]:
            if droplet_shape == "circle":
                places = sampling.in_cylinder(sides[0] / 2, length, size, rng)
            elif droplet_shape == "sphere":
                places = sampling.in_ball(sides[0] / 2, size, rng)
            else:
                places = sampling.in_box([*sides, length], size, rng)
            return places @ turn.T + middle, np.broadcast_to(speed * turn[:, 2], places.shape)

        if droplet_length is not None:
            length = number("emit", "droplet_length", droplet_length, above=0.0)
            self._bring("emit", lambda waiting: (length, waiting), droplet, envs_idx)
            return

        def lengths(waiting: float) -> tuple[float, float]:
            length = speed * self._dt + waiting
            return (length, 0.0) if length >= size else (0.0, length)

        self._bring("emit", lengths, droplet, envs_idx)

    def emit_omni(
        self,
        source_radius: float = 0.1,
        pos: Any = (0.5, 0.5, 1.0),
        speed: float = 1.0,
        particle_size: float | None = None,
        envs_idx: Indices = None,
    ) -> None:
        """Bring a ball of particles into being that fly from its middle to all sides.

        Args:
            source_radius: of the ball, m; its middle is empty up to 0.4 of that.
            pos: its middle, (3,) m.
            speed: m/s.
            particle_size: distance of its particles, m; None: their size.
            envs_idx: which environments; None: all.

        Raises:
            ValueError: as of `emit`.
        """
        radius = number("emit_omni", "source_radius", source_radius, above=0.0)
        given = self.entity.particle_size if particle_size is None else particle_size
        size = number("emit_omni", "particle_size", given, above=0.0)
        speed = number("emit_omni", "speed", speed)
        middle = np.asarray(numbers("emit_omni", "pos", pos, 3))

        def ball(length: float, rng: Any) -> tuple[np.ndarray, np.ndarray]:
            places = sampling.in_ball(radius, size, rng, _HOLE * radius)
            return places + middle, speed * places / np.linalg.norm(places, axis=1, keepdims=True)

        self._bring("emit_omni", lambda waiting: (1.0, waiting), ball, envs_idx)

    # inside

    def _rows(self, envs_idx: Indices) -> np.ndarray:
        world = self.entity._built()
        return world.indices(world.envs(envs_idx)).cpu().numpy()

    def _bring(self, call: str, lengths: Any, droplet: Any, envs_idx: Indices) -> None:
        """Emit in environments; those whose emitters have the same memory get the same droplet.

        Args:
            call: for messages.
            lengths: for a length that waits, that of the droplet (0: none) and the one that waits then.
            droplet: for a length and a generator, places and velocities (n, 3).
            envs_idx: which environments.
        """
        memory, rows, made = self.memory, self._rows(envs_idx), list[tuple[Any, Any, Any]]()
        kinds, of = np.unique(memory[rows], axis=0, return_inverse=True)
        for kind, (first, waiting, drawn) in enumerate(kinds.tolist()):
            envs = rows[of.reshape(-1) == kind]
            length, waits = lengths(waiting)
            if length == 0.0:
                made.append((envs, None, (first, waits, drawn)))
                continue
            places, velocities = droplet(length, random_of(self.entity.material, self.entity.idx, int(drawn)))
            count = len(places)
            self._require(call, places)
            start = 0 if first + count > self.max_particles else int(first)
            after = start + count
            after = 0 if after + count > self.max_particles else after
            made.append((envs, (places, velocities, start), (after, waits, drawn + 1)))
        solver, begin = self.solver, self.entity.particle_start
        for envs, what, then in made:
            if what is not None:
                places, velocities, start = what
                particles = np.arange(begin + start, begin + start + len(places))
                solver.emit(places, velocities, envs, particles)
            memory[envs] = then

    def _require(self, call: str, places: np.ndarray) -> None:
        """Refuse droplets that have no particle, too many, or some outside of the bounds."""
        count, domain = len(places), self.solver.domain
        if not 0 < count <= self.max_particles:
            raise ValueError(
                f"{call}: a droplet of {count} particles, and the emitter has {self.max_particles}: take a larger "
                "max_particles, or another size"
            )
        low, high = places.min(axis=0), places.max(axis=0)
        if (low < domain.lower).any() or (high > domain.upper).any():
            raise ValueError(
                f"{call}: the droplet reaches from {triple(low)} to {triple(high)} m, beyond the bounds from "
                f"{triple(domain.lower)} to {triple(domain.upper)}: move it, or widen them in MPMOptions"
            )


def _sides(shape: str, size: Any) -> tuple[float, ...]:
    """Return the sides of a droplet across its direction, m."""
    if shape not in SHAPES:
        raise ValueError(f"emit: droplet_shape={shape!r}{nearest(shape, SHAPES)}")
    if shape == "rectangle":
        sides = numbers("emit", "droplet_size", size, 2)
        return tuple(number("emit", "droplet_size", side, above=0.0) for side in sides)
    return (number("emit", "droplet_size", size, above=0.0),) * (2 if shape == "square" else 1)


def _turn(direction: tuple[float, ...], theta: float) -> np.ndarray:
    """Return the rotation of a droplet: z along the direction, x level, both turned by theta (rad) around z."""
    length = np.linalg.norm(direction)
    if not length > 0:
        raise ValueError(f"emit: direction={direction}: it must have a length")
    z = np.asarray(direction) / length
    x = np.cross(z, [0.0, 0.0, 1.0]) if np.hypot(z[0], z[1]) > 1e-9 else np.array([z[2], 0.0, 0.0])
    x = x / np.linalg.norm(x)
    y = np.cross(z, x)
    return np.stack([np.cos(theta) * x + np.sin(theta) * y, np.cos(theta) * y - np.sin(theta) * x, z], axis=1)
