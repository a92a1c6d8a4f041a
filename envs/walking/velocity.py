"""The base of tasks in which a robot walks as it is commanded: at a velocity, in the frame of its heading."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import mujoco
import numpy as np

from ...physics import Model
from ..arrays import Array, sin_cos
from ..managers import randomize
from ..managers.commands import VelocityCommand
from ..managers.pushes import Push
from ..managers.randomization import Randomization, Term
from ..managers.terminations import lowest_up
from ..task.noise import Noise
from ..task.task import Last, Observation, ResetResult, Start, StepResult, Task, TaskState
from . import terms
from .motion import Motion, MotionReader
from .robots import load_robot


class VelocityTask(Task):
    """Follow commands of velocity. Subclasses name the robot, and the rewards by `terms`.

    An action moves the joints' targets away from where the robot stands, by `action_scale` rad. A step's rewards are
    rates: each is multiplied by its duration. It ends in a fall: lower than `fall_height` m above the ground, or tilted
    by more than `fall_tilt` rad.

    Environments can differ by numbers that are drawn at the start of an episode: the sliding friction of all contacts
    in `friction`, and kg in `added_mass` on the trunk. Every 10 to 15 s the robot is shoved in a horizontal direction,
    by a change of its velocity in `push_speed` m/s.

    `asymmetric=True` makes the observation a dictionary: `policy` has the robot's measurements, with uniform noise of
    `noise_level`, and `critic` all of them exactly, and quantities that only a simulator knows.
    """

    reads: ClassVar = ("site_xpos", "sensordata", "actuator_force")
    feet: ClassVar[Sequence[str]] = ()
    """Names of the feet's sites, in the order of the model's touch sensors."""
    sole: ClassVar[float] = 0.0
    """Metres from a foot's site down to its sole."""
    phases: ClassVar[Sequence[float]] = ()
    """Shares of a turn by which the feet's phases are ahead of the clock; empty: the task has no clock."""

    frame_skip: int = 4
    action_scale: float = 0.25
    asymmetric: bool = False
    noise_level: float = 0.0
    lin_vel_x: tuple[float, float] = (-1.0, 1.0)
    lin_vel_y: tuple[float, float] = (-0.5, 0.5)
    ang_vel_z: tuple[float, float] = (-1.0, 1.0)
    heading_share: float = 0.0
    standing_share: float = 0.1
    resampling_time: float = 10.0
    gait_frequency: float = 0.0
    friction: tuple[float, float] = (0.6, 0.6)
    added_mass: tuple[float, float] = (0.0, 0.0)
    push_speed: tuple[float, float] = (0.0, 0.0)
    fall_height: float = 0.15
    fall_tilt: float = 1.0

    # -- methods of a robot's task ------------------------------------------------------------------------------------

    @abstractmethod
    def terms(self, now: Motion, state: TaskState) -> dict[str, Array]:
        """Return the reward terms by name, (n,) each, per second."""

    def seen(self, now: Motion, state: TaskState) -> tuple[Array, ...]:
        """Return the task-specific observations, each (n, ...), besides velocities, command, joints and actions."""
        return ()

    def under(self, state: TaskState) -> Array | float:
        """Return the height of the ground under the body and under the feet, (n, 1 + feet) m; 0 on flat ground."""
        return 0.0

    def fallen(self, now: Motion) -> Array:
        """Return True where a robot lies or leans too far, (n,) bool: its episode ends."""
        return (now.height < self.fall_height) | (now.up[:, 2] < lowest_up(self.fall_tilt))

    # -- methods that all have ----------------------------------------------------------------------------------------

    @property
    def action_space(self) -> gymnasium.Space:
        """One number for each joint."""
        return gymnasium.spaces.Box(-1.0, 1.0, (self.model.nu,), np.float32)

    def load_spec(self) -> mujoco.MjSpec:
        """Return the robot on its ground, without the sensors that the task does not read: they would cost time."""
        return load_robot(self.xml_file, self._folders(), {mujoco.mjtSensor.mjSENS_TOUCH})

    def load_model(self, **options: Any) -> Model:
        """Load the robot on its ground."""
        return Model.from_mjspec(self.load_spec(), **options)

    def bind(self) -> None:
        """Find feet, joints and their soft limits; prepare commands."""
        self.reader = MotionReader(self, self.feet, self.sole, self.phases)
        self.standing = self.array(self.model.key_qpos[0])
        low, high = self.model.jnt_range[1:].T
        middle, half = 0.5 * (low + high), 0.475 * (high - low)
        self.soft_low, self.soft_high = self.array(middle - half), self.array(middle + half)
        self.command = VelocityCommand(
            self,
            lin_vel_x=self.lin_vel_x,
            lin_vel_y=self.lin_vel_y,
            ang_vel_z=self.ang_vel_z,
            heading=(-math.pi, math.pi) if self.heading_share > 0 else None,
            heading_share=self.heading_share,
            resampling_time=(self.resampling_time, self.resampling_time),
            standing=self.standing_share,
        )
        self.randomization = Randomization(self, *self.randomization_terms())

    def randomization_terms(self) -> list[Term]:
        """Return the terms of randomization; no term for a range that is the model's."""
        trunk = self.model.body(1).name
        drawn: list[Term] = []
        if self.friction != (0.6, 0.6):
            drawn.append(randomize.friction(*self.friction, shared=True))
        if self.added_mass != (0.0, 0.0):
            drawn.append(randomize.mass(*self.added_mass, bodies=trunk, operation="add"))
        if self.push_speed != (0.0, 0.0):
            drawn.append(Push(speed=self.push_speed))
        return drawn

    def control(self, state: TaskState, action: Array) -> Array:
        """Return the joints' targets."""
        return self.reader.stand + self.action_scale * action

    def reset(self, noise: Noise) -> Start:
        """Stand somewhere near the origin, turned anywhere, with joints and velocities a little off."""
        xp, model = self.xp, self.model
        drawn = self.array(noise.uniform(-1, 1, 9 + model.nu))
        sine, cosine = sin_cos(0.5 * math.pi * drawn[:, 2:3])
        place = xp.concat((0.5 * drawn[:, :2], 0 * sine + self.standing[2]), axis=1)
        joints = self.standing[7:] + 0.1 * drawn[:, 9:]
        qpos = xp.concat((place, cosine, 0 * sine, 0 * sine, sine, joints), axis=1)
        qvel = xp.concat((0.3 * drawn[:, 3:9], 0 * joints), axis=1)
        memory = {"action": 0 * joints, **self.command.begin(noise)}
        if self.phases:
            memory["phase"] = self.array(noise.uniform(0, 1, 1))
        return Start(qpos, qvel, memory)

    def reset_after(self, last: Last, noise: Noise) -> Start:
        """Begin with friction, mass and pushes of the environment's own."""
        return self.randomization.begin(self.reset(noise), last, noise)

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation; commands with a heading are aimed at it."""
        begun = self.reader.begun(state)
        aimed = self.command.aim(state.remember(**begun))
        memory = {**begun, self.command.name: aimed.memory[self.command.name]}
        return ResetResult(self.observation(aimed), memory=memory)

    def observation(self, state: TaskState) -> Observation:
        """Return the agent's observation, (n, size), or two parts by name."""
        now = self.reader.read(state, state.memory["action"], self.under(state))
        return self.observed(now, state)

    def observed(self, now: Motion, state: TaskState) -> Observation:
        """Return the observation of a motion, with the command and the action that `state` remembers."""
        xp, memory = self.xp, state.memory
        measured = (now.ang_vel, -now.up, now.offset, now.joint_vel)
        exact = (memory["command"], memory["action"], *self.clock(state), *self.seen(now, state))
        if not self.asymmetric:
            return xp.concat((now.body_vel, *measured, *exact), axis=1)
        feet = now.feet
        known = (now.body_vel, feet.air_time, feet.height, xp.astype(feet.contact, now.up.dtype), now.torque)
        both = xp.concat((*measured, *exact), axis=1)
        return {"policy": self.noisy(both, state.noise), "critic": xp.concat((both, *known), axis=1)}

    def noisy(self, exact: Array, noise: Noise) -> Array:
        """Return measurements with noise."""
        if self.noise_level == 0:
            return exact
        parts, nu = [], self.model.nu
        for width, scale in ((3, 0.2), (3, 0.05), (nu, 0.01), (nu, 1.5)):
            parts.append(self.noise_level * scale * self.array(noise.uniform(-1, 1, width)))
        measured = self.xp.concat(parts, axis=1)
        n = measured.shape[1]
        return self.xp.concat((exact[:, :n] + measured, exact[:, n:]), axis=1)

    def clock(self, state: TaskState) -> tuple[Array, ...]:
        """Return sine and cosine of the clock, (n, 2), if there is one."""
        if not self.phases:
            return ()
        return (self.xp.concat(sin_cos(2 * math.pi * state.memory["phase"]), axis=1),)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward following the command in a good manner; it ends in a fall."""
        now = self.reader.read(state, action, self.under(state))
        fell = self.fallen(now)
        rates = self.terms(now, state)
        rewards = {name: self.dt * rate for name, rate in rates.items()}
        lin_vel_error = self.xp.sqrt(terms.lin_vel_error(now))
        info = {"lin_vel_error": lin_vel_error, "ang_vel_error": abs(now.ang_vel[:, 2] - now.command[:, 2])}
        memory = {"action": action, **self.reader.remembered(now.feet)}
        if self.phases:
            phase = state.memory["phase"] + self.gait_frequency * self.dt
            memory["phase"] = phase - self.xp.floor(phase)
        state = self.command.update(state.remember(**memory))
        state, changes = self.randomization.step(state)
        if "qvel" in changes:
            now = self.reader.pushed(now, state)
        return StepResult(self.observed(now, state), rewards, fell, info, state.memory, **changes)
