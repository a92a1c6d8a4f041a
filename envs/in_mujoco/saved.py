"""Saving environments in MuJoCo: MuJoCo's state vectors, and numbers of the model of environments' own."""

from collections.abc import Mapping
from typing import Any, Protocol

import mujoco
import numpy as np
import torch

from ...physics import Model
from ...physics.model.parameters import PARAMETERS
from ...physics.model.tables.kernel_numbers import mujoco_numbers
from ...physics.solver.user.saved_parameters import TIMESTEP, check_timestep, saved_timestep
from ..saved import MASK, WHOLE, require_parts, require_tensor
from .warned import heard
from .world import PARTS, MujocoWorld

_NUMBERS = "parameters."
_OF_ALL = ("states", "evaluated", "moved", "faults", "own")
_WHERE = "saved state in MuJoCo"


class Owner(Protocol):
    """The part of a `MujocoSolver` that is needed here."""

    model: Model
    edits: int

    def chosen(self, envs_idx: Any) -> list[MujocoWorld]:
        """Return the environments meant, all for None."""

    def fresh(self) -> mujoco.MjModel:
        """Return a model for an environment with per-environment parameters."""


class States:
    """The states of environments, as `solver.state` of a `RigidSolver` saves and takes them.

    Args:
        solver: whose environments they are.
    """

    def __init__(self, solver: Owner) -> None:
        self._solver, self._mj = solver, solver.model.mj

    def state_dict(self, envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Everything that the future of n environments depends on, to the last bit, (n, ...) each."""
        worlds = self._solver.chosen(envs_idx)
        parts = {
            "states": np.stack([world.state() for world in worlds]),
            "evaluated": np.stack([world.evaluated for world in worlds]),
            "moved": np.array([world.moved for world in worlds]),
            "faults": np.array([world.faults for world in worlds]),
            "own": np.array([bool(world.names) for world in worlds]),
            TIMESTEP: saved_timestep(self._mj, len(worlds)).numpy(),
        }
        for name in sorted(set().union(*(world.names for world in worlds))):
            parts[_NUMBERS + name] = np.stack([mujoco_numbers(world.model, name) for world in worlds])
        return {name: torch.from_numpy(part) for name, part in parts.items()}

    def check_state_dict(self, state: Mapping[str, torch.Tensor], count: int) -> None:
        """Raise unless the state is a `state_dict` of `count` environments of this model.

        Raises:
            TypeError: it is no mapping.
            ValueError: with the part that does not fit.
        """
        require_parts(_WHERE, state, _OF_ALL, optional=[TIMESTEP, *(_NUMBERS + name for name in PARAMETERS)])
        kinds = {"moved": MASK, "faults": WHOLE, "own": MASK}
        shapes: dict[str, tuple[int, ...]] = {name: (count,) for name in kinds}
        shapes["states"] = shapes["evaluated"] = (count, mujoco.mj_stateSize(self._mj, PARTS))
        shapes[TIMESTEP] = (count, 1)
        for name, part in state.items():
            if name not in shapes:
                shapes[name] = (count, *mujoco_numbers(self._mj, name.removeprefix(_NUMBERS)).shape)
            require_tensor(f"{_WHERE}: {name}", part, shapes[name], kinds.get(name, ""))
        check_timestep(self._mj, state, count)

    def load_state_dict(self, state: Mapping[str, torch.Tensor], envs_idx: Any = None) -> None:
        """Go on where `state_dict` left off: each environment where one was, or all of them where a single one was.

        Errors as in `check_state_dict`, and then nothing is changed.
        """
        worlds = self._solver.chosen(envs_idx)
        of_one = isinstance(state, Mapping) and len(state.get("own", ())) == 1
        self.check_state_dict(state, 1 if of_one else len(worlds))
        parts = {name: part.cpu().numpy() for name, part in state.items()}
        numbers = {name.removeprefix(_NUMBERS): part for name, part in parts.items() if name.startswith(_NUMBERS)}
        self._solver.edits += 1
        with heard():
            for env, world in enumerate(worlds):
                row = 0 if of_one else env
                if world.names:
                    world.share()
                if parts["own"][row]:
                    world.set_env_parameters({name: part[row] for name, part in numbers.items()}, self._solver.fresh)
                world.go_on(parts["states"][row], parts["evaluated"][row], bool(parts["moved"][row]))
                world.faults = int(parts["faults"][row])
