"""The arm that tasks share: its actions, the position of its grip, observations of it, and its starts."""

import math
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box

from ..arrays import Array, clip, namespace, row_norm, tanh
from ..managers.frames import quat_from_yaw
from ..task.noise import Noise
from ..task.task import Task, TaskState

JOINTS, FINGERS = 7, 2
LINKS = slice(2, 9)  # bodies link1 to link7: hinge i turns about the z axis of link i, through its origin
GRIP = 0.1034  # m, the site "grip" lies so far down the hand
SERVO_LAG = 0.1  # s, kv / kp of the servos: a joint closes the way to its target at the rate 1 / SERVO_LAG
OPEN, CLOSED = 0.04, -0.01  # m, targets of a finger; below 0 it presses
LOW, HIGH = (0.3, -0.35, 0.012), (0.7, 0.35, 0.5)  # m, the box that the grip stays in
HALF = 0.02  # m, half an edge of a cube
CUBE_LOW, CUBE_HIGH = (0.42, -0.15), (0.58, 0.15)  # m, where a single cube starts


class ArmTask(Task):
    """The base class of tasks with the arm of `arm_robot.xml`, whose hand points down.

    An action is a velocity of the grip along the world's axes, in `max_speed`; with `grips` a fourth number opens and
    closes the gripper. `control` turns it into targets of the joints' servos by damped least squares, which keeps the
    hand upright and the posture near that of the keyframe "home".
    """

    reads: ClassVar = ("xpos", "xquat", "actuator_force")
    camera: ClassVar = {"lookat": (0.36, 0.0, 0.22), "distance": 1.35, "azimuth": 140.0, "elevation": -20.0}
    grips: ClassVar[bool] = True
    finger_target: ClassVar[float] = CLOSED  # m, where actions have no number for it

    xml_file: str = "arm.xml"
    frame_skip: int = 10
    max_speed: float = 1.0  # m/s, along each axis
    damping: float = 0.05  # m, of the least squares
    reset_noise_scale: float = 0.02  # rad

    @property
    def action_space(self) -> Box:
        """Velocities, and the gripper if the task has it."""
        return Box(-1.0, 1.0, (4 if self.grips else 3,), np.float32)

    def bind(self) -> None:
        """Find the hand, the posture to keep and the box to stay in."""
        home = self.model.key("home").qpos
        self.hand = self.model.body("hand").id
        self.home = self.xp.asarray(home.copy(), dtype=self.xp.float64, device=self._kind.device)
        self.posture = self.array(home[:JOINTS])[:, None]
        self.low, self.high = self.array(LOW)[:, None], self.array(HIGH)[:, None]

    # -- moving -------------------------------------------------------------------------------------------------------

    def control(self, state: TaskState, action: Array) -> Array:
        """Return targets of the joints (rad) and of the fingers (m) that give the grip the wished velocity, (n, 8)."""
        xp = self.xp
        action = clip(self.array(action), -1.0, 1.0)
        axes = xp.stack(z_axis(xp.permute_dims(state.fields["xquat"][:, LINKS, :], (2, 1, 0))))
        anchors = xp.permute_dims(state.fields["xpos"][:, LINKS, :], (2, 1, 0))
        grip, quat = self.grip(state).T, state.fields["xquat"][:, self.hand, :].T
        way = grip + self.max_speed * SERVO_LAG * action[:, :3].T
        way = xp.minimum(xp.maximum(way, self.low), self.high) - grip
        turn = xp.stack(turn_down(quat))
        joints = state.qpos[:, :JOINTS].T
        error, wish = xp.concat((way, turn)), 0.1 * (self.posture - joints)
        steps = damped_steps(jacobian(axes, anchors, grip), error, wish, self.damping)
        return xp.concat(((joints + steps).T, self.finger_targets(action)), axis=1)

    def finger_targets(self, action: Array) -> Array:
        """Return the wished distance of the fingers from the middle, (n, 1) m: 1 opens, below -0.6 they press."""
        if not self.grips:
            return 0 * action[:, :1] + self.finger_target
        return CLOSED + (OPEN - CLOSED) / 2 * (action[:, 3:4] + 1)

    # -- seeing -------------------------------------------------------------------------------------------------------

    def grip(self, state: TaskState) -> Array:
        """Return where the middle between the pads is, (n, 3) m."""
        axis = self.xp.stack(z_axis(state.fields["xquat"][:, self.hand, :].T), axis=1)
        return state.fields["xpos"][:, self.hand, :] + GRIP * axis

    def gap(self, state: TaskState) -> Array:
        """Return the way between the pads, (n,) m."""
        return state.qpos[:, JOINTS] + state.qpos[:, JOINTS + 1]

    def gap_rate(self, state: TaskState) -> Array:
        """Return how fast the pads move apart, (n,) m/s."""
        return state.qvel[:, JOINTS] + state.qvel[:, JOINTS + 1]

    def arm_seen(self, state: TaskState) -> list[Array]:
        """Return the first parts of every observation: joints, gap, their velocities, and the grip, (n, 19) in all."""
        joints, velocities = state.qpos[:, :JOINTS], state.qvel[:, :JOINTS]
        return [joints, self.gap(state)[:, None], velocities, self.gap_rate(state)[:, None], self.grip(state)]

    def is_holding(self, state: TaskState, pos: Array) -> Array:
        """Return True where the pads hold a thing at `pos` (n, 3) m: it is in the grip, and keeps them from closing."""
        speed = self.gap_rate(state)
        stopped = (speed < 0.03) & (speed > -0.03) & (self.gap(state) > 0.005)
        pressed = state.fields["actuator_force"][:, JOINTS] < -2.0  # N
        return (row_norm(pos - self.grip(state)) < 0.02) & stopped & pressed

    def stillness(self, state: TaskState) -> Array:
        """Return the speed of the joints, (n,) rad/s."""
        return row_norm(state.qvel[:, :JOINTS])

    # -- starting -----------------------------------------------------------------------------------------------------

    def arm_start(self, noise: Noise, gap: float = 0.08) -> Array:
        """Return the first positions of arm and fingers, (n, 9): "home" within ±`reset_noise_scale`, fingers open."""
        spread = noise.uniform(-self.reset_noise_scale, self.reset_noise_scale, JOINTS)
        fingers = 0 * spread[:, :FINGERS] + gap / 2
        return self.xp.concat((self.home[:JOINTS] + spread, fingers), axis=1)


