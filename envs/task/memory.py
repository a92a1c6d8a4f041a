"""Named arrays with a row for each environment: the memory of a task, and the shapes of a scene."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import torch

from ...physics.model.tables.kernel_numbers import mujoco_numbers
from ..arrays import Array, ArrayKind, copy, host
from ..saved import require_tensor


class TaskMemory:
    """Named arrays (num_envs, ...).

    The first reset, of all environments, decides on names, shapes and types. Values are copied when they are kept.

    Attributes:
        arrays: by name, each (num_envs, ...).
    """

    def __init__(self, owner: str, kind: ArrayKind) -> None:
        self.arrays: dict[str, Array] = {}
        self._owner, self._kind, self._made = owner, kind, False

    def begin(self, values: Mapping[str, Array], rows: Array) -> None:
        """Keep the memory with which episodes begin, each (k, ...), in the environments `rows` (k,).

        Raises:
            ValueError: other names or shapes than at the first reset.
            TypeError: other types.
        """
        if not self._made:
            for name, value in values.items():
                self.arrays[name] = copy(self._kind.like(value))
            self._made = True
            return
        if missing := [name for name in self.arrays if name not in values]:
            raise ValueError(f"{self._owner}.reset: memory {missing} is missing; the first reset had it")
        self.write(values, rows, f"{self._owner}.reset")

    def write(self, values: Mapping[str, Array], rows: Array, where: str = "") -> None:
        """Overwrite values, each (k, ...), in the environments `rows` (k,); errors as in `begin`."""
        for name, value in values.items():
            self.arrays[name][rows] = self._fitting(name, value, len(rows), where or f"{self._owner}.begin")

    def update(self, values: Mapping[str, Array]) -> None:
        """Replace the arrays of the given names, each (num_envs, ...); errors as in `begin`."""
        for name, value in values.items():
            array = self.arrays.get(name)
            if value is array:
                continue
            if array is None or getattr(value, "dtype", None) is not array.dtype or value.shape != array.shape:
                value = self._fitting(name, value, 0 if array is None else len(array), f"{self._owner}.step")
            self.arrays[name] = copy(value)

    def load(self, values: Mapping[str, Array]) -> None:
        """Replace all arrays by saved ones, or none; errors as in `begin`."""
        self.arrays = self.fitting(values)

    def fitting(self, values: Mapping[str, Array], count: int | None = None) -> dict[str, Array]:
        """Return copies of saved arrays that may replace all of these, or `count` rows; errors as in `begin`."""
        where = f"{self._owner}, saved state"
        if missing := [name for name in self.arrays if name not in values]:
            raise ValueError(f"{where}: memory {missing} is missing; it is of another task")
        arrays = {}
        for name, value in values.items():
            rows = count if count is not None else len(self.arrays[name]) if name in self.arrays else 0
            arrays[name] = copy(self._fitting(name, value, rows, where))
        return arrays

    def _fitting(self, name: str, value: Array, count: int, where: str) -> Array:
        """Check a value for `count` environments, and convert it to the type of the array of that name."""
        if (array := self.arrays.get(name)) is None:
            raise ValueError(
                f"{where}: there is no memory {name!r} to keep: {self._owner}.reset or begin must return it too; there "
                f"is {', '.join(self.arrays) or 'none'}"
            )
        shape = (count, *array.shape[1:])
        if not hasattr(value, "shape"):
            kind = type(value).__name__
            raise ValueError(f"{where}: memory {name!r} is {kind}; needed is an array of shape {shape}")
        if tuple(value.shape) != shape:
            raise ValueError(f"{where}: memory {name!r} has shape {tuple(value.shape)}; needed is {shape}")
        if type(value) is not type(array):  # of the other library
            value = self._kind.like(value)
        if value.dtype == array.dtype:
            return value
        xp = self._kind.xp
        for kind in ("real floating", "integral", "bool"):
            if xp.isdtype(array.dtype, kind) and xp.isdtype(value.dtype, kind):
                return xp.astype(value, array.dtype)
        raise TypeError(f"{where}: memory {name!r} has dtype {value.dtype}; needed is {array.dtype}, as at the reset")


class Varied(dict[str, np.ndarray]):
    """Numbers of the model that differ by the shapes of a scene, (num_envs, ...) by MuJoCo's names."""

    def __init__(self, model: mujoco.MjModel, num_envs: int) -> None:
        super().__init__()
        self._model, self._num_envs = model, num_envs

    def of(self, rows: Any) -> dict[str, np.ndarray]:
        """Return copies of the numbers of environments, chosen by an array (k,) or a slice; `put` takes them."""
        return {name: numbers[_on_host(rows)].copy() for name, numbers in self.items()}

    def put(self, values: Mapping[str, np.ndarray], rows: Any) -> None:
        """Set the numbers of environments, (k, ...) by name; numbers without a name in `values` become the model's."""
        for name in dict.fromkeys((*self, *values)):
            own = mujoco_numbers(self._model, name)[None]
            rows_of_name = self.setdefault(name, np.repeat(own, self._num_envs, axis=0))
            rows_of_name[_on_host(rows)] = values.get(name, own)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Return copies of all numbers as tensors."""
        return {name: torch.from_numpy(numbers.copy()) for name, numbers in self.items()}

    def check_state(self, where: str, state: Mapping[str, Any]) -> None:
        """Raise ValueError if a `state_dict` has other numbers than these models have."""
        for name, numbers in dict(state).items():
            shape = np.shape(getattr(self._model, str(name), ()))
            require_tensor(f"{where}: {name}", numbers, (self._num_envs, *shape))


def _on_host(rows: Any) -> Any:
    """Return an index of rows of numpy's arrays."""
    return rows if isinstance(rows, slice) else host(rows)
