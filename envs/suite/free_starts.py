"""Starts without contacts: coordinates are drawn until MuJoCo's collision detection finds none, as dm_control does."""

import copy
from collections.abc import Callable
from itertools import accumulate, repeat

import mujoco
import numpy as np

from ..arrays import Array, host
from ..task.task import Task

MOST = 10_000
"""Tries of one start."""


class StartModel:
    """The model in MuJoCo on the processor: poses, contacts and sensor readings of one start at a time.

    Make one in `bind`.

    Args:
        task: a bound task.
    """

    def __init__(self, task: Task) -> None:
        self._task, self._model = task, copy.copy(task.model)
        self._model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        self._data = mujoco.MjData(self._model)

    def place(self, qpos: Array, mocap_pos: Array | None = None, mocap_quat: Array | None = None) -> mujoco.MjData:
        """Return data with the bodies at coordinates (nq,), and mocap bodies at poses (nmocap, 3) and (nmocap, 4)."""
        self._data.qpos[:] = qpos
        if mocap_pos is not None:
            self._data.mocap_pos[:] = mocap_pos
        if mocap_quat is not None:
            self._data.mocap_quat[:] = mocap_quat
        mujoco.mj_kinematics(self._model, self._data)
        return self._data

    def touches(self, *pose: Array) -> bool:
        """Return True if any geoms touch; arguments as of `place`."""
        self.place(*pose)
        mujoco.mj_collision(self._model, self._data)
        return self._data.ncon > 0

    def first_free(self, draw: Callable[[], tuple[Array, ...]]) -> tuple[Array, ...]:
        """Return for each of n episodes the first of several draws at which nothing touches.

        Environments do not depend on each other if `draw` draws from each environment's own noise, and nothing is drawn
        from it afterwards.

        Args:
            draw: returns arrays (n, ...). The first one to three are the arguments of `place`; any further arrays are
                selected with them.

        Raises:
            RuntimeError: some environment touches something in all tries.
        """
        found: list[np.ndarray] = []
        wanted = np.ones(0, bool)
        for _ in range(MOST):
            drawn = [host(part) for part in draw()]
            if not found:
                found, wanted = [part.copy() for part in drawn], np.ones(len(drawn[0]), bool)
            for env in np.flatnonzero(wanted):
                if not self.touches(*(part[env] for part in drawn[:3])):
                    for kept, part in zip(found, drawn, strict=True):
                        kept[env] = part[env]
                    wanted[env] = False
            if not wanted.any():
                return tuple(self._task.doubles(part) for part in found)
        raise RuntimeError(f"{type(self._task).__name__}: no start without contacts in {MOST} draws")

    def lowest_free(self, qpos: Array, step: float = 0.01) -> Array:
        """Return coordinates (n, nq) whose third number is the least multiple of a step (m) at which nothing touches.

        Raises:
            RuntimeError: there is none up to 100 m.
        """
        rows = host(qpos).copy()
        for row in rows:
            heights = accumulate(repeat(step, MOST), initial=0.0)  # with dm_control's rounding
            row[2] = next(
                (height for height in heights if not self.touches(np.array([*row[:2], height, *row[3:]]))), np.nan
            )
            if np.isnan(row[2]):
                raise RuntimeError(f"{type(self._task).__name__}: no start without contacts below {MOST * step:g} m")
        return self._task.doubles(rows)

    def sensed(self, qpos: Array, qvel: Array) -> Array:
        """Return `sensordata` (n, nsensordata) at coordinates, without actuators, as dm_control's resets have it."""
        model, data, readings = self._model, self._data, []
        for place, velocity in zip(host(qpos), host(qvel), strict=True):
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = place, velocity
            mujoco.mj_forward(model, data)
            readings.append(data.sensordata.copy())
        return self._task.array(np.array(readings).reshape(len(readings), model.nsensordata))
