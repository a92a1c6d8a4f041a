"""What a solver returns beside tensors."""

from typing import NamedTuple

import torch


class Live(NamedTuple):
    """Numbers of every environment in place: `block` (num_envs, numbers) is a view, `place` the columns meant."""

    block: torch.Tensor
    place: slice


class Trajectory(NamedTuple):
    """Where a sequence of steps ended: `qpos` (num_envs, nstep, nq) and `qvel` (num_envs, nstep, nv)."""

    qpos: torch.Tensor
    qvel: torch.Tensor
