"""Hopper: hop forward on one leg. Same task as Gymnasium's Hopper-v5."""

from typing import ClassVar

import numpy as np

from ..arrays import Array, row_all
from ..task.task import TaskState
from ..task.terms import strictly_inside
from .locomotion import PlanarWalkerTask


class Hopper(PlanarWalkerTask):
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
    healthy_state_range: tuple[float, float] = (-100.0, 100.0)
    healthy_z_range: tuple[float, float] = (0.7, float("inf"))
    healthy_angle_range: tuple[float, float] = (-0.2, 0.2)

    def bind(self) -> None:
        """Make the three healthy ranges one box around (qpos, qvel)."""
        low, high = (np.full(self.model.nq + self.model.nv, bound) for bound in self.healthy_state_range)
        low[0], high[0] = -np.inf, np.inf
        low[1], high[1] = self.healthy_z_range
        low[2], high[2] = max(low[2], self.healthy_angle_range[0]), min(high[2], self.healthy_angle_range[1])
        self.health = self.array(low), self.array(high)

    def healthy(self, state: TaskState) -> Array:
        """Return True where height, pitch and all joints are within their limits."""
        return row_all(strictly_inside(state.coordinates, self.health))
