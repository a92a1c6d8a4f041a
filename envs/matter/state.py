"""The state of bodies and matter together, their quantities and their parameters, by the rigid solver's calls."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...physics import RigidSolver
from ...physics.base.arguments import as_environments, real_array
from ...physics.run.interface import is_of_one
from ...physics.solver.user.parameters import Parameters
from ...physics.solver.user.quantities import Quantities
from ...physics.solver.user.state import SolverState
from ...soft import MPMSolver
from ...soft.mpm.solver import MEMORY
from ..task.matter import READS, STARTS
from .materials import MaterialTable

_PREFIX = "matter."
_DIGEST, _MATERIALS = "digest", "materials"


class CoupledState(SolverState):
    """The state of bodies and matter; all is as in `SolverState`, and covers both.

    Attributes:
        written: environments whose particles were written since the last step, (num_envs,) bool.
    """

    def __init__(self, rigid: RigidSolver, matter: MPMSolver, table: MaterialTable) -> None:
        super().__init__(rigid._envs, rigid.state._sleep)
        self._matter, self._table, self._digest = matter, table, _digest_of(matter)
        self.written = torch.zeros(matter.num_envs, dtype=torch.bool, device=matter.device)

    def set(self, envs_idx: Any = None, **values: Any) -> None:
        """Write parts of the bodies' state; see `SolverState.set`. Matter that a fault stopped goes on."""
        super().set(envs_idx, **values)
        self._go_on(envs_idx)

    def set_columns(self, envs_idx: Any = None, **parts: tuple[Any, Any]) -> None:
        """Write single numbers of the bodies' state; see `SolverState.set_columns`."""
        super().set_columns(envs_idx, **parts)
        self._go_on(envs_idx)

    def set_particles(self, envs_idx: Any = None, **values: Any) -> None:
        """Write particles of environments: `set_particles([3, 5], pos=places)`.

        Args:
            envs_idx: indices of n environments; None for all.
            values: "pos" m, "vel" m/s, "active", (n, particles, ...) or what can be broadcast to it.

        Raises:
            TypeError: for an unknown name.
            ValueError, IndexError: as of `MPMSolver.set`.
        """
        for name in values:
            if name not in STARTS:
                raise TypeError(f"no state of particles is named {name!r}; there are {', '.join(STARTS)}")
        self._put(values, envs_idx)
        index, _ = self._envs.chosen(envs_idx)
        self.written[slice(None) if index is None else index] = True
        self._envs.edits += 1

    def reset(
        self,
        envs_idx: Any = None,
        qpos: Any = None,
        qvel: Any = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        particles: Mapping[str, Any] | None = None,
    ) -> None:
        """Put environments into their reference state, or the given one; see `SolverState.reset`.

        Args:
            envs_idx: indices of environments; None for all.
            qpos: coordinates.
            qvel: velocities.
            parameters: model numbers by name; numbers of materials too.
            inputs: inputs by name.
            particles: as `set_particles` takes them; missing ones are the matter's own.
        """
        of_bodies, of_matter = self._table.divided(parameters or {})
        super().reset(envs_idx, qpos, qvel, of_bodies, inputs)
        self._table.set(of_matter, envs_idx)
        self._matter.reset(envs_idx)
        self._put(particles or {}, envs_idx)

    def state_dict(self, envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Everything that the future depends on, to the last bit: (n, ...) each."""
        own = self._matter.state_dict(envs_idx) | {_MATERIALS: self._table.of(envs_idx)}
        own[_DIGEST] = torch.full((len(own[_MATERIALS]), 1), self._digest)
        return super().state_dict(envs_idx) | {_PREFIX + name: tensor for name, tensor in own.items()}

    def check_state_dict(self, state: Mapping[str, torch.Tensor], count: int) -> None:
        """Refuse a `state_dict` that is not of `count` environments, with the errors of `load_state_dict`."""
        of_bodies, of_matter = _divided(state)
        super().check_state_dict(of_bodies, count)
        self._require_same(of_matter, count)

    def load_state_dict(self, state: Mapping[str, torch.Tensor], envs_idx: Any = None) -> None:
        """Go on where `state_dict` left off; see `SolverState.load_state_dict`."""
        of_bodies, of_matter = _divided(state)
        _, count = self._envs.chosen(envs_idx)
        self._require_same(of_matter, 1 if is_of_one(of_bodies) else count)
        super().load_state_dict(of_bodies, envs_idx)
        spread = {name: part.expand(count, *part.shape[1:]) for name, part in of_matter.items()}
        self._matter.load_state_dict({name: spread[name] for name in MEMORY}, envs_idx)
        self._table.load(spread[_MATERIALS], envs_idx)

    def _put(self, values: Mapping[str, Any], envs_idx: Any) -> None:
        for name, numbers in values.items():
            if name == "active":
                self._matter.set_active(numbers, envs_idx)
            else:
                self._matter.set(name, numbers, envs_idx)

    def _go_on(self, envs_idx: Any) -> None:
        """Forget the faults of matter, as a write of particles does."""
        faults = self._matter.faults
        if bool(faults.any()):
            rows = np.arange(len(faults)) if envs_idx is None else as_environments(envs_idx, len(faults))
            self._matter.set("vel", self._matter.get("vel", rows), rows)

    def _require_same(self, state: Mapping[str, torch.Tensor], count: int) -> None:
        """Refuse a state of other matter.

        Raises:
            ValueError: the message has the part.
        """
        mine = self.state_dict([0])
        for name, own in mine.items():
            if not name.startswith(_PREFIX):
                continue
            part, wanted = state.get(name.removeprefix(_PREFIX)), (count, *own.shape[1:])
            if (
                not isinstance(part, torch.Tensor)
                or part.is_meta
                or (tuple(part.shape), part.dtype) != (wanted, own.dtype)
            ):
                raise ValueError(f"the state's part {name!r} is not {wanted} {own.dtype}: it is of other matter")
        for name in state:
            if _PREFIX + name not in mine:
                raise ValueError(f"the state has a part {_PREFIX + name!r}, which no state of this matter has")
        if bool((state[_DIGEST] != self._digest).any()):
            raise ValueError("the state is of other matter: of another material, dt, grid or bounds")


class CoupledQuantities(Quantities):
    """Quantities of bodies and of particles, by name."""

    def __init__(self, rigid: RigidSolver, matter: MPMSolver) -> None:
        own = rigid.quantities
        super().__init__(own._envs, own._readings, own._sleep)
        self._matter = matter

    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """A quantity by MuJoCo's name, or one of particles such as "particles_pos"; see `Quantities.get`."""
        return self._matter.get(READS[name], envs_idx) if name in READS else super().get(name, envs_idx)

    def get_many(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """`get` for several quantities at once."""
        of_bodies = [name for name in names if name not in READS]
        found = super().get_many(of_bodies, envs_idx) if of_bodies else {}
        return {name: self.get(name, envs_idx) if name in READS else found[name] for name in names}


class CoupledParameters(Parameters):
    """Per-environment parameters of the model, and of materials: "water.viscosity"."""

    def __init__(self, rigid: RigidSolver, matter: MPMSolver, table: MaterialTable) -> None:
        super().__init__(rigid._envs)
        self._matter, self._table = matter, table

    def set(self, name: str, values: Any, envs_idx: Any = None) -> None:
        """Set per-environment parameters by name; see `Parameters.set`."""
        self.update({name: values}, envs_idx)

    def update(self, parameters: Mapping[str, Any], envs_idx: Any = None) -> None:
        """`set` for several names at once. Gravity is that of matter, too."""
        of_bodies, of_matter = self._table.divided(parameters)
        if of_bodies:
            super().update(of_bodies, envs_idx)
        if "gravity" in of_bodies:
            self._matter.set_gravity(np.asarray(real_array("gravity", of_bodies["gravity"])), envs_idx)
        self._table.set(of_matter, envs_idx)

    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """Model numbers of environments by name, (n, *shape) float64; those of materials (n,)."""
        return self._table.get(name, envs_idx) if name in self._table.names else super().get(name, envs_idx)


def _divided(state: Any) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Return the parts of a state that are of bodies, and those of matter without their prefix.

    Raises:
        TypeError: it is no mapping.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"state: expected what state_dict() returned, not {type(state).__name__}")
    of_matter = {name.removeprefix(_PREFIX): part for name, part in state.items() if str(name).startswith(_PREFIX)}
    return {name: part for name, part in state.items() if not str(name).startswith(_PREFIX)}, of_matter


def _digest_of(matter: MPMSolver) -> int:
    """Return a number by which states of other matter are known."""
    domain, digest = matter.domain, hashlib.sha1(usedforsecurity=False)
    digest.update(np.array([matter.dt, matter.dx, *domain.lower, *domain.upper], np.float64).tobytes())
    for each in matter.matters:
        digest.update(f"{each.name} {each.material.law} {each.count};".encode())
    return int.from_bytes(digest.digest()[:7], "little")
