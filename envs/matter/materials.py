"""MaterialTable: the numbers of materials in each environment, by names such as "water.viscosity"."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import torch

from ...physics.base.arguments import as_environments, real_array
from ...soft import MPMSolver
from ..task.scene_entities import nearest


class MaterialTable:
    """The numbers of materials in each environment.

    Args:
        matter: the solver that has them.

    Attributes:
        names: of all numbers, "matter.number".
    """

    def __init__(self, matter: MPMSolver) -> None:
        self._matter = matter
        self._places: list[tuple[int, str]] = []  # of each column the matter's number, and the name there
        first = []
        for number, each in enumerate(matter.matters):
            for name, value in ((field.name, getattr(each.material, field.name)) for field in fields(each.material)):
                if isinstance(value, float | int) and not isinstance(value, bool):
                    self._places.append((number, name))
                    first.append(float(value))
        self.names = [f"{matter.matters[number].name}.{name}" for number, name in self._places]
        self._numbers = np.tile(np.array(first), (matter.num_envs, 1))  # (num_envs, names)

    def divided(self, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return parameters of bodies and those of materials.

        Raises:
            KeyError: a name with a point is of no material; the message has the nearest.
        """
        of_matter = {name: values for name, values in parameters.items() if "." in name}
        for name in of_matter:
            if name not in self.names:
                raise KeyError(f"no material has {name!r}; {nearest(name, self.names)}")
        return {name: values for name, values in parameters.items() if "." not in name}, of_matter

    def set(self, parameters: Mapping[str, Any], envs_idx: Any = None) -> None:
        """Give environments their own numbers, each (k,) or one for all.

        Raises:
            ValueError: a shape is wrong, a number is impossible, or the time step is too long for it.
            IndexError: for an environment that does not exist.
        """
        if not parameters:
            return
        rows = self._rows(envs_idx)
        numbers = self._numbers[rows]
        for name, values in parameters.items():
            given = np.asarray(real_array(name, values), np.float64)
            if given.shape not in ((), (len(rows),)):
                raise ValueError(f"{name}: expected shape ({len(rows)},), got {given.shape}")
            numbers[:, self.names.index(name)] = given
        changed = {number for name in parameters for number in [self._places[self.names.index(name)][0]]}
        for number in sorted(changed):
            mine = [column for column, place in enumerate(self._places) if place[0] == number]
            own = {self._places[column][1]: numbers[:, column] for column in mine}
            self._matter.set_material(number, rows, **own)
            self._numbers[rows[:, None], np.array(mine)] = numbers[:, mine]

    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """Return one number of environments, (k,) float64."""
        return self.of(envs_idx)[:, self.names.index(name)]

    def of(self, envs_idx: Any = None) -> torch.Tensor:
        """Return all numbers of environments, (k, names) float64."""
        return torch.from_numpy(self._numbers[self._rows(envs_idx)])

    def load(self, numbers: torch.Tensor, envs_idx: Any = None) -> None:
        """Take numbers back that `of` returned; the solver's own state has what follows from them."""
        self._numbers[self._rows(envs_idx)] = numbers.cpu().numpy()

    def _rows(self, envs_idx: Any) -> np.ndarray:
        found = as_environments(envs_idx, self._matter.num_envs)
        return np.arange(self._matter.num_envs) if found is None else found
