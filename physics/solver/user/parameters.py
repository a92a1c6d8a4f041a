"""Per-environment parameters of the model, as users set and read them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ...base.arguments import on_host, real_array
from ...model.parameters import require_known
from .columns import as_columns
from .environments import Environments


class Parameters:
    """The per-environment parameters of the model."""

    def __init__(self, envs: Environments) -> None:
        self._envs = envs

    @property
    def own(self) -> tuple[str, ...]:
        """The names of the parameters that were set per environment."""
        return self._envs.overrides.names()

    def set(self, name: str, values: Any, envs_idx: Any = None) -> None:
        """Set per-environment parameters, by MuJoCo's name, in its shape, units and frames.

        `gravity` and `density` (mjOption), `body_mass`, `body_inertia`, `body_ipos`, `dof_damping`, `geom_size`,
        `actuator_gainprm` and so on (docs/reference/fields.md lists them). Constants that depend on them follow as in
        MuJoCo's `mj_setConst`, which runs for these environments if it is needed. State and time go on; a reset
        keeps the numbers, and so do `state_dict` and `load_state_dict`. The results of `get` belong to the last
        evaluated state with the new numbers.

        Numbers that all environments share need no other kernel, unless their mechanism is not in the model's. The
        first call that gives some environments other numbers, or names some of several, compiles or loads the kernel
        for numbers by environment. In single precision positions keep the digits that the model's own contacts need,
        also if an environment's contacts are stiffer.

        Args:
            name: of a field of mjModel, or "gravity", "density", "viscosity" or "wind" of mjOption.
            values: (n, *shape), n being num_envs or the number of `envs_idx`, or broadcastable to that.
            envs_idx: indices of environments, or a mask; None for all.

        Raises:
            KeyError: for an unknown name, with the names that exist.
            ValueError: for a wrong shape and for invalid numbers, with the environment; nothing is set.
            IndexError: for an environment that does not exist.
        """
        require_known(name, writable=True)
        self._envs.overrides.update({name: values}, self._envs.chosen(envs_idx)[0])

    def update(self, parameters: Mapping[str, Any], envs_idx: Any = None) -> None:
        """`set` for several names at once: what follows from them is found once, and all are set or none."""
        self._envs.overrides.update(parameters, self._envs.chosen(envs_idx)[0])

    def set_items(self, envs_idx: Any = None, **parameters: tuple[Any, Any]) -> None:
        """`update` for some items of names: `set_items([3, 5], dof_damping=([0, 2], dampings))`.

        Args:
            envs_idx: indices of n environments, or a mask; None for all.
            parameters: of each name the indices of k items, such as dofs or bodies, and their values, (n, k, ...) or
                broadcastable to that. The other items of these environments stay as they are.

        Raises:
            KeyError: for an unknown name, with the names that exist.
            ValueError: for a wrong shape and for invalid numbers, with the environment; nothing is set.
            IndexError: for an environment or an item that does not exist.
        """
        index, count = self._envs.chosen(envs_idx)
        rows = {}
        for name, (items, values) in parameters.items():
            require_known(name, writable=True)
            rows[name] = self._envs.overrides.get(name, on_host(index))
            chosen = as_columns(f"items of {name}", items, rows[name].shape[1])
            given, shape = real_array(name, values), (count, len(chosen), *rows[name].shape[2:])
            try:
                rows[name][:, chosen] = np.broadcast_to(given, shape)
            except ValueError:
                raise ValueError(f"{name}: expected shape {shape} or {shape[1:]}, got {given.shape}") from None
        self._envs.overrides.update(rows, index)

    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """Model numbers of environments by MuJoCo's name, (n, *shape) float64; shared ones where none are set.

        Also derived numbers: body_subtreemass, body_invweight0, dof_invweight0, dof_M0, geom_rbound,
        actuator_acc0, eq_data (the second anchor of a connect), light_pos0, of models that sleep dof_length, and so on.

        Raises:
            KeyError: for an unknown name, with the names that exist.
            IndexError: for an environment that does not exist.
        """
        index, _ = self._envs.chosen(envs_idx)
        return torch.from_numpy(self._envs.overrides.get(name, on_host(index)))
