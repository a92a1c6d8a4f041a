"""Control of joints without actuators in the file: forces, and servos for velocities and positions of their dofs."""

from typing import Any

import numpy as np
import torch

from ...base.arguments import real_array
from ...base.joints import is_scalar
from ...files.mjmodel.flags import UNLIMITED
from ...mechanics.dynamics.dof_control import FORCE, POSITION, VELOCITY
from .environments import Environments


class JointControl:
    """Control of the dofs of joints.

    A control holds until another one, `release` or a reset; a reset leaves gains and ranges as they are. Its force is
    part of `qfrc_actuator`, and adds to the forces of actuators. With the integrator implicitfast the gain of a
    velocity is taken implicitly, as an actuator's is. The flag `actuation` switches controls off too.

    In all that follows `dofs_idx` are indices of k dofs (None: all nv), and `envs_idx` of n environments (None: all).
    Numbers are (n, k), (k,) for all of them, or one for every dof.
    """

    def __init__(self, envs: Environments) -> None:
        self._envs = envs

    def control_force(self, force: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Apply forces (N or N m) to dofs, within their force ranges.

        Raises:
            ValueError: for a wrong shape, naming the expected one.
            IndexError: for a dof or environment that does not exist.
        """
        self._control(FORCE, "force", force, dofs_idx, envs_idx)

    def control_velocity(self, velocity: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Drive dofs to velocities v* (m/s or rad/s): the force is kv (v* - v), within the force range.

        For a free joint they are its velocity in the world and its angular velocity in the body's frame, as in qvel.
        Errors as in `control_force`.
        """
        self._control(VELOCITY, "velocity", velocity, dofs_idx, envs_idx)

    def control_position(self, position: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Drive hinges and slides to coordinates q* (rad or m): the force is kp (q* - q) - kv v, within the range.

        Errors as in `control_force`.

        Raises:
            ValueError: for a dof of a ball or free joint, which has no scalar coordinate.
        """
        self._control(POSITION, "position", position, self._scalar_dofs(dofs_idx), envs_idx)

    def control_position_velocity(
        self, position: Any, velocity: Any, dofs_idx: Any = None, envs_idx: Any = None
    ) -> None:
        """Drive hinges and slides to coordinates q* with velocities v*: the force is kp (q* - q) + kv (v* - v).

        It is clamped to the force range. Errors as in `control_position`.
        """
        self._control(POSITION, "position", position, self._scalar_dofs(dofs_idx), envs_idx, velocity)

    def release(self, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Leave dofs to themselves and to actuators."""
        self._control(0, "target", 0.0, dofs_idx, envs_idx)

    def set_kp(self, kp: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Set gains of positions (N/m or N m/rad); 0 at first.

        Raises:
            ValueError: for a wrong shape, naming the expected one, and for values that are not finite.
            IndexError: for a dof or environment that does not exist.
        """
        self._set_gain("dof_kp", "kp", kp, dofs_idx, envs_idx)

    def set_kv(self, kv: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Set gains of velocities (N s/m or N m s/rad); 0 at first. Errors as in `set_kp`."""
        self._set_gain("dof_kv", "kv", kv, dofs_idx, envs_idx)

    def set_force_range(self, lower: Any, upper: Any, dofs_idx: Any = None, envs_idx: Any = None) -> None:
        """Set the bounds of a control's force (N or N m), which may be infinite; at first there are no bounds.

        Raises:
            ValueError: for a wrong shape, or a lower bound that is not below or at its upper one.
        """
        dofs, index, count = self._place(dofs_idx, envs_idx)
        low, high = (self._fill(name, v, count, len(dofs)) for name, v in (("lower", lower), ("upper", upper)))
        if not bool((low <= high).all()):
            raise ValueError("lower: every bound must be a number that is not above its `upper`")
        for side, bound in enumerate((low, high)):
            self._envs.write_columns("dof_force_range", 2 * dofs + side, bound.clip(-UNLIMITED, UNLIMITED), index)

    def get_kp(self, dofs_idx: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Gains of positions (n, k), N/m or N m/rad. Raises IndexError as `set_kp` does."""
        return self._get("dof_kp", dofs_idx, envs_idx)

    def get_kv(self, dofs_idx: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Gains of velocities (n, k), N s/m or N m s/rad. Raises IndexError as `set_kp` does."""
        return self._get("dof_kv", dofs_idx, envs_idx)

    def get_force_range(self, dofs_idx: Any = None, envs_idx: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Lower and upper bounds of forces (n, k) each, N or N m; +-1e30 where there is no bound.

        Raises IndexError as `set_kp` does.
        """
        dofs, index, _ = self._place(dofs_idx, envs_idx)
        lower, upper = (self._envs.driver.read_columns("dof_force_range", 2 * dofs + side, index) for side in (0, 1))
        return lower, upper

    def get_targets(self, dofs_idx: Any = None, envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Return the targets of dofs' controls, (n, k) each.

        `mode`: 0 nothing, 1 a force, 2 a velocity, 3 a position; `target`: that force, velocity or position (N, N m,
        m/s, rad/s, m or rad); `velocity`: with a position, the velocity there (m/s or rad/s).
        """
        dofs, index, _ = self._place(dofs_idx, envs_idx)
        names = {"mode": "dof_mode", "target": "dof_target", "velocity": "dof_target_vel"}
        return {name: self._envs.driver.read_columns(field, dofs, index) for name, field in names.items()}

    def _control(self, mode: int, name: str, target: Any, dofs_idx: Any, envs_idx: Any, velocity: Any = 0.0) -> None:
        dofs, index, count = self._place(dofs_idx, envs_idx)
        targets = self._fill(name, target, count, len(dofs))
        speeds = self._fill("velocity", velocity, count, len(dofs)) if mode == POSITION else None
        self._envs.write_columns("dof_target", dofs, targets, index)
        if speeds is not None:
            self._envs.write_columns("dof_target_vel", dofs, speeds, index)
        self._envs.write_columns("dof_mode", dofs, self._envs.numbers.numbers(mode), index)

    def _set_gain(self, field: str, name: str, gain: Any, dofs_idx: Any, envs_idx: Any) -> None:
        dofs, index, count = self._place(dofs_idx, envs_idx)
        gains = self._fill(name, gain, count, len(dofs))
        self._envs.numbers.require_finite(name, gains)
        self._envs.write_columns(field, dofs, gains, index)

    def _get(self, field: str, dofs_idx: Any, envs_idx: Any) -> torch.Tensor:
        dofs, index, _ = self._place(dofs_idx, envs_idx)
        return self._envs.driver.read_columns(field, dofs, index)

    def _place(self, dofs_idx: Any, envs_idx: Any) -> tuple[np.ndarray, Any, int]:
        index, count = self._envs.chosen(envs_idx)
        return self._dofs(dofs_idx), index, count

    def _scalar_dofs(self, dofs_idx: Any) -> np.ndarray:
        """Indices of dofs that have a scalar coordinate.

        Raises:
            ValueError: for a dof of a ball or free joint.
        """
        mj, dofs = self._envs.model.mj, self._dofs(dofs_idx)
        turning = dofs[~is_scalar(mj.jnt_type[mj.dof_jntid[dofs]])]
        if len(turning):
            raise ValueError(
                f"position: dof {turning[0]} belongs to a free or ball joint, which has no coordinate for it; control "
                "its velocity or force, or name the dofs of hinges and slides in dofs_idx"
            )
        return dofs

    def _dofs(self, dofs_idx: Any) -> np.ndarray:
        """Indices of dofs that exist, (k,).

        Raises:
            IndexError: for one that does not.
        """
        nv = int(self._envs.model.mj.nv)
        if dofs_idx is None:
            return np.arange(nv)
        dofs = np.atleast_1d(real_array("dofs_idx", dofs_idx))
        if (dofs.dtype.kind not in "iu" and dofs.size) or dofs.ndim != 1:
            raise IndexError(f"dofs_idx: expected a list of whole numbers, got {dofs_idx!r}")
        dofs = dofs.astype(np.int64)
        wrong = dofs[(dofs < 0) | (dofs >= nv)]
        if len(wrong):
            raise IndexError(f"dofs_idx: dof {wrong[0]} does not exist: the model has {nv}")
        return dofs

    def _fill(self, name: str, value: Any, count: int, width: int) -> Any:
        """Numbers that (n, k) can take: of that shape, (k,) or one.

        Raises:
            ValueError: for another shape, naming the expected one.
        """
        numbers = self._envs.numbers.numbers(value, name)
        if tuple(numbers.shape) not in ((count, width), (width,), ()):
            raise ValueError(f"{name}: expected shape ({count}, {width}), got {tuple(numbers.shape)}")
        return numbers
