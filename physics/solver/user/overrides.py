"""Per-environment parameters of the model: MuJoCo's, and the fields that follow from them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ...base.arguments import on_host, real_array
from ...base.joints import is_scalar
from ...machine.runtime import Runtime
from ...model.constants import Constants
from ...model.features import Features
from ...model.model import Model
from ...model.parameters import DERIVED, PARAMETERS, as_double, checked, constants_of, require_known
from ...model.parts import PARTS
from ...model.tables.kernel_numbers import RULES, fields_from, kernel_numbers, mujoco_numbers
from ...run.driver import Driver

Fields = dict[str, np.ndarray]
"""Fields of `model.fields` by name, (k, numbers) or (1, numbers) each."""
_COPIED_IN_A_GRID = "geom_", "body_pos", "body_quat"
"""Beginnings of names of numbers that static geoms of a grid have copies of (`model.static_grid`), or are sorted by."""


class Overrides:
    """The per-environment parameters by MuJoCo's names, float64 (num_envs, *shape): set and derived ones.

    Attributes:
        share: True once numbers that all environments share are where the model's were.
        differing: True once the driver has numbers of each environment.
    """

    def __init__(self, model: Model, num_envs: int, runtime: Runtime, driver: Driver) -> None:
        self._model, self._num_envs, self._runtime, self._driver = model, num_envs, runtime, driver
        self._single, self.share, self.differing = runtime.torch_dtype == torch.float32, False, False
        self._values: dict[str, np.ndarray] = {}
        self._constants: Constants | None = None
        self._same_code = True

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __bool__(self) -> bool:
        return bool(self._values)

    def names(self) -> tuple[str, ...]:
        """Return the names of the per-environment parameters."""
        return tuple(self._values)

    def get(self, name: str, index: np.ndarray | None) -> np.ndarray:
        """Numbers of the environments `index` (None: all), (n, *shape), a copy.

        Raises:
            KeyError: for an unknown name.
        """
        require_known(name, writable=False)
        if name in self._values:
            return self._values[name][slice(None) if index is None else index].copy()
        own = self._of_the_model(name)
        return np.broadcast_to(own, (self._num_envs if index is None else len(index), *own.shape)).copy()

    def update(self, parameters: Mapping[str, Any], index: Any) -> None:
        """Check a user's numbers, and give them to the environments `index` (None: all); all are set or none.

        Raises:
            ValueError: MuJoCo cannot change such a number of this model; and the errors of `checked`.
        """
        self.set(self.checked(parameters, index), index)

    def checked(self, parameters: Mapping[str, Any], index: Any) -> dict[str, np.ndarray]:
        """Return a user's numbers for the environments `index` (None: all), (n, *shape) each; nothing is kept.

        Raises:
            KeyError: for an unknown name.
            ValueError: for a wrong shape and for impossible numbers, naming the environment.
            TypeError: the numbers are not in a mapping.
        """
        self._runtime.require()
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters: expected numbers by name, as in a dict, not {type(parameters).__name__}")
        chosen = self._rows(index)
        if "geom_surfacevel" in parameters and self._model.sizes["nstatic"]:
            raise ValueError("geom_surfacevel: environments have own ones only with the option broad_phase='pairs'")
        return {n: checked(self._model.mj, n, v, chosen, self._single) for n, v in as_double(parameters).items()}

    def set(self, given: Mapping[str, np.ndarray], index: Any) -> None:
        """Give environments the numbers that `checked` returned; errors as in `update`."""
        chosen = self._rows(index)
        given = self._with_constants(given, chosen)
        new = self._add(given)
        for name, values in given.items():
            self._values[name][chosen] = values
        self._hand_over(self._values if new else given, None if new or index is None else chosen, index, new)

    def _with_constants(self, given: Mapping[str, np.ndarray], chosen: np.ndarray) -> dict[str, np.ndarray]:
        """Return numbers of environments, and the constants that follow from these and their other numbers."""
        found = dict(given)
        numbers = {name: values[chosen] for name, values in self._values.items()} | found
        if follows := constants_of(found, self._model.mj):
            constants, self._constants = self._constants or Constants(self._model, self._single), None
            found |= constants.derive(follows, numbers, len(chosen))
            self._constants = constants  # unless that raised an error
        return found

    def fields_with(self, given: Mapping[str, np.ndarray], index: Any) -> Fields:
        """Return all fields that the environments `index` have as their own if they get numbers; nothing is kept.

        Args:
            given: numbers that `checked` returned, or that differ a little from such numbers.
            index: environments, None for all.

        Returns:
            (n, numbers) each.
        """
        chosen = self._rows(index)
        numbers = {name: values[chosen] for name, values in self._values.items()}
        numbers |= self._with_constants(given, chosen)
        return self._fields(numbers, numbers)

    def _hand_over(self, changed: Mapping[str, Any], rows: np.ndarray | None, index: Any, new: bool) -> None:
        """Write changed numbers to the driver.

        Args:
            changed: the numbers, by name.
            rows: the environments whose numbers are handed over; one row: it is of all of `index`.
            index: the environments that take them.
            new: True if no environment had an own number of some name before; then all numbers of all are handed over.
        """
        if self._shared_by(index):
            self.share = True
        elif new or not self.differing:
            self._driver.set_env_parameters(self._fields(self._values, self._values), self.features())
            self.differing = True
            return
        chosen = slice(None) if rows is None else rows
        kept = {name: values[chosen] for name, values in self._values.items()}
        self._driver.write_own(self._fields(changed, kept), index)

    def _shared_by(self, index: Any) -> bool:
        """Return True if numbers of the environments `index` go where the model's are, which needs no other kernel.

        All environments must have the same numbers. The first call for some of them is likely to be followed by calls
        for others, with other numbers.
        """
        if self.differing or not self._alike:
            return False
        everyone = index is None or self._num_envs == 1
        return self.share or (everyone and not self._driver.prefers(self.features()))

    def _add(self, names: Iterable[str]) -> bool:
        """Add numbers that were shared before, with the model's values; return True if there are any."""
        new = sorted(set(names) - self._values.keys())
        for name in new:
            own = self._of_the_model(name)
            self._values[name] = np.broadcast_to(own, (self._num_envs, *own.shape)).copy()
        if new:
            has = Features.of(self._model, self._single)
            copied = has.grid and any(name.startswith(_COPIED_IN_A_GRID) for name in self._values)
            self._same_code = not copied and replace(self.features(), parameters=False) == has
        return bool(new)

    @property
    def _alike(self) -> bool:
        """True if all environments have the same numbers, and the code for the model's own numbers serves them."""
        return self._same_code and all((values == values[:1]).all() for values in self._values.values())

    def features(self) -> Features:
        """Return the features of the kernel that the model and these numbers need."""
        return self.features_with((), self._model, self._single)

    def features_with(self, more: Iterable[str], model: Model, single: bool) -> Features:
        """Return the features of the kernel that a model needs, with these numbers and `more`, by name."""
        has, names = Features.of(model, single), self._values.keys() | set(more)
        turning = "jnt_stiffness" in names and not is_scalar(model.values["jnt_type"]).all()
        hulls = has.hulls or not names.isdisjoint(("jnt_solimp", "geom_solimp", "pair_solimp", "eq_solimp"))
        given = {part.name: True for part in PARTS if not names.isdisjoint(part.wanted_with.split())}
        across = has.friction_reference or (has.elliptic and "pair_solreffriction" in names)
        has = replace(has, friction_reference=across, **given)
        return replace(has, ball_joints=has.ball_joints or hulls or turning, hulls=hulls, parameters=True)

    def state_dict(self, index: np.ndarray | None) -> dict[str, torch.Tensor]:
        """All numbers of the environments `index` (None: all) by name, (n, *shape), copies."""
        chosen = slice(None) if index is None else index
        return {name: torch.from_numpy(values[chosen].copy()) for name, values in self._values.items()}

    def checked_state(self, state: Mapping[str, torch.Tensor], count: int) -> dict[str, np.ndarray]:
        """Return the numbers of a `state_dict` of `count` environments by name, (count, *shape) each; nothing is kept.

        Raises:
            ValueError: they are of another model or number of environments, or not finite.
        """
        found = {}
        for name, saved in state.items():
            if name not in PARAMETERS and name not in DERIVED and name != "condition":
                raise ValueError(f"parameters {name}: this version of Tumble has no such number of a model")
            values, wanted = real_array(f"parameters {name}", saved), (count, *self._of_the_model(name).shape)
            if values.shape != wanted:
                raise ValueError(f"parameters {name}: saved as {values.shape}, this solver has {wanted}")
            found[name] = values.astype(np.float64)
            if np.isnan(found[name]).any():
                raise ValueError(f"parameters {name}: a saved number is nan")
        return found

    def load(self, saved: Mapping[str, np.ndarray], index: Any) -> None:
        """Give environments the numbers that `checked_state` returned, and the model's own for all others."""
        chosen = self._rows(index)
        new = self._add(saved)
        for name, values in self._values.items():
            values[chosen] = saved.get(name, self._of_the_model(name))
        one = all(len(values) == 1 for values in saved.values())
        self._hand_over(self._values, None if new else chosen[:1] if one else chosen, index, new)

    def _rows(self, index: Any) -> np.ndarray:
        """Return the numbers (n,) of the environments `index`; None: of all."""
        rows = on_host(index)
        return np.arange(self._num_envs) if rows is None else rows

    def _of_the_model(self, name: str) -> np.ndarray:
        return self._model.values[name] if name == "condition" else mujoco_numbers(self._model.mj, name)

    def _fields(self, changed: Iterable[str], numbers: Mapping[str, np.ndarray]) -> Fields:
        """Return the fields that follow from `changed` numbers, but not fields without any number.

        `numbers` has those of all environments that are meant, (n, *shape) each.
        """
        fields = [field for field in fields_from(changed) if self._model.values[field].size]
        sources = dict.fromkeys(name for field in fields for name in RULES[field][0])
        kept = {name: numbers[name] for name in sources if name in numbers}
        found = kernel_numbers(self._model.mj, fields, kept)
        return {name: rows.reshape(len(rows), -1) for name, rows in found.items()}
