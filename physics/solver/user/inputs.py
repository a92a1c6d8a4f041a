"""The inputs of a solver from step to step: controls, mocap bodies, equalities that hold, applied forces."""

import math
from collections.abc import Mapping
from typing import Any

import torch

from .columns import as_columns, as_entries
from .environments import Environments


class Inputs:
    """The inputs of all environments. They hold until they are written again, or until a reset.

    `solver.inputs.ctrl = numbers` writes those of all environments, `set` those of some.
    """

    def __init__(self, envs: Environments) -> None:
        self._envs = envs

    @property
    def ctrl(self) -> torch.Tensor:
        """Controls (num_envs, nu)."""
        return self._envs.driver.read("ctrl")

    @ctrl.setter
    def ctrl(self, value: Any) -> None:
        self._write("ctrl", value)

    @property
    def mocap_pos(self) -> torch.Tensor:
        """Positions of the mocap bodies (num_envs, nmocap, 3), m, world frame."""
        return self._read("mocap_pos")

    @mocap_pos.setter
    def mocap_pos(self, value: Any) -> None:
        self._write("mocap_pos", value)

    @property
    def mocap_quat(self) -> torch.Tensor:
        """Orientations of the mocap bodies (num_envs, nmocap, 4), w first; of any length but 0."""
        return self._read("mocap_quat")

    @mocap_quat.setter
    def mocap_quat(self, value: Any) -> None:
        self._write("mocap_quat", value)

    @property
    def eq_active(self) -> torch.Tensor:
        """True where an equality of the model holds (num_envs, neq), bool; a file's `active` is the first value."""
        return self._envs.driver.read("eq_active") > 0.5

    @eq_active.setter
    def eq_active(self, value: Any) -> None:
        self._write("eq_active", value)

    @property
    def qfrc_applied(self) -> torch.Tensor:
        """Forces on the dofs (num_envs, nv), N or N m."""
        return self._envs.driver.read("qfrc_applied")

    @qfrc_applied.setter
    def qfrc_applied(self, value: Any) -> None:
        self._write("qfrc_applied", value)

    @property
    def xfrc_applied(self) -> torch.Tensor:
        """On every body a force at its centre of mass (N) and a torque (N m), world frame (num_envs, nbody, 6)."""
        return self._read("xfrc_applied")

    @xfrc_applied.setter
    def xfrc_applied(self, value: Any) -> None:
        self._write("xfrc_applied", value)

    def set(self, envs_idx: Any = None, **inputs: Any) -> None:
        """Write inputs of some environments: `set([3, 5], xfrc_applied=pushes)`.

        A step reads applied forces from the first time on that one is written.

        Args:
            envs_idx: indices of n environments; None for all.
            inputs: `ctrl` (n, nu), `mocap_pos` (n, nmocap, 3), `mocap_quat` (n, nmocap, 4), `eq_active` (n, neq),
                `qfrc_applied` (n, nv), `xfrc_applied` (n, nbody, 6).

        Raises:
            ValueError: for a wrong shape, naming the expected one, or values that are not numbers; nothing is written
                then.
            IndexError: for an environment that does not exist.
            TypeError: for an unknown input.
        """
        index, count = self._envs.chosen(envs_idx)
        for name, rows in checked_inputs(self._envs, inputs, count).items():
            self._envs.driver.write(name, rows, index)

    def set_columns(self, envs_idx: Any = None, **inputs: tuple[Any, Any]) -> None:
        """Write single numbers of inputs: `set_columns([3, 5], ctrl=([0, 2], torques))`; others are not touched.

        Args:
            envs_idx: indices of n environments; None for all.
            inputs: of each input the indices of k columns, and the values to write: (n, k), (k,) or one number,
                finite. An input with several numbers an item has all of them side by side: body b has the columns
                6 b to 6 b + 5 of xfrc_applied.

        Raises:
            ValueError: for a wrong shape, naming the expected one, or values that are not finite; nothing is written
                then.
            IndexError: for an environment or a column that does not exist.
            TypeError: for an unknown input.
        """
        envs = self._envs
        index, count = envs.chosen(envs_idx)
        entries = {}
        for name, (columns, values) in inputs.items():
            if name not in envs.input_shapes:
                raise TypeError(f"no input is named {name!r}; there are {', '.join(envs.input_shapes)}")
            chosen = as_columns(f"columns of {name}", columns, math.prod(envs.input_shapes[name]))
            entries[name] = chosen, as_entries(envs.numbers, name, values, count, len(chosen))
        for name, (chosen, values) in entries.items():
            envs.driver.write_columns(name, chosen, values, index)

    def _read(self, name: str) -> torch.Tensor:
        return self._envs.driver.read(name).reshape(self._envs.num_envs, *self._envs.input_shapes[name])

    def _write(self, name: str, value: Any) -> None:
        self._envs.driver.write(name, _rows(self._envs, name, value, self._envs.num_envs), None)


def checked_inputs(envs: Environments, inputs: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return a user's inputs of `count` environments as the driver takes them, (count, k) or (k,) each, by name.

    Nothing is written; errors as in `Inputs.set`.
    """
    for name in inputs:
        if name not in envs.input_shapes:
            raise TypeError(f"no input is named {name!r}; there are {', '.join(envs.input_shapes)}")
    return {name: _rows(envs, name, value, count) for name, value in inputs.items()}


def _rows(envs: Environments, name: str, value: Any, count: int) -> Any:
    shape, rows = envs.input_shapes[name], envs.numbers.numbers(value, name)
    if tuple(rows.shape) not in ((count, *shape), shape):
        raise ValueError(f"{name}: expected shape {(count, *shape)}, got {tuple(rows.shape)}")
    return rows if len(shape) == 1 else rows.reshape(*rows.shape[: rows.ndim - 2], shape[0] * shape[1])
