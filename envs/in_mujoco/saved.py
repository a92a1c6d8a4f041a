"""Saving environments in MuJoCo: MuJoCo's state vectors, and numbers of the model of environments' own."""

from collections.abc import Callable, Mapping, Sequence

import mujoco
import numpy as np
import torch

from ...physics.model.kernel_numbers import mujoco_numbers
from ...physics.model.parameters import PARAMETERS
from ..saved import MASK, WHOLE, require_parts, require_tensor
from .world import PARTS, World

_NUMBERS = "parameters."
_OF_ALL = ("states", "evaluated", "moved", "faults", "own")


def state_dict(worlds: Sequence[World]) -> dict[str, torch.Tensor]:
    """Return states, where quantities were evaluated, faults, and all parameters of models of environments' own."""
    parts = {
        "states": np.stack([world.state() for world in worlds]),
        "evaluated": np.stack([world.evaluated for world in worlds]),
        "moved": np.array([world.moved for world in worlds]),
        "faults": np.array([world.faults for world in worlds]),
        "own": np.array([bool(world.names) for world in worlds]),
    }
    for name in sorted(set().union(*(world.names for world in worlds))):
        parts[_NUMBERS + name] = np.stack([mujoco_numbers(world.model, name) for world in worlds])
    return {name: torch.from_numpy(part) for name, part in parts.items()}


def checked_state(
    worlds: Sequence[World], mj: mujoco.MjModel, state: Mapping[str, torch.Tensor]
) -> dict[str, np.ndarray]:
    """Return the parts of a saved state, once they are known to fit; nothing is changed.

    Raises:
        TypeError: it is no mapping.
        ValueError: it is of another model or number of environments.
    """
    where, count = "saved state in MuJoCo", len(worlds)
    require_parts(where, state, _OF_ALL, optional=[_NUMBERS + name for name in PARAMETERS])
    size = (count, mujoco.mj_stateSize(mj, PARTS))
    for name, shape, kind in (
        ("states", size, ""),
        ("evaluated", size, ""),
        ("moved", (count,), MASK),
        ("faults", (count,), WHOLE),
        ("own", (count,), MASK),
    ):
        require_tensor(f"{where}: {name}", state[name], shape, kind)
    for name in state:
        if name not in _OF_ALL:
            own = mujoco_numbers(mj, name.removeprefix(_NUMBERS))
            require_tensor(f"{where}: {name}", state[name], (count, *own.shape))
    return {name: part.cpu().numpy() for name, part in state.items()}


def load(worlds: Sequence[World], parts: Mapping[str, np.ndarray], fresh: Callable[[], mujoco.MjModel]) -> None:
    """Bring environments to parts that were checked."""
    numbers = {name.removeprefix(_NUMBERS): part for name, part in parts.items() if name not in _OF_ALL}
    for env, world in enumerate(worlds):
        if world.names:
            world.share()
        if parts["own"][env]:
            world.differ({name: part[env] for name, part in numbers.items()}, fresh)
        world.go_on(parts["states"][env], parts["evaluated"][env], bool(parts["moved"][env]))
        world.faults = int(parts["faults"][env])
