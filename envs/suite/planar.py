"""Robots in the x-z plane, in closed form: how their bodies are turned, and how fast their center of mass moves.

The suite's tasks see the state after a step, while derived quantities of `Task.reads` belong to the step's last
evaluation, before it moved. These follow only from the coordinates.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from ..arrays import Array, namespace, row_sum, sin_cos
from ..task.task import Task


class Turns(NamedTuple):
    """The tilt of the bodies of n planar robots about y, and how fast it changes."""

    sine: Array  # (n, bodies)
    cosine: Array  # (n, bodies)
    rate: Array  # (n, bodies) rad/s


class PlanarRobot:
    """One tree of bodies on hinges about y, whose root may slide along x and z as well. Make one in `bind`.

    Args:
        task: a bound task, whose arrays are computed with.
    """

    def __init__(self, task: Task) -> None:
        turning, nq = _turning(task.model), task.model.nq
        depth = int(np.count_nonzero(turning, axis=1).max())
        joints = np.argsort(turning == 0, axis=1, kind="stable")[:, :depth]  # joints that turn a body come first
        signs = np.take_along_axis(turning, joints, axis=1)  # 0 for the others
        place = task.init_qpos.device
        self._joints = task.xp.asarray(np.concatenate((joints, joints + nq)).ravel(), device=place)
        self._signs = task.array(np.concatenate((signs, signs)).ravel())
        self._shape = (-1, 2, len(joints), depth)
        self._nq, self._reference = nq, task.array(turning @ task.model.qpos0)
        self._lever = task.array(_levers(task.model))
        self._along = int(np.flatnonzero(_slides_along_x(task.model))[0])

    def turns(self, coordinates: Array) -> Turns:
        """Return how each body but the world is turned, from coordinates (n, nq + nv)."""
        xp = namespace(coordinates)
        parts = xp.take(coordinates, self._joints, axis=1) * self._signs
        sums = row_sum(xp.reshape(parts, self._shape))
        return Turns(*sin_cos(sums[:, 0, :] - self._reference), sums[:, 1, :])

    def speed(self, coordinates: Array, turns: Turns) -> Array:
        """Velocity of the whole robot's center of mass along x, (n,) m/s: MuJoCo's `subtree_linvel` of its root."""
        swing = turns.rate * (self._lever[:, 1] * turns.cosine - self._lever[:, 0] * turns.sine)
        return coordinates[:, self._nq + self._along] + row_sum(swing)


def _slides_along_x(model: mujoco.MjModel) -> np.ndarray:
    """Return True for slides along x, (njnt,)."""
    return (model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE) & (model.jnt_axis[:, 0] == 1)


def _turning(model: mujoco.MjModel) -> np.ndarray:
    """Return how each body but the world turns about +y for each coordinate: (nbody - 1, nq) of 1, 0 and -1."""
    own = np.zeros((model.nbody, model.nq))
    for joint, body in enumerate(model.jnt_bodyid):
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE:
            own[body, joint] = model.jnt_axis[joint, 1]
    for body in range(1, model.nbody):
        own[body] += own[model.body_parentid[body]]
    return own[1:]


def _levers(model: mujoco.MjModel) -> np.ndarray:
    """Return how far each body's turning carries the center of mass, (nbody - 1, 2) m: x and z in the body's frame.

    The center of mass is the sum of these vectors, each turned with its body, and of the root's slides.
    """
    lever = np.zeros((model.nbody, 3))
    for body in range(1, model.nbody):
        anchor = np.zeros(3)
        for joint in np.flatnonzero(model.jnt_bodyid == body):
            anchor = model.jnt_pos[joint] if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE else anchor
        carried = model.body_subtreemass[body]
        lever[body] += model.body_mass[body] * model.body_ipos[body] - carried * anchor
        lever[model.body_parentid[body]] += carried * (model.body_pos[body] + anchor)
    return lever[1:, [0, 2]] / model.body_mass.sum()