class ArmCubeTask(ArmTask):
    """The base class of tasks with one cube on the table."""

    def bind(self) -> None:
        """Find the cube."""
        super().bind()
        self.cube = self.model.body("cube").id

    def cube_start(self, noise: Noise, gap: float = 0.08) -> tuple[Array, Array, Array]:
        """Draw first positions of arm, fingers and cube, (n, 16), and return the cube's x and y, (n, 1) m each."""
        arm = self.arm_start(noise, gap)
        x, y = (noise.uniform(low, high, 1) for low, high in zip(CUBE_LOW, CUBE_HIGH, strict=True))
        turn = quat_from_yaw(noise.uniform(-math.pi, math.pi, 1)[:, 0])
        return self.xp.concat((arm, x, y, 0 * x + HALF, turn), axis=1), x, y

    def cube_pos(self, state: TaskState) -> Array:
        """Return where the cube is, (n, 3) m."""
        return state.fields["xpos"][:, self.cube, :]

    def cube_seen(self, state: TaskState) -> list[Array]:
        """Return the parts of an observation with the cube: its place, its quaternion, the offset from the grip."""
        cube = self.cube_pos(state)
        return [*self.arm_seen(state), cube, state.qpos[:, 12:16], cube - self.grip(state)]


def draw_in_box(noise: Noise, low: Sequence[float], high: Sequence[float]) -> Array:
    """Draw points evenly in a box, (n, sides) m."""
    sides = [noise.uniform(*ends, 1) for ends in zip(low, high, strict=True)]
    return namespace(sides[0]).concat(sides, axis=1)


def z_axis(quat: Array) -> tuple[Array, Array, Array]:
    """Return the third axis of frames by their quaternions (4, ...), w first: three arrays (...)."""
    w, x, y, z = (quat[i, ...] for i in range(4))
    return 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)


