"""Common parts of flying tasks: actions, the air's drag, observations, and limits of the flight."""

from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box

from ..arrays import Array, clip, row_norm, row_sum, tanh
from ..managers.frames import projected_gravity, quat_mul, quat_rotate, quat_rotate_inverse
from ..task.noise import Noise
from ..task.task import Task, TaskState

ACTIONS = ("thrusts", "rates")
HEIGHTS = (0.1, 2.0)  # m, of IsaacLab's Quadcopter: lower is a crash, higher is lost
RPM = 2 * np.pi / 60  # rad/s


class DroneTask(Task):
    """Flying with four rotors: the common parts of `DroneHover` and `DroneWaypoints`.

    The pose is relative to nothing but the goal, in the frame of the body, so that neither place nor heading matters.
    """

    reads: ClassVar = ()
    camera: ClassVar = {"trackbodyid": 1, "distance": 0.6, "elevation": -22.0, "azimuth": 150.0}

    xml_file: str = "drone.xml"
    frame_skip: int = 4
    action: str = "thrusts"
    thrust_scale: float = 0.4
    max_rate: float = 6.0
    rate_gain: float = 25.0
    rotor_drag: bool = True
    start_tilt: float = 0.2
    start_velocity: float = 0.5
    goal_range: float = 0.5
    start_range: float = 1.0
    arena: float = 1.5

    def __post_init__(self) -> None:
        """Ask for a controller at every physics step if actions are rates.

        Raises:
            ValueError: there is no such kind of action.
        """
        super().__post_init__()
        if self.action not in ACTIONS:
            raise ValueError(f"{type(self).__name__}: action={self.action!r}: choose {' or '.join(ACTIONS)}")
        self.control_each_substep = self.action == "rates"  # type: ignore[misc]

    def bind(self) -> None:
        """Read mass, inertia, rotors and drag off the model."""
        model = self.model
        self.drone = model.body("drone").id
        sites = [model.actuator(k).trnid[0] for k in range(4)]
        x, y = model.site_pos[sites, 0], model.site_pos[sites, 1]
        turn = model.actuator_gear[:, 5]
        self.weight = float(model.body_mass[self.drone] * -model.opt.gravity[2])
        # Thrusts (4) for a torque of 1 N m about each axis: the moments y, -x and turn are orthogonal.
        self.mixer = [self.array(arm / np.sum(arm * arm)) for arm in (y, -x, turn)]
        self.inertia = self.array(model.body_inertia[self.drone])
        self.kf, self.drag = float(model.numeric("kf").data[0]), self.array(model.numeric("drag").data)
        push = np.zeros((model.nbody, 1))
        push[self.drone] = 1
        self.on_drone = self.array(push)

    @property
    def action_space(self) -> Box:
        """The actions: four numbers between -1 and 1."""
        return Box(-1.0, 1.0, (4,), np.float32)

    def control(self, state: TaskState, action: Array) -> Array:
        """Turn actions into thrusts (n, 4), N; rates are followed by a proportional controller."""
        action = clip(action, -1, 1)
        if self.action == "thrusts":
            return self.weight / 4 * (1 + self.thrust_scale * action)
        lift = self.weight / 4 * (1 + self.thrust_scale * action[:, :1])
        torque = self.rate_gain * self.inertia * (self.max_rate * action[:, 1:] - state.qvel[:, 3:6])
        return lift + sum(torque[:, k, None] * thrusts for k, thrusts in enumerate(self.mixer))

    # -- what tasks ask -----------------------------------------------------------------------------------------------

    def draw_pose(self, noise: Noise) -> tuple[Array, Array]:
        """Draw a start, qpos (n, 7) and qvel (n, 6): anywhere in the middle, heading anywhere, a little tilted."""
        xp = self.xp
        place = noise.uniform(-self.start_range, self.start_range, 2)
        height = noise.uniform(0.5, 1.5, 1)
        lean = 0.5 * noise.uniform(-self.start_tilt, self.start_tilt, 2)
        tilt = xp.concat((xp.ones_like(height), lean, 0 * height), axis=1)
        turn = noise.normal(2)  # the half of a heading: evenly distributed on the circle
        zeros = 0 * turn
        heading = xp.concat((turn[:, :1], zeros, turn[:, 1:]), axis=1)
        quat = quat_mul(heading, tilt)
        quat = quat / row_norm(quat)[:, None]
        velocity = self.start_velocity * noise.uniform(-1, 1, 3)
        return xp.concat((place, height, quat), axis=1), xp.concat((velocity, 0 * velocity), axis=1)

    def draw_goal(self, noise: Noise, reach: float) -> Array:
        """Draw a place between 0.5 and 1.5 m above the ground, (n, 3) m, within `reach` along x and y."""
        return self.xp.concat((noise.uniform(-reach, reach, 2), noise.uniform(0.5, 1.5, 1)), axis=1)

    def motion(self, state: TaskState) -> tuple[Array, Array, Array]:
        """Return velocity (m/s), rates (rad/s) and the direction of gravity, (n, 3) each, in the body's frame."""
        quat = state.qpos[:, 3:7]
        velocity = quat_rotate_inverse(quat, state.qvel[:, :3])
        return velocity, state.qvel[:, 3:6], projected_gravity(quat)

    def offset_to_goal(self, state: TaskState, goal: Array) -> Array:
        """Return the offset to a goal in the body's frame, (n, 3) m."""
        return quat_rotate_inverse(state.qpos[:, 3:7], goal - state.qpos[:, :3])

    def nearness(self, distance: Array) -> Array:
        """Return IsaacLab's 1 - tanh(d / 0.8 m) of distances, (n,)."""
        return 1 - tanh(distance * (1 / 0.8))

    def crashed(self, state: TaskState) -> Array:
        """Return True where the drone is near the ground, or so high that it is lost, (n,)."""
        low, high = HEIGHTS
        return (state.qpos[:, 2] < low) | (state.qpos[:, 2] > high)

    def outside(self, state: TaskState) -> Array:
        """Return True where the drone is beyond the arena's walls, (n,)."""
        return (abs(state.qpos[:, 0]) > self.arena) | (abs(state.qpos[:, 1]) > self.arena)

    def drag_force(self, state: TaskState, action: Array, velocity: Array) -> Array:
        """Return the force of the air on the bodies, as `xfrc_applied` (n, nbody, 6).

        The rotors' drag is that of Foerster: the velocity along each axis of the body (n, 3) times a coefficient and
        the summed speeds of the rotors, which follow from their thrusts. It acts through the next step.
        """
        thrusts = clip(self.control(state, action), 0, float(self.model.actuator_ctrlrange[0, 1]))
        speeds = row_sum(self.xp.sqrt(thrusts * (1 / self.kf))) * RPM  # rad/s
        force = quat_rotate(state.qpos[:, 3:7], -self.drag * velocity * speeds[:, None])
        wrench = self.xp.concat((force, 0 * force), axis=1)
        return wrench[:, None, :] * self.on_drone
