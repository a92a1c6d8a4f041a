"""The numbers of an entity's parts in its scene, which the objects of the entity share."""

from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

import numpy as np

from ...physics.base.arguments import real_array
from ...physics.solver.solver import RigidSolver
from ..checks import Indices
from ..errors import SceneOrderError
from ..model.ranges import KINDS, Ranges
from ..records import part_named
from ..world import Envs, World


class EntityIndex:
    """The place of an entity in its scene.

    In all methods of an entity `envs_idx` are n environments: None for all, a number, a slice, a mask, or numbers in
    any form; `dofs_idx_local`, `qs_idx_local` and `links_idx_local` are k of its parts in the same forms, numbered
    within the entity. Tensors are (n, ...), without their first dimension in a scene without a batch (n_envs=0).
    Numbers that are given are (n, k, ...), or (k, ...) for every environment, or one number.

    Results belong to the present state and inputs. Poses and other derived quantities are computed
    when it is asked for, so `skip_forward` of setters, which other engines have, saves nothing and changes nothing.

    Attributes:
        name: of the entity.
        links: its links.
        n_qs, n_dofs: numbers of its coordinates and dofs.
        is_free: True if its first link is free to move.
        ranges: of its parts; None until the scene is built.

    Raises:
        SceneOrderError: in all methods, if the scene is not built yet.
        IndexError: in all methods, for an environment or a part that does not exist.
        ValueError: in all methods, for a wrong shape, naming the expected one, and for numbers that are not finite.
    """

    links: Sequence["LinkIndex"]
    n_qs: int
    n_dofs: int
    is_free: bool

    def __init__(self, name: str) -> None:
        self.name = name
        self.ranges: Ranges | None = None
        self._world: World | None = None

    def place(self, world: World, ranges: Ranges) -> None:
        """Take its place in a built scene."""
        self._world, self.ranges = world, ranges

    @property
    def is_built(self) -> bool:
        """True if the scene is built."""
        return self._world is not None

    @property
    def n_links(self) -> int:
        """Number of its links."""
        return len(self.links)

    def link(self, name: str | None) -> "LinkIndex":
        """Return a link by its name; errors as in `part_named`."""
        return part_named(f"entity '{self.name}'", "link", name, self.links)

    @property
    def world(self) -> World:
        """The built scene.

        Raises:
            SceneOrderError: it is not built yet.
        """
        if self._world is None:
            raise SceneOrderError(f"entity '{self.name}': call scene.build() first")
        return self._world

    @property
    def solver(self) -> RigidSolver:
        """The solver of the built scene; errors as in `world`."""
        return self.world.solver

    def start(self, kind: str) -> int:
        """Return the number in the scene of the first part of a kind of `ranges.KINDS`; errors as in `world`."""
        return (self.ranges or self._unbuilt(f"{kind}_start")).start[kind]

    def end(self, kind: str) -> int:
        """Return one more than the number in the scene of the last part of a kind; errors as in `world`."""
        return (self.ranges or self._unbuilt(f"{kind}_end")).end[kind]

    def count(self, kind: str) -> int:
        """Return the number of parts of a kind; errors as in `world`."""
        return self.end(kind) - self.start(kind)

    def _unbuilt(self, name: str) -> NoReturn:
        raise SceneOrderError(f"entity '{self.name}': {name} is known after scene.build()")

    def all(self, kind: str) -> slice:
        """Return the indices in the scene of all parts of a kind."""
        return slice(self.start(kind), self.end(kind))

    def envs(self, envs_idx: Indices) -> tuple[World, Envs]:
        """Return the built scene, and environments that exist."""
        world = self.world
        return world, world.envs(envs_idx)

    def dofs_in(self, dofs_idx_local: Indices, envs_idx: Indices) -> tuple[World, Envs, np.ndarray]:
        """Return the built scene, environments, and indices of dofs in the scene, (k,)."""
        return *self.envs(envs_idx), self.dofs(dofs_idx_local)

    def bodies_in(self, links_idx_local: Indices, envs_idx: Indices) -> tuple[World, Envs, np.ndarray]:
        """Return the built scene, environments, and indices of MuJoCo's bodies, (k,)."""
        return *self.envs(envs_idx), self.bodies(links_idx_local)

    def dofs(self, dofs_idx_local: Indices) -> np.ndarray:
        """Return indices of dofs in the scene, (k,)."""
        return self.start("dof") + self._local("dofs_idx_local", dofs_idx_local, self.n_dofs)

    def qs(self, qs_idx_local: Indices) -> np.ndarray:
        """Return indices of coordinates in the scene, (k,)."""
        return self.start("q") + self._local("qs_idx_local", qs_idx_local, self.n_qs)

    def bodies(self, links_idx_local: Indices) -> np.ndarray:
        """Return indices of MuJoCo's bodies, (k,)."""
        return self.start("link") + 1 + self._local("links_idx_local", links_idx_local, self.n_links)

    def geoms(self) -> np.ndarray:
        """Return indices of its geoms in the scene."""
        return np.arange(self.start("geom"), self.end("geom"))

    def _local(self, what: str, chosen: Indices, count: int) -> np.ndarray:
        return local_numbers(f"entity '{self.name}'", what, chosen, count)


