"""IMUs: accelerometer, gyroscope and magnetometer in the frame of a link."""

from collections.abc import Mapping
from typing import NamedTuple

import torch

from ..checks import Indices, Numbers, Rows
from ..world import World
from .evaluated_envs import EvaluatedEnvs
from .links import LinkSensor, unturned
from .options import IMU, coupling


class IMUData(NamedTuple):
    """The readings of an IMU.

    Attributes:
        lin_acc: (n, 3) m/s2, as MuJoCo's accelerometer reads: the acceleration minus gravity.
        ang_vel: (n, 3) rad/s.
        mag: (n, 3), in the unit of `IMU.magnetic_field`.
    """

    lin_acc: torch.Tensor
    ang_vel: torch.Tensor
    mag: torch.Tensor


class IMUSensor(LinkSensor):
    """An IMU: `read` returns `IMUData`. Its nine numbers are set in the order of that."""

    reads: tuple[str, ...] = ("xpos", "xquat", "subtree_com", "cvel", "cacc")
    data = IMUData
    shapes = ((3,), (3,), (3,))

    def place(self, world: World) -> None:
        """Look up the tree of the link, and set the axes of the sensor."""
        super().place(world)
        self._root = int(world.model.mj.body_rootid[self.body])
        options: IMU = self.options
        matrices = [torch.as_tensor(getattr(options, f"{part}_cross_axis_coupling")) for part in options.PARTS]
        self._axes = torch.stack(matrices).to(self._pos).repeat(world.count, 1, 1, 1)  # (n, 3, 3, 3)
        self._coupled = not bool((self._axes == torch.eye(3).to(self._pos)).all())
        self._field = self._pos.new_tensor(options.magnetic_field)

    def sense(self, evaluated: EvaluatedEnvs) -> torch.Tensor:
        """Return acceleration, angular velocity and magnetic field in the sensor's axes, (k, 9)."""
        pos, quat = self.pose(evaluated)
        arm = pos - evaluated["subtree_com"][:, self._root]
        spin, slide = evaluated["cvel"][:, self.body].split(3, -1)
        twist, push = evaluated["cacc"][:, self.body].split(3, -1)
        speed = slide + torch.linalg.cross(spin, arm)
        acceleration = push + torch.linalg.cross(twist, arm) + torch.linalg.cross(spin, speed)
        both = torch.stack((acceleration, spin, self._field.expand_as(spin)), 1)
        return unturned(quat[:, None].expand(-1, 3, -1), both).flatten(1)

    def couple(self, numbers: torch.Tensor, rows: Rows) -> torch.Tensor:
        """Return the numbers (k, 9) as the axes of each part see them."""
        if not self._coupled:
            return numbers
        return (self._axes[rows] * numbers.unflatten(1, (3, 1, 3))).sum(-1).flatten(1)

    def set_acc_cross_axis_coupling(self, cross_axis_coupling: Numbers, envs_idx: Indices = None) -> None:
        """Write the coupling of the accelerometer's axes, as `IMU` takes it; it holds from the next step on.

        Raises:
            SceneOrderError: the scene is not built.
            ValueError: for another shape, and for numbers that are not finite.
            IndexError: for an environment that does not exist.
        """
        self._couple("acc", cross_axis_coupling, envs_idx)

    def set_gyro_cross_axis_coupling(self, cross_axis_coupling: Numbers, envs_idx: Indices = None) -> None:
        """Write the coupling of the gyroscope's axes, as `set_acc_cross_axis_coupling` does."""
        self._couple("gyro", cross_axis_coupling, envs_idx)

    def set_mag_cross_axis_coupling(self, cross_axis_coupling: Numbers, envs_idx: Indices = None) -> None:
        """Write the coupling of the magnetometer's axes, as `set_acc_cross_axis_coupling` does."""
        self._couple("mag", cross_axis_coupling, envs_idx)

    def _couple(self, part: str, value: Numbers, envs_idx: Indices) -> None:
        self._require_world()
        matrix = coupling(f"{part}_cross_axis_coupling", value)
        self._axes[self._index(envs_idx), IMU.PARTS.index(part)] = self._axes.new_tensor(matrix)
        self._coupled = True

    def state_dict(self, rows: torch.Tensor | None) -> dict[str, torch.Tensor]:
        """Return the state of `LinkSensor.state_dict`, and the coupling."""
        return super().state_dict(rows) | {"axes": self._axes[slice(None) if rows is None else rows].clone()}

    def load_state_dict(self, state: Mapping[str, torch.Tensor], rows: torch.Tensor) -> None:
        """Write the result of `state_dict` into environments `rows` (k,)."""
        super().load_state_dict(state, rows)
        self._axes[rows], self._coupled = state["axes"], True
