"""The arm with a tool in its hand, which tasks with matter share: its motion, the tool's pose, observations of both."""

from collections.abc import Mapping
from typing import ClassVar

import mujoco
import numpy as np
from gymnasium.spaces import Box

from ..arrays import Array, clip, namespace, sin_cos
from ..managers.frames import atan2, quat_rotate, quat_rotate_inverse
from ..task.noise import Noise
from ..task.task import ResetResult, Task, TaskState
from .arm import JOINTS, LINKS, damped_steps, jacobian, z_axis
from .vessels import Vessel, add_vessel

LEASH, LEASH_TURN = 0.06, 0.5  # m, rad: how far ahead of the tool its wished pose may be
_FINGERS, _GRIPPER = ("finger_joint1", "finger_joint2"), "gripper"


class ArmToolTask(Task):
    """The base class of tasks with the arm of `arm_robot.xml` and a tool, the body "tool" of the file, in its hand.

    An action is a velocity of the tool along the world's axes, in `max_speed`, and its turn about the world's y axis,
    in `max_turn`. They move a wished pose, which `control` turns into targets of the joints' servos by damped least
    squares; without an action the tool stays where it is. Its frame is the world's while the tilt is 0.
    """

    camera: ClassVar = {"lookat": (0.46, 0.0, 0.17), "distance": 1.15, "azimuth": -125.0, "elevation": -28.0}
    home: ClassVar[tuple[float, ...]] = ()  # rad, the posture that episodes start in and that joints stay near
    low: ClassVar[tuple[float, ...]] = (0.3, -0.2, 0.1)  # m, the box that the wished place stays in
    high: ClassVar[tuple[float, ...]] = (0.65, 0.2, 0.45)
    tilts: ClassVar[tuple[float, float]] = (-0.5, 2.2)  # rad
    vessels: ClassVar[Mapping[str, Vessel]] = {}  # round parts of the file's bodies, by name

    frame_skip: int = 10
    max_speed: float = 0.3  # m/s, along each axis
    max_turn: float = 2.0  # rad/s
    damping: float = 0.05  # m, of the least squares

    @property
    def action_space(self) -> Box:
        """Velocities along x, y and z, and the turn."""
        return Box(-1.0, 1.0, (4,), np.float32)

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Make the body "tool" a part of the hand, with fingers that stay where they are, and add `vessels`.

        MJCF has no words for that: a file cannot add to a body of another one.
        """
        for things in (spec.equalities, spec.tendons):
            for thing in list(things):
                spec.delete(thing)
        spec.delete(spec.actuator(_GRIPPER))
        for name in _FINGERS:
            spec.delete(spec.joint(name))
        for name, one in self.vessels.items():
            add_vessel(spec, name, one)
        spec.copy_during_attach = True
        tool = spec.body("tool")
        spec.body("hand").add_frame().attach_body(tool, "", "+")
        spec.delete(tool)
        body = spec.body("tool+")
        for part in (body, *body.geoms, *body.sites):
            part.name = part.name.removesuffix("+")

    def bind(self) -> None:
        """Find the tool and the box that it stays in."""
        self.tool = self.model.body("tool").id
        self.first = self.xp.asarray(np.array(self.home), dtype=self.xp.float64, device=self._kind.device)
        self.posture = self.array(self.home)[:, None]
        self.lowest = self.array([*self.low, self.tilts[0]])
        self.highest = self.array([*self.high, self.tilts[1]])
        self.most = self.array([self.max_speed] * 3 + [self.max_turn]) * self.dt
        self.leash = self.array([LEASH] * 3 + [LEASH_TURN])

    # -- moving -------------------------------------------------------------------------------------------------------

    def control(self, state: TaskState, action: Array) -> Array:
        """Return targets of the joints (rad) that bring the tool to its wished pose, (n, 7)."""
        xp, wish = self.xp, self.wished(state, action).T
        axes = xp.stack(z_axis(xp.permute_dims(state.fields["xquat"][:, LINKS, :], (2, 1, 0))))
        anchors = xp.permute_dims(state.fields["xpos"][:, LINKS, :], (2, 1, 0))
        tool, quat = self.tool_pos(state).T, state.fields["xquat"][:, self.tool, :].T
        error = xp.concat((wish[:3, ...] - tool, xp.stack(turn_to_tilt(quat, wish[3, ...]))))
        joints = state.qpos[:, :JOINTS].T
        steps = damped_steps(jacobian(axes, anchors, tool), error, 0.1 * (self.posture - joints), self.damping)
        return (joints + steps).T

    def wished(self, state: TaskState, action: Array) -> Array:
        """Return the wished pose after an action, (n, 4): place, m, and tilt, rad.

        A motion that turns back begins where the tool is, not at a wish that something in the way kept it from.
        """
        xp, now, wish = self.xp, self.pose(state), state.memory["wish"]
        way = self.most * clip(self.array(action), -1.0, 1.0)
        wish = xp.where(way * (wish - now) < 0, now, wish) + way
        ahead = xp.minimum(xp.maximum(wish - now, -self.leash), self.leash)
        return xp.minimum(xp.maximum(now + ahead, self.lowest), self.highest)

    # -- seeing -------------------------------------------------------------------------------------------------------

    def tool_pos(self, state: TaskState) -> Array:
        """Return where the tool's frame is, (n, 3) m."""
        return state.fields["xpos"][:, self.tool, :]

    def tool_point(self, state: TaskState, local: Array) -> Array:
        """Return where a point (3,) m of the tool's frame is, (n, 3) m."""
        return self.tool_pos(state) + quat_rotate(state.fields["xquat"][:, self.tool, :], local)

    def in_tool(self, state: TaskState, points: Array) -> Array:
        """Return points of the world (n, k, 3) in the tool's frame, m."""
        quat = state.fields["xquat"][:, self.tool, :]
        return quat_rotate_inverse(quat[:, None, :], points - self.tool_pos(state)[:, None, :])

    def tilt(self, state: TaskState) -> Array:
        """Return the turn of the tool about the world's y axis, (n,) rad, within half a turn of 0."""
        w, x, y, z = (state.fields["xquat"][:, self.tool, k] for k in range(4))
        return atan2(2 * (w * y - x * z), 1 - 2 * (y * y + z * z))

    def pose(self, state: TaskState) -> Array:
        """Return place and tilt of the tool, (n, 4): m, rad."""
        return self.xp.concat((self.tool_pos(state), self.tilt(state)[:, None]), axis=1)

    def arm_seen(self, state: TaskState) -> list[Array]:
        """Return the first parts of every observation: joints, velocities, the tool's pose, the way to the wish."""
        pose = self.pose(state)
        return [state.qpos[:, :JOINTS], state.qvel[:, :JOINTS], pose, state.memory["wish"] - pose]

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation; the wished pose is where the tool is."""
        wish = self.pose(state)
        return ResetResult(self.observation(state.remember(wish=wish)), memory={"wish": wish})

    # -- starting -----------------------------------------------------------------------------------------------------

    def arm_start(self, noise: Noise) -> Array:
        """Return the first positions of the arm, (n, 7): `home`, as particles lie in the tool."""
        return 0 * noise.uniform(0, 1, JOINTS) + self.first


def turn_to_tilt(quat: Array, tilt: Array) -> tuple[Array, Array, Array]:
    """Return the turn, as a vector of three arrays (n,) rad, that brings a tool with quaternion (4, n) to a tilt (n,).

    It is twice the vector part of the quotient of both, to third order; the sign is that of the shorter way.
    """
    w, x, y, z = (quat[i, ...] for i in range(4))
    sine, cosine = sin_cos(tilt / 2)
    side = namespace(x).where(cosine * w + sine * y < 0, -2.0 + 0 * x, 2.0 + 0 * x)
    return side * (-cosine * x - sine * z), side * (sine * w - cosine * y), side * (sine * x - cosine * z)
