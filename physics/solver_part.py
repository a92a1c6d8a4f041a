"""The attributes that the parts of `RigidSolver` (`inputs`, `states`, `parameters`, `queries`) share."""

from collections.abc import Sequence
from typing import Any

import torch

from .batch_numbers import HostNumbers
from .drivers.driver import Driver
from .model.model import Model
from .overrides import Overrides
from .runtime import Runtime


class SolverPart:
    """Base of the parts of `RigidSolver`, which sets these attributes."""

    model: Model
    num_envs: int
    runtime: Runtime
    device: torch.device
    dtype: torch.dtype
    _numbers: HostNumbers
    _driver: Driver
    _overrides: Overrides

    def get_many(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Quantities by MuJoCo's names."""
        raise NotImplementedError
