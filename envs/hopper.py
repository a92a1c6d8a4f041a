"""Hopper: hop forward on one leg. Same task as Gymnasium's Hopper-v5."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import mujoco
import numpy as np

from .arrays import Array, clip, concat, every, flag
from .noise import Noise
from .runner import Runner
from .task import Moment, Verdict
from .terms import control_cost, strictly_inside, uniform_start


@dataclass(kw_only=True)
class Hopper(Runner):
    """A planar leg of four bodies hops along +x without falling.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | thigh | -1 | 1 | torque / 200 N m |
    | 1 | leg | -1 | 1 | torque / 200 N m |
    | 2 | foot | -1 | 1 | torque / 200 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-4 | qpos[1:] | m, rad | height, pitch, thigh, leg, foot |
    | 5-10 | qvel | m/s, rad/s | x, z, pitch, joints; clipped to ±10 |

    With `exclude_current_positions_from_observation=False` x stands in front.

    Reward:

    - `reward_forward`: `forward_reward_weight` x velocity along x (m/s)
    - `reward_survive`: `healthy_reward` while healthy
    - `reward_ctrl`: -`ctrl_cost_weight` x |action|²

    Healthy: height and pitch within `healthy_z_range` and `healthy_angle_range`, and every other number of the state
    but x within `healthy_state_range`, bounds excluded. Ends when not, unless `terminate_when_unhealthy=False`.
    Starts uniform within ±`reset_noise_scale` of the reference.
    """

    camera: ClassVar = {
        "trackbodyid": 2,
        "distance": 3.0,
        "lookat": (0.0, 0.0, 1.15),
        "elevation": -20.0,
    }

    xml_file: str = "hopper.xml"
    frame_skip: int = 4
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 1e-3
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_state_range: tuple[float, float] = (-100.0, 100.0)
    healthy_z_range: tuple[float, float] = (0.7, float("inf"))
    healthy_angle_range: tuple[float, float] = (-0.2, 0.2)
    reset_noise_scale: float = 5e-3

    def bind(self, mj: mujoco.MjModel, constant: Callable[[Any], Array]) -> None:
        """Learn the numbers of the model; the three healthy ranges become one box around (qpos, qvel)."""
        super().bind(mj, constant)
        low, high = (np.full(self.nq + self.nv, bound) for bound in self.healthy_state_range)
        low[0], high[0] = -np.inf, np.inf
        low[1], high[1] = self.healthy_z_range
        low[2], high[2] = max(low[2], self.healthy_angle_range[0]), min(high[2], self.healthy_angle_range[1])
        self.health = constant(low), constant(high)

    def draw(self, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
        """Near the reference, evenly."""
        return uniform_start(noise, self.start, self.reset_noise_scale, self.nv)

    def observation(self, now: Moment) -> Array:
        """Positions, without x unless asked for, and clipped velocities."""
        return concat((now.qpos[:, self.skipped :], clip(now.qvel, -10, 10)))

    def healthy(self, now: Moment) -> Array:
        """Whether height, pitch and all joints are where they should be."""
        return every(strictly_inside(now.state, self.health))

    def judge(self, now: Moment, velocity: Array, action: Array) -> Verdict:
        """Pay for speed along x and for staying healthy, charge for effort."""
        x_velocity = velocity[:, 0]
        healthy = self.healthy(now)
        terms = {
            "reward_forward": self.forward_reward_weight * x_velocity,
            "reward_survive": self.healthy_reward * flag(healthy, x_velocity),
            "reward_ctrl": -control_cost(action, self.ctrl_cost_weight),
        }
        info = self.reset_info(now) | {"x_velocity": x_velocity}
        return Verdict(terms, ~healthy if self.terminate_when_unhealthy else None, info)

    def reset_info(self, now: Moment) -> dict[str, Array]:
        """Where the root is."""
        return super().reset_info(now) | {"z_distance_from_origin": self.rise(now)}
