"""The motion of a walking robot after a step, in the frames in which rewards and observations speak of it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..arrays import Array, namespace, row_sum, sin_cos
from ..managers.frames import quat_rotate_inverse, to_heading, up_of
from ..task.task import Task, TaskState


class FeetMotion(NamedTuple):
    """The feet of n robots."""

    pos: Array  # (n, feet, 3) m, world
    height: Array  # (n, feet) m, of their soles above the ground under them
    velocity: Array  # (n, feet, 3) m/s, world, over the step
    contact: Array  # (n, feet) bool: the ground pushes by more than 1 N
    landed: Array  # (n, feet) bool: they touch after having been in the air
    stays: Array  # (n, feet) bool: they touch, and did so before the step
    air_time: Array  # (n, feet) s, since they touched last; of feet that landed, of the flight that is over
    swing: Array  # (n, feet) sine of their phase, above 0 while they are to be in the air; 0 without a clock


class Motion(NamedTuple):
    """A robot's motion, with the command that it follows."""

    lin_vel: Array  # (n, 3) m/s, in the frame of the heading
    body_vel: Array  # (n, 3) m/s, in the body's frame
    ang_vel: Array  # (n, 3) rad/s, in the body's frame
    up: Array  # (n, 3), the world's z axis in the body's frame
    height: Array  # (n,) m, above the ground under the body
    command: Array  # (n, 3): vx, vy m/s in the frame of the heading, wz rad/s
    moves: Array  # (n,) bool: the command is more than standing
    offset: Array  # (n, nu) rad, the joints from where they stand
    joint_vel: Array  # (n, nu) rad/s
    torque: Array  # (n, nu) N m
    action_change: Array  # (n, nu)
    feet: FeetMotion


class MotionReader:
    """Reads `Motion` from the state of a robot with a free joint, hinges, a site and a touch sensor for each foot.

    Args:
        task: a bound task that reads `site_xpos`, `sensordata` (only touch sensors) and `actuator_force`.
        feet: names of the feet's sites, in the order of the sensors.
        sole: m from a foot's site down to its sole.
        phases: shares of a turn by which the feet's phases are ahead of the clock; empty: there is no clock.
    """

    def __init__(self, task: Task, feet: Sequence[str], sole: float, phases: Sequence[float]) -> None:
        sites = [task.model.site(name).id for name in feet]
        self._feet = task.xp.asarray(sites, device=task.init_qpos.device)
        self._sole, self._dt = sole, task.dt
        turns, self._clock = [2 * math.pi * phase for phase in phases], bool(phases)
        self._ahead = task.array([math.sin(turn) for turn in turns]), task.array([math.cos(turn) for turn in turns])
        self.stand = task.array(task.model.key_qpos[0, 7:])

    def places(self, state: TaskState) -> Array:
        """Return the places of the feet, (n, feet, 3) m."""
        return namespace(state.qpos).take(state.fields["site_xpos"], self._feet, axis=1)

    def read(self, state: TaskState, action: Array, under: Array | float) -> Motion:
        """Return the motion.

        Args:
            state: after a step, with the memory from before it: `command`, `action`, and that of `remembered`.
            action: (n, nu).
            under: height of the ground under the body (n, 1) and under the feet, (n, 1 + feet) m; or one for all.
        """
        qpos, qvel, command = state.qpos, state.qvel, state.memory["command"]
        quat, velocity = qpos[:, 3:7], qvel[:, :3]
        body, soles = (under, under) if isinstance(under, float) else (under[:, 0], under[:, 1:])
        return Motion(
            to_heading(quat, velocity),
            quat_rotate_inverse(quat, velocity),
            qvel[:, 3:6],
            up_of(quat),
            qpos[:, 2] - body,
            command,
            row_sum(command * command) > 0.01,
            qpos[:, 7:] - self.stand,
            qvel[:, 6:],
            state.fields["actuator_force"],
            action - state.memory["action"],
            self._feet_motion(state, soles),
        )

    def _feet_motion(self, state: TaskState, under: Array | float) -> FeetMotion:
        memory, xp = state.memory, namespace(state.qpos)
        pos, contact, before = self.places(state), state.fields["sensordata"] > 1.0, memory["contact"]
        air_time = memory["air_time"] + self._dt
        return FeetMotion(
            pos,
            pos[..., 2] - self._sole - under,
            (pos - memory["feet"]) * (1 / self._dt),
            contact,
            contact & ~before,
            contact & before,
            xp.where(contact & before, xp.zeros_like(air_time), air_time),
            self.swing(memory["phase"]) if self._clock else xp.zeros_like(air_time),
        )

    def pushed(self, now: Motion, state: TaskState) -> Motion:
        """Return the motion with the velocities of a body that was pushed after it."""
        quat, qvel = state.qpos[:, 3:7], state.qvel
        return now._replace(body_vel=quat_rotate_inverse(quat, qvel[:, :3]), ang_vel=qvel[:, 3:6])

    def swing(self, phase: Array) -> Array:
        """Return the sine of each foot's phase, (n, feet), when the clock is at `phase` (n, 1) turns."""
        sine, cosine = sin_cos(2 * math.pi * phase)
        sines, cosines = self._ahead
        return sine * cosines + cosine * sines

    def begun(self, state: TaskState) -> dict[str, Array]:
        """Return the memory that follows from the state at a start: the feet are where they are, on the ground."""
        feet, xp = self.places(state), namespace(state.qpos)
        return {"feet": feet, "air_time": 0 * feet[..., 2], "contact": xp.ones_like(feet[..., 2], dtype=xp.bool)}

    def remembered(self, feet: FeetMotion) -> dict[str, Array]:
        """Return the new memory of the feet after a step."""
        xp = namespace(feet.pos)
        air_time = xp.where(feet.contact, xp.zeros_like(feet.air_time), feet.air_time)
        return {"feet": feet.pos, "air_time": air_time, "contact": feet.contact}
