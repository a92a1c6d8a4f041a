"""A built scene as its entities see it: the solver, how environments are named, and the form of what is returned."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..physics.arguments import as_environments
from ..physics.model.model import Model
from ..physics.solver import RigidSolver


class World:
    """The model and the environments of a built scene.

    Attributes:
        model: the compiled model.
        solver: its environments.
        n_envs: as `Scene.build` was given: 0 stands for one environment whose tensors have no batch dimension.
        offsets: where environments are drawn side by side, (max(1, n_envs), 3) m.

    Args:
        outputs: quantities that are wanted after each step.
    """

    def __init__(self, model: Model, n_envs: int, offsets: np.ndarray, outputs: Sequence[str] = ()) -> None:
        self.model, self.n_envs = model, n_envs
        self.solver = RigidSolver(model, max(1, n_envs), outputs)
        self.offsets = torch.as_tensor(offsets, dtype=self.solver.dtype, device=self.solver.device)
        self._evaluated = -1

    @property
    def count(self) -> int:
        """Number of environments, 1 without a batch."""
        return self.solver.num_envs

    def envs(self, envs_idx: Any) -> Any:
        """Return environments in the solver's form: None for all, else indices (k,).

        Args:
            envs_idx: None, a number, a slice, a mask of all, or numbers in any form.

        Raises:
            ValueError: the scene has no batch.
            IndexError: for an environment that does not exist.
        """
        if envs_idx is None:
            return None
        if self.n_envs == 0:
            raise ValueError("envs_idx: this scene was built without a batch (n_envs=0); leave it out")
        if isinstance(envs_idx, slice):
            return np.arange(self.count)[envs_idx]
        if isinstance(envs_idx, torch.Tensor) and envs_idx.dtype == torch.bool:
            envs_idx = envs_idx.cpu().numpy()
        if isinstance(envs_idx, int | np.integer) and not isinstance(envs_idx, bool):
            envs_idx = [envs_idx]
        return envs_idx

    def indices(self, envs: Any) -> torch.Tensor:
        """Return what `envs` returned as indices (k,) int64 on the device, of all for None."""
        found = as_environments(envs, self.count)
        return torch.as_tensor(np.arange(self.count) if found is None else found, device=self.solver.device)

    def out(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return numbers (k, ...) as users see them: without the first dimension if the scene has no batch."""
        return numbers[0] if self.n_envs == 0 else numbers

    def rows(self, name: str, values: Any, count: int, width: int) -> torch.Tensor:
        """Return a user's numbers as (count, width): given so, or (width,) for every environment.

        Raises:
            ValueError: for another shape, naming what was expected.
        """
        given = torch.as_tensor(np.asarray(values) if isinstance(values, list | tuple) else values)
        given = given.to(self.solver.device, self.solver.dtype)
        if given.shape not in ((count, width), (width,)):
            expected = f"({width},)" if self.n_envs == 0 else f"({count}, {width}) or ({width},)"
            raise ValueError(f"{name}: expected shape {expected}, got {tuple(given.shape)}")
        return given.expand(count, width)

    def how_many(self, envs: Any) -> int:
        """Return the number of environments in what `envs` returned."""
        if envs is None:
            return self.count
        chosen = np.asarray(envs.cpu() if isinstance(envs, torch.Tensor) else envs)
        return int(chosen.sum()) if chosen.dtype == bool else chosen.size

    def get(self, name: str, envs: Any = None) -> torch.Tensor:
        """Return a quantity by MuJoCo's name at the present state, (k, ...): `RigidSolver.get` after `forward`."""
        self.to_present()
        return self.solver.get(name, envs)

    def get_many(self, names: Sequence[str], envs: Any = None) -> dict[str, torch.Tensor]:
        """Return several quantities by MuJoCo's names at the present state."""
        self.to_present()
        return self.solver.get_many(names, envs)

    def to_present(self) -> None:
        """Let derived quantities be those of the present state: a step leaves those of its beginning."""
        if self._evaluated != self.solver.edits:
            self.solver.forward()
            self._evaluated = self.solver.edits
