"""MPMSolver: matter of all environments, by the material point method; tensors in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ...physics.base.arguments import as_environments, real_array
from ...physics.machine.runtime import ensure_runtime
from ...physics.machine.scalars import as_count
from .batch import Batch, Touched, numbers_of
from .domain import Domain, triple
from .kernels.launch import launch_for
from .kernels.layout import ACTIVE, AFFINE, FIXED, LANES, POS, REST, ROWS, STRAIN, VEL, VOLUME
from .matter import Matter

WRITABLE = {"pos": (POS, 3), "vel": (VEL, 3), "C": (AFFINE, 9), "strain": (STRAIN, 6), "volume": (VOLUME, 1)}
READABLE = WRITABLE | {"active": (ACTIVE, 1)}
"""Quantities of particles by name: first row and count."""
MEMORY = ("memory", "numbers", "gravity", "faults", "held")
"""The memory that the future depends on: tensors of `Batch` by name, (envs, ...)."""


class MPMSolver:
    """Matter in `num_envs` environments: the material point method with affine particles (MLS-MPM).

    Particles carry momentum and strain; in each substep both go to a grid of nodes and back (Hu et al., 2018). All is
    in single precision; tensors have the runtime's. An environment's result depends on nothing but its own state, to
    the last bit.

    Args:
        matters: particles by material, the same in all environments.
        num_envs: number of environments.
        lower_bound, upper_bound: walls that no particle passes, along which it slides, (3,), m.
        grid_density: cells in a metre.
        dt: length of a substep, s.
        gravity: (3,), m/s2.

    Attributes:
        num_envs (int): number of environments.
        matters (list[Matter]): in the order of their particles.
        n_particles (int): in an environment.
        dt (float): s.
        dx (float): length of a cell, m.

    Raises:
        ValueError: matter is outside of the bounds, or the time step is too long for it; the message has numbers that
            would do.
        MemoryError: so many particles do not fit.
    """

    def __init__(
        self,
        matters: Sequence[Matter],
        num_envs: int,
        lower_bound: Sequence[float] = (-1.0, -1.0, 0.0),
        upper_bound: Sequence[float] = (1.0, 1.0, 1.0),
        grid_density: float = 64.0,
        dt: float = 1e-4,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
    ) -> None:
        self._runtime = runtime = ensure_runtime()
        self.matters, self.num_envs = list(matters), as_count("num_envs", num_envs)
        if not self.matters:
            raise ValueError("matters: expected one at least")
        domain = Domain.of(lower_bound, upper_bound, grid_density)
        for matter in self.matters:
            domain.require_inside(matter)
            domain.require_step(matter, dt)
        self.dt, self.dx, self.domain = float(dt), domain.dx, domain
        self.device, self.dtype = runtime.torch_device, runtime.torch_dtype
        self._batch = Batch(self.matters, self.num_envs, domain, self.dt, gravity, self.device)
        slots = [
            np.arange(matter.count) + LANES * first
            for matter, first in zip(self.matters, self._batch.first[:-1], strict=True)
        ]
        self.starts = np.cumsum([0, *(matter.count for matter in self.matters)]).tolist()
        self._slots = torch.from_numpy(np.concatenate(slots)).to(self.device)
        self.n_particles = self.starts[-1]
        self.touch(Touched.none(self.num_envs))

    def touch(self, touched: Touched) -> None:
        """Set the geoms that matter touches from now on."""
        self._launch = launch_for(self._batch, touched, self._runtime.threads)

    def step(self, n: int = 1) -> None:
        """Take n substeps.

        Raises:
            ValueError: n is no whole number above 0.
        """
        self._runtime.require()
        self._launch(as_count("n", n))

    # state

    def get(self, name: str, envs_idx: Any = None, particles: Any = None) -> torch.Tensor:
        """Return a quantity of particles (envs, particles, numbers), or (envs, particles) if it is one number.

        Args:
            name: "pos" (3) m, "vel" (3) m/s, "C" (9) 1/s, "strain" (6), "volume", "active" (bool: whether they exist).
            envs_idx: indices of environments; None for all.
            particles: a slice or indices of particles; None for all.

        Raises:
            KeyError: for an unknown name, with those that exist.
            IndexError: for an environment or particle that does not exist.
        """
        if name not in READABLE:
            raise KeyError(f"no quantity of particles is named {name!r}; there are {', '.join(READABLE)}")
        first, count = READABLE[name]
        found = self._rows(first, count, envs_idx, particles)
        if name == "active":
            return found[..., 0] > 0
        return found.to(self.dtype) if count > 1 else found[..., 0].to(self.dtype)

    @property
    def pos(self) -> torch.Tensor:
        """Positions (num_envs, n_particles, 3), m."""
        return self.get("pos")

    @property
    def vel(self) -> torch.Tensor:
        """Velocities (num_envs, n_particles, 3), m/s."""
        return self.get("vel")

    @property
    def active(self) -> torch.Tensor:
        """True where particles exist (num_envs, n_particles), bool."""
        return self.get("active")

    @property
    def faults(self) -> torch.Tensor:
        """1 for stopped environments (num_envs,), int64: a particle would have moved more than a cell in a step.

        They stay as they were before the launch in which that happened, until a reset or a write of particles.
        """
        return self._batch.faults.clone()

    @property
    def held(self) -> torch.Tensor:
        """Particles that the walls held in the last substep (num_envs,), int64."""
        return self._batch.held.clone()

    def set(self, name: str, values: Any, envs_idx: Any = None, particles: Any = None) -> None:
        """Write a quantity of particles; faults of their environments are forgotten. Arguments as of `get`.

        Args:
            name: of the quantity.
            values: (envs, particles, numbers), or what can be broadcast to it.
            envs_idx: indices of environments; None for all.
            particles: a slice or indices of particles; None for all.

        Raises:
            KeyError, IndexError: as of `get`.
            ValueError: for a wrong shape, a number that is not finite, or a position outside of the bounds; nothing is
                written then.
        """
        if name not in WRITABLE:
            raise KeyError(f"no quantity of particles that is set is named {name!r}; there are {', '.join(WRITABLE)}")
        first, count = WRITABLE[name]
        envs, slots = self._chosen(envs_idx), self._slots_of(particles)
        numbers = self._numbers(name, values, (len(envs), len(slots), count))
        if name == "pos":
            self._require_inside(numbers, envs)
        self._write(first, numbers, envs, slots)
        if name == "pos":
            self._write(REST, torch.zeros_like(numbers), envs, slots)
        self._batch.faults[envs] = 0

    def set_active(self, active: Any, envs_idx: Any = None, particles: Any = None) -> None:
        """Switch particles on or off; those that are off have no mass and stay where they are.

        Args:
            active: (envs, particles) of 0 and 1, or what can be broadcast to it.
            envs_idx: indices of environments; None for all.
            particles: a slice or indices of particles; None for all.

        Raises:
            ValueError: for a wrong shape.
            IndexError: for an environment or particle that does not exist.
        """
        envs, slots = self._chosen(envs_idx), self._slots_of(particles)
        numbers = self._numbers("active", active, (len(envs), len(slots)))[..., None]
        self._write(ACTIVE, (numbers != 0).float(), envs, slots)

    def set_fixed(self, fixed: Any, envs_idx: Any = None, particles: Any = None) -> None:
        """Fix particles that exist where they are, or free them; arguments as of `set_active`.

        Matter is clamped where its particles are fixed: nodes that they reach do not move.
        """
        envs, slots = self._chosen(envs_idx), self._slots_of(particles)
        numbers = self._numbers("fixed", fixed, (len(envs), len(slots))) != 0
        now = self._batch.memory[envs[:, None], (slots // LANES)[None], ACTIVE, (slots % LANES)[None]]
        self._write(ACTIVE, ((now > 0) * torch.where(numbers, FIXED, 1.0))[..., None], envs, slots)
        for first, count in (READABLE["vel"], READABLE["C"]):
            moving = self._rows(first, count, envs, particles)
            self._write(first, torch.where(numbers[..., None], 0.0, moving), envs, slots)

    def emit(self, positions: Any, velocities: Any, envs_idx: Any, particles: Any) -> None:
        """Bring particles into being: at rest in themselves, with positions and velocities (envs, particles, 3)."""
        envs, slots = self._chosen(envs_idx), self._slots_of(particles)
        shape = (len(envs), len(slots), 3)
        at, moving = self._numbers("positions", positions, shape), self._numbers("velocities", velocities, shape)
        self._require_inside(at, envs)
        rows = torch.zeros(*shape[:2], ROWS, device=self.device)
        rows[..., POS : POS + 3], rows[..., VEL : VEL + 3], rows[..., ACTIVE] = at, moving, 1.0
        self._write(0, rows, envs, slots)

    def stop(self, envs: torch.Tensor) -> None:
        """Stop environments, a mask (num_envs,), as a fault does."""
        self._batch.faults.masked_fill_(envs, 1)

    def reset(self, envs_idx: Any = None) -> None:
        """Put environments into their first state; materials stay as they are.

        Raises:
            IndexError: for an environment that does not exist.
        """
        envs = self._chosen(envs_idx)
        self._batch.memory[envs] = self._batch.start
        self._batch.faults[envs] = 0
        self._batch.held[envs] = 0

    def state_dict(self, envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Return everything that the future depends on, (envs, ...) each, to the last bit."""
        envs = self._chosen(envs_idx)
        return {name: getattr(self._batch, name)[envs].clone() for name in MEMORY}

    def load_state_dict(self, state: Mapping[str, torch.Tensor], envs_idx: Any = None) -> None:
        """Restore a `state_dict` of as many environments.

        Raises:
            ValueError: it is of another solver; nothing is written then.
        """
        envs = self._chosen(envs_idx)
        mine = {name: getattr(self._batch, name) for name in MEMORY}
        for name, tensor in mine.items():
            saved, shape = state.get(name), (len(envs), *tensor.shape[1:])
            if not isinstance(saved, torch.Tensor) or tuple(saved.shape) != shape or saved.dtype != tensor.dtype:
                raise ValueError(f"{name}: expected a tensor {shape} {tensor.dtype}; use what state_dict() returned")
        for name, tensor in mine.items():
            tensor[envs] = state[name].to(self.device)

    # materials

    def set_material(self, number: int, envs_idx: Any = None, **values: Any) -> None:
        """Give environments own numbers of a material: `set_material(0, [3, 5], E=[2e5, 3e5])`.

        Args:
            number: of the matter.
            envs_idx: indices of environments; None for all.
            values: a number, or one for each environment (envs,), by the material's names; `rho` changes masses.

        Raises:
            TypeError: the material has no such number.
            ValueError: a number is impossible, or the time step is too long for it; nothing is written then.
        """
        envs, matter = self._chosen(envs_idx), self.matters[number]
        columns = {name: np.broadcast_to(real_array(name, value), (len(envs),)) for name, value in values.items()}
        rows = []
        for i in range(len(envs)):
            own = {name: float(column[i]) for name, column in columns.items()}
            other = replace(matter, material=replace(matter.material, **own))
            self.domain.require_step(other, self.dt)
            rows.append(numbers_of(other, self.dt))
        self._batch.numbers[envs, number] = torch.tensor(rows, dtype=torch.float32, device=self.device)

    def set_gravity(self, gravity: Any, envs_idx: Any = None) -> None:
        """Set gravity (envs, 3) or (3,), m/s2."""
        envs = self._chosen(envs_idx)
        self._batch.gravity[envs] = self._numbers("gravity", gravity, (len(envs), 3))

    @property
    def masses(self) -> torch.Tensor:
        """Masses of particles (num_envs, n_particles), kg."""
        counts = torch.tensor([matter.count for matter in self.matters], device=self.device)
        return self._batch.numbers[:, :, 0].repeat_interleave(counts, 1).to(self.dtype)

    # indices

    def _chosen(self, envs_idx: Any) -> torch.Tensor:
        """Return indices of environments (k,)."""
        found = as_environments(envs_idx, self.num_envs, None)
        whole = np.arange(self.num_envs) if found is None else found
        return torch.as_tensor(whole, device=self.device)

    def _slots_of(self, particles: Any) -> torch.Tensor:
        """Return the places of particles in blocks (k,)."""
        if particles is None:
            return self._slots
        if isinstance(particles, slice):
            return self._slots[particles]
        index = torch.as_tensor(particles, device=self.device)
        if index.dtype == torch.bool:
            index = index.nonzero()[:, 0]
        if index.numel() and (int(index.min()) < 0 or int(index.max()) >= self.n_particles):
            raise IndexError(f"particles: from {int(index.min())} to {int(index.max())}, of {self.n_particles}")
        return self._slots[index.long()]

    def _rows(self, first: int, count: int, envs_idx: Any, particles: Any) -> torch.Tensor:
        """Return numbers of particles, (envs, particles, count)."""
        slots, memory = self._slots_of(particles), self._batch.memory[:, :, first : first + count]
        if envs_idx is not None:
            memory = memory[self._chosen(envs_idx)]
        return memory.transpose(2, 3).reshape(len(memory), -1, count)[:, slots]

    def _write(self, first: int, numbers: torch.Tensor, envs: torch.Tensor, slots: torch.Tensor) -> None:
        """Write numbers (envs, particles, count) into rows from `first` on."""
        blocks, lanes = slots // LANES, slots % LANES
        for k in range(numbers.shape[2]):
            self._batch.memory[envs[:, None], blocks[None], first + k, lanes[None]] = numbers[..., k]

    def _numbers(self, name: str, values: Any, shape: tuple[int, ...]) -> torch.Tensor:
        """Return numbers of a shape as float32 on the device."""
        if not isinstance(values, torch.Tensor):
            values = torch.from_numpy(np.asarray(real_array(name, values), np.float32))
        found = values.detach().to(self.device, torch.float32)
        try:
            found = found.broadcast_to(shape)
        except RuntimeError:
            raise ValueError(f"{name}: expected shape {shape}, got {tuple(found.shape)}") from None
        if not found.isfinite().all():
            env = (~found.isfinite()).reshape(shape[0], -1).any(1).nonzero()[0, 0]
            raise ValueError(f"{name}: a number of environment {int(env)} of those given is not finite")
        return found

    def _require_inside(self, positions: torch.Tensor, envs: torch.Tensor) -> None:
        bounds = self.domain.lower, self.domain.upper
        low, high = (torch.tensor(x, dtype=torch.float32, device=self.device) for x in bounds)
        outside = ((positions < low - 1e-6) | (positions > high + 1e-6)).any(2)
        if outside.any():
            env, particle = (int(x) for x in outside.nonzero()[0])
            raise ValueError(
                f"pos: particle {particle} of environment {int(envs[env])} at {triple(positions[env, particle])} m is "
                f"outside of the bounds from {triple(self.domain.lower)} to {triple(self.domain.upper)}"
            )
