"""The numbers of environments' own in a `state_dict`, beside what the driver keeps there."""

from collections.abc import Mapping

import numpy as np
import torch

from .environments import Environments

_SAVED = "parameters."
_OF_DRIVERS = ("memory", "counters")
"""Parts of a `state_dict`: parameters, each under its name with this in front, and what drivers keep."""


def saved(envs: Environments) -> dict[str, torch.Tensor]:
    """Return the parameters as parts of a `state_dict`, (num_envs, ...) each."""
    return {_SAVED + name: numbers for name, numbers in envs.overrides.state_dict().items()}


def checked(envs: Environments, state: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """Return the parameters in a `state_dict` by name, once they are known to fit; nothing is changed.

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
    return envs.overrides.checked_state(parts)


def load(envs: Environments, numbers: dict[str, np.ndarray]) -> None:
    """Take what `checked` returned, and the model's own numbers for all others."""
    if numbers or envs.overrides:
        envs.overrides.load(numbers)
        envs.driver.differ(envs.overrides.fields(), envs.overrides.features())
