"""Starts of the suite's episodes: coordinates anywhere in their ranges, and the first of several tries that fits."""

import math

import mujoco
import numpy as np

from ..arrays import Array, clip, namespace, row_sum
from ..task.noise import Noise
from ..task.task import Task

TRIES = 16
"""The number of candidate starts: the first that touches nothing is taken; all touch with a probability below 1e-12."""


class JointRanges:
    """The ranges that coordinates are drawn from: limits, a whole turn for hinges without, nothing for slides without.

    Make one in `bind`. The model has only hinges and slides.

    Args:
        task: a bound task, whose arrays are computed with.
    """

    def __init__(self, task: Task) -> None:
        model = task.model
        low, high = model.jnt_range.T.copy()
        free = ~model.jnt_limited.astype(bool)
        turn = np.where(model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE, math.pi, 0.0)
        low[free], high[free] = -turn[free], turn[free]
        reference = task.init_qpos
        self._low, self._width = (
            task.xp.asarray(part, dtype=reference.dtype, device=reference.device) for part in (low, high - low)
        )

    def draw(self, noise: Noise) -> Array:
        """Draw coordinates (n, nq) evenly from their ranges, in double precision."""
        return self._low + self._width * noise.uniform(0, 1, len(self._low))


def first_that_fits(tries: list[Array], fits: list[Array]) -> Array:
    """Return for each of n episodes the first try (n, k) that fits, (n,) bool; the last where none does."""
    start = tries[-1]
    for values, fit in zip(tries[-2::-1], fits[-2::-1], strict=True):
        start = namespace(values).where(fit[:, None], values, start)
    return start


def capsule_ends(model: mujoco.MjModel, name: str) -> np.ndarray:
    """Return the ends of the segment within a capsule, (2, 2) m: x and z in the frame of its body."""
    geom, axis = model.geom(name), np.zeros(3)
    mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, geom.size[1]]), geom.quat)
    return np.array([geom.pos - axis, geom.pos + axis])[:, [0, 2]]


def segment_distance(point: Array, start: Array, end: Array) -> Array:
    """Distance from points (..., 2) to segments between ends (..., 2) each, (...)."""
    along, offset = end - start, point - start
    share = clip(row_sum(offset * along) / row_sum(along * along), 0.0, 1.0)
    rest = offset - share[..., None] * along
    return namespace(rest).sqrt(row_sum(rest * rest))
