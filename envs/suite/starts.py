"""Starts of the suite's episodes: coordinates anywhere in their ranges, and the first of several tries that fits."""

import math

import mujoco
import numpy as np

from ..arrays import Array, clip, namespace, row_norm, row_sum
from ..task.noise import Noise
from ..task.task import Task

TRIES = 16
"""The number of candidates for a start; the last one is taken if none fits, which is improbable in all tasks here."""


class JointRanges:
    """The ranges that coordinates are drawn from: the joint's limits; without limits ±π of hinges, and qpos0 of slides.

    Free joints keep their position. Their quaternion is four uniform numbers from 0 to 1, normalised, as in dm_control
    (not uniform over rotations). Ball joints are not supported. Make one in `bind`.

    Args:
        task: a bound task, whose arrays are computed with.
    """

    def __init__(self, task: Task) -> None:
        model = task.model
        low, width, self._turned = model.qpos0.copy(), np.zeros(model.nq), []
        for joint in range(model.njnt):
            kind, adr = int(model.jnt_type[joint]), int(model.jnt_qposadr[joint])
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                self._turned.append(adr + 3)
                low[adr + 3 : adr + 7], width[adr + 3 : adr + 7] = 0.0, 1.0
            elif model.jnt_limited[joint]:
                low[adr], width[adr] = model.jnt_range[joint, 0], np.ptp(model.jnt_range[joint])
            elif kind == mujoco.mjtJoint.mjJNT_HINGE:
                low[adr], width[adr] = -math.pi, 2 * math.pi
        self._low, self._width = task.doubles(low), task.doubles(width)

    def draw(self, noise: Noise) -> Array:
        """Draw coordinates (n, nq) evenly from their ranges, in double precision."""
        drawn = self._low + self._width * noise.uniform(0, 1, len(self._low))
        for first in self._turned:
            quat = drawn[:, first : first + 4]
            parts = drawn[:, :first], quat / row_norm(quat)[:, None], drawn[:, first + 4 :]
            drawn = namespace(drawn).concat(parts, axis=1)
        return drawn


def first_that_fits(tries: list[Array], fits: list[Array]) -> Array:
    """Return for each of n episodes the first try (n, k) that fits, (n,) bool; the last where none does."""
    start = tries[-1]
    for values, fit in zip(tries[-2::-1], fits[-2::-1], strict=True):
        start = namespace(values).where(fit[:, None], values, start)
    return start


def capsule_ends(model: mujoco.MjModel, name: str | int) -> np.ndarray:
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
