"""Types that a solver returns beside tensors."""

from typing import NamedTuple

import torch


class Trajectory(NamedTuple):
    """Where a sequence of steps ended: `qpos` (num_envs, nstep, nq) and `qvel` (num_envs, nstep, nv)."""

    qpos: torch.Tensor
    qvel: torch.Tensor
