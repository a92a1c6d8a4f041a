"""Commands that a policy is to follow: velocities and poses, resampled at intervals."""

import math
from collections.abc import Sequence

from ..arrays import Array, namespace, sin_cos
from ..task.noise import Noise
from ..task.task import Last, Task, TaskState
from .curricula import Stages, StepCount
from .frames import quat_from_euler, sqrt, wrap_to_pi, yaw_of
from .ranges import endless, require_ranges, require_times
from .renewal import Renewal, whole_steps

Range = tuple[float, float] | Stages
"""Lowest and highest number; or stages of such pairs, by the steps that an environment has taken."""


class VelocityCommand:
    """A velocity of a robot's base, in the frame of its heading: vx, vy m/s and wz rad/s.

    Make one in `bind`; its memory begins in `reset`, and `update` goes on with it in `step`, after the rewards for the
    command that was followed and before the observation:

        def bind(self):
            self.command = VelocityCommand(self, lin_vel_y=(-0.5, 0.5), heading=(-math.pi, math.pi))

        def reset(self, noise):
            return Start(qpos, qvel, {**self.command.begin(noise), ...})

        def step(self, state, action):
            terms = {"reward_track": ... state.memory["command"] ...}
            state = self.command.update(state)

    With a `heading`, wz follows from the error of the heading, by a P controller, instead of being drawn; at the start
    of an episode that is so if `begin` of the task calls `aim`. With ranges in stages, hand `last` to `begin`.

    | memory | shape | what |
    |---|---|---|
    | `name` | (n, 3) | vx, vy m/s, wz rad/s |
    | `name_steps` | (n,) int64 | steps until the next one is drawn |
    | `name_stands` | (n,) bool | whether to stand still |
    | `name_turns` | (n,) bool | whether to turn to a heading. Only with `heading` |
    | `name_heading` | (n,) | the heading, rad. Only with `heading` |
    | `name_count` | (n,) int64 | steps since the environment was seeded. Only with stages |

    Args:
        task: a bound task.
        lin_vel_x: of vx, m/s.
        lin_vel_y: of vy, m/s.
        ang_vel_z: of wz, rad/s; wz stays within it with a heading too.
        heading: headings to turn to, rad from the world's x axis; None: wz is drawn.
        heading_stiffness: of the P controller, 1/s.
        heading_share: share of commands that have a heading.
        resampling_time: seconds that a command lasts; infinite: until the episode ends.
        standing: share of commands to stand still.
        name: of the memory.

    Raises:
        ValueError: a range is invalid or not finite, seconds are not above 0, or a share is not between 0 and 1.
    """

    def __init__(
        self,
        task: Task,
        *,
        lin_vel_x: Range = (-1.0, 1.0),
        lin_vel_y: Range = (-1.0, 1.0),
        ang_vel_z: Range = (-1.0, 1.0),
        heading: tuple[float, float] | None = None,
        heading_stiffness: float = 0.5,
        heading_share: float = 1.0,
        resampling_time: tuple[float, float] = (10.0, 10.0),
        standing: float = 0.02,
        name: str = "command",
    ) -> None:
        ranges = {"lin_vel_x": lin_vel_x, "lin_vel_y": lin_vel_y, "ang_vel_z": ang_vel_z}
        for what, interval in ranges.items():
            for pair in interval.values.tolist() if isinstance(interval, Stages) else [interval]:
                require_ranges("VelocityCommand", {what: pair})
        require_ranges("VelocityCommand", {} if heading is None else {"heading": heading})
        require_times("VelocityCommand", {"resampling_time": resampling_time}, endless=True)
        for what, share in {"standing": standing, "heading_share": heading_share}.items():
            if not 0 <= share <= 1:
                raise ValueError(f"VelocityCommand: {what}={share}: a share is between 0 and 1")
        self._task, self._ranges, self._heading = task, tuple(ranges.values()), heading
        self._stiffness, self._heading_share = heading_stiffness, heading_share
        self._time, self._standing = endless(resampling_time), standing
        self.name = name
        self._names = tuple(f"{name}_{what}" for what in ("steps", "stands", "turns", "heading"))
        staged = any(isinstance(interval, Stages) for interval in self._ranges)
        self._count = StepCount(f"{name}_count") if staged else None
        self._renewal = Renewal(self._draw)

    def begin(self, noise: Noise, last: Last | None = None) -> dict[str, Array]:
        """Return the memory with which n episodes begin.

        Args:
            noise: of the episodes.
            last: the episodes before; needed by ranges in stages.

        Raises:
            ValueError: ranges have stages, and `last` is not given.
        """
        if self._count is None:
            return self._draw(noise)
        if last is None:
            raise ValueError(f"{self.name}: ranges in stages need begin(noise, last): call it in reset_after")
        counted = self._count.begin(last)
        return self._draw(noise, *counted.values()) | counted

    def update(self, state: TaskState, heading: Array | None = None) -> TaskState:
        """Go on by a step: resample commands whose time is over, and turn towards headings.

        Args:
            state: after the step.
            heading: where the robot is turned to, (n,) rad; None: the heading of the free joint that comes first.
        """
        steps, *others = self._names if self._heading is not None else self._names[:2]
        memory = {name: state.memory[name] for name in (self.name, *others)} | {steps: state.memory[steps] - 1}
        further = []
        if self._count is not None:
            state = self._count.step(state)
            further = [state.memory[self._count.name]]
        renewed = self._renewal(state.noise, memory[steps] <= 0, memory, *further)
        return self.aim(state.remember(**renewed), heading)

    def aim(self, state: TaskState, heading: Array | None = None) -> TaskState:
        """Set wz by the error of the heading, in environments with a heading."""
        if self._heading is None:
            return state
        heading = yaw_of(state.qpos[:, 3:7]) if heading is None else heading
        turns, heading_goal = (state.memory[name] for name in self._names[2:])
        command, xp = state.memory[self.name], namespace(heading)
        count = None if self._count is None else state.memory[self._count.name]
        low, high = self._bounds(self._ranges[2], count)
        turn = self._stiffness * wrap_to_pi(heading_goal - heading)
        turn = xp.where(turn < low, low, xp.where(turn > high, high, turn))
        turn = xp.where(turns, turn, command[:, 2])
        return state.remember(**{self.name: xp.concat((command[:, :2], turn[:, None]), axis=1)})

    def _draw(self, noise: Noise, count: Array | None = None) -> dict[str, Array]:
        """Draw commands, and how long they last."""
        task, xp = self._task, self._task.xp
        fractions = task.array(noise.uniform(0, 1, 7))
        parts = []
        for k, interval in enumerate(self._ranges):
            low, high = self._bounds(interval, count)
            parts.append(low + (high - low) * fractions[:, k])
        stands = fractions[:, 3] < self._standing
        command = xp.stack(parts, axis=1)
        command = xp.where(stands[:, None], xp.zeros_like(command), command)
        low, high = self._time
        drawn = (command, whole_steps(low + (high - low) * fractions[:, 4], task.dt), stands)
        memory = dict(zip((self.name, *self._names), drawn, strict=False))
        if self._heading is not None:
            low, high = self._heading
            turns = (fractions[:, 6] < self._heading_share) & ~stands
            memory |= dict(zip(self._names[2:], (turns, low + (high - low) * fractions[:, 5]), strict=True))
        return memory

    def _bounds(self, given: Range, count: Array | None) -> tuple[float | Array, float | Array]:
        """Return the lowest and the highest number of a range, after so many steps (n,) where it has stages."""
        if not isinstance(given, Stages):
            return given
        bounds = self._task.array(given.at(count))
        return bounds[:, 0], bounds[:, 1]


