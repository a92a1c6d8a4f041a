"""A built scene as its entities see it: the solver, the names of environments, and the form of results."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from ..physics.base.arguments import CheckedEnvs, real_array
from ..physics.model.model import Model
from ..physics.run.interface import STATE
from ..physics.solver.readout.contacts import Contacts
from ..physics.solver.user.columns import as_entries
from ..physics.solver.user.coordinates import DofCoordinates
from .checks import Indices, Numbers
from .compat.solver import SceneSolver
from .friction import Friction

Envs = CheckedEnvs | None
"""Environments that exist; None for all."""


class World:
    """The model and the environments of a built scene.

    Attributes:
        model: the compiled model.
        solver: its environments.
        n_envs: as `Scene.build` was given: 0 stands for one environment whose tensors have no batch dimension.
        offsets: where environments are drawn side by side, (max(1, n_envs), 3) m.
        coordinates: which numbers of qpos are the positions of dofs.
        friction: of geoms, and the ratios of environments.
        pushed: bodies whose wrenches end with the next step.
        matter: what `matter.world.SceneMatterWorld` makes of a scene with matter; None: it has none.

    Args:
        outputs: quantities that are wanted after each step.
        requires_grad: whether the state is part of torch's graph, as of `RigidSolver`.
    """

    def __init__(
        self,
        model: Model,
        n_envs: int,
        offsets: np.ndarray,
        outputs: Sequence[str] = (),
        requires_grad: bool = False,
    ) -> None:
        self.model, self.n_envs = model, n_envs
        self.solver = SceneSolver(model, max(1, n_envs), outputs, requires_grad=requires_grad)
        self.offsets = torch.as_tensor(offsets, dtype=self.solver.dtype, device=self.solver.device)
        self.coordinates = DofCoordinates(model.mj)
        self.friction = Friction(self.solver)
        self._numbers = self.solver.numbers
        self.pushed: set[int] = set()
        self.matter: Any = None
        self._driven: dict[Hashable, torch.Tensor] = {}
        self._built: dict[str, np.ndarray] = {}

    def step(self, substeps: int) -> None:
        """Take physics steps; wrenches of `push` end with them."""
        if self.matter is None:
            self.solver.step(substeps)
        else:
            self.matter.step(substeps)
        if self.pushed:
            columns = 6 * np.repeat(np.array(sorted(self.pushed)), 6) + np.tile(np.arange(6), len(self.pushed))
            self.solver.inputs.set_columns(xfrc_applied=(columns, 0.0))
            self.pushed.clear()
            self._driven.clear()

    def close(self) -> None:
        """Give the memory of the environments back."""
        if self.matter is not None:
            self.matter.close()
        self.solver.close()

    def push(self, bodies: np.ndarray, wrenches: torch.Tensor, envs: Envs) -> None:
        """Add forces and torques at centres of mass (n, k, 6), world frame, to bodies (k,) for the next step."""
        self.pushed.update(bodies.tolist())
        columns = (6 * bodies[:, None] + np.arange(6)).reshape(-1)
        present = self.solver.state.get_columns("xfrc_applied", columns, envs)
        self.solver.inputs.set_columns(envs, xfrc_applied=(columns, present + wrenches.reshape(len(present), -1)))

    def drive(self, source: Hashable, bodies: np.ndarray, wrenches: torch.Tensor) -> None:
        """Push bodies of all environments for a source, as `push` does, instead of its wrenches before this step."""
        before = self._driven.get(source)
        self._driven[source] = wrenches
        self.push(bodies, wrenches if before is None else wrenches - before, None)

    def stop_drives(self, envs: Envs) -> None:
        """End the pushes of sources in environments, whose inputs are other ones now."""
        for wrenches in self._driven.values():
            wrenches[self.indices(envs)] = 0.0

    def keep_built(self, names: Iterable[str]) -> None:
        """Keep per-environment parameters from the start for these names."""
        self._built |= {name: self.solver.get_parameters(name).cpu().numpy().copy() for name in names}

    def built(self, name: str, envs: Envs) -> np.ndarray:
        """Return numbers of the model with which environments were built, (n, ...)."""
        if name in self._built:
            return self._built[name][self.indices(envs).cpu().numpy()]
        return getattr(self.model.mj, name)[None].repeat(self.how_many(envs), 0)

    @property
    def count(self) -> int:
        """Number of environments, 1 without a batch."""
        return self.solver.num_envs

    def envs(self, envs_idx: Indices) -> Envs:
        """Return environments that exist, in the solver's form.

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
        return CheckedEnvs(self._numbers.environments(envs_idx, self.count))

    def how_many(self, envs: Envs) -> int:
        """Return the number of environments in a result of `envs`."""
        return self.count if envs is None else len(envs.index)

    def indices(self, envs: Envs) -> torch.Tensor:
        """Return a result of `envs` as indices (k,) int64 on the device, of all for None."""
        return torch.as_tensor(np.arange(self.count) if envs is None else envs.index, device=self.solver.device)

    def drawn(self, points: torch.Tensor, envs: Envs, relative: bool) -> torch.Tensor:
        """Return points (n, k, 3) or (n, 3): as they are if `relative`, else where the environments are drawn."""
        if relative:
            return points
        return points + (self.offsets_of(envs) if points.ndim == 2 else self.offsets_of(envs)[:, None])

    def offsets_of(self, envs: Envs) -> torch.Tensor:
        """Return where environments are drawn, (n, 3) m."""
        return self.offsets if envs is None else self.offsets[torch.as_tensor(envs.index)]

    def out(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return numbers (k, ...) as users see them: without the first dimension if the scene has no batch."""
        return numbers[0] if self.n_envs == 0 else numbers

    def entries(self, name: str, values: Numbers, envs: Envs, width: int) -> Any:
        """Return a user's numbers: (n, width), or (width,) or one for every environment, finite.

        Raises:
            ValueError: for another shape, naming the expected one, and for a number that is not finite.
        """
        return as_entries(self._numbers, name, values, self.how_many(envs), width)

    def tensor(self, name: str, values: Numbers, envs: Envs, *shape: int) -> torch.Tensor:
        """Return a user's numbers as a tensor (n, *shape): given so, as (*shape,) or as one number, finite.

        Raises:
            ValueError: for another shape, naming the expected one, and for a number that is not finite.
        """
        count, numbers = self.how_many(envs), self._numbers.numbers(values, name)
        if tuple(numbers.shape) not in ((count, *shape), shape, ()):
            raise ValueError(f"{name}: expected shape {(count, *shape)} or {shape}, got {tuple(numbers.shape)}")
        self._numbers.require_finite(name, numbers)
        return torch.as_tensor(numbers, dtype=self.solver.dtype, device=self.solver.device).expand(count, *shape)

    def doubles(self, name: str, values: Numbers, envs: Envs, *shape: int) -> np.ndarray:
        """Return the result of `tensor` as an array of numpy in double precision, which may be infinite."""
        count, numbers = self.how_many(envs), real_array(name, values).astype(np.float64)
        if numbers.shape not in ((count, *shape), shape, ()):
            raise ValueError(f"{name}: expected shape {(count, *shape)} or {shape}, got {numbers.shape}")
        if np.isnan(numbers).any():
            raise ValueError(f"{name}: a number is nan")
        return np.broadcast_to(numbers, (count, *shape)).copy()

    def get(self, name: str, envs: Envs = None) -> torch.Tensor:
        """Return a quantity by MuJoCo's name at the present state, (k, ...): `RigidSolver.get` after `forward`."""
        if name not in STATE:
            self.solver.forward_changed()
        return self.solver.get(name, envs)

    def get_many(self, names: Sequence[str], envs: Envs = None) -> dict[str, torch.Tensor]:
        """Return several quantities by MuJoCo's names at the present state."""
        self.solver.forward_changed()
        return self.solver.get_many(names, envs)

    @property
    def contacts(self) -> Contacts:
        """The contacts of all environments at the present state."""
        self.solver.forward_changed()
        return self.solver.contacts

    def parameter(self, name: str, envs: Envs = None) -> torch.Tensor:
        """Return numbers of the model by MuJoCo's name, (n, ...) in the solver's precision: environments' own."""
        return self.solver.get_parameters(name, envs).to(self.solver.device, self.solver.dtype)