def turn_down(quat: Array) -> tuple[Array, Array, Array]:
    """Return the turn, as a vector of three arrays (n,) rad, that makes a hand with quaternion (4, n) point down.

    Pointing down is the quaternion (0, 1, 0, 0): x ahead, z down. The turn from q to it is twice the vector part of
    their quotient (0, 1, 0, 0) q*, to third order; the sign is that of the shorter way.
    """
    w, x, y, z = (quat[i, ...] for i in range(4))
    side = namespace(x).where(x < 0, -2.0 + 0 * x, 2.0 + 0 * x)
    return side * w, side * z, -side * y


def nearness(distance: Array, scale: float) -> Array:
    """Return 1 - tanh(distance / scale): 1 there, 0 far away."""
    return 1 - tanh(distance / scale)


def places(*parts: Array) -> Array:
    """Lay coordinates (n, k) of one body side by side, as the pose that `mocap_pos` takes: (n, 1, 3) m."""
    return namespace(parts[0]).concat(parts, axis=1)[:, None, :]


def cross(a: Sequence[Array], b: Sequence[Array]) -> list[Array]:
    """Return the cross product of two vectors, three arrays each."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def jacobian(axes: Array, anchors: Array, point: Array) -> Array:
    """Return how a point and the frame about it move with hinges, (6, k, n): m/rad, then rad/rad.

    Args:
        axes: unit axes of k hinges in the world, (3, k, n).
        anchors: a point on each axis, (3, k, n) m.
        point: the point, which the last hinge carries, (3, n) m.
    """
    xp, axis = namespace(axes), [axes[i, ...] for i in range(3)]
    arm = [point[i, ...][None, ...] - anchors[i, ...] for i in range(3)]
    return xp.stack((*cross(axis, arm), *axis))


def damped_steps(jac: Array, error: Array, wish: Array, damping: float) -> Array:
    """Return the joints' steps (k, n) that move the hand by `error` and otherwise come closest to `wish`.

    The step is q = w + Jᵀ (J Jᵀ + damping² I)⁻¹ (e - J w): Buss, "Introduction to inverse kinematics with Jacobian
    transpose, pseudoinverse and damped least squares methods", 2004, equations 11 and 12.

    Args:
        jac: (rows, k, n).
        error: wished motion of the hand, (rows, n).
        wish: wished motion of the joints, (k, n), followed where the hand leaves them free.
        damping: in the unit of the Jacobian.
    """
    rows, joints = jac.shape[0], range(jac.shape[1])
    gram = reduce(add, (jac[:, None, k, :] * jac[None, :, k, :] for k in joints))  # (rows, rows, n)
    rest = error - reduce(add, (jac[:, k, :] * wish[k, ...][None, ...] for k in joints))
    diagonal = [gram[i, i, ...] + damping * damping for i in range(rows)]
    lower = [[diagonal[i] if i == j else gram[i, j, ...] for j in range(i + 1)] for i in range(rows)]
    force = solve(lower, [rest[i, ...] for i in range(rows)])
    return wish + reduce(add, (jac[i, ...] * force[i][None, ...] for i in range(rows)))


def solve(lower: list[list[Array]], right: list[Array]) -> list[Array]:
    """Solve A x = b for symmetric positive definite A, of which row i has the entries 0 to i, by A = L D Lᵀ."""
    size = len(right)
    factor: list[list[Array]] = []  # the rows of L, without its diagonal of ones
    pivots: list[Array] = []
    for i in range(size):
        scaled: list[Array] = []  # row i of L D
        for j in range(i):
            scaled.append(_less(lower[i][j], scaled, factor[j]))
        factor.append([scaled[j] / pivots[j] for j in range(i)])
        pivots.append(_less(lower[i][i], scaled, factor[i]))
    x: list[Array] = []
    for i in range(size):
        x.append(_less(right[i], x, factor[i]))
    x = [x[i] / pivots[i] for i in range(size)]
    for i in range(size - 2, -1, -1):
        x[i] = _less(x[i], x[i + 1 :], [factor[k][i] for k in range(i + 1, size)])
    return x


def _less(x: Array, a: Sequence[Array], b: Sequence[Array]) -> Array:
    """Return x less the products of two sequences, as far as both go."""
    return reduce(lambda rest, pair: rest - pair[0] * pair[1], zip(a, b, strict=False), x)
