"""Walker2d: walk on two legs. Same task as Gymnasium's Walker2d-v5."""

from typing import ClassVar

from ..arrays import Array, clip, row_all
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost, strictly_inside, uniform_start
from .locomotion import LocomotionTask


class Walker2d(LocomotionTask):
    """A planar torso on two legs walks along +x without falling.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | thigh_right | -1 | 1 | torque / 100 N m |
    | 1 | leg_right | -1 | 1 | torque / 100 N m |
    | 2 | foot_right | -1 | 1 | torque / 100 N m |
    | 3 | thigh_left | -1 | 1 | torque / 100 N m |
    | 4 | leg_left | -1 | 1 | torque / 100 N m |
    | 5 | foot_left | -1 | 1 | torque / 100 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-7 | qpos[1:] | m, rad | height, pitch; thigh, leg, foot of the right and of the left leg |
    | 8-16 | qvel | m/s, rad/s | x, z, pitch, joints; clipped to ±10 |

    With `exclude_current_positions_from_observation=False` x stands in front.

    Reward:

    - `reward_forward`: `forward_reward_weight` x velocity along x (m/s)
    - `reward_survive`: `healthy_reward` while healthy
    - `reward_ctrl`: -`ctrl_cost_weight` x |action|²

    Healthy: height and pitch within `healthy_z_range` and `healthy_angle_range`, bounds excluded. Ends when not, unless
    `terminate_when_unhealthy=False`. Starts uniform within ±`reset_noise_scale` of the reference.
    """

    camera: ClassVar = {
        "trackbodyid": 2,
        "distance": 4.0,
        "lookat": (0.0, 0.0, 1.15),
        "elevation": -20.0,
    }

    xml_file: str = "walker2d.xml"
    frame_skip: int = 4
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 1e-3
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (0.8, 2.0)
    healthy_angle_range: tuple[float, float] = (-1.0, 1.0)
    reset_noise_scale: float = 5e-3

    def bind(self) -> None:
        """Make the two healthy ranges one box around (height, pitch)."""
        low, high = zip(self.healthy_z_range, self.healthy_angle_range, strict=True)
        self.health = self.array(low), self.array(high)

    def reset(self, noise: Noise) -> Start:
        """Draw positions and velocities uniformly around the reference."""
        return uniform_start(self, noise, self.reset_noise_scale)

    def observation(self, state: TaskState) -> Array:
        """Return positions (without x unless asked for) and clipped velocities, (n, size)."""
        return self.xp.concat((state.qpos[:, self.skipped :], clip(state.qvel, -10, 10)), axis=1)

    def healthy(self, state: TaskState) -> Array:
        """Return True where the torso is neither too low, too high nor too far tilted."""
        return row_all(strictly_inside(state.qpos[:, 1:3], self.health))

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Pay for speed along x and for staying healthy, charge for effort."""
        position, healthy = self.position(state), self.healthy(state)
        x_velocity = self.velocity(state, position)[:, 0]
        terms = {
            "reward_forward": self.forward_reward_weight * x_velocity,
            "reward_survive": self.healthy_reward * self.xp.astype(healthy, x_velocity.dtype),
            "reward_ctrl": -control_cost(action, self.ctrl_cost_weight),
        }
        terminated = ~healthy if self.terminate_when_unhealthy else None
        info = self.place_info(state) | {"x_velocity": x_velocity}
        return StepResult(self.observation(state), terms, terminated, info, {"position": position})

    def place_info(self, state: TaskState) -> dict[str, Array]:
        """Return where the root is, for the info."""
        return super().place_info(state) | {"z_distance_from_origin": self.rise(state)}
