"""The place of an entity in its scene, and the parts of it that a user means: all of its methods share them."""

from typing import Any

import numpy as np
import torch

from .errors import SceneOrderError
from .ranges import Ranges
from .selection import local_numbers
from .world import World


class EntityAccess:
    """The place of an entity in its scene.

    In all methods of an entity `envs_idx` are n environments: None for all, a number, a slice, a mask, or numbers in
    any form; `dofs_idx_local`, `qs_idx_local` and `links_idx_local` are k of its parts in the same forms, numbered
    within the entity. Tensors are (n, ...), without their first dimension in a scene without a batch (n_envs=0).
    Numbers that are given are (n, k, ...), or (k, ...) for every environment, or one number.

    What is returned belongs to the present state and inputs. Poses and all else that follows from the state is computed
    when it is asked for, so `skip_forward` of setters, which other engines have, saves nothing and changes nothing.

    Raises:
        SceneOrderError: in all methods, if the scene is not built yet.
        IndexError: in all methods, for an environment or a part that does not exist.
        ValueError: in all methods, for a wrong shape, naming what was expected, and for numbers that are not finite.
    """

    name: str
    scene: Any
    _world: World | None
    _ranges: Ranges | None
    n_links: int
    n_dofs: int
    n_qs: int

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
    def solver(self) -> Any:
        """The solver of the built scene: a `tumble.physics.RigidSolver`."""
        return self.world.solver

    def _start(self, kind: str) -> int:
        assert self._ranges is not None
        return self._ranges.start[kind]

    def _end(self, kind: str) -> int:
        assert self._ranges is not None
        return self._ranges.end[kind]

    def _place(self, envs_idx: Any) -> tuple[World, Any]:
        """Return the world, and environments that exist."""
        world = self.world
        return world, world.envs(envs_idx)

    def _dofs(self, dofs_idx_local: Any) -> np.ndarray:
        """Return numbers of dofs in the scene, (k,)."""
        return self._start("dof") + local_numbers(
            f"entity '{self.name}'", "dofs_idx_local", dofs_idx_local, self.n_dofs
        )

    def _qs(self, qs_idx_local: Any) -> np.ndarray:
        """Return numbers of coordinates in the scene, (k,)."""
        return self._start("q") + local_numbers(f"entity '{self.name}'", "qs_idx_local", qs_idx_local, self.n_qs)

    def _bodies(self, links_idx_local: Any) -> np.ndarray:
        """Return numbers of MuJoCo's bodies, (k,)."""
        owner = f"entity '{self.name}'"
        return self._start("link") + 1 + local_numbers(owner, "links_idx_local", links_idx_local, self.n_links)

    def _geoms(self) -> np.ndarray:
        """Return numbers of its geoms in the scene."""
        return np.arange(self._start("geom"), self._end("geom"))

    def _moved(self, numbers: torch.Tensor, envs: Any, relative: bool) -> torch.Tensor:
        """Return positions (n, k, 3) or (n, 3), as they are, or where the environments are drawn."""
        if relative:
            return numbers
        offsets = self.world.offsets if envs is None else self.world.offsets[torch.as_tensor(envs.index)]
        return numbers + (offsets if numbers.ndim == 2 else offsets[:, None])
