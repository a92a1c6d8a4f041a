"""Pushes: kicks of a robot's velocity, and external wrenches that last, at intervals of each environment's own."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import mujoco
import numpy as np

from ..arrays import Array, any_true, sin_cos
from ..task.noise import Noise
from ..task.task import Task, TaskState
from .frames import quat_rotate_inverse
from .items import Names, id_of, ids_of
from .ranges import Range, require_ranges, require_times
from .renewal import Renewal, whole_steps

_STILL = (0.0, 0.0)


@dataclass(frozen=True)
class Push:
    """Kicks: velocities that are added to a free body's velocities, all at once, as of a shove.

    A planar robot, whose root has slides and then at most one hinge in place of a free joint, feels the part of a kick
    that lies along their axes.

    Args:
        x: lowest and highest velocity along the world's x axis, m/s.
        y: along its y axis.
        z: along its z axis.
        roll: about the world's x axis, rad/s.
        pitch: about its y axis.
        yaw: about its z axis.
        speed: lowest and highest speed in a horizontal direction that is drawn evenly, m/s, added to the others.
        when: lowest and highest number of seconds between two kicks.
        joint: name of the free joint; None: the model's first, or the joints of a planar root.
    """

    _: KW_ONLY
    x: Range = _STILL
    y: Range = _STILL
    z: Range = _STILL
    roll: Range = _STILL
    pitch: Range = _STILL
    yaw: Range = _STILL
    speed: Range = _STILL
    when: Range = (10.0, 15.0)
    joint: str | None = None

    def bound(self, task: Task, name: str) -> "BoundPush":
        """Return the term for a task; errors as in `Randomization`."""
        ranges = (self.x, self.y, self.z, self.roll, self.pitch, self.yaw, self.speed)
        require_ranges("Push", dict(zip(("x", "y", "z", "roll", "pitch", "yaw", "speed"), ranges, strict=True)))
        require_times("Push", {"when": self.when})
        first, axes = _pushed(task.model, self.joint)
        return BoundPush(task, name, ranges, self.when, first, axes)


class BoundPush:
    """Kicks of a task; its memory is `name_steps`, the steps until the next one."""

    def __init__(
        self, task: Task, name: str, ranges: Sequence[Range], when: Range, joint: int, axes: np.ndarray | None
    ) -> None:
        self._axes = None if axes is None else task.array(axes)
        self._task, self._ranges, self._when = task, ranges, when
        self._steps = f"{name}_steps"
        self._qpos, self._dof = int(task.model.jnt_qposadr[joint]), int(task.model.jnt_dofadr[joint])
        self._renewal = Renewal(self._draw)

    def begin(self, noise: Noise) -> dict[str, Array]:
        """Return the memory with which episodes begin."""
        seconds = self._task.array(noise.uniform(*self._when, 1)[:, 0])
        return {self._steps: whole_steps(seconds, self._task.dt)}

    def step(self, state: TaskState) -> tuple[TaskState, bool]:
        """Kick where it is time; return the state, and False if no environment was kicked."""
        steps, xp = state.memory[self._steps] - 1, self._task.xp
        due = steps <= 0
        still = 0 * xp.concat([state.qvel[:, :1]] * 6, axis=1)
        drawn = self._renewal(state.noise, due, {self._steps: steps, "kick": still})
        state = state.remember(**{self._steps: drawn[self._steps]})
        if isinstance(due, np.ndarray) and not due.any():
            return state, False
        kick, dof, qvel = self._of_dofs(state.qpos, drawn["kick"]), self._dof, state.qvel
        end = dof + kick.shape[1]
        kicked = xp.concat((qvel[:, :dof], qvel[:, dof:end] + kick, qvel[:, end:]), axis=1)
        qvel = xp.where(xp.reshape(due, (-1, 1)), kicked, qvel)
        return state._replace(qvel=qvel, coordinates=xp.concat((state.qpos, qvel), axis=1)), True

    def _of_dofs(self, qpos: Array, kick: Array) -> Array:
        """Return kicks (n, 6) in the world's frame as velocities of the dofs that are pushed, (n, k)."""
        if self._axes is not None:
            return kick @ self._axes
        quat = qpos[:, self._qpos + 3 : self._qpos + 7]
        turn = quat_rotate_inverse(quat, kick[:, 3:])  # a free joint's angular velocity is in the body's frame
        return self._task.xp.concat((kick[:, :3], turn), axis=1)

    def _draw(self, noise: Noise) -> dict[str, Array]:
        """Draw kicks (n, 6) m/s, rad/s in the world's frame, and the time until the next."""
        xp, fractions = self._task.xp, self._task.array(noise.uniform(0, 1, 9))
        parts = [low + (high - low) * fractions[:, k] for k, (low, high) in enumerate(self._ranges)]
        sine, cosine = sin_cos(2 * np.pi * fractions[:, 7])
        *parts, speed = parts
        parts[0], parts[1] = parts[0] + speed * cosine, parts[1] + speed * sine
        low, high = self._when
        steps = whole_steps(low + (high - low) * fractions[:, 8], self._task.dt)
        return {"kick": xp.stack(parts, axis=1), self._steps: steps}


