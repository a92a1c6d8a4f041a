"""The inputs of a solver from step to step: controls, mocap bodies, equalities that hold, applied forces."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch

from .solver_part import SolverPart


class SolverInputs(SolverPart):
    """The part of `RigidSolver` that takes them. They hold until they are written anew, or until a reset."""

    @property
    def ctrl(self) -> torch.Tensor:
        """Controls (num_envs, nu)."""
        return self._driver.read("ctrl")

    @ctrl.setter
    def ctrl(self, value: Any) -> None:
        self._driver.write("ctrl", self._rows_of_input("ctrl", value, self.num_envs), None)

    @property
    def mocap_pos(self) -> torch.Tensor:
        """Positions of the mocap bodies (num_envs, nmocap, 3), m, world frame."""
        return self._read("mocap_pos")

    @mocap_pos.setter
    def mocap_pos(self, value: Any) -> None:
        self._driver.write("mocap_pos", self._rows_of_input("mocap_pos", value, self.num_envs), None)

    @property
    def mocap_quat(self) -> torch.Tensor:
        """Their orientations (num_envs, nmocap, 4), w first; of any length but 0."""
        return self._read("mocap_quat")

    @mocap_quat.setter
    def mocap_quat(self, value: Any) -> None:
        self._driver.write("mocap_quat", self._rows_of_input("mocap_quat", value, self.num_envs), None)

    @property
    def eq_active(self) -> torch.Tensor:
        """True where an equality of the model holds (num_envs, neq), bool; a file's `active` is the first value."""
        return self._driver.read("eq_active") > 0.5

    @eq_active.setter
    def eq_active(self, value: Any) -> None:
        self._driver.write("eq_active", self._rows_of_input("eq_active", value, self.num_envs), None)

    @property
    def qfrc_applied(self) -> torch.Tensor:
        """Forces on the dofs (num_envs, nv), N or N m."""
        return self._driver.read("qfrc_applied")

    @qfrc_applied.setter
    def qfrc_applied(self, value: Any) -> None:
        self._driver.write("qfrc_applied", self._rows_of_input("qfrc_applied", value, self.num_envs), None)

    @property
    def xfrc_applied(self) -> torch.Tensor:
        """On every body a force at its centre of mass (N) and a torque (N m), world frame (num_envs, nbody, 6)."""
        return self._read("xfrc_applied")

    @xfrc_applied.setter
    def xfrc_applied(self, value: Any) -> None:
        self._driver.write("xfrc_applied", self._rows_of_input("xfrc_applied", value, self.num_envs), None)

    def set_inputs(self, envs_idx: Any = None, **inputs: Any) -> None:
        """Write inputs of some environments: `set_inputs([3, 5], xfrc_applied=pushes)`.

        A step reads applied forces from the first time on that one is written.

        Args:
            envs_idx: indices of n environments; None for all.
            inputs: `ctrl` (n, nu), `mocap_pos` (n, nmocap, 3), `mocap_quat` (n, nmocap, 4), `eq_active` (n, neq),
                `qfrc_applied` (n, nv), `xfrc_applied` (n, nbody, 6).

        Raises:
            ValueError: for a wrong shape, naming what was expected, or what is no number; nothing is written then.
            IndexError: for an environment that does not exist.
            TypeError: for an unknown input.
        """
        index = self._numbers.environments(envs_idx, self.num_envs)
        rows = self._rows_of_inputs(inputs, self.num_envs if index is None else len(index))
        for name, numbers in rows.items():
            self._driver.write(name, numbers, index)

    def _begin_under(self, rows: Mapping[str, Any], index: Any) -> None:
        """Write inputs of environments that were just reset, whose derived quantities then belong to them."""
        for name, numbers in rows.items():
            for field in (name, f"eval_{name}"):
                self._driver.write(field, numbers, index)

    def _rows_of_inputs(self, inputs: Mapping[str, Any], count: int) -> dict[str, Any]:
        """Numbers of inputs by name; errors are those of `set_inputs`."""
        for name in inputs:
            if name not in self._input_shapes:
                raise TypeError(f"no input is named {name!r}; there are {', '.join(self._input_shapes)}")
        return {name: self._rows_of_input(name, value, count) for name, value in inputs.items()}

    def _read(self, name: str) -> torch.Tensor:
        return self._driver.read(name).reshape(self.num_envs, *self._input_shapes[name])

    def _rows_of_input(self, name: str, value: Any, count: int) -> Any:
        """Numbers (count, k), or (k,) for everyone.

        Raises:
            ValueError: for a wrong shape, naming what was expected.
        """
        shape, rows = self._input_shapes[name], self._numbers.numbers(value, name)
        if tuple(rows.shape) not in ((count, *shape), shape):
            raise ValueError(f"{name}: expected shape {(count, *shape)}, got {tuple(rows.shape)}")
        return rows if len(shape) == 1 else rows.reshape(*rows.shape[: rows.ndim - 2], shape[0] * shape[1])

    @cached_property
    def _input_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of one environment's inputs."""
        mj = self.model.mj
        mocap, bodies = int(mj.nmocap), int(mj.nbody)
        single = {"ctrl": (int(mj.nu),), "eq_active": (int(mj.neq),), "qfrc_applied": (int(mj.nv),)}
        return {**single, "mocap_pos": (mocap, 3), "mocap_quat": (mocap, 4), "xfrc_applied": (bodies, 6)}
