"""The memory of all environments' matter: tensors, which a launch advances in place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ...physics.machine.memory import require_memory
from .domain import Domain, blocks_of
from .kernels.layout import ACTIVE, BODY, GEOM, LANES, NUMBERS, POS, POSE, ROWS, VEL, WRENCH
from .matter import Matter


@dataclass(frozen=True)
class Touched:
    """The geoms that matter touches, and the bodies that recoil.

    Attributes:
        table: rows of `layout.GEOM`, (geoms, fields) int64; `kept` are the arrays that they have addresses of.
        poses: (envs, geoms, POSE).
        bodies: (envs, bodies, BODY).
        wrenches: (envs, bodies, WRENCH): impulses that a launch gave.
        kept: arrays.
    """

    table: np.ndarray
    poses: torch.Tensor
    bodies: torch.Tensor
    wrenches: torch.Tensor
    kept: tuple[np.ndarray, ...] = ()

    @staticmethod
    def none(num_envs: int) -> "Touched":
        """Return no geoms."""
        poses, bodies, wrenches = (torch.zeros(num_envs, 0, width) for width in (POSE, BODY, WRENCH))
        return Touched(np.zeros((0, len(GEOM.fields)), np.int64), poses, bodies, wrenches)


class MatterBatch:
    """The state and the numbers of matter.

    Attributes:
        num_envs: number of environments.
        domain: grid and walls.
        dt: length of a substep, s.
        memory: (envs, blocks, ROWS, LANES) float32, as `layout` says.
        numbers: (envs, matters, NUMBERS): those of materials.
        gravity: (envs, 3), m/s2.
        faults: (envs,) int64: 1 if an environment is stopped.
        held: (envs,) int64: particles that the walls held in the last substep.
        first: the first block of each matter, and the end.
        laws: the number of each matter's law.
    """

    def __init__(
        self,
        matters: Sequence[Matter],
        num_envs: int,
        domain: Domain,
        dt: float,
        gravity: Sequence[float],
        device: torch.device,
    ) -> None:
        counts = [blocks_of(matter.count) for matter in matters]
        self.first = [0, *np.cumsum(counts).tolist()]
        require_memory(num_envs, 4 * self.first[-1] * ROWS * LANES)
        self.num_envs, self.domain, self.dt, self.device = num_envs, domain, dt, device
        self.laws = [matter.material.number_of_law for matter in matters]
        starts = [_start(matter, count) for matter, count in zip(matters, counts, strict=True)]
        self.start = torch.cat(starts).to(device)
        self.memory = self.start.expand(num_envs, -1, -1, -1).clone()
        rows = [numbers_of(matter, dt) for matter in matters]
        self.numbers = torch.tensor(rows, dtype=torch.float32, device=device).expand(num_envs, -1, -1).clone()
        self.gravity = torch.tensor(gravity, dtype=torch.float32, device=device).expand(num_envs, 3).clone()
        self.faults = torch.zeros(num_envs, dtype=torch.int64, device=device)
        self.held = torch.zeros(num_envs, dtype=torch.int64, device=device)


def numbers_of(matter: Matter, dt: float) -> list[float]:
    """Return the row of `layout.NUMBERS` of matter: mass and volume of a particle, then those of its law."""
    numbers = [matter.material.rho * matter.volume, matter.volume, *matter.material.numbers(dt)]
    return [*numbers, *[0.0] * (NUMBERS - len(numbers))]


def _start(matter: Matter, blocks: int) -> torch.Tensor:
    """Return the blocks of matter at the begin; spare lanes lie where the last particle does."""
    rows = np.zeros((blocks * LANES, ROWS), np.float32)
    rows[: matter.count, POS : POS + 3] = matter.positions
    rows[matter.count :, POS : POS + 3] = matter.positions[-1]
    rows[: matter.count, VEL : VEL + 3] = matter.velocity
    rows[: matter.count, ACTIVE] = float(matter.exists)
    return torch.from_numpy(rows).view(blocks, LANES, ROWS).transpose(1, 2).contiguous()
