"""The timestep and the per-environment parameters in a `state_dict`, next to the driver's state."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import torch

from ...base.arguments import on_host
from ...run.interface import require_same
from .environments import Environments

TIMESTEP = "timestep"
"""The part of a `state_dict` with the seconds of a step, (n, 1): clocks count steps. Old states lack it."""
_SAVED = "parameters."
_OF_DRIVERS = ("memory", "counters")
"""Parts of a `state_dict`: parameters, each under its name with this prefix, and the driver's parts."""


def saved(envs: Environments, index: Any) -> dict[str, torch.Tensor]:
    """Return the timestep and the parameters of environments (None: all) as parts of a `state_dict`, (n, ...) each."""
    parameters = {_SAVED + name: numbers for name, numbers in envs.overrides.state_dict(on_host(index)).items()}
    return {TIMESTEP: saved_timestep(envs.model.mj, envs.num_envs if index is None else len(index)), **parameters}


def saved_timestep(mj: mujoco.MjModel, count: int) -> torch.Tensor:
    """Return the seconds of a step of a model in `count` environments, (count, 1)."""
    return torch.full((count, 1), mj.opt.timestep, dtype=torch.float64)


def check_timestep(mj: mujoco.MjModel, state: Mapping[str, torch.Tensor], count: int) -> None:
    """Refuse a `state_dict` of `count` environments that says that its steps are of another length.

    Raises:
        ValueError: with both timesteps.
    """
    if TIMESTEP not in state:
        return
    require_same(state, {TIMESTEP: ((count, 1), torch.float64)})
    timesteps, here = state[TIMESTEP].cpu().numpy()[:, 0], float(mj.opt.timestep)
    if (timesteps != here).any():
        env = int(np.flatnonzero(timesteps != here)[0])
        raise ValueError(
            f"the state of environment {env} was saved with a timestep of {timesteps[env]} s, and here it is {here} s: "
            "use a model with the same timestep"
        )


def checked(envs: Environments, state: Mapping[str, torch.Tensor], count: int) -> dict[str, np.ndarray]:
    """Return the parameters in a `state_dict` of `count` environments by name, once they are known to fit.

    Raises:
        TypeError: the state is no mapping.
        ValueError: a key that no state has, or numbers of another model or number of environments.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"state: expected what state_dict() returned, not {type(state).__name__}")
    for key in state:
        if key not in (*_OF_DRIVERS, TIMESTEP) and not (isinstance(key, str) and key.startswith(_SAVED)):
            raise ValueError(f"the state has a part {key!r}, which no state_dict of a RigidSolver has")
    parts = {name.removeprefix(_SAVED): numbers for name, numbers in state.items() if name.startswith(_SAVED)}
    return envs.overrides.checked_state(parts, count)


def load(envs: Environments, numbers: dict[str, np.ndarray], index: Any) -> None:
    """Give the environments `index` (None: all) the result of `checked`, and the model's numbers to all others."""
    if not numbers and not envs.overrides:
        return
    envs.overrides.load(numbers, index)
