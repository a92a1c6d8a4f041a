"""Types that a solver returns beside tensors."""

from typing import NamedTuple

import torch


class Trajectory(NamedTuple):
    """The states after each of a sequence of steps: `qpos` (num_envs, nstep, nq) and `qvel` (num_envs, nstep, nv)."""

    qpos: torch.Tensor
    qvel: torch.Tensor