class PoseCommand:
    """A pose to reach: a place in a box, and an orientation by angles or any at all.

    It is used as `VelocityCommand`. The task chooses the frame: the world's, or relative to an origin.

    | memory | shape | what |
    |---|---|---|
    | `name` | (n, 7) | place, m, and orientation, a quaternion, w first |
    | `name_steps` | (n,) int64 | steps until the next one is drawn |

    Args:
        task: a bound task.
        position: lowest and highest x, y and z, m.
        roll: lowest and highest rotation about x, rad, which comes first.
        pitch: about y.
        yaw: about z, which comes last.
        any_orientation: draw evenly from all orientations instead of by angles.
        resampling_time: seconds that a goal lasts; infinite: until it is reached, or the episode ends.
        name: of the memory.

    Raises:
        ValueError: a range is invalid or not finite, or seconds are not above 0.
    """

    def __init__(
        self,
        task: Task,
        *,
        position: Sequence[tuple[float, float]],
        roll: tuple[float, float] = (0.0, 0.0),
        pitch: tuple[float, float] = (0.0, 0.0),
        yaw: tuple[float, float] = (0.0, 0.0),
        any_orientation: bool = False,
        resampling_time: tuple[float, float] = (math.inf, math.inf),
        name: str = "goal",
    ) -> None:
        if not isinstance(position, Sequence) or len(position) != 3:
            raise ValueError(f"PoseCommand: position={position!r}: it has a pair (low, high) for each of x, y and z")
        self._ranges = (*position, roll, pitch, yaw)
        names = ("position[0]", "position[1]", "position[2]", "roll", "pitch", "yaw")
        require_ranges("PoseCommand", dict(zip(names, self._ranges, strict=True)))
        require_times("PoseCommand", {"resampling_time": resampling_time}, endless=True)
        self._task, self._any, self._time = task, any_orientation, endless(resampling_time)
        self.name, self._steps = name, f"{name}_steps"
        self._renewal = Renewal(self._draw)

    def begin(self, noise: Noise) -> dict[str, Array]:
        """Return the memory with which n episodes begin."""
        return self._draw(noise)

    def update(self, state: TaskState, reached: Array | None = None) -> TaskState:
        """Go on by a step: resample goals whose time is over.

        Args:
            state: after the step.
            reached: where a new goal is due at once, (n,) bool; None: nowhere.

        Raises:
            ValueError: `reached` is not (n,).
        """
        memory = {self.name: state.memory[self.name], self._steps: state.memory[self._steps] - 1}
        due = memory[self._steps] <= 0
        if reached is not None and reached.shape != due.shape:
            raise ValueError(f"PoseCommand: reached has shape {tuple(reached.shape)}; needed is {tuple(due.shape)}")
        return state.remember(**self._renewal(state.noise, due if reached is None else due | reached, memory))

    def _draw(self, noise: Noise) -> dict[str, Array]:
        """Draw goals, and how long they last."""
        task, xp = self._task, self._task.xp
        fractions = task.array(noise.uniform(0, 1, 7))
        numbers = [low + (high - low) * fractions[:, k] for k, (low, high) in enumerate(self._ranges)]
        quat = _any_quat(fractions[:, 3:6]) if self._any else quat_from_euler(*numbers[3:])
        low, high = self._time
        steps = whole_steps(low + (high - low) * fractions[:, 6], task.dt)
        return {self.name: xp.concat((xp.stack(numbers[:3], axis=1), quat), axis=1), self._steps: steps}


def _any_quat(fractions: Array) -> Array:
    """Return orientations drawn evenly from all, (n, 4), of three fractions (n, 3): K. Shoemake, Graphics Gems III."""
    xp = namespace(fractions)
    near, far = sqrt(1 - fractions[:, 0]), sqrt(fractions[:, 0])
    (s, c), (t, d) = (sin_cos(2 * math.pi * fractions[:, k]) for k in (1, 2))
    return xp.stack((far * d, near * s, near * c, far * t), axis=1)
