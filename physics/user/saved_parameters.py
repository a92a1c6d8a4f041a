"""The numbers of environments' own in a `state_dict`, beside what the driver keeps there."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ..batch_numbers import on_host
from .environments import Environments

_SAVED = "parameters."
_OF_DRIVERS = ("memory", "counters")
"""Parts of a `state_dict`: parameters, each under its name with this in front, and what drivers keep."""


def saved(envs: Environments, index: Any) -> dict[str, torch.Tensor]:
    """Return the parameters of the environments `index` (None: all) as parts of a `state_dict`, (n, ...) each."""
    return {_SAVED + name: numbers for name, numbers in envs.overrides.state_dict(on_host(index)).items()}


def checked(envs: Environments, state: Mapping[str, torch.Tensor], count: int) -> dict[str, np.ndarray]:
    """Return the parameters in a `state_dict` of `count` environments by name, once they are known to fit.

    Raises:
        TypeError: the state is no mapping.
        ValueError: a key that no state has, or numbers of another model or number of environments.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"state: expected what state_dict() returned, not {type(state).__name__}")
    for key in state:
        if key not in _OF_DRIVERS and not (isinstance(key, str) and key.startswith(_SAVED)):
            raise ValueError(f"the state has a part {key!r}, which no state_dict of a RigidSolver has")
    parts = {name.removeprefix(_SAVED): numbers for name, numbers in state.items() if name not in _OF_DRIVERS}
    return envs.overrides.checked_state(parts, count)


def load(envs: Environments, numbers: dict[str, np.ndarray], index: Any) -> None:
    """Give the environments `index` (None: all) what `checked` returned, and the model's own numbers for all others."""
    if not numbers and not envs.overrides:
        return
    fields, anew = envs.overrides.load(numbers, on_host(index))
    if anew:
        envs.driver.differ(fields, envs.overrides.features())
    else:
        envs.driver.write_own(fields, index)
