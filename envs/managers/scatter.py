"""Starts of episodes that are moved: offsets of joints' positions and velocities, around whatever a task draws."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import mujoco
import numpy as np

from ..arrays import Array
from ..task.noise import Noise
from ..task.task import Start, Task
from .items import Names, ids_of
from .ranges import Range, require_ranges

_STILL = (0.0, 0.0)


@dataclass(frozen=True)
class Scatter:
    """Offsets of hinges and slides at the start of each episode, drawn evenly for each joint.

    They are added to the state that the task draws, before it is asked for its first observation; positions stay in the
    ranges of joints that have limits.

    Args:
        joints: names, or regular expressions that match whole names; None: all hinges and slides.
        position: lowest and highest offset, rad or m.
        velocity: lowest and highest offset, rad/s or m/s.
    """

    joints: Names = None
    _: KW_ONLY
    position: Range = _STILL
    velocity: Range = _STILL

    def bound(self, task: Task) -> "BoundScatter":
        """Return the term for a task; errors as in `Randomization`."""
        require_ranges("Scatter", {"position": self.position, "velocity": self.velocity})
        model = task.model
        ids = ids_of(model, "joints", self.joints, "Scatter")
        single = np.isin(model.jnt_type[ids], (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)))
        if self.joints is not None and not single.all():
            name = model.joint(int(ids[~single][0])).name
            raise ValueError(f"Scatter: joints={self.joints!r}: {name!r} is neither a hinge nor a slide")
        if not single.any():
            raise ValueError("Scatter: the model has neither hinges nor slides; leave the term out")
        return BoundScatter(task, ids[single], self.position, self.velocity)


class BoundScatter:
    """Offsets of the joints `ids` (k,) of a task."""

    def __init__(self, task: Task, ids: np.ndarray, position: Range, velocity: Range) -> None:
        model = task.model
        limited = model.jnt_limited[ids].astype(bool)
        low, high = (np.where(limited, model.jnt_range[ids, end], sign * np.inf) for end, sign in ((0, -1), (1, 1)))
        self._task, self._count, self._position, self._velocity = task, len(ids), position, velocity
        self._low, self._high = task.array(low), task.array(high)
        self._qpos = _spread(model.jnt_qposadr[ids], model.nq)
        self._dofs = _spread(model.jnt_dofadr[ids], model.nv)

    def begin(self, start: Start, noise: Noise) -> Start:
        """Return the starts of n episodes, moved."""
        task, k = self._task, self._count
        fractions = task.array(noise.uniform(0, 1, 2 * k))
        offsets = [low + (high - low) * part for (low, high), part in self._parts(fractions)]
        qpos, qvel = task.array(start.qpos), task.array(start.qvel)
        n = len(fractions)
        qpos, qvel = (task.xp.broadcast_to(values, (n, values.shape[-1])) for values in (qpos, qvel))
        moved = self._put(qpos, self._qpos, offsets[0], self._low, self._high)
        return start._replace(qpos=moved, qvel=self._put(qvel, self._dofs, offsets[1]))

    def _parts(self, fractions: Array) -> list[Any]:
        k = self._count
        return [(self._position, fractions[:, :k]), (self._velocity, fractions[:, k:])]

    def _put(self, values: Array, places: list[int], offset: Array, low: Any = None, high: Any = None) -> Array:
        """Return values (n, m) with offsets (n, k) added at columns: `places` has a number below k, or -1, for each."""
        xp, columns = self._task.xp, []
        for column, place in enumerate(places):
            value = values[:, column]
            if place >= 0:
                own, value = value, value + offset[:, place]
                if low is not None:  # a start beyond the range, as the task may have drawn it, is left there
                    value = xp.maximum(value, xp.minimum(own, low[place] + 0 * own))
                    value = xp.minimum(value, xp.maximum(own, high[place] + 0 * own))
            columns.append(value)
        return xp.stack(columns, axis=1)


def _spread(addresses: np.ndarray, size: int) -> list[int]:
    """Return for each of `size` columns the place in `addresses` (k,) that has it, or -1."""
    places = np.full(size, -1)
    places[addresses] = np.arange(len(addresses))
    return places.tolist()