def local_numbers(owner: str, what: str, chosen: Indices, count: int) -> np.ndarray:
    """Return numbers of parts within an owner, (k,) int64.

    Args:
        owner: for messages.
        what: the argument.
        chosen: None for all, a number, a slice, a mask of all, or numbers in any form.
        count: how many parts there are.

    Raises:
        IndexError: for a part that does not exist, and if these are no whole numbers.
    """
    if chosen is None:
        return np.arange(count)
    if isinstance(chosen, slice):
        return np.arange(count)[chosen]
    expected = "expected whole numbers, a slice or a mask"
    try:
        indices = np.atleast_1d(real_array(what, list(chosen) if isinstance(chosen, range) else chosen))
    except ValueError:
        raise IndexError(f"{owner}: {what}={chosen!r}: {expected}") from None
    if indices.dtype == np.bool_:
        if indices.shape != (count,):
            raise IndexError(f"{owner}: {what}: a mask must have shape ({count},), not {indices.shape}")
        return np.flatnonzero(indices)
    if indices.ndim != 1 or (indices.dtype.kind not in "iu" and indices.size):
        raise IndexError(f"{owner}: {what}={chosen!r}: {expected}")
    indices = indices.astype(np.int64, copy=False)
    wrong = indices.view(np.uint64) >= count  # negative ones too
    if wrong.any():
        raise IndexError(f"{owner}: {what}: there is no {indices[wrong][0]}; they are numbered 0 to {count - 1}")
    return indices


class HasIndex(Protocol):
    """An entity, or all entities of a scene as one."""

    @property
    def index(self) -> EntityIndex:
        """The numbers of its parts."""


def index_of(argument: str, entity: object) -> EntityIndex:
    """Return the index of an entity that a user gives.

    Raises:
        TypeError: it is no entity.
    """
    index = getattr(entity, "index", None)
    if not isinstance(index, EntityIndex):
        raise TypeError(f"{argument}={entity!r}: expected an entity of the scene")
    return index


class LinkIndex:
    """The numbers of a link.

    Attributes:
        index: of its entity.
        name: without the entity's.
        idx_local: number within the entity.
        parent_idx_local: number of its parent within the entity, -1 for the world.
    """

    def __init__(self, index: EntityIndex, name: str, idx_local: int, parent_idx_local: int) -> None:
        self.index, self.name, self.idx_local, self.parent_idx_local = index, name, idx_local, parent_idx_local

    @property
    def idx(self) -> int:
        """Number in the scene."""
        return self.index.start("link") + self.idx_local

    @property
    def body(self) -> int:
        """Number of MuJoCo's body: link 0 is body 1."""
        return self.idx + 1


def _number(read: Callable[[EntityIndex, str], int], kind: str, doc: str) -> property:
    """Return a property with the result of `EntityIndex.start`, `end` or `count` for a kind."""

    def number(index: EntityIndex) -> int:
        return read(index, kind)

    return property(number, doc=doc)


for _kind, _what in KINDS.items():
    for _end, _doc in (
        ("start", f"Number in the scene of the first of its {_what}."),
        ("end", "One more than the last."),
    ):
        setattr(EntityIndex, f"{_kind}_{_end}", _number(getattr(EntityIndex, _end), _kind, _doc))
for _name in ("geoms", "vgeoms", "verts", "faces", "edges", "vverts", "vfaces", "equalities"):
    _kind = {"equalities": "equality"}.get(_name, _name[:-1])
    setattr(EntityIndex, f"n_{_name}", _number(EntityIndex.count, _kind, f"Number of its {KINDS[_kind]}."))
