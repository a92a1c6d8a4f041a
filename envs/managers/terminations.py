"""Ends of episodes by failures, (n,) bool each; and forces of contacts that show them.

Functions work on arrays; objects, made in `bind`, know which bodies, sensors or joints they look at. A value that is
not a number counts as a failure.
"""

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from ..arrays import Array, namespace, row_all, row_norm, row_sum
from ..task.task import Task, TaskState
from .frames import up_of
from .items import Names, ids_of


def tilted(quat: Array, max_angle: float) -> Array:
    """Return True where a body (n, 4) leans by more than an angle, rad from upright; none leans by more than pi."""
    return ~(up_of(quat)[:, 2] >= lowest_up(max_angle))


def lowest_up(max_angle: float) -> float:
    """Return the least vertical part of a body's z axis where it leans by an angle, rad: its cosine up to pi."""
    return math.cos(max_angle) if max_angle < math.pi else -math.inf


def too_low(height: Array, lowest: float) -> Array:
    """Return True where a height above the ground, (n,) m, is below the lowest one."""
    return ~(height >= lowest)


def out_of_bounds(pos: Array, low: Sequence[float] | float | Array, high: Sequence[float] | float | Array) -> Array:
    """Return True where a place, (n, k) m, is outside of a box; bounds are (k,), or one number for all axes."""
    xp = namespace(pos)
    low, high = (
        xp.asarray(bound, dtype=pos.dtype, device=pos.device) if isinstance(bound, Sequence) else bound
        for bound in (low, high)
    )
    return ~row_all((pos >= low) & (pos <= high))


class BodyContact:
    """Bodies that touch something: the sum of all contact forces on each, by the derived quantity `cfrc_ext`.

    Forces that cancel out, as of a hand that is squeezed, are not seen; sensors see them (`SensorAbove`).

    Args:
        task: a bound task, which has "cfrc_ext" in its `reads`.
        bodies: names, or regular expressions that match whole names.
        force: N, above which a body counts as touched.

    Raises:
        ValueError: there is no such body, or the task does not read `cfrc_ext`.
    """

    def __init__(self, task: Task, bodies: Names, force: float = 1.0) -> None:
        _require_read(task, "BodyContact", "cfrc_ext")
        self._ids = ids_of(task.model, "bodies", bodies, "BodyContact").tolist()
        self._xp, self._force = task.xp, force

    def forces(self, state: TaskState) -> Array:
        """Return the size of the force on each body, (n, bodies) N."""
        wrenches = state.fields["cfrc_ext"]
        return row_norm(self._xp.stack([wrenches[:, body, 3:] for body in self._ids], axis=1))

    def each(self, state: TaskState) -> Array:
        """Return True where a body is touched, (n, bodies)."""
        return self.forces(state) > self._force

    def __call__(self, state: TaskState) -> Array:
        """Return True where any of them is, (n,)."""
        return ~row_all(~self.each(state))


class SensorAbove:
    """Sensors with a reading above a number, such as touch sensors, N, or contact sensors of named geoms.

    Args:
        task: a bound task, which has "sensordata" in its `reads`.
        sensors: names, or regular expressions that match whole names.
        least: above which a reading counts.

    Raises:
        ValueError: there is no such sensor, or the task does not read `sensordata`.
    """

    def __init__(self, task: Task, sensors: Names, least: float = 1.0) -> None:
        _require_read(task, "SensorAbove", "sensordata")
        model = task.model
        ids = ids_of(model, "sensors", sensors, "SensorAbove")
        self._places = [(int(model.sensor_adr[i]), int(model.sensor_dim[i])) for i in ids]
        self._xp, self._least = task.xp, least

    def readings(self, state: TaskState) -> Array:
        """Return the size of each sensor's reading, (n, sensors)."""
        data = state.fields["sensordata"]
        sizes = [data[:, at] if dim == 1 else row_norm(data[:, at : at + dim]) for at, dim in self._places]
        return self._xp.stack(sizes, axis=1)

    def each(self, state: TaskState) -> Array:
        """Return True where a sensor reads more, (n, sensors)."""
        return self.readings(state) > self._least

    def __call__(self, state: TaskState) -> Array:
        """Return True where any of them does, (n,)."""
        return ~row_all(~self.each(state))


class JointLimits:
    """Joints near or beyond their limits.

    Args:
        task: a bound task.
        joints: names, or regular expressions that match whole names; None: all hinges and slides with limits.
        share: the part of their ranges, about the middle, within which they are all right.

    Raises:
        ValueError: there is no such joint, no joint has a limit, or the share is not above 0.
    """

    def __init__(self, task: Task, joints: Names = None, share: float = 1.0) -> None:
        if not 0 < share < math.inf:
            raise ValueError(f"JointLimits: share={share}: it must be above 0, and finite")
        model = task.model
        ids = ids_of(model, "joints", joints, "JointLimits")
        limited = (model.jnt_limited[ids] > 0) & (model.jnt_type[ids] >= int(mujoco.mjtJoint.mjJNT_SLIDE))
        ids = ids[limited]
        if not len(ids):
            raise ValueError(f"JointLimits: joints={joints!r}: no joint is a hinge or slide with a limit")
        middle, half = model.jnt_range[ids].mean(1), 0.5 * share * np.diff(model.jnt_range[ids])[:, 0]
        self._low, self._high = task.array(middle - half), task.array(middle + half)
        self._xp, self._places = task.xp, model.jnt_qposadr[ids].tolist()

    def excess(self, state: TaskState) -> Array:
        """Return the sum over joints of how far they are beyond, (n,) rad or m, as rewards penalize it."""
        joints = self._joints(state)
        below, above = self._low - joints, joints - self._high
        xp, none = self._xp, 0 * joints
        return row_sum(xp.where(below > 0, below, none) + xp.where(above > 0, above, none))

    def __call__(self, state: TaskState) -> Array:
        """Return True where any joint is beyond, (n,)."""
        return out_of_bounds(self._joints(state), self._low, self._high)

    def _joints(self, state: TaskState) -> Array:
        return self._xp.stack([state.qpos[:, at] for at in self._places], axis=1)


def _require_read(task: Task, owner: str, name: str) -> None:
    """Raise ValueError if a task does not read a quantity."""
    if name not in task.reads:
        raise ValueError(f"{owner}: it needs {name!r} in the reads of {type(task).__name__}, which has {task.reads}")