@dataclass(frozen=True)
class Wrench:
    """Forces and torques on bodies, at their centres of mass and in the world's frame, that last for a while.

    They are inputs of the solver, `xfrc_applied`, so a task that drives these itself leaves the term out.

    Args:
        bodies: names, or regular expressions that match whole names; each has a separate wrench.
        force: lowest and highest force along each axis, N: numbers, or triples of them.
        torque: lowest and highest torque about each axis, N m.
        when: lowest and highest number of seconds from the beginning of one wrench to that of the next.
        duration: lowest and highest number of seconds that it lasts; the next one ends it.
    """

    bodies: Names
    _: KW_ONLY
    force: tuple[float | Sequence[float], float | Sequence[float]] = _STILL
    torque: tuple[float | Sequence[float], float | Sequence[float]] = _STILL
    when: Range = (10.0, 15.0)
    duration: Range = (0.1, 0.2)

    def bound(self, task: Task, name: str) -> "BoundWrench":
        """Return the term for a task; errors as in `Randomization`."""
        require_times("Wrench", {"when": self.when, "duration": self.duration})
        sides = [_triples(what, pair) for what, pair in (("force", self.force), ("torque", self.torque))]
        low, high = (np.concatenate(side) for side in zip(*sides, strict=True))
        bodies = ids_of(task.model, "bodies", self.bodies, "Wrench")
        return BoundWrench(task, name, bodies, low, high, self.when, self.duration)


class BoundWrench:
    """Wrenches of a task.

    | memory | shape | what |
    |---|---|---|
    | `name` | (n, 6 k) | force and torque on each of the k bodies, N, N m |
    | `name_steps` | (n,) int64 | steps until the next one |
    | `name_left` | (n,) int64 | steps that it still lasts |
    """

    def __init__(
        self, task: Task, name: str, bodies: np.ndarray, low: np.ndarray, high: np.ndarray, when: Range, duration: Range
    ) -> None:
        self._task, self._when, self._duration = task, when, duration
        self._name, self._steps, self._left = name, f"{name}_steps", f"{name}_left"
        self._low, self._width = (task.array(np.tile(side, len(bodies))) for side in (low, high - low))
        self._place = {int(body): k for k, body in enumerate(bodies)}
        self._renewal = Renewal(self._draw)

    def begin(self, noise: Noise) -> dict[str, Array]:
        """Return the memory with which episodes begin: no wrench yet."""
        drawn = self._draw(noise)
        return {self._name: 0 * drawn[self._name], self._steps: drawn[self._steps], self._left: 0 * drawn[self._left]}

    def step(self, state: TaskState) -> tuple[TaskState, bool]:
        """Begin and end wrenches; return the state, and True if any environment's wrench began or ended."""
        xp, memory = self._task.xp, state.memory
        steps, left = memory[self._steps] - 1, memory[self._left] - 1
        lasts = xp.reshape(left > 0, (-1, 1))
        turned = (left == 0) | (steps <= 0)
        wrench = xp.where(lasts, memory[self._name], 0 * memory[self._name])
        kept = {self._name: wrench, self._steps: steps, self._left: xp.where(left > 0, left, 0 * left)}
        state = state.remember(**self._renewal(state.noise, steps <= 0, kept))
        return state, not isinstance(turned, np.ndarray) or any_true(turned)

    def spread(self, state: TaskState) -> Array:
        """Return the present wrenches as an array of all bodies, (n, nbody, 6)."""
        wrench = state.memory[self._name]
        none = 0 * wrench[:, :6]
        parts = [
            wrench[:, 6 * self._place[b] : 6 * self._place[b] + 6] if b in self._place else none
            for b in range(self._task.model.nbody)
        ]
        return self._task.xp.stack(parts, axis=1)

    def _draw(self, noise: Noise) -> dict[str, Array]:
        """Draw wrenches (n, 6 k), how long they last, and the time until the next."""
        k = self._low.shape[0]
        fractions = self._task.array(noise.uniform(0, 1, k + 2))
        times = (
            whole_steps(low + (high - low) * fractions[:, k + j], self._task.dt)
            for j, (low, high) in enumerate((self._when, self._duration))
        )
        wrench = self._low + self._width * fractions[:, :k]
        return {self._name: wrench, **dict(zip((self._steps, self._left), times, strict=True))}


def _triples(what: str, pair: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest numbers of a wrench, (3,) each.

    Raises:
        ValueError: they are no pair, not finite, or the lowest ones are above the highest.
    """
    try:
        low, high = (np.broadcast_to(np.asarray(side, np.float64), (3,)) for side in pair)
    except (ValueError, TypeError):
        raise ValueError(f"Wrench: {what}={pair!r}: it must be (low, high), numbers or triples of them") from None
    if not (low <= high).all() or not np.isfinite((low, high)).all():
        raise ValueError(f"Wrench: {what}={pair!r}: low must be at most high, and both finite")
    return low, high


def _pushed(model: mujoco.MjModel, name: str | None) -> tuple[int, np.ndarray | None]:
    """Return the first joint that is pushed, and a matrix (6, k) from kicks to the velocities of k dofs.

    The matrix is None for a free joint, whose frame turns.
    """
    free = model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)
    if name is not None:
        joint = id_of(model, "joints", name, "Push")
        if not free[joint]:
            raise ValueError(f"Push: joint {name!r} is not free; leave it out to push a planar root, or use a Wrench")
        return joint, None
    if free.any():
        return int(np.flatnonzero(free)[0]), None
    kinds = model.jnt_type[model.jnt_bodyid == model.jnt_bodyid[0]].tolist() if model.njnt else []
    slide, hinge = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)
    slides = kinds.count(slide)
    if slides < 2 or kinds not in ([slide] * slides, [*[slide] * slides, hinge]):  # their axes stand still in the world
        raise ValueError(
            "Push: the model has neither a free joint nor a root with two slides or more, then at most one hinge; a "
            "Wrench pushes any body"
        )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    axes = np.zeros((6, len(kinds)))
    for k, kind in enumerate(kinds):
        axes[3 * (kind == hinge) : 3 * (kind == hinge) + 3, k] = data.xaxis[k]
    return 0, axes
