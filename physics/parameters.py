"""Numbers of the model that environments have of their own: what a solver's users call."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from .batch_numbers import on_host
from .model.parameters import require_known
from .solver_part import SolverPart

_SHOWN = (
    "body_iquat",
    "body_subtreemass",
    "geom_pos",
    "geom_quat",
    "cam_pos0",
    "cam_poscom0",
    "cam_mat0",
    "body_mass",
    "body_inertia",
    "gravity",
    "jnt_stiffness",
    "qpos_spring",
    "actuator_gear",
)
"""Fields of the model that `readout.derived` reads."""
_SAVED = "parameters."
_OF_DRIVERS = ("memory", "counters")
"""Parts of a `state_dict`: parameters, each under its name with this in front, and what drivers keep."""


class SolverParameters(SolverPart):
    """The part of `RigidSolver` that gives environments numbers of their own."""

    def set_parameters(self, name: str, values: Any, envs_idx: Any = None) -> None:
        """Give environments model numbers of their own, by MuJoCo's name, in its shape, units and frames.

        `gravity` and `density` (mjOption), `body_mass`, `body_inertia`, `body_ipos`, `dof_damping`, `geom_size`,
        `actuator_gainprm` and so on (docs/fields.md lists them). Constants that depend on them follow as in MuJoCo's
        `mj_setConst`, which runs for these environments where it is needed. State and time go on; a reset keeps the
        numbers, and so do `state_dict` and `load_state_dict`. What `get` returns belongs to the last evaluated state
        with the new numbers.

        The first call for a name compiles or loads another kernel, and binds it. In single precision positions keep the
        digits that the model's own contacts need, also where those of an environment are stiffer.

        Args:
            name: of a field of mjModel, or "gravity", "density", "viscosity" or "wind" of mjOption.
            values: (n, *shape), n being num_envs or the number of `envs_idx`, or what can be broadcast to that.
            envs_idx: indices of environments, or a mask; None for all.

        Raises:
            KeyError: for an unknown name, with those there are.
            ValueError: for a wrong shape and for numbers that nothing can have, with the environment; nothing is set.
            IndexError: for an environment that does not exist.
        """
        require_known(name, writable=True)
        self.update_parameters({name: values}, envs_idx)

    def update_parameters(self, parameters: Mapping[str, Any], envs_idx: Any = None) -> None:
        """`set_parameters` for several names at once: what follows from them is found once, and all are set or none."""
        index = self._numbers.environments(envs_idx, self.num_envs)
        self._differ(self._checked_parameters(parameters, index), index)

    def get_parameters(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """Model numbers of environments by MuJoCo's name, (n, *shape) float64: their own, or else the model's.

        Also of what follows from others: body_subtreemass, body_invweight0, dof_invweight0, dof_M0, geom_rbound,
        actuator_acc0.

        Raises:
            KeyError: for an unknown name, with those there are.
            IndexError: for an environment that does not exist.
        """
        return torch.from_numpy(self._overrides.get(name, on_host(self._numbers.environments(envs_idx, self.num_envs))))

    def _checked_parameters(self, parameters: Mapping[str, Any], index: Any) -> dict[str, np.ndarray]:
        """Return a user's numbers for the environments `index`; errors are those of `set_parameters`."""
        self.runtime.require()
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters: expected numbers by name, as in a dict, not {type(parameters).__name__}")
        return self._overrides.checked(parameters, on_host(index))

    def _differ(self, given: Mapping[str, np.ndarray], index: Any) -> None:
        """Give the environments `index` numbers that `_checked_parameters` returned."""
        fields, anew = self._overrides.set(given, on_host(index))
        if anew:
            self._driver.differ(fields, self._overrides.features())
        else:
            self._driver.write_own(fields, index)

    def _saved_parameters(self) -> dict[str, torch.Tensor]:
        return {_SAVED + name: numbers for name, numbers in self._overrides.state_dict().items()}

    def _saved_numbers(self, state: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
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
        saved = {name.removeprefix(_SAVED): numbers for name, numbers in state.items() if name not in _OF_DRIVERS}
        return self._overrides.checked_state(saved)

    def _load_parameters(self, saved: dict[str, np.ndarray]) -> None:
        """Take what `_saved_numbers` returned."""
        if saved or self._overrides:
            self._overrides.load(saved)
            self._driver.differ(self._overrides.fields(), self._overrides.features())

    def _shown(self, index: Any) -> dict[str, torch.Tensor]:
        """The environments' own numbers among those that show, (n, ...) each."""
        names = [name for name in _SHOWN if name in self._overrides] if self._overrides else []
        found = {name: torch.from_numpy(self._overrides.get(name, on_host(index))) for name in names}
        return {name: numbers.to(self.device, self.dtype) for name, numbers in found.items()}
